"""Opening a batch: what was sealed is counted, once, whatever dies on the way."""

import secrets
from contextlib import suppress

import numpy as np
import pytest

from collector.people import text
from collector.sending import held, states
from collector.shuffled import (
    Chain,
    addresses_for,
    envelopes_of,
    fingerprint_of,
    plain_message,
    shuffled_for,
    token_for,
)
from sottovoce.collector import batches, key_files, opening
from sottovoce.collector.collector import Collector
from sottovoce.collector.store.shuffle_base import Canary
from sottovoce.core.base64url import text_of
from sottovoce.core.rng import SystemRng
from sottovoce.errors import MismatchError
from sottovoce.plans.frequencies.histogram import Histogram
from sottovoce.plans.frequencies.survey import Survey
from sottovoce.web.problems import RequestError
from sottovoce.wire import tokens

VALUES = [3, 3, 5, 8, 13, 13, 13, 21]


@pytest.fixture
def chain():
    return Chain.of(2)


@pytest.fixture
def task(collector, chain):
    return publish(collector, chain)


def publish(collector, chain, **settings):
    task = shuffled_for(collector, chain, **settings)
    collector.create(text(task), toml=False)
    chain.push(collector, task)
    return task


def deliver(collector, task, parts):
    published = collector.find(task.name)
    for number, body in parts.items():
        record, _ = batches.receive(collector.store, published, (0, number), body)
    return record


def sealed_and_mixed(collector, chain, task, messages):
    return chain.parts(task, chain.mix(task, chain.seal(collector, task, messages)))


def test_a_shuffled_batch_is_counted_and_the_round_is_sealed_at_once(collector, chain, task):
    assert deliver(collector, task, chain.batch(collector, task, VALUES)).complete
    assert states(collector, task.name) == ["open"]
    assert collector.advance()
    assert states(collector, task.name) == ["sealed"]
    assert held(collector, task.name) == {3: 2, 5: 1, 8: 1, 13: 3, 21: 1}
    published = collector.find(task.name)
    assert published.users_of(published.last) == len(VALUES)
    assert collector.answer(task.name).users == len(VALUES)


def test_the_key_and_the_bytes_of_the_batch_are_erased(collector, chain, task, tmp_path):
    digest = collector.find(task.name).digest
    private_key = collector.store.private_round_key(digest, 0)
    parts = chain.batch(collector, task, VALUES)
    deliver(collector, task, parts)
    collector.advance()
    assert collector.store.private_round_key(digest, 0) is None
    assert list(collector.store.parts(digest, 0)) == []
    collector.store.close()
    left = b"".join(path.read_bytes() for path in tmp_path.glob("collector.db*"))
    assert private_key not in left
    assert all(body[-40:] not in left for body in parts.values())


def test_answers_equal_those_of_the_same_reports_unshuffled(collector, chain, task):
    reports = [envelopes_of(task, value) for value in VALUES]
    messages = [plain_message(task, envelopes) for envelopes in reports]
    deliver(collector, task, sealed_and_mixed(collector, chain, task, messages))
    collector.advance()
    from sottovoce.engine.memory import answer

    direct = answer(task, reports).named(task.name)
    found = collector.answer(task.name)
    assert np.array_equal(found.estimate.totals, direct.estimate.totals)
    assert found.to_dict() == direct.to_dict()


def test_messages_that_no_honest_device_made_are_left_out_and_counted(collector, chain, task):
    good = [plain_message(task, envelopes_of(task, value)) for value in VALUES]
    twice = plain_message(task, envelopes_of(task, 1))
    other = bytearray(plain_message(task, envelopes_of(task, 1)))
    other[12] ^= 1  # of the digest
    impossible = plain_message(task, envelopes_of(task, 1))
    impossible = b"\x01" + impossible[1:]  # an envelope of another version
    messages = [*good, twice, twice, bytes(other), impossible]
    mixed = chain.mix(task, chain.seal(collector, task, messages))
    mixed.append(secrets.token_bytes(len(mixed[0])))
    deliver(collector, task, chain.parts(task, mixed))
    collector.advance()
    assert held(collector, task.name)[1] == 1
    digest = collector.find(task.name).digest
    batch = collector.store.batch(digest, 0)
    assert (batch.messages, batch.unopened, batch.duplicates) == (13, 1, 1)
    assert collector.store.refusals(digest) == {"malformed": 1, "other-task": 1}


