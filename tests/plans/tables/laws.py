"""Exact laws: every draw that an encoding can make, every report that can follow, every person that
there can be.

Nothing here is sampled.  An encoding is called once with a person repeated as often as there are
outcomes of its draws; the chances are fractions.  Reports are independent given the person, so that
the worst ratio of all of them together is the sum of the worst log-ratios of each.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import prod
from typing import Any

import numpy as np

from sottovoce.core.rng import Rng
from sottovoce.domains.person_tables import PersonTables, Rows
from sottovoce.plans.tables.layout import Layout
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.question import Question

WIDEST = 8  # columns of the tables here at the most


class AllDraws(Rng):
    """Draws of one person repeated: in copy i the digits of i, one for every draw; without radices,
    zeros.

    ``seen`` are the ranges that were drawn from.
    """

    def __init__(self, radices: Sequence[int] = ()) -> None:
        self.radices, self.seen = tuple(radices), []

    def bytes(self, count: int) -> "bytes":
        raise AssertionError("only whole draws can be listed")

    def integers(self, limit: int, count: int) -> Any:
        return self._draw(limit, count)

    def below(self, limits: Any) -> Any:
        assert len(set(limits.tolist())) == 1, "one person, repeated"
        return self._draw(int(limits[0]), len(limits))

    def _draw(self, limit: int, count: int) -> Any:
        place = len(self.seen)
        self.seen.append(limit)
        if not self.radices:
            return np.zeros(count, np.int64)
        assert self.radices[place] == limit, "what is drawn may not depend on earlier draws"
        return np.arange(count) // prod(self.radices[place + 1 :]) % limit


def law(encoding: Any, person: Any, draws: type[AllDraws] = AllDraws) -> dict[int, Fraction]:
    """Return the exact chance of every cell that a person can report."""
    recorded = draws()
    encoding(person, recorded)
    outcomes = prod(recorded.seen)
    listed = draws(recorded.seen)
    cells, counts = np.unique(
        encoding(person[np.zeros(outcomes, np.int64)], listed), return_counts=True
    )
    assert listed.seen == recorded.seen
    return {
        cell: Fraction(count, outcomes)
        for cell, count in zip(cells.tolist(), counts.tolist(), strict=True)
    }


def holding(*tables: Any) -> PersonTables:
    """Return what one person holds: a record as a tuple, several as a list of tuples."""
    made = []
    for table in tables:
        if isinstance(table, tuple):
            made.append(np.array([table], np.int64))
        else:
            cells = np.array(table, np.int64) if table else np.zeros((0, WIDEST), np.int64)
            made.append(Rows(np.array([0, len(table)]), cells))
    return PersonTables(tuple(made))


def lists(records: Iterable[tuple[int, ...]], most: int) -> list[list[tuple[int, ...]]]:
    """Return every multiset of up to so many records, the empty one too."""
    listed = list(records)
    return [
        list(one)
        for count in range(most + 1)
        for one in combinations_with_replacement(listed, count)
    ]


def everybody(layout: Layout, *, beyond: int = 1) -> list[PersonTables]:
    """Return every person that a plan can meet, with lists of up to ``beyond`` more records than
    count.
    """
    choices = []
    for place in range(len(layout.tables.names)):
        records = list(product(*(range(kind.size) for kind in layout.attributes(place))))
        most = layout.tables.most(place)
        choices.append(lists(records, most + beyond) if most else records)
    return [holding(*one) for one in product(*choices)]


def response(question: Question, people: Sequence[PersonTables]) -> Any:
    """Return (people, reports): the chance of every report of one question, given its public
    coin.
    """
    mechanism, encoding = question.mechanism, question.encoding
    mixing = np.zeros((len(people), mechanism.size))
    for place, person in enumerate(people):
        for cell, chance in law(encoding, person).items():
            mixing[place, cell] = float(chance)
    return mixing @ mechanism.likelihood(mechanism.outcomes()).T


def slot(part: Question | Choice, people: Sequence[PersonTables]) -> Any:
    """Return (people, reports) over all members that the public coin can pick."""
    members = (
        [part]
        if isinstance(part, Question)
        else [part.members[at] for at in range(len(part.members))]
    )
    return np.concatenate([response(one, people) for one in members], axis=1)


def laws(layout: Layout, people: Sequence[PersonTables]) -> list[Any]:
    """Return the law of every report of a plan, for everybody."""
    made: dict[Any, Any] = {}
    parts = [one.choice for factor in layout.factors for one in factor.slots]
    return [
        made[part] if part in made else made.setdefault(part, slot(part, people)) for part in parts
    ]


def worst_log_ratio(reports: Sequence[Any]) -> float:
    """Return the largest log-ratio of the chances of all reports together, over all pairs of
    people.
    """
    total = sum(_worst(one) for one in reports)
    return float(np.max(total))


def _worst(chances: Any) -> Any:
    """Return (people, people): the largest log-ratio over the reports of one slot; infinite if only
    one can make it.
    """
    possible = chances[:, chances.max(axis=0) > 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(possible)
        gaps = logs[:, None, :] - logs[None, :, :]
    return np.nanmax(gaps, axis=2)  # nobody can make it: not a number
