"""A whole collection on data you hold.

The code of the clients runs over arrays of people, and a plan is driven to its outcome.
"""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.answers.outcome import Outcome
from sottovoce.arrays import Ints, Longs, Reports, Values, grouped
from sottovoce.core import settings
from sottovoce.core.rng import Rng, SystemRng
from sottovoce.engine.memory import ReportBatch, drive
from sottovoce.errors import ConcernWarning, NoDataError, ParameterError
from sottovoce.lab import frames
from sottovoce.lab.attacks.base import Attack, RoundAtHop
from sottovoce.lab.batches import Batches, beside, false_batches, with_fakes
from sottovoce.lab.seeded import SeededRng
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round
from sottovoce.tasks.task import Task

PEOPLE_AT_ONCE = 100_000

Progress = Callable[[int], None]


def simulate(
    task: Task,
    values: Iterable[Any],
    *,
    seed: int | None = None,
    attack: Attack | None = None,
    share: float | None = None,
) -> Outcome:
    """Return the outcome that a task gives when these people are asked.

    ``values`` has one entry per person, or is a frame of pandas, polars or Arrow with one row per
    person.  Every report is made, packed and unpacked as on a device.  Without a ``seed`` the
    randomness is the operating system's, as it is there.  With an ``attack``, attackers join the
    people until they are a ``share`` of all who answer.  The fakes of a shuffled task are added as
    its shufflers add them.
    """
    rng = SystemRng() if seed is None else SeededRng(seed)
    return Simulation(task, rng, attack, share).run(values)


@dataclass(frozen=True)
class Simulation:
    """A collection on data you hold.  ``progress`` is told how many people have been asked."""

    task: Task
    rng: Rng
    attack: Attack | None = None
    share: float | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        if (self.attack is None) != (self.share is None):
            raise ParameterError("`attack` and `share` go together: who attacks, and how many")
        if self.share is not None:
            settings.open_share("share", self.share)
        if self.attack is not None:
            self.attack.check(self.task)

    def run(self, values: Iterable[Any]) -> Outcome:
        """Return the outcome when these people are asked."""
        domain = self.task.plan.domain
        indices = domain.indices(frames.values_of(domain, values))
        if not len(indices):
            raise NoDataError("there is nobody to ask")
        for concern in self.task.concerns:
            warnings.warn(concern, ConcernWarning, stacklevel=3)
        coins = self.rng.longs(len(indices)).copy()
        return drive(self.task, lambda asked: self._gathered(asked, indices, coins))

    def _gathered(self, asked: Round, indices: Values, coins: Longs) -> Batches:
        """Return the reports of a round as they reach the collector."""
        answering = _belonging(asked, indices, coins)
        known = "subject" in self.task.declares
        batches = report_batches(asked, answering, self.rng, self.progress, subjects=known)
        if self.attack is None or self.share is None:
            return with_fakes(batches, asked, self.task.fakes, self.rng)
        odds = self.share / (1 - self.share)
        among = self.attack.counted_among(asked, len(answering), len(indices))
        attackers = round(among * odds)
        if attackers:
            batches = beside(batches, self._false_batches(asked, attackers, batches))
        shuffle = self.task.shuffle
        of_hop = 0 if shuffle is None else shuffle.fakes
        mixed = RoundAtHop(batches, asked, self.task.fakes, of_hop, self.share)
        return self.attack.mixed(mixed, self.rng)

    def _false_batches(self, asked: Round, attackers: int, honest: Batches) -> Batches:
        """Return the reports of the attackers; the collector would refuse others."""
        assert self.attack is not None
        reports = {}
        for address, made in self.attack.reports(asked, attackers, self.rng).items():
            mechanism = asked.question(address).mechanism
            reports[address] = mechanism.unpack(mechanism.pack(made))
        if "subject" not in self.task.declares:
            return {address: ReportBatch(accepted) for address, accepted in reports.items()}
        public = self.attack.public_parts(attackers, self.rng)
        return false_batches(reports, honest, public, self.rng)


def report_batches(
    asked: Round,
    indices: Values,
    rng: Rng,
    progress: Progress | None = None,
    *,
    subjects: bool = False,
) -> dict[Address, ReportBatch]:
    """Return the reports of everybody who is asked in a round, by address.

    With ``subjects`` each report also says whose it is: the position of its person in ``indices``.
    """
    reports_by_address: dict[Address, list[tuple[Reports, Ints]]] = {}
    for start in range(0, len(indices), PEOPLE_AT_ONCE):
        people = np.arange(start, min(start + PEOPLE_AT_ONCE, len(indices)))
        for address, reports, owners in _reports(asked, indices, people, rng):
            reports_by_address.setdefault(address, []).append((reports, owners))
        if progress:
            progress(len(people))
    return {
        address: _batch(pieces, indices, subjects=subjects)
        for address, pieces in sorted(reports_by_address.items())
    }


def _batch(pieces: list[tuple[Reports, Ints]], indices: Values, *, subjects: bool) -> ReportBatch:
    reports = np.concatenate([piece for piece, _ in pieces])
    if not subjects:
        return ReportBatch(reports)
    people = np.concatenate([owners for _, owners in pieces])
    public = getattr(indices, "public", ())  # what people of a task about tables let everybody see
    texts = np.array([public[person] for person in people], object) if public else None
    return ReportBatch(reports, people, texts)


def _belonging(asked: Round, indices: Values, coins: Longs) -> Values:
    """Return what the people hold whose coins fall into a round."""
    inside = (coins >= np.uint64(asked.low)) & (coins <= np.uint64(asked.high - 1))
    return indices[np.flatnonzero(inside)]


def _reports(
    asked: Round, indices: Values, people: Ints, rng: Rng
) -> list[tuple[Address, Reports, Ints]]:
    """Return the reports of some people by address.

    If all members have one mechanism, it answers for all at once.
    """
    mechanism = asked.ask.shared_mechanism
    if mechanism is not None:
        members, reports = asked.ask.privatize_by_coin(indices[people], rng)
        reports = mechanism.unpack(mechanism.pack(reports))
        return [
            (Address(asked.number, member), reports[places], people[places])
            for member, places in grouped(members)
        ]
    answered = []
    for address, owners in asked.assigned(people, rng):
        question = asked.question(address)
        reports = question.privatize(indices[owners], rng)
        packed = question.mechanism.pack(reports)
        answered.append((address, question.mechanism.unpack(packed), owners))
    return answered
