"""The largest estimates at an address: the values that false reports may have promoted.

Everything that the tests of supports need is gathered here once: which values they are, how many
reports support each and each pair, and where the public hashes put them.
"""

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints, Reports, Values
from sottovoce.core.plausibility import PublicHash
from sottovoce.mechanisms.base import PureMechanism

MAX_CANDIDATES = 32
# Values that add more than this part of all reports to their supporters are not suspected of loads.
# The largest estimates are chosen by their noise.  Beside a very common value that choice alone
# would look like an attraction of both.
MAX_HELD = 0.1
_REPORTS_AT_ONCE = 1 << 16


@dataclass(frozen=True, eq=False)
class Candidates:
    """The largest estimates of some reports, the largest first."""

    mechanism: PureMechanism
    values: Values
    users: int
    pairs: Floats  # (values, values): reports that support both; the diagonal is single support
    hashed: PublicHash | None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def shares(self) -> Floats:
        """Return the estimated share of users who hold each value."""
        p, q = self.mechanism.p, self.mechanism.q
        return np.asarray((self.pairs.diagonal() / self.users - q) / (p - q))

    @property
    def deviation(self) -> float:
        """Return the standard error of the share of a value that nobody holds."""
        p, q = self.mechanism.p, self.mechanism.q
        return sqrt(q * (1 - q) / self.users) / (p - q)

    @property
    def covers_domain(self) -> bool:
        """Return whether every value is a candidate."""
        return len(self) == self.mechanism.size

    @property
    def common(self) -> Bools:
        """Return for every candidate whether too many people hold it for it to be a suspect."""
        gain = self.mechanism.p - self.mechanism.q
        return np.asarray(self.shares * gain > MAX_HELD)

    def sampled(self, count: int) -> "Candidates":
        """Return the same candidates with a sample of the reports.

        Every n-th report is taken, because false reports may lie next to each other.
        """
        if self.hashed is None or self.users <= 2 * count:
            return self
        step = -(-self.users // count)
        part = self.hashed.every(step)
        supports = (part.table == np.asarray(part.answers)[:, None]).astype(np.float32)
        pairs = (supports.T @ supports).astype(np.float64)
        return Candidates(self.mechanism, self.values, len(part.answers), pairs, part)

    def above(self, deviations: float) -> Bools:
        """Return which candidates exceed the noise by ``deviations`` standard errors."""
        return np.asarray(self.shares > deviations * self.deviation)


def gather(mechanism: PureMechanism, reports: Reports, values: Values) -> Candidates:
    """Return the candidates for some values, with their supports in the reports."""
    pairs = np.zeros((len(values), len(values)))
    tables = []
    for start in range(0, len(reports), _REPORTS_AT_ONCE):
        batch = reports[start : start + _REPORTS_AT_ONCE]
        hashed = mechanism.public_hash(batch, values)
        if hashed is None:
            supports = mechanism.support(batch, values)
        else:
            tables.append(_narrowed(hashed))
            supports = hashed.table == np.asarray(hashed.answers)[:, None]
        counted = supports.astype(np.float32)  # sums below 2^24 are exact
        pairs += counted.T @ counted
    return Candidates(mechanism, values, len(reports), pairs, _joined(tables))


def largest(votes: Floats, count: int = MAX_CANDIDATES) -> Ints:
    """Return the indices of the largest votes, the largest first."""
    chosen = np.argpartition(-votes, count)[:count] if len(votes) > count else np.arange(len(votes))
    return np.asarray(chosen[np.argsort(-votes[chosen], kind="stable")])


def _joined(parts: list[PublicHash]) -> PublicHash | None:
    if not parts:
        return None
    table = np.concatenate([part.table for part in parts])
    answers = np.concatenate([part.answers for part in parts])
    return replace(parts[0], table=table, answers=answers)


def _narrowed(part: PublicHash) -> PublicHash:
    """Return the same in two bytes a number: there is one for every report and candidate."""
    table = part.table.astype(np.uint16, copy=False)
    return replace(part, table=table, answers=np.asarray(part.answers, np.uint16))
