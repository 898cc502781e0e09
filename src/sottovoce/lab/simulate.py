"""A whole collection on data you hold: the clients' own code over arrays of people, and a plan to its answer."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from sottovoce.answers import Answer, Answers
from sottovoce.arrays import Ints, Longs, Values
from sottovoce.engine.local import Shelf, drive
from sottovoce.errors import NoDataError
from sottovoce.lab.seeded import SeededRng
from sottovoce.measures import Measures
from sottovoce.rng import Rng, SystemRng
from sottovoce.task import Address, Ask, Bundle, Choice, Round, Task

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
    coins = rng.longs(len(held)).copy()
    return drive(task, lambda asked: _asked(asked, held, coins, rng, progress or (lambda people: None)))


def _asked(asked: Round, held: Values, coins: Longs, rng: Rng, progress: Progress) -> dict[Address, Shelf]:
    last = np.uint64(asked.high - 1)
    people = np.flatnonzero((coins >= np.uint64(asked.low)) & (coins <= last))
    found: dict[Address, list[Any]] = {}
    for start in range(0, len(people), PEOPLE_AT_ONCE):
        group = people[start : start + PEOPLE_AT_ONCE]
        for address, members in addresses(asked.ask, asked.number, group, rng):
            found.setdefault(address, []).append(_reports(asked, address, held[members], rng))
        progress(len(group))
    return {address: Shelf(np.concatenate(batches)) for address, batches in sorted(found.items())}


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
    chosen = [(int(pick), people[picks == pick]) for pick in np.unique(picks)]
    parts = [addresses(ask.members[pick], number, group, rng, slot, pick) for pick, group in chosen]
    return [pair for part in parts for pair in part]
