"""PEM, the prefix extending method: the most frequent of values too many to list.

Every group of users reports a longer prefix of its value than the one before.  The collector estimates all prefixes of
the first group, keeps the most frequent, extends them by every continuation and estimates those from the next group,
until whole values remain.  Users report once and all at the same time; only the collector goes from group to group.

Source: Wang 2021, chapter 4.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.answers.answer import Answer
from sottovoce.arrays import Ints
from sottovoce.core.estimate import Estimate
from sottovoce.domains.base import Domain
from sottovoce.domains.bits import Bits
from sottovoce.domains.strings import Strings
from sottovoce.encodings.segment import Segment
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.plans.heavy_hitters import prefixes
from sottovoce.tasks.advice import Advice
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collected import Blocks, Collected
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round

MOST_KEPT = 4096  # prefixes above a threshold that are followed
MOST_CANDIDATES = 1 << 24  # estimated in all: the counts of a group must fit in memory


@dataclass(frozen=True, init=False)
class HeavyHitters(Plan, kind="pem"):
    """Find the ``top`` values, or all that more than a share ``threshold`` of people hold.

    Fewer groups lose fewer values; by default there are as few as a budget of ``queries`` candidates allows.  One bit
    to a group is the published PEM1.

    >>> HeavyHitters(Strings(20)).lengths[:4]
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
        if not isinstance(domain, (Bits, Strings)):
            raise ParameterError("heavy hitters are sought among values of some bits or texts of some bytes")
        if any(type(number) is not int for number in (top, groups, queries)):
            raise ParameterError("values sought, groups and queries are whole numbers")
        if not 1 <= top <= MOST_KEPT or not 0 <= threshold < 1:
            raise ParameterError(f"from 1 to {MOST_KEPT} values are sought, or those above a share from 0 to 1")
        if threshold and threshold < 1 / MOST_KEPT:
            raise ParameterError(f"a threshold is at least 1/{MOST_KEPT}")
        settings = {"domain": domain, "top": top, "threshold": float(threshold), "groups": groups, "queries": queries}
        for name, setting in settings.items():
            object.__setattr__(self, name, setting)
        if not groups:
            object.__setattr__(self, "groups", prefixes.fewest_groups(domain.bits, self.kept, queries))
        if prefixes.queries(domain.bits, self.kept, self.groups) > MOST_CANDIDATES:
            raise ParameterError("so few groups leave more candidates than can be decoded")

    @property
    def kept(self) -> int:
        """Return how many prefixes are followed: with a threshold at most as many as could lie above it."""
        most = int(1 / self.threshold) if self.threshold else self.top
        return min(max(most, 2), self.domain.size)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Return the bits of the prefixes: those that need no question, then those of every group."""
        return prefixes.lengths(self.domain.bits, self.kept, self.groups)

    def step(self, collected: Collected) -> Round | Answer:
        if not collected.rounds:
            return Round(0, Choice(tuple(self._question(collected.epsilon, length) for length in self.lengths[1:])))
        return self._found(collected)

    def _question(self, epsilon: float, length: int) -> Question:
        return Question(AffinePrefix(epsilon, 1 << length), Segment(self.domain.bits, 0, length))

    def _found(self, collected: Collected) -> Answer:
        kept: tuple[int, ...] = (0,)
        shorter, full = 0, False
        for group, length in enumerate(self.lengths[1:]):
            blocks = Blocks(kept, length - shorter)
            estimate = collected.estimate(Address(0, group), blocks)
            places = self._places(estimate, blocks, group)
            full |= bool(self.threshold) and len(places) == self._most(group)
            kept, shorter = tuple(sorted(blocks[place] for place in places)), length
        labels = tuple(self.domain.shown(blocks[place]) for place in places)
        details = {**self._facts(len(blocks), estimate), "candidates_left_out": full}
        return Answer("heavy hitters", labels, estimate.picked(np.array(places)), "affine_prefix", details=details)

    def _places(self, estimate: Estimate, blocks: Blocks, group: int) -> list[int]:
        """Return where the candidates stand that are kept, most frequent first; of equal ones the first."""
        order, length = _descending(estimate), self.lengths[group + 1]
        if self.threshold:
            order = order[estimate.frequencies[order] > self.threshold]
        possible = (place for place in order.tolist() if self.domain.possible(blocks[place], length))
        places = [place for place, _ in zip(possible, range(self._most(group)), strict=False)]
        if not places:
            raise NoDataError("no value is as frequent as the threshold")
        return places

    def _most(self, group: int) -> int:
        """Return how many candidates of a group are kept at the most."""
        last = group == self.groups - 1
        if not self.threshold:
            return self.top if last else self.kept
        extension = 0 if last else self.lengths[group + 2] - self.lengths[group + 1]
        return min(MOST_KEPT, MOST_CANDIDATES >> extension)

    def _facts(self, candidates: int, last: Estimate) -> dict[str, Any]:
        unheld = max(candidates - self.kept, 2)
        return {
            "groups": self.groups,
            "prefix_lengths": list(self.lengths),
            "candidates": candidates,
            "sensitivity": prefixes.sensitivity(last.epsilon, unheld, last.users),
        }

    @property
    def methods(self) -> tuple[str, ...]:
        """Return the methods for candidates: their shares do not sum to 1."""
        from sottovoce.postprocess.apply import methods

        return ("none", *methods(whole_domain=False, equal_errors=False))

    def advise(self, users: int, epsilon: float, *, share: float | None = None) -> Advice:
        """Return what share of people must hold a value for it to be found; ``share`` asks for users."""
        from sottovoce.plans.itemsets.search_advice import advise_values

        return advise_values(users, self.domain.bits, epsilon, top=self.top, share=share)

    def sought(self, values: Any) -> dict[str, int]:
        counts = self.domain.counts(self.domain.indices(values))
        ranked = sorted(counts.items(), key=lambda entry: -entry[1])
        if not self.threshold:
            return dict(ranked[: self.top])
        people = sum(counts.values())
        return {label: count for label, count in ranked if count > self.threshold * people}


def pem1(domain: Bits | Strings, top: int = 16, *, threshold: float = 0.0) -> HeavyHitters:
    """Return the plan that adds one bit with every group: the published baseline."""
    whole = HeavyHitters(domain, top, threshold=threshold)
    return HeavyHitters(domain, top, threshold=threshold, groups=max(1, domain.bits - whole.lengths[0]))


def _descending(estimate: Estimate) -> Ints:
    return np.argsort(-estimate.votes, kind="stable")
