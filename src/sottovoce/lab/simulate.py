"""A whole collection on data you hold: the clients' own code over arrays of people, and a plan to its answer."""

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from sottovoce.answers.answer import Answer, Answers
from sottovoce.answers.measures import Measures
from sottovoce.arrays import Ints, Longs, Values, grouped
from sottovoce.core.rng import Rng, SystemRng
from sottovoce.domains.person_tables import Holdings
from sottovoce.engine.memory import Shelf, drive
from sottovoce.errors import ConcernWarning, NoDataError
from sottovoce.lab.seeded import SeededRng
from sottovoce.tasks.task import Address, Ask, Bundle, Choice, Family, Round, Task

PEOPLE_AT_ONCE = 100_000

Progress = Callable[[int], None]


def simulate(
    task: Task, values: Iterable[Any], *, seed: int | None = None, progress: Progress | None = None
) -> Answer | Answers | Measures:
    """Return the answer that a task gives when these people are asked.

    Every report is made, packed and unpacked as on a device.  Without a seed the randomness is the
    operating system's, as it is there.
    """
    rng = SystemRng() if seed is None else SeededRng(seed)
    held = task.plan.domain.indices(values)
    if not len(held):
        raise NoDataError("there is nobody to ask")
    for concern in task.concerns:
        warnings.warn(concern, ConcernWarning, stacklevel=2)
    coins = rng.longs(len(held)).copy()
    known = "subject" in task.declares
    return drive(task, lambda asked: shelves(asked, _asked(asked, held, coins), rng, progress, subjects=known))


def shelves(
    asked: Round, held: Values, rng: Rng, progress: Progress | None = None, *, subjects: bool = False
) -> dict[Address, Shelf]:
    """Return the reports of everybody who is asked in a round, by address; with ``subjects`` also whose they are."""
    found: dict[Address, list[tuple[Any, Ints]]] = {}
    for start in range(0, len(held), PEOPLE_AT_ONCE):
        group = np.arange(start, min(start + PEOPLE_AT_ONCE, len(held)))
        for address, reports, people in _answered(asked, held, group, rng):
            found.setdefault(address, []).append((reports, people))
        if progress:
            progress(len(group))
    return {address: _shelf(batches, held, subjects=subjects) for address, batches in sorted(found.items())}


def _shelf(batches: list[tuple[Any, Ints]], held: Values, *, subjects: bool) -> Shelf:
    reports = np.concatenate([batch for batch, _ in batches])
    if not subjects:
        return Shelf(reports)
    people = np.concatenate([people for _, people in batches])
    seen = held.public if isinstance(held, Holdings) else ()
    return Shelf(reports, people, np.array([seen[person] for person in people], object) if seen else None)


def _asked(asked: Round, held: Values, coins: Longs) -> Values:
    """Return what the people hold whose coins fall into a round."""
    return held[np.flatnonzero((coins >= np.uint64(asked.low)) & (coins <= np.uint64(asked.high - 1)))]


def _answered(asked: Round, held: Values, people: Ints, rng: Rng) -> list[tuple[Address, Any, Ints]]:
    """Return the reports of some people by address; questions that are alike are answered all at once."""
    ask = asked.ask
    if not isinstance(ask, Choice) or not isinstance(ask.members, Family) or not ask.members.alike:
        chosen = addresses(ask, asked.number, people, rng)
        return [(address, _reports(asked, address, held[members], rng), members) for address, members in chosen]
    picks = ask.pick(rng.longs(len(people)))
    mechanism = ask.members[0].mechanism
    reports = mechanism.privatize(ask.members.encoded(picks, held[people], rng), rng)
    reports = mechanism.unpack(mechanism.pack(reports))
    return [(Address(asked.number, pick), reports[places], people[places]) for pick, places in grouped(picks)]


def _reports(asked: Round, address: Address, held: Values, rng: Rng) -> Any:
    question = asked.question(address)
    reports = question.privatize(held, rng)
    return question.mechanism.unpack(question.mechanism.pack(reports))


def addresses(
    ask: Ask, number: int, people: Ints, rng: Rng, slot: int = 0, member: int = 0
) -> list[tuple[Address, Ints]]:
    """Return who answers at which address: public coins pick members, bundles fill every slot."""
    if isinstance(ask, Bundle):
        parts = [addresses(part, number, people, rng, index, member) for index, part in enumerate(ask.parts)]
        return [pair for part in parts for pair in part]
    if not isinstance(ask, Choice):
        return [(Address(number, member, slot), people)]
    picks = ask.pick(rng.longs(len(people)))
    chosen = [(pick, people[places]) for pick, places in grouped(picks)]
    parts = [addresses(ask.members[pick], number, group, rng, slot, pick) for pick, group in chosen]
    return [pair for part in parts for pair in part]
