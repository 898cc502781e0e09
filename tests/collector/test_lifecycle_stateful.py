"""Any order of uploads, replays, closings, crashes and expiries against a model of what a collector
promises.

Every report holds a value that no other report of its task holds, so that a report lost or counted
twice shows.
"""

import os
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from collector.people import Clock, counting, numbered, text
from collector.sending import held, send
from sottovoce.collector.collector import DAY, Collector
from sottovoce.collector.store.base import Verdict
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.errors import StateError
from sottovoce.web.problems import RequestError

QUOTA, MINIMUM, GRACE, SECONDS = 12, 4, 60, 600
TASK = counting(quota=QUOTA, minimum=MINIMUM, grace=GRACE, seconds=SECONDS, retention=1)


class Lifecycle(RuleBasedStateMachine):
    """The collector on one side; on the other a list of what was acknowledged, and the state it
    should be in.
    """

    kind = SqliteStore

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path, self.clock = Path(self.folder.name), Clock()
        self.open()
        self.collector.create(text(TASK), toml=False)
        self.state, self.changed, self.opened = "open", self.clock.now, self.clock.now
        self.messages, self.counted, self.erased = [], [], False
        self.said = None

    def open(self):
        self.store = self.kind(self.path / "collector.db")
        self.collector = Collector(self.store, self.path, self.clock)

    def teardown(self):
        self.store.close()
        self.folder.cleanup()

    @initialize(count=st.integers(0, MINIMUM))
    def begin(self, count):
        if count:
            self.upload(count)

    @rule(count=st.integers(1, 5))
    def upload(self, count):
        first = len(self.messages)
        new = numbered(TASK, *((first + place) % 256 for place in range(count)))
        self.messages += new
        taking = self.state in ("open", "closing")
        assert send(self.collector, "count", new) == ["accepted" if taking else "too-late"] * count
        if taking:
            self.counted += range(first, first + count)

    @rule(data=st.data())
    @precondition(lambda self: self.messages)
    def replay(self, data):
        places = data.draw(st.lists(st.integers(0, len(self.messages) - 1), min_size=1, max_size=8))
        counted = set(self.counted) if not self.erased else set()
        expected = ["duplicate" if place in counted else self._late() for place in places]
        if "accepted" not in expected:
            assert (
                send(self.collector, "count", [self.messages[place] for place in places])
                == expected
            )

    def _late(self):
        return "accepted" if self.state in ("open", "closing") else "too-late"

    @rule(at_once=st.booleans())
    def close(self, at_once):
        could = self.state == "open" or (at_once and self.state == "closing")
        assert self.collector.close("count", at_once=at_once) == could
        if could:
            self._turn("sealing" if at_once else "closing")

    @rule(seconds=st.sampled_from([1, GRACE - 1, GRACE, SECONDS, DAY - 1, DAY]))
    def tick(self, seconds):
        self.clock.pass_(seconds)

    @rule()
    def crash(self):
        """The process dies: nothing but the disk remains."""
        self.store.close()
        self.open()

    @rule(times=st.integers(1, 2))
    def advance(self, times):
        assert self.collector.advance() == self._model_advances()
        for _ in range(times - 1):
            assert not self.collector.advance()

    def _model_advances(self):
        moved, now = False, self.clock.now
        if self.state == "sealed" and not self.erased and now - self.changed >= DAY:
            self.erased = moved = True
        over = now - self.opened >= SECONDS and len(self.counted) >= MINIMUM
        if self.state == "open" and (len(self.counted) >= QUOTA or over):
            self._turn("closing")
            moved = True
        if self.state == "closing" and now - self.changed >= GRACE:
            self._turn("sealing")
        if self.state == "sealing":
            self._turn("sealed")
            moved = True
        return moved

    def _turn(self, state):
        self.state, self.changed = state, self.clock.now

    @rule()
    def ask(self):
        self.collector.refresh()
        if self.state != "sealed":
            with pytest.raises(StateError):
                self.collector.answer("count")
        elif len(self.counted) < MINIMUM:
            with pytest.raises(RequestError, match=f"fewer than {MINIMUM} users"):
                self.collector.answer("count")
        else:
            answer = self.collector.answer("count").to_dict()
            assert answer["users"] == len(self.counted)
            assert self.said in (None, answer), "a sealed answer never changes"
            self.said = answer

    @invariant()
    def the_store_counts_every_user_once(self):
        (found,) = self.store.rounds(self.collector.find("count").digest)
        assert found.users == len(self.counted)
        assert found.state.value == self.state

    @invariant()
    def what_is_sealed_is_what_was_acknowledged(self):
        if self.state != "sealed" or not self.counted:
            return
        self.collector.refresh()
        expected = {}
        for place in self.counted:
            expected[place % 256] = expected.get(place % 256, 0) + 1
        assert held(self.collector, "count") == expected
        assert self.collector.log(self.collector.find("count").last).exists() != self.erased


class Forgetful(SqliteStore):
    """Accepts what it has seen before."""

    def accept(self, offers, refused, now):
        for offer in offers:
            new = np.frombuffer(os.urandom(offer.ids.size), np.uint8)
            object.__setattr__(offer, "ids", new.reshape(offer.ids.shape))
        return super().accept(offers, refused, now)


class Hasty(SqliteStore):
    """Acknowledges messages beyond the third of a group without keeping them."""

    def accept(self, offers, refused, now):
        short = [replace(one, ids=one.ids[:3], data=one.data[:3]) for one in offers]
        kept = super().accept(short, refused, now)
        lost = [len(one) - len(few) for one, few in zip(offers, short, strict=True)]
        return [
            [*verdicts, *[Verdict.ACCEPTED] * more]
            for verdicts, more in zip(kept, lost, strict=True)
        ]


class Backdating(SqliteStore):
    """Says that a round was sealed a day before it was, so that it is erased too early."""

    def seal(self, task, number, count, checksum, now):
        return super().seal(task, number, count, checksum, now - DAY)


HOUSE = settings(max_examples=25, stateful_step_count=25, deadline=None, derandomize=True)


def test_a_collector_keeps_its_promises_in_any_order_of_events():
    run_state_machine_as_test(Lifecycle, settings=HOUSE)


@pytest.mark.parametrize("broken", [Forgetful, Hasty, Backdating])
def test_the_machine_catches_a_store_that_breaks_them(broken):
    class Broken(Lifecycle):
        kind = broken

    unshrunk = settings(HOUSE, phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises(AssertionError):
        run_state_machine_as_test(Broken, settings=unshrunk)
