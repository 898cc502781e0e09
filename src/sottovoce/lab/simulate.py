"""A whole collection on data you hold.

The code of the clients runs over arrays of people, and a plan is driven to its outcome.
"""

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.answers.outcome import Outcome
from sottovoce.arrays import Ints, Longs, Reports, Values, grouped
from sottovoce.core.rng import Rng, SystemRng
from sottovoce.engine.memory import ReportBatch, drive, joined
from sottovoce.errors import ConcernWarning, NoDataError, ParameterError
from sottovoce.lab.attacks.base import Attack
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
    progress: Progress | None = None,
    attack: "Poisoned | None" = None,
) -> Outcome:
    """Return the outcome that a task gives when these people are asked.

    Every report is made, packed and unpacked as on a device.  Without a ``seed`` the randomness is
    the operating system's, as it is there.  With an ``attack`` some of those who answer are
    attackers.  The fakes of a shuffled task are added as its shufflers add them.
    """
    rng = SystemRng() if seed is None else SeededRng(seed)
    indices = task.plan.domain.indices(values)
    if not len(indices):
        raise NoDataError("there is nobody to ask")
    if attack and "subject" in task.declares:
        raise ParameterError("`attack` does not apply to tasks whose reports carry subjects yet")
    for concern in task.concerns:
        warnings.warn(concern, ConcernWarning, stacklevel=2)
    coins = rng.longs(len(indices)).copy()
    known = "subject" in task.declares

    def gather(asked: Round) -> dict[Address, ReportBatch]:
        answering = _belonging(asked, indices, coins)
        batches = report_batches(asked, answering, rng, progress, subjects=known)
        if attack:
            batches = attack.beside(batches, asked, len(answering), rng)
        return with_fakes(batches, asked, task.fakes, rng)

    return drive(task, gather)


@dataclass(frozen=True)
class Poisoned:
    """An attack by a ``share`` of all who answer, beside the honest reports of the others."""

    attack: Attack
    share: float

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise ParameterError("`share` of the attackers must lie between 0 and 1, both excluded")

    def beside(
        self, honest: dict[Address, ReportBatch], asked: Round, users: int, rng: Rng
    ) -> dict[Address, ReportBatch]:
        """Return the honest reports of a round with those of the attackers appended."""
        attackers = round(users * self.share / (1 - self.share))
        if not attackers:
            return honest
        return _beside(honest, self.attack.reports(asked, attackers, rng))


def with_fakes(
    batches: dict[Address, ReportBatch], asked: Round, fakes: int, rng: Rng
) -> dict[Address, ReportBatch]:
    """Return the reports of a round with those of the fakes that shufflers add.

    The order of reports changes no answer, so that nothing is shuffled here.
    """
    if not fakes:
        return batches
    added = {}
    for part in asked.draw_fakes(fakes, rng):
        packed = part.mechanism.pack(part.reports)
        added[part.address] = part.mechanism.unpack(packed)
    return _beside(batches, added)


def _beside(
    batches: dict[Address, ReportBatch], added: Mapping[Address, Reports]
) -> dict[Address, ReportBatch]:
    """Return batches with further reports appended."""
    mixed = {address: [batch] for address, batch in batches.items()}
    for address, reports in added.items():
        mixed.setdefault(address, []).append(ReportBatch(reports))
    return {address: joined(parts) for address, parts in sorted(mixed.items())}


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
