"""The contract of every randomiser, and what a pure one gets for free.

A *pure* mechanism is a randomiser, a ``support`` relation and two probabilities: ``p`` that a report
supports its user's value, ``q`` that it supports any other.  A report's unbiased vote for a value is
``(supports - q) / (p - q)``; everything above is written in votes.

Source: Wang 2021, section 3.2.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import field, fields, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints, Reports, Values
from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import IndependentNoise, Noise
from sottovoce.core.registry import Registry
from sottovoce.core.rng import Rng
from sottovoce.core.tally import Tally
from sottovoce.errors import DomainError, MismatchError, NoDataError, ParameterError
from sottovoce.maths import exact

_PAIRS_AT_ONCE = 1 << 22  # report-candidate pairs materialised together


def threshold() -> Any:
    """Declare a field that holds a probability as an integer of 2^64; 0 lets the mechanism compute it."""
    return field(default=0, metadata={"threshold": True})


class Mechanism(ABC):
    """Frozen parameters of a randomiser over the indices [0, size)."""

    kind: ClassVar[str]
    kinds: ClassVar[Registry["Mechanism"]] = Registry("mechanism", "sottovoce.mechanisms")

    smallest: ClassVar[int] = 2
    largest: ClassVar[int] = 1 << 32

    epsilon: float
    size: int

    def __init_subclass__(cls, kind: str = "", *, wire: bool = True, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if kind:
            cls.kind = kind
            if wire:  # mechanisms of the laboratory cannot be named by a document
                Mechanism.kinds.add(kind, cls)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exact.check_epsilon(self.epsilon))
        if isinstance(self.size, bool) or not isinstance(self.size, int):
            raise ParameterError("the size of a domain is a whole number")
        if not self.smallest <= self.size <= self.largest:
            raise ParameterError(f"this mechanism serves from {self.smallest} to {self.largest} values")
        self.prepare()
        self._refuse_excess()

    def _refuse_excess(self) -> None:
        settings = [getattr(self, one.name) for one in fields(self) if "threshold" in one.metadata]  # type: ignore[arg-type]
        if not all(0 <= setting < exact.UNIT for setting in settings):
            raise ParameterError("a threshold is a whole number from 1 to 2^64 - 1")
        # A ratio of at most 1 would mean a randomiser that prefers lies: it tells as much, and estimates nothing.
        if self.worst_ratio <= 1 or exact.log(self.worst_ratio) > exact.stated(self.epsilon):
            raise ParameterError("these thresholds reveal nothing, or spend more than the stated epsilon")

    @abstractmethod
    def prepare(self) -> None:
        """Fill the fields that follow from the others, with ``settle``."""

    def settle(self, name: str, default: float) -> None:
        """Give a field its computed value unless the document fixed one."""
        if getattr(self, name) == 0:
            object.__setattr__(self, name, default)

    @property
    @abstractmethod
    def worst_ratio(self) -> Fraction:
        """Return the largest ratio of the chances of one report under two values, from the integers."""

    @property
    def epsilon_realised(self) -> float:
        """Return the epsilon that the integer thresholds really spend; never above the stated one."""
        return float(exact.log(self.worst_ratio))

    @property
    def summable(self) -> bool:
        """Return whether a tally holds all that reports say; else estimates need the reports."""
        return True

    @property
    def key(self) -> str:
        """Return a name under which tallies of equal mechanisms meet."""
        settings = ",".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self))  # type: ignore[arg-type]
        return f"{self.kind}({settings})"

    def check(self, values: Values) -> Values:
        """Return the values as indices, or refuse them before anything is drawn."""
        values = np.asarray(values)
        if values.ndim != 1:
            raise DomainError("values must be a flat array of domain indices")
        if not len(values):
            raise NoDataError("there are no values to randomise")
        if values.dtype.kind not in "iu" or int(values.min()) < 0 or int(values.max()) >= self.size:
            raise DomainError(f"every value must be an integer in [0, {self.size})")
        return values.astype(np.int64, copy=False)

    @abstractmethod
    def privatize(self, values: Values, rng: Rng) -> Reports:
        """Return one randomised report per value."""

    def permanent(self, values: Values, rng: Rng) -> Reports:
        """Return the responses that devices remember for a longitudinal task."""
        return self.privatize(values, rng)

    def instantaneous(self, reports: Reports, rng: Rng) -> Reports:
        """Return what is sent of remembered responses; most mechanisms send them as they are."""
        return reports

    @abstractmethod
    def pack(self, reports: Reports) -> bytes:
        """Return the reports as bytes, each of ``width``."""

    @abstractmethod
    def unpack(self, data: bytes) -> Reports:
        """Return the reports in the bytes; refuses what ``privatize`` cannot make."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Return the bytes of one packed report."""

    @abstractmethod
    def outcomes(self) -> Reports:
        """Return every report that can be made; a public coin too wide to list is fixed at a few seeds."""

    @abstractmethod
    def likelihood(self, reports: Reports) -> Floats:
        """Return (reports, size): the chance of each report under each value, given its public coin."""

    @abstractmethod
    def tally(self, reports: Reports) -> Tally:
        """Return the sums that the estimate needs."""

    @abstractmethod
    def estimate(self, tally: Tally) -> Estimate:
        """Return unbiased totals for the whole domain."""

    def check_tally(self, tally: Tally) -> Tally:
        """Return the tally, or refuse another mechanism's and an empty one."""
        if tally.key != self.key:
            raise MismatchError("this tally was made by another mechanism")
        if tally.users < 1:
            raise NoDataError("no reports have been tallied")
        return tally


