"""Moving the answer to a SQL query: every report scores as much for the query as it can.

A report about a layer scores a number that the query sums up.  Attackers draw ``tries`` reports of
every layer and send the one with the highest score, or the lowest.  Where nobody checks the coins
they also choose the layer.  For a join the scores of the tables are multiplied: the first table's
is as low or as high as it gets, the others' as high.

Source: docs/poisoning.md.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Ints, Reports
from sottovoce.core import settings
from sottovoce.core.rng import Rng
from sottovoce.errors import ParameterError
from sottovoce.lab.attacks.base import Aim, Attack, refuse_search
from sottovoce.lab.attacks.maximal_gain import MAX_TRIES
from sottovoce.plans.tables.pipeline import plan_query, read
from sottovoce.plans.tables.scoring import Scoring
from sottovoce.plans.tables.source import Source
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round
from sottovoce.tasks.task import Task


@dataclass(frozen=True)
class _Extreme:
    """A report about one layer, and what it scores for the query."""

    address: Address
    report: Reports
    score: float


@dataclass(frozen=True)
class QueryShift(Attack, kind="query"):
    """All attackers raise the first number that answers a ``query``, or lower it.

    With ``chooses`` they report about the layer with the most extreme score.
    """

    task: Task
    query: str
    against: bool = False
    tries: int = 1000
    chooses: bool = False

    def __post_init__(self) -> None:
        settings.text("query", self.query)
        settings.whole("tries", self.tries, 1, MAX_TRIES)
        if not self.task.plan.answers_sql:
            raise ParameterError("the attack 'query' applies to tasks that answer SQL")

    @classmethod
    def aimed(cls, aim: Aim) -> "QueryShift":
        if not aim.query:
            raise ParameterError("the attack 'query' needs the `query` whose answer it moves")
        chooses = not aim.task.coins_checked
        return cls(aim.task, aim.query, aim.against, aim.possible_tries, chooses)

    def check(self, task: Task) -> None:
        refuse_search(self.kind, self.tries, task)
        if self.chooses and task.coins_checked:
            raise ParameterError("`chooses` must be false: the tokens of this task deal the coins")

    def reports(self, asked: Round, users: int, rng: Rng) -> dict[Address, Reports]:
        scorings = self._scorings()
        if not self.chooses:
            assigned = asked.assigned(np.arange(users), rng)
            return {
                address: np.repeat(self._extreme(asked, address, scorings, rng).report, len(people))
                for address, people in assigned
            }
        chosen = [self._best_layer(asked, slot, scorings, rng) for slot in range(asked.slots)]
        return {each.address: np.repeat(each.report, users) for each in chosen}

    def _scorings(self) -> dict[int, Scoring]:
        """Return what scores the reports of every slot that the query uses."""
        plan = self.task.plan
        source = Source(plan.layout(self.task.response_epsilon))  # type: ignore[attr-defined]
        query_plan = plan_query(read(self.query, source), source)
        return {
            slot.number: scoring
            for scoring in query_plan.scorings.values()
            for slot in scoring.factor.slots
        }

    def _best_layer(
        self, asked: Round, slot: int, scorings: dict[int, Scoring], rng: Rng
    ) -> _Extreme:
        members: Ints = np.arange(1)
        if slot in scorings:
            factor = scorings[slot].factor
            members = np.arange(len(factor.slots[slot - factor.slots[0].number].family))
        extremes = [
            self._extreme(asked, Address(asked.number, member, slot), scorings, rng)
            for member in members.tolist()
        ]
        return max(extremes, key=lambda extreme: extreme.score)

    def _extreme(
        self, asked: Round, address: Address, scorings: dict[int, Scoring], rng: Rng
    ) -> _Extreme:
        """Return the best of some random reports; any report of a table that is not used."""
        reports = asked.question(address).mechanism.draw_uniform(self.tries, rng)
        if address.slot not in scorings:
            return _Extreme(address, reports[:1], 0.0)
        sign = -1.0 if self.against and address.slot == min(scorings) else 1.0
        scores = sign * scorings[address.slot](address.slot, address.member, reports)[:, 0]
        best = int(np.argmax(scores))
        return _Extreme(address, reports[best : best + 1], float(scores[best]))