def test_a_message_written_for_another_round_is_refused(collector, chain, task):
    wrong = bytearray(plain_message(task, envelopes_of(task, 1)))
    wrong[2] = 1  # the round in the header
    good = [plain_message(task, envelopes_of(task, value)) for value in VALUES]
    deliver(collector, task, sealed_and_mixed(collector, chain, task, [*good, bytes(wrong)]))
    collector.advance()
    assert collector.store.refusals(collector.find(task.name).digest) == {"too-early": 1}


def test_canaries_are_found_and_taken_out(collector, chain, task):
    digest = collector.find(task.name).digest
    ids = [secrets.token_bytes(16) for _ in range(3)]
    collector.store.add_canaries(digest, 0, [Canary(each, b"sealed") for each in ids])
    collector.store.note_sent(digest, 0, ids)
    people = [plain_message(task, envelopes_of(task, value)) for value in VALUES]
    arrived = [plain_message(task, envelopes_of(task, 200, report=each)) for each in ids[:2]]
    deliver(collector, task, sealed_and_mixed(collector, chain, task, [*people, *arrived]))
    collector.advance()
    counts = collector.store.canary_counts(digest, 0)
    assert (counts.made, counts.sent, counts.found) == (3, 3, 2)
    assert 200 not in held(collector, task.name)


def test_below_the_promised_batch_nothing_is_released(collector, chain):
    task = publish(collector, chain, users=9)
    deliver(collector, task, chain.batch(collector, task, VALUES))
    collector.advance()
    with pytest.raises(RequestError, match="fewer than 9 users answered round 0"):
        collector.answer(task.name)


def test_fakes_do_not_count_as_users(collector, chain):
    task = publish(collector, chain, users=5, fakes=2)  # four of eight messages
    deliver(collector, task, chain.batch(collector, task, VALUES))
    collector.advance()
    published = collector.find(task.name)
    assert published.users_of(published.last) == 4
    with pytest.raises(RequestError, match="fewer than 5 users"):
        collector.answer(task.name)


def test_without_the_private_key_the_batch_waits(collector, chain, task, clock):
    deliver(collector, task, chain.batch(collector, task, VALUES))
    lost = _WithoutKey(collector.store)
    with pytest.raises(MismatchError, match="private key of this round is missing"):
        opening.open_batch(lost, collector.find(task.name), 0, clock.now)


class _WithoutKey:
    def __init__(self, store):
        self._store = store

    def private_round_key(self, task, number):
        return None


class _DeathError(Exception):
    """The process dies here."""


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("step", ["accept", "close_batch", "seal", "finish"])
def test_a_death_at_any_durable_step_loses_and_doubles_nothing(
    collector, chain, task, clock, step, count, when
):
    deliver(collector, task, chain.batch(collector, task, VALUES))
    store = collector.store
    calls = []

    class Dying:
        """A store whose process dies around one call."""

        def __getattr__(self, name):
            real = getattr(store, name)
            if name != step:
                return real

            def dying(*arguments, **options):
                calls.append(name)
                if len(calls) == count and when == "before":
                    raise _DeathError
                result = real(*arguments, **options)
                if len(calls) == count:
                    raise _DeathError
                return result

            return dying

    dying = Collector(Dying(), collector.folder, clock)
    with suppress(_DeathError):
        dying.advance()
    again = Collector(store, collector.folder, clock)
    again.advance()
    assert states(again, task.name) == ["sealed"]
    assert held(again, task.name) == {3: 2, 5: 1, 8: 1, 13: 3, 21: 1}
    batch = store.batch(again.find(task.name).digest, 0)
    assert (batch.messages, batch.duplicates, batch.opened) == (8, 0, batch.parts)
    assert store.refusals(again.find(task.name).digest) == {}
    assert store.arrivals(again.find(task.name).digest, 0)[0][1] == 8


