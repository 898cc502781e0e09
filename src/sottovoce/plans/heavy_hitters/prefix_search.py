"""One search: prefixes are followed from group to group, and values leave it once they are known.

In every group the candidates are all extensions of the followed prefixes.  A prefix is followed if
it stands out of the noise of its group, or is among the first ``kept``.  The same holds for a
complete value, which is not extended any more but counted in every later group.  A candidate stands
out if its votes exceed the level that about one candidate without holders is expected to reach.

A value with a rare prefix is therefore followed as long as its own count stands out: frequent
prefixes do not displace it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from math import sqrt

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints
from sottovoce.core.estimate import Estimate
from sottovoce.domains.bits import Bits
from sottovoce.domains.strings import Strings
from sottovoce.maths.hashing import indices_of
from sottovoce.maths.normal import upper_quantile
from sottovoce.plans.heavy_hitters.pooling import pooled_estimate
from sottovoce.tasks.collected import Blocks, Collected
from sottovoce.tasks.question import Address

_RANKED_AT_ONCE = 4096


@dataclass(frozen=True)
class SearchLimits:
    """Limits of the prefixes that a search follows.

    A search follows the first ``kept`` prefixes, the first ``values`` known values, and all others
    that stand out of the noise, up to ``max_prefixes``.  With a ``threshold`` it follows everything
    above that share instead.
    """

    kept: int
    values: int
    max_prefixes: int
    threshold: float = 0.0


@dataclass(frozen=True)
class KnownValue:
    """A value that is known whole: from which group on, and its votes in each of them.

    ``cell`` is its index among the candidates of that group, and ``tested`` how many of them were
    whole values.  ``raw_votes`` are those before a correction of reports.  ``robust_to`` is the
    share of false reports below which it would have been found without them.
    """

    number: int
    first: int
    cell: int
    tested: int
    votes: tuple[float, ...]
    raw_votes: tuple[float, ...]
    robust_to: float


@dataclass(frozen=True, eq=False)
class Followed:
    """Candidates of one group that are followed, the most frequent first."""

    cells: Ints
    robust_to: Floats
    was_cut: bool  # whether more could have been followed


@dataclass(eq=False)
class PrefixSearch:
    """The state of a search between two groups."""

    collected: Collected
    domain: Bits | Strings
    lengths: tuple[int, ...]  # of the prefixes of every group
    limits: SearchLimits
    prefixes: dict[int, float] = field(default_factory=lambda: {0: 1.0})  # with their robustness
    values: list[KnownValue] = field(default_factory=list)
    groups: list[Estimate] = field(default_factory=list)
    candidate_counts: list[int] = field(default_factory=list)  # of every group
    tested: int = 0
    left_out: bool = False

    @property
    def candidates(self) -> Blocks:
        """Return the candidates of the next group."""
        group = len(self.groups)
        shorter = self.lengths[group - 1] if group else 0
        return Blocks(tuple(sorted(self.prefixes)), self.lengths[group] - shorter)

    @property
    def is_over(self) -> bool:
        """Return whether all groups were asked, or nothing is left to follow."""
        nothing_left = not self.prefixes and not self.values
        return nothing_left or len(self.groups) == len(self.lengths)

    def ask_group(self) -> None:
        """Look at the reports of the next group."""
        address = Address(0, len(self.groups))
        length = self.lengths[address.member]
        blocks = self.candidates
        self.candidate_counts.append(len(blocks))
        counted = self._count_values(address, length) if self.values else None
        if not len(blocks):
            assert counted is not None
            self.groups.append(counted)
            return
        estimate = self.collected.estimate(address, blocks)
        finished = self.domain.finished(blocks.prefixes, blocks.extension, length)
        self._learn_values(estimate, blocks, finished)
        self._extend(estimate, blocks, ~finished)
        self.groups.append(estimate)
        if len(self.values) > self.limits.values and not self.limits.threshold:
            self._leave_out_values()

    def _count_values(self, address: Address, length: int) -> Estimate:
        """Return the votes of a group for the known values, which are added to theirs."""
        unasked = self.domain.bits - length
        numbers = [value.number >> unasked for value in self.values]
        estimate = self.collected.estimate(address, indices_of(numbers, length))
        raw = estimate.raw or estimate
        added = zip(self.values, estimate.votes.tolist(), raw.votes.tolist(), strict=True)
        self.values = [
            replace(value, votes=(*value.votes, vote), raw_votes=(*value.raw_votes, raw_vote))
            for value, vote, raw_vote in added
        ]
        return estimate

    def _learn_values(self, estimate: Estimate, blocks: Blocks, finished: Bools) -> None:
        """Add the values that this group is the first to know whole."""
        tested = int(np.count_nonzero(finished))
        if not tested:
            return
        self.tested += tested
        group = len(self.groups)
        length = self.lengths[group]
        followed = self._followed(estimate, blocks, finished, self.limits.values)
        self.left_out |= followed.was_cut
        raw = estimate.raw or estimate
        for cell, robust_to in zip(followed.cells.tolist(), followed.robust_to, strict=True):
            number = blocks[cell]
            value = KnownValue(
                number=number << (self.domain.bits - length),
                first=group,
                cell=cell,
                tested=tested,
                votes=(float(estimate.votes[cell]),),
                raw_votes=(float(raw.votes[cell]),),
                robust_to=min(float(robust_to), self.prefixes[number >> blocks.extension]),
            )
            self.values.append(value)

    def _extend(self, estimate: Estimate, blocks: Blocks, unfinished: Bools) -> None:
        """Replace the prefixes by their extensions that are followed."""
        followed = self._followed(estimate, blocks, unfinished, self.limits.kept)
        self.left_out |= followed.was_cut
        self.prefixes = {
            blocks[cell]: min(float(robust_to), self.prefixes[blocks[cell] >> blocks.extension])
            for cell, robust_to in zip(followed.cells.tolist(), followed.robust_to, strict=True)
        }

    def _followed(self, estimate: Estimate, blocks: Blocks, allowed: Bools, kept: int) -> Followed:
        """Return which of the allowed candidates are followed, and how robust that is."""
        cells = np.flatnonzero(allowed)
        if not len(cells):
            return Followed(cells, np.zeros(0), was_cut=False)
        length = self.lengths[len(self.groups)]
        ranked = (
            cell
            for cell in ranked_cells(estimate.votes, cells)
            if self.domain.possible(blocks[cell], length)
        )
        if self.limits.threshold:
            return self._above_threshold(estimate, ranked)
        level = noise_level(estimate, len(cells))
        best = list(islice(ranked, kept + 1))
        rival = best[kept] if len(best) > kept else None
        standing_out = [cell for cell in best[kept:] if estimate.votes[cell] > level]
        if standing_out:
            room = max(0, self.limits.max_prefixes - kept - 1)
            for cell in islice(ranked, room):
                if estimate.votes[cell] <= level:
                    break
                standing_out.append(cell)
        chosen = np.array([*best[:kept], *standing_out], np.int64)
        robust_to = estimate.picked(chosen).robust_above(level / estimate.users)
        first = chosen[:kept]
        ahead = np.ones(len(first)) if rival is None else estimate.robust_ahead(first, rival)
        robust_to[: len(first)] = np.maximum(robust_to[: len(first)], ahead)
        return Followed(chosen, robust_to, was_cut=False)

    def _above_threshold(self, estimate: Estimate, ranked: Iterator[int]) -> Followed:
        """Return the candidates above the threshold, as many as may be followed."""
        most = self.limits.max_prefixes
        chosen: list[int] = []
        rival = None
        for cell in ranked:
            if estimate.votes[cell] <= self.limits.threshold * estimate.users:
                break
            if len(chosen) == most:
                rival = cell
                break
            chosen.append(cell)
        cells = np.array(chosen, np.int64)
        robust_to = estimate.picked(cells).robust_above(self.limits.threshold)
        if rival is not None and len(cells):
            robust_to = np.minimum(robust_to, estimate.robust_ahead(cells, rival))
        return Followed(cells, robust_to, was_cut=len(chosen) == most)

    def _leave_out_values(self) -> None:
        """Keep the values with the best scores; of equal ones the first come first."""
        self.values.sort(key=lambda value: value.number)
        counts = self.counts()
        scores = self.scores(counts)
        order = np.argsort(-scores, kind="stable")
        best = order[: self.limits.values]
        robust_to = robust_scores(counts, scores, best, int(order[self.limits.values]))
        self.values = [
            replace(self.values[index], robust_to=min(self.values[index].robust_to, share))
            for index, share in zip(best.tolist(), robust_to.tolist(), strict=True)
        ]

    def counts(self) -> Estimate:
        """Return how many people hold each known value, from all groups so far that know it."""
        first = np.array([value.first for value in self.values])
        votes = self._aligned([value.votes for value in self.values])
        counts = pooled_estimate(votes, first, self.groups)
        if any(group.raw for group in self.groups):
            raw_votes = self._aligned([value.raw_votes for value in self.values])
            raw_groups = [group.raw or group for group in self.groups]
            steps = dict.fromkeys(step for group in self.groups for step in group.steps)
            raw = pooled_estimate(raw_votes, first, raw_groups)
            counts = replace(counts, raw=raw, steps=tuple(steps))
        return replace(counts, tested=self.tested)

    def scores(self, counts: Estimate) -> Floats:
        """Return by how much each count exceeds the level that noise alone is expected to reach.

        Values that few groups counted have larger errors.  Without this correction, the noise of
        the last group would be ranked before frequent values.
        """
        raw = counts.raw or counts
        unheld = np.sqrt(raw.noise.variances(np.zeros(len(self.values)), raw.users))
        quantiles = [_noise_quantile(value.tested) for value in self.values]
        return np.asarray(counts.totals - np.array(quantiles) * unheld)

    def _aligned(self, votes: Sequence[tuple[float, ...]]) -> Floats:
        """Return (groups, values): votes, 0 before the first group of a value."""
        table = np.zeros((len(self.groups), len(self.values)))
        for index, (value, column) in enumerate(zip(self.values, votes, strict=True)):
            table[value.first :, index] = column
        return table


def ranked_cells(votes: Floats, cells: Ints) -> Iterator[int]:
    """Yield cells from the most votes to the fewest; of equal ones the first come first.

    Few of them are ever needed, so that they are sorted in parts.

    >>> list(ranked_cells(np.array([1.0, 3.0, 2.0, 3.0]), np.array([0, 1, 3])))
    [1, 3, 0]
    """
    left = cells
    while len(left):
        own = votes[left]
        lowest = -np.inf
        if len(left) > _RANKED_AT_ONCE:
            lowest = np.partition(own, -_RANKED_AT_ONCE)[-_RANKED_AT_ONCE]
        part = left[own >= lowest]
        yield from part[np.argsort(-votes[part], kind="stable")].tolist()
        left = left[own < lowest]


def noise_level(estimate: Estimate, candidates: int) -> float:
    """Return the votes that about one of ``candidates`` values without holders reaches."""
    raw = estimate.raw or estimate
    unheld = float(raw.noise.variances(np.zeros(1), raw.users)[0])
    return _noise_quantile(candidates) * sqrt(unheld)


def robust_scores(counts: Estimate, scores: Floats, chosen: Ints, rival: int) -> Floats:
    """Return the share of false reports up to which each chosen value is ranked before a rival."""
    influence = counts.influence
    if influence is None:
        return np.zeros(len(chosen))
    moved = influence.up[chosen] + influence.down[rival]
    lead = scores[chosen] - scores[rival]
    return np.asarray(np.clip(lead / (counts.population * moved), 0.0, 1.0))


def _noise_quantile(candidates: int) -> float:
    return upper_quantile(1 / max(candidates, 2))