class PureMechanism(Mechanism):
    """A mechanism with one p and one q for all values."""

    @property
    @abstractmethod
    def p(self) -> float:
        """Return the chance that a report supports its user's value."""

    @property
    @abstractmethod
    def q(self) -> float:
        """Return the chance that a report supports any one other value."""

    @abstractmethod
    def support(self, reports: Reports, candidates: Values) -> Bools:
        """Return (reports, candidates): which report supports which candidate."""

    @property
    def noise(self) -> Noise:
        """Return the law of the errors."""
        return IndependentNoise.of(self.p, self.q)

    def votes(self, reports: Reports, candidates: Values) -> Floats:
        """Return (reports, candidates): unbiased votes."""
        return np.asarray((self.support(reports, candidates) - self.q) / (self.p - self.q), np.float64)

    def count(self, reports: Reports, candidates: Values) -> Ints:
        """Return how many reports support each candidate."""
        counts = np.zeros(len(candidates), np.int64)
        for batch in self._batches(reports, len(candidates)):
            counts += np.count_nonzero(self.support(batch, candidates), axis=0)
        return counts

    def tally(self, reports: Reports) -> Tally:
        return Tally(self.key, len(reports), {"support": self.count(reports, np.arange(self.size))})

    def supports(self, tally: Tally) -> Ints:
        """Return the support counts of the whole domain."""
        return self.check_tally(tally)["support"]

    def estimate(self, tally: Tally) -> Estimate:
        return self.estimate_counts(self.supports(tally), tally.users)

    def estimate_among(self, reports: Reports, candidates: Values) -> Estimate:
        """Return totals for chosen candidates, straight from the reports."""
        estimate = self.estimate_counts(self.count(reports, candidates), len(reports))
        return replace(estimate, noise=self.noise.among())

    def estimate_blocks(self, reports: Reports, prefixes: Sequence[int], extension: int) -> Estimate:
        """Return totals for every extension by some bits of every prefix, prefix by prefix."""
        raise ParameterError("this mechanism does not look for values prefix by prefix")

    def estimate_counts(self, counts: Ints, users: int) -> Estimate:
        """Return unbiased totals from support counts, equation 3.1."""
        votes = np.asarray((counts - users * self.q) / (self.p - self.q), np.float64)
        return Estimate(votes, self.noise, users, self.epsilon)

    def score(self, reports: Reports, coefficients: Floats) -> Floats:
        """Return one unbiased vote per report for a whole linear target over the domain."""
        return self.score_among(reports, np.arange(self.size), coefficients)

    def score_among(self, reports: Reports, candidates: Values, coefficients: Floats) -> Floats:
        """Return one unbiased vote per report for a linear target over some values."""
        batches = self._batches(reports, len(candidates))
        raw = np.concatenate([self.support(batch, candidates) @ coefficients for batch in batches])
        return np.asarray((raw - self.q * coefficients.sum()) / (self.p - self.q))

    def _batches(self, reports: Reports, candidates: int) -> list[Reports]:
        step = max(1, _PAIRS_AT_ONCE // max(candidates, 1))
        return [reports[start : start + step] for start in range(0, max(len(reports), 1), step)]