class TestTokens:
    """A task with an issuer counts only messages with a token of its own, once."""

    @pytest.fixture
    def issuer(self, collector):
        return key_files.make_issuer(collector.folder)

    @pytest.fixture
    def task(self, collector, chain, issuer):
        return publish(collector, chain, issuer=text_of(issuer.public_key.data), users=2)

    def message(self, task, value, token):
        return plain_message(task, envelopes_of(task, value), token.to_bytes())

    def test_valid_tokens_count_once(self, collector, chain, task, issuer):
        first, second = token_for(task, issuer), token_for(task, issuer)
        messages = [
            self.message(task, 7, first),
            self.message(task, 8, second),
            self.message(task, 9, second),  # used twice: one of both counts
        ]
        deliver(collector, task, sealed_and_mixed(collector, chain, task, messages))
        collector.advance()
        assert sum(held(collector, task.name).values()) == 2
        assert held(collector, task.name)[7] == 1
        assert collector.store.refusals(collector.find(task.name).digest) == {"token-spent": 1}

    def test_forged_and_foreign_tokens_are_refused(self, collector, chain, task, issuer, tmp_path):
        other_issuer = key_files.make_issuer(tmp_path / "other")
        other_task = shuffled_for(collector, chain, name="other", users=2)
        messages = [
            self.message(task, 7, token_for(task, issuer)),
            self.message(task, 8, token_for(task, issuer)),
            self.message(task, 9, token_for(task, other_issuer)),
            self.message(task, 9, token_for(other_task, issuer)),
            self.message(task, 9, tokens.Token(bytes(32), bytes(256))),
        ]
        deliver(collector, task, sealed_and_mixed(collector, chain, task, messages))
        collector.advance()
        assert held(collector, task.name) == {7: 1, 8: 1}
        assert collector.store.refusals(collector.find(task.name).digest) == {"token-unknown": 3}


def test_the_coins_of_a_token_decide_what_is_answered(collector, chain):
    issuer = key_files.make_issuer(collector.folder)
    plan = Survey({"pet": ["cat", "dog"], "age": range(16)}, [1, 1], mechanism="grr")
    task = publish(
        collector,
        chain,
        plan=plan,
        issuer=text_of(issuer.public_key.data),
        users=2,
    )
    messages = []
    for index in range(8):
        token = token_for(task, issuer)
        (address,) = addresses_for(task, token)
        chosen = address.member if index < 6 else 1 - address.member
        places = [type(address)(0, chosen, 0)]
        envelopes = envelopes_of(task, 1, addresses=places)
        messages.append(plain_message(task, envelopes, token.to_bytes()))
    deliver(collector, task, sealed_and_mixed(collector, chain, task, messages))
    collector.advance()
    assert collector.store.refusals(collector.find(task.name).digest) == {"not-asked": 2}
    assert collector.find(task.name).last.users == 6


def seeded_message(task, token, draw):
    """What somebody sends whose report has the seed that a number gives."""
    mechanism = task.opening.ask.mechanism
    report = mechanism.privatize_seeded(np.array([7]), np.array([draw], np.uint64), SystemRng())
    value = int.from_bytes(mechanism.pack(report), "little")
    return plain_message(task, envelopes_of(task, value), token.to_bytes())


def test_a_report_with_another_seed_is_refused(collector, chain):
    """With the defence ``seeds`` a batch counts only reports under the seeds of their tokens."""
    issuer = key_files.make_issuer(collector.folder)
    task = publish(
        collector,
        chain,
        plan=Histogram(range(256), "affine"),
        issuer=text_of(issuer.public_key.data),
        defence="seeds",
        users=2,
    )
    fingerprint = fingerprint_of(task)
    issued = [token_for(task, issuer) for _ in range(6)]
    draws = [token.seed_draw(fingerprint, 0) for token in issued]
    draws[1] ^= 1
    draws[2] = draws[3]  # the seed of somebody else
    draws[4] = issued[4].seed_draw(fingerprint, 1)  # the seed of another slot
    given = [seeded_message(task, *each) for each in zip(issued, draws, strict=True)]
    deliver(collector, task, sealed_and_mixed(collector, chain, task, given))
    collector.advance()
    assert collector.store.refusals(collector.find(task.name).digest) == {"not-asked": 3}
    assert collector.find(task.name).last.users == 3
