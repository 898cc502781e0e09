"""Heavy hitters: the most frequent of values that are too many to list.

    1. Users are divided into groups by a public coin.  Every group reports a longer prefix of its
       value than the group before.  All users report once, at the same time.
    2. The collector estimates all prefixes of the first group and follows those that stand out.
    3. It extends them by every continuation, estimates those from the next group, and so on.
    4. A value that is known whole, such as a text that has ended, leaves the search.  Every later
       group counts it as well.

Steps 1 to 3 are the prefix extending method (PEM), which follows exactly as many prefixes as values
are sought, and counts with the last group alone; it is ``lab/baselines/pem.py``.  Prefix lengths
and the parts of the users are chosen in ``group_layout.py``, prefixes are followed in
``prefix_search.py``, and groups are added up in ``pooling.py``.

docs/decisions/0044 says why.

Source: Wang 2021, chapter 4.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sottovoce.answers.answer import Answer
from sottovoce.arrays import Floats, Ints
from sottovoce.core.estimate import Estimate
from sottovoce.core.settings import instance, whole
from sottovoce.domains.bits import Bits
from sottovoce.domains.strings import Strings
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.plans.heavy_hitters import prefixes
from sottovoce.plans.heavy_hitters.group_layout import GroupLayout, candidate_count, choose_layout
from sottovoce.plans.heavy_hitters.prefix_search import PrefixSearch, SearchLimits, robust_scores
from sottovoce.plans.heavy_hitters.search_plan import SearchPlan
from sottovoce.plans.heavy_hitters.sought_values import MAX_KEPT, check_threshold
from sottovoce.tasks.advice import Advice
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collected import Blocks, Collected
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round

MAX_TOP = 4096
MAX_PREFIXES = 256  # that are followed because they stand out
MAX_CANDIDATES = 1 << 24  # of one group: their counts must fit in memory
MIN_KEPT = 32  # prefixes that are followed even if they do not stand out
MIN_VALUES = 64  # known values that are counted even if they do not stand out
QUERY_BUDGET = 1 << 22  # candidates of all groups together


@dataclass(frozen=True)
class HeavyHitters(SearchPlan, Plan, kind="pem"):
    """Find the ``top`` values, or all that more than a share ``threshold`` of people hold.

    By default the ``layout`` of the groups is the one that loses least, within a budget of
    ``queries`` candidates.  With ``groups`` there are so many equal ones, and all prefixes grow by
    the same number of bits.

    >>> HeavyHitters(Bits(48)).lengths
    (17, 33, 48)
    """

    domain: Bits | Strings
    top: int = 16
    threshold: float = field(default=0.0, kw_only=True)
    groups: int = field(default=0, kw_only=True)
    queries: int = field(default=QUERY_BUDGET, kw_only=True)
    layout: GroupLayout = field(default=GroupLayout(), kw_only=True, metadata={"omitted": True})

    def __post_init__(self) -> None:
        instance("domain", self.domain, Bits, Strings)
        whole("top", self.top, 1, MAX_TOP)
        object.__setattr__(self, "threshold", check_threshold(self.threshold))
        whole("groups", self.groups, 0)
        whole("queries", self.queries, 1)
        instance("layout", self.layout, GroupLayout)
        if not self.groups and not self.layout:
            chosen = choose_layout(self.domain, self._planned_prefixes, self.queries)
            object.__setattr__(self, "layout", chosen)
        self._check_layout()
        if candidate_count(self.lengths, self._planned_prefixes) > MAX_CANDIDATES:
            raise ParameterError(
                f"`groups` must be larger: these leave more than {MAX_CANDIDATES:,} candidates"
            )

    def _check_layout(self) -> None:
        if not self.layout:
            return
        if self.layout.lengths[-1] != self.domain.bits:
            raise ParameterError("`layout` must end with the bits of a value")
        if self.groups not in (0, len(self.layout.lengths)):
            raise ParameterError("`groups` must be the number of lengths of `layout`")
        object.__setattr__(self, "groups", len(self.layout.lengths))

    @property
    def lengths(self) -> tuple[int, ...]:
        """Return the bits of the prefixes of every group."""
        if self.layout:
            return self.layout.lengths
        sought = int(1 / self.threshold) if self.threshold else self.top
        first_kept = min(max(sought, 2), self.domain.size)
        return prefixes.lengths(self.domain.bits, first_kept, self.groups)[1:]

    @property
    def _planned_prefixes(self) -> int:
        """Return how many prefixes are expected to be followed."""
        sought = int(1 / self.threshold) if self.threshold else 2 * self.top
        return min(max(sought, MIN_KEPT), MAX_KEPT, self.domain.size)

    @property
    def limits(self) -> SearchLimits:
        """Return how many prefixes and values are followed."""
        longest = max(
            (
                longer - shorter
                for shorter, longer in zip(self.lengths, self.lengths[1:], strict=False)
            ),
            default=0,
        )
        fits = max(1, MAX_CANDIDATES >> longest)
        if self.threshold:
            return SearchLimits(0, 0, min(MAX_KEPT, fits), self.threshold)
        kept = min(self._planned_prefixes, fits)
        most = min(max(MAX_PREFIXES, kept), fits)
        return SearchLimits(kept, max(MIN_VALUES, 4 * self.top), most)

    def step(self, collected: Collected) -> Round | Answer:
        if collected.rounds:
            return self._answer(collected)
        questions = [self.question_about(collected.epsilon, length) for length in self.lengths]
        return Round(0, Choice(tuple(questions), self.layout.weights))

    def _answer(self, collected: Collected) -> Answer:
        search = PrefixSearch(collected, self.domain, self.lengths, self.limits)
        while not search.is_over:
            search.ask_group()
        if not search.values:
            raise NoDataError("no value is as frequent as the threshold")
        search.values.sort(key=lambda value: value.number)
        counts = search.counts()
        best, robust_to = self._best(search, counts)
        if not len(best):
            raise NoDataError("no value is as frequent as the threshold")
        values = [search.values[index] for index in best.tolist()]
        shares = [
            min(value.robust_to, share) for value, share in zip(values, robust_to, strict=True)
        ]
        return Answer(
            "heavy hitters",
            tuple(self.domain.shown(value.number) for value in values),
            self._estimate(search, counts, best),
            "affine_prefix",
            details=self._details(search),
            columns={"robust_to": tuple(shares)},
        )

    def _best(self, search: PrefixSearch, counts: Estimate) -> tuple[Ints, list[float]]:
        """Return which values are the answer, most frequent first, and how robust that is."""
        if self.threshold:
            order = np.argsort(-counts.totals, kind="stable")
            above = order[counts.frequencies[order] > self.threshold]
            return above, counts.picked(above).robust_above(self.threshold).tolist()
        scores = search.scores(counts)
        ranked = np.argsort(-scores, kind="stable")
        best = ranked[: self.top]
        robust_to: Floats = np.ones(len(best))
        if len(ranked) > self.top:
            robust_to = robust_scores(counts, scores, best, int(ranked[self.top]))
        order = np.lexsort((best, -counts.totals[best]))
        return best[order], robust_to[order].tolist()

    def _estimate(self, search: PrefixSearch, counts: Estimate, best: Ints) -> Estimate:
        """Return the counts of the answer.

        Where only the last group knows the values, they keep the law of its votes, which also
        knows the errors of sums.
        """
        values = [search.values[index] for index in best.tolist()]
        last = len(self.lengths) - 1
        if any(value.first != last for value in values):
            return counts.picked(best)
        return search.groups[last].picked(np.array([value.cell for value in values]))

    def candidates(self, collected: Collected, address: Address) -> Blocks | None:
        search = PrefixSearch(collected, self.domain, self.lengths, self.limits)
        while len(search.groups) < address.member and not search.is_over:
            search.ask_group()
        return None if search.is_over or not search.prefixes else search.candidates

    def _details(self, search: PrefixSearch) -> dict[str, Any]:
        return {
            "groups": self.groups,
            "prefix_lengths": list(self.lengths),
            "candidates": search.tested,
            "sensitivity": self._sensitivity(search),
            "candidates_left_out": search.left_out,
        }

    def _sensitivity(self, search: PrefixSearch) -> float:
        """Return the share from which a value stands out in every group until it is known.

        It is the mean over the assumed distribution of the lengths of values.
        """
        levels = []
        for group, candidates in zip(search.groups, search.candidate_counts, strict=True):
            users = group.users / group.noise.inflation  # as few without fakes would see as much
            levels.append(prefixes.sensitivity(group.epsilon, max(candidates, 3), users))
        mean = 0.0
        for bits, chance in self.domain.endings.items():
            known = sum(length < bits for length in self.lengths[: len(levels)])
            mean += chance * max(levels[: known + 1])
        return mean

    def advise(self, users: int, epsilon: float, *, share: float | None = None) -> Advice:
        """Return the share of people who must hold a value for it to be found.

        With a wished ``share`` it says how many users are needed.
        """
        from sottovoce.plans.heavy_hitters.advice import advise_search

        return advise_search(self, users, epsilon, share=share)
