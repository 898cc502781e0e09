"""PEM, the prefix extending method as published: a baseline for searches for long values.

    1. Users are divided into groups by a public coin.  Every group reports a longer prefix of its
       value than the group before.  All users report once, at the same time.
    2. The collector estimates all prefixes of the first group and keeps the most frequent.
    3. It extends them by every continuation, estimates those from the next group, and so on, until
       whole values remain.

Exactly as many prefixes are kept as values are sought, so that a frequent value that shares its
beginning with nobody famous is lost, whatever epsilon is.  ``HeavyHitters`` of the product keeps
everything that stands out, and counts a value in every group that can tell it.

Source: Wang 2021, chapter 4.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from sottovoce.answers.answer import Answer
from sottovoce.core.estimate import Estimate
from sottovoce.core.settings import instance, whole
from sottovoce.domains.base import Domain
from sottovoce.domains.bits import Bits
from sottovoce.domains.strings import Strings
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.plans.heavy_hitters import prefixes
from sottovoce.plans.heavy_hitters.search_plan import SearchPlan
from sottovoce.plans.heavy_hitters.sought_values import MAX_KEPT, check_threshold
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collected import Blocks, Collected
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round

MAX_CANDIDATES = 1 << 24  # estimated in all: the counts of a group must fit in memory


@dataclass(frozen=True, init=False)
class PrefixExtending(SearchPlan, Plan, kind="published pem", wire=False):
    """Find the ``top`` values, or all that more than a share ``threshold`` of people hold.

    Fewer ``groups`` lose fewer values; by default there are as few as a budget of ``queries``
    candidates allows.

    >>> PrefixExtending(Strings(20)).lengths[:4]
    (4, 16, 28, 40)
    """

    domain: Bits | Strings
    top: int
    threshold: float
    groups: int
    queries: int

    def __init__(
        self,
        domain: Domain,
        top: int = 16,
        *,
        threshold: float = 0.0,
        groups: int = 0,
        queries: int = prefixes.QUERY_BUDGET,
    ) -> None:
        settings = {
            "domain": instance("domain", domain, Bits, Strings),
            "top": whole("top", top, 1, MAX_KEPT),
            "threshold": check_threshold(threshold),
            "groups": whole("groups", groups, 0),
            "queries": whole("queries", queries, 1),
        }
        for name, setting in settings.items():
            object.__setattr__(self, name, setting)
        bits = self.domain.bits
        if not groups:
            fewest = prefixes.fewest_groups(bits, self.kept, queries)
            object.__setattr__(self, "groups", fewest)
        if prefixes.queries(bits, self.kept, self.groups) > MAX_CANDIDATES:
            raise ParameterError(
                f"`groups` must be larger: these leave more than {MAX_CANDIDATES:,} candidates"
            )

    @property
    def kept(self) -> int:
        """Return how many prefixes are followed; above a threshold, as many as could lie there."""
        most = int(1 / self.threshold) if self.threshold else self.top
        return min(max(most, 2), self.domain.size)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Return the bits of prefixes: those that need no question, then those of every group."""
        return prefixes.lengths(self.domain.bits, self.kept, self.groups)

    def step(self, collected: Collected) -> Round | Answer:
        if collected.rounds:
            return self._answer(collected)
        questions = [self.question_about(collected.epsilon, length) for length in self.lengths[1:]]
        return Round(0, Choice(tuple(questions)))

    def _answer(self, collected: Collected) -> Answer:
        kept: tuple[int, ...] = (0,)
        robust_to = {0: 1.0}
        shorter, left_out = 0, False
        for group, length in enumerate(self.lengths[1:]):
            blocks = Blocks(kept, length - shorter)
            estimate = collected.estimate(Address(0, group), blocks)
            ranking = self._ranking(estimate, blocks, group)
            if self.threshold and len(ranking.best) == self.max_kept(group):
                left_out = True
            robust_to = self._robust_to(estimate, blocks, ranking, robust_to)
            kept = tuple(sorted(blocks[index] for index in ranking.best))
            shorter = length
        labels = tuple(self.domain.shown(blocks[index]) for index in ranking.best)
        details = {**self._details(len(blocks), estimate), "candidates_left_out": left_out}
        columns = {"robust_to": tuple(robust_to[blocks[index]] for index in ranking.best)}
        picked = estimate.picked(np.array(ranking.best))
        return Answer(
            "heavy hitters", labels, picked, "affine_prefix", details=details, columns=columns
        )

    def candidates(self, collected: Collected, address: Address) -> Blocks | None:
        kept: tuple[int, ...] = (0,)
        shorter = 0
        for group, length in enumerate(self.lengths[1:]):
            blocks = Blocks(kept, length - shorter)
            if group == address.member:
                return blocks
            estimate = collected.estimate(Address(0, group), blocks)
            best = self._ranking(estimate, blocks, group).best
            kept = tuple(sorted(blocks[index] for index in best))
            shorter = length
        return None

    def _robust_to(
        self,
        estimate: Estimate,
        blocks: Blocks,
        ranking: "Ranking",
        shorter: Mapping[int, float],
    ) -> dict[int, float]:
        """Return for every kept prefix the share of false reports that could have kept it.

        False reports may have kept it in this group, or its beginning in an earlier one (those are
        in ``shorter``): what takes the fewest counts.
        """
        best = np.array(ranking.best)
        robust = np.ones(len(best))
        if ranking.rival is not None:
            robust = estimate.robust_ahead(best, ranking.rival)
        if self.threshold:
            robust = np.minimum(robust, estimate.picked(best).robust_above(self.threshold))
        return {
            blocks[index]: min(share, shorter[blocks[index] >> blocks.extension])
            for index, share in zip(ranking.best, robust.tolist(), strict=True)
        }

    def _ranking(self, estimate: Estimate, blocks: Blocks, group: int) -> "Ranking":
        """Return the candidates that are kept; of equally frequent ones the first come first."""
        order = np.argsort(-estimate.votes, kind="stable")
        if self.threshold:
            order = order[estimate.frequencies[order] > self.threshold]
        length = self.lengths[group + 1]
        possible = (
            index for index in order.tolist() if self.domain.possible(blocks[index], length)
        )
        best = list(islice(possible, self.max_kept(group)))
        if not best:
            raise NoDataError("no value is as frequent as the threshold")
        return Ranking(best, next(possible, None))

    def max_kept(self, group: int) -> int:
        """Return how many candidates of a group are kept at most."""
        is_last = group == self.groups - 1
        if not self.threshold:
            return self.top if is_last else self.kept
        extension = 0 if is_last else self.lengths[group + 2] - self.lengths[group + 1]
        return min(MAX_KEPT, MAX_CANDIDATES >> extension)

    def _details(self, candidates: int, last: Estimate) -> dict[str, Any]:
        strangers = max(candidates - self.kept, 2)
        users = last.users / last.noise.inflation  # as few without fakes would see as much
        return {
            "groups": self.groups,
            "prefix_lengths": list(self.lengths),
            "candidates": candidates,
            "sensitivity": prefixes.sensitivity(last.epsilon, strangers, users),
        }


@dataclass(frozen=True)
class Ranking:
    """The indices of the candidates that a group keeps, most frequent first, and of the next."""

    best: list[int]
    rival: int | None
