"""The contract of mechanisms, and what a pure mechanism gets for free.

A mechanism randomises one index of a domain on the device and estimates totals at the collector.  A
*pure* mechanism is a randomiser, a ``support`` relation between reports and values, and two
probabilities: p that a report supports its user's value, and q that it supports any one other
value.  The unbiased vote of a report for a value is

    vote = (supports - q) / (p - q)        supports is 1 or 0

and the sum of votes estimates how many users hold the value.  Everything above the mechanisms is
written in votes.

Source: Wang 2021, section 3.2.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import field, fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sottovoce.accounting.blanket import Blanket
from sottovoce.arrays import Bools, Floats, Ints, Longs, Reports, Values, grouped
from sottovoce.core import settings
from sottovoce.core.estimate import Estimate
from sottovoce.core.fake_count import FakeCount
from sottovoce.core.fake_votes import FakeVotes
from sottovoce.core.influence import (
    AnySetInfluence,
    Influence,
    InfluenceLaw,
    SupportInfluence,
)
from sottovoce.core.noise import IndependentNoise, Noise
from sottovoce.core.plausibility import FALSE_ALARM, PairLaw, PlausibilityTest, PublicHash
from sottovoce.core.product_target import ProductTarget
from sottovoce.core.registry import Registry
from sottovoce.core.rng import Rng
from sottovoce.core.tally import Tally
from sottovoce.errors import DomainError, MismatchError, NoDataError, ParameterError
from sottovoce.maths import exact

if TYPE_CHECKING:
    from sottovoce.maths.em import Channel
    from sottovoce.mechanisms.numeric import NumericMechanism

_NO_OUTPUTS = "this needs a mechanism whose tally counts every possible report"
_MAX_PAIRS = 1 << 22  # report-candidate pairs that are in memory together
_MAX_DENSE = 1 << 20  # cells of a product target whose coefficients are listed one by one


def threshold() -> Any:
    """Declare a field for a probability in units of 2^-64; 0 lets the mechanism compute it."""
    return field(default=0, metadata={"threshold": True})


def second_threshold() -> Any:
    """Declare a threshold of an instantaneous response; a document without one leaves it out."""
    return field(default=0, metadata={"threshold": True, "omitted": True})


class Mechanism(ABC):
    """The settings of a randomiser over the indices [0, size)."""

    kind: ClassVar[str]
    kinds: ClassVar[Registry["Mechanism"]] = Registry("mechanism", "sottovoce.mechanisms")

    randomises_numbers: ClassVar[bool] = False  # and so gives a mean instead of counts
    has_seed: ClassVar[bool] = False  # whether a report carries the public seed of its hash
    min_size: ClassVar[int] = 2
    max_size: ClassVar[int] = 1 << 32

    epsilon: float
    size: int

    def __init_subclass__(cls, kind: str = "", *, wire: bool = True, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if kind:
            cls.kind = kind
        if kind and wire:  # mechanisms of the laboratory cannot be named by a document
            Mechanism.kinds.add(kind, cls)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", settings.epsilon("epsilon", self.epsilon))
        settings.whole("size", self.size, self.min_size, self.max_size)
        for name in self._threshold_names():
            settings.whole(name, getattr(self, name), 0, exact.UNIT - 1)
        with exact.sixty_digits():
            self.prepare()
        self._check_ratio()

    def _threshold_names(self) -> list[str]:
        declared = fields(self)  # type: ignore[arg-type]  # every concrete mechanism is a dataclass
        return [setting.name for setting in declared if "threshold" in setting.metadata]

    def _check_ratio(self) -> None:
        # With a ratio below 1 a report would be more likely under other values than under the true
        # one: it reveals as much, and estimates nothing.
        if self.worst_ratio <= 1:
            raise ParameterError(
                "these thresholds estimate nothing: the true value must be more likely than others"
            )
        if exact.log(self.worst_ratio) > exact.stated(self.epsilon):
            raise ParameterError(
                "these thresholds spend more than the stated epsilon: leave them out,"
                " or raise `epsilon`"
            )

    @abstractmethod
    def prepare(self) -> None:
        """Check the settings of this kind, and set missing ones with ``set_default``.

        Decimal operators round to sixty digits here.
        """

    def set_default(self, name: str, value: float) -> None:
        """Give a setting its computed value, unless the document fixed one."""
        if getattr(self, name) == 0:
            object.__setattr__(self, name, value)

    @property
    @abstractmethod
    def worst_ratio(self) -> Fraction:
        """Return the largest ratio of the probabilities of one report under two values.

        It is computed from the integer thresholds, which are exactly what devices use.
        """

    def worst_ratio_of_sample(self, length: int) -> Fraction:
        """Return the worst ratio where no index is drawn with a probability above 1 / length.

        The encoding ``Sample`` draws the index.  A mechanism that gains nothing by it states its
        own ratio: hashing, for instance, may put a whole set into one bucket.
        """
        return self.worst_ratio

    @property
    def epsilon_realised(self) -> float:
        """Return the epsilon that the integer thresholds spend; never above the stated one."""
        return float(exact.log(self.worst_ratio))

    @property
    def epsilon_once(self) -> float | None:
        """Return the epsilon of one report, if it is less than that of all reports of a value."""
        return None

    @property
    def steps(self) -> int:
        """Return how many draws of one report must be made one after another."""
        return 1

    @property
    def blanket(self) -> Blanket:
        """Return the blanket that hides one report among shuffled ones.

        The default is the blanket that every mechanism with this epsilon has.
        """
        return Blanket.generic(self.epsilon)

    @property
    def takes_fakes(self) -> bool:
        """Return whether estimates stay unbiased, with known errors, if there are fakes."""
        return False

    @property
    def has_tally(self) -> bool:
        """Return whether a tally holds all that reports say; otherwise estimates need reports."""
        return True

    @property
    def influence_law(self) -> InfluenceLaw | None:
        """Return the largest influence of one report on the votes; None if no bound is known."""
        return None

    @property
    def influence(self) -> Influence | None:
        """Return the most that one false report adds to the count of one value, or takes from it.

        For a number it is the most that it adds to the sum of all numbers on the scale of [-1, 1].
        """
        law = self.influence_law
        return None if law is None else law.cells(1)[0]

    @property
    def key(self) -> str:
        """Return a name under which tallies of equal mechanisms are added."""
        declared = fields(self)  # type: ignore[arg-type]
        listed = ",".join(f"{setting.name}={getattr(self, setting.name)!r}" for setting in declared)
        return f"{self.kind}({listed})"

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

    def report(self, value: int, rng: Rng) -> bytes:
        """Return the packed report of one person: what ``privatize`` and ``pack`` would give.

        The mechanisms that devices use most draw plain integers here.  These take the same random
        bytes as an array of length one and cost far less.
        """
        return self.pack(self.privatize(np.array([value]), rng))

    def report_seeded(self, value: int, draw: int, rng: Rng) -> bytes:
        """Return the packed report of one person under the seed derived from a number."""
        draws = np.array([draw], np.uint64)
        return self.pack(self.privatize_seeded(np.array([value]), draws, rng))

    def check_value(self, value: int) -> int:
        """Return one value as an index, or refuse it before anything is drawn."""
        if not 0 <= value < self.size:
            raise DomainError(f"every value must be an integer in [0, {self.size})")
        return value

    def draw_blanket(self, count: int, rng: Rng) -> Reports:
        """Return fake reports, which depend on nobody's value: draws from the blanket.

        Where the blanket is not known as a law, a fake is the randomised report of a uniformly
        random value of the domain.
        """
        return self.privatize(rng.integers(self.size, count), rng)

    def draw_uniform(self, count: int, rng: Rng) -> Reports:
        """Return reports that are uniform over all that ``unpack`` accepts."""
        outcomes = self.outcomes()
        return outcomes[rng.integers(len(outcomes), count)]

    def privatize_seeded(self, values: Values, draws: Longs, rng: Rng) -> Reports:
        """Return one randomised report per value, under the seeds derived from given numbers.

        ``draws`` are numbers uniform in [0, 2^64), one per value.  A mechanism without a seed
        ignores them.
        """
        return self.privatize(values, rng)

    def draw_blanket_seeded(self, draws: Longs, rng: Rng) -> Reports:
        """Return one fake report per number, under the seed derived from the number."""
        return self.draw_blanket(len(draws), rng)

    def carries_seeds(self, reports: Reports, draws: Longs) -> Bools:
        """Return for each report whether it has the seed derived from its number, or needs none."""
        return np.ones(len(reports), bool)

    def permanent(self, values: Values, rng: Rng) -> Reports:
        """Return the responses that devices remember for a longitudinal task."""
        return self.privatize(values, rng)

    def instantaneous(self, reports: Reports, rng: Rng) -> Reports:
        """Return the reports sent for remembered responses: by default the responses themselves."""
        return reports

    @abstractmethod
    def pack(self, reports: Reports) -> bytes:
        """Return the reports as bytes, ``width`` bytes each."""

    @abstractmethod
    def unpack(self, data: bytes) -> Reports:
        """Return the reports in some bytes; a report that ``privatize`` cannot make is refused."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Return the bytes of one packed report."""

    @abstractmethod
    def outcomes(self) -> Reports:
        """Return every possible report; of a public coin too wide to list, only a few seeds."""

    def telling_reports(self) -> Reports | None:
        """Return reports among which the worst ratio is attained; None if all must be listed.

        A mechanism with too many outcomes to list states it, so that its likelihood can be checked.
        """
        return None

    @abstractmethod
    def likelihood(self, reports: Reports) -> Floats:
        """Return (reports, size): the probability of each report under each value.

        Where a report has a public coin, it is the probability given the coin.
        """

    @abstractmethod
    def tally(self, reports: Reports) -> Tally:
        """Return the sums that the estimate needs."""

    @abstractmethod
    def estimate(self, tally: Tally) -> Estimate:
        """Return unbiased totals for the whole domain."""

    def output_counts(self, tally: Tally) -> Ints:
        """Return how often each of ``outcomes`` was reported, or refuse if no tally holds it."""
        raise ParameterError(_NO_OUTPUTS)

    @property
    def output_channel(self) -> "Channel":
        """Return the chances of all ``outcomes`` under every value, in a form that decodes fast."""
        raise ParameterError(_NO_OUTPUTS)

    def evidence(self, reports: Reports) -> Tally:
        """Return sums over the part of the reports whose law does not depend on the values.

        They add over batches, and over mechanisms of an equal key.
        """
        return Tally(self.kind, len(reports), {})

    def plausibility(
        self, evidence: Tally, *, fakes: int = 0, alpha: float = FALSE_ALARM
    ) -> tuple[PlausibilityTest, ...]:
        """Return tests of whether honest devices can have sent the reports behind the evidence.

        ``fakes`` of the reports were drawn from the blanket by shufflers.  Each test alarms on
        honest reports with a probability of at most ``alpha``.
        """
        return ()

    @property
    def has_seed_spectrum(self) -> bool:
        """Return whether the evidence tests every pair of values that a seed could promote."""
        return False

    def seed_marks(self, reports: Reports, evidence: Tally) -> Ints:
        """Return how many implausible relations of the evidence each report's seed has.

        They depend on nothing but the seed, so that leaving out reports by them biases nothing.
        """
        return np.zeros(len(reports), np.int64)

    @property
    def seed_count(self) -> int:
        """Return how many public seeds there are: the numbers from 0 up; 0 without a seed."""
        return 0

    def seeds_of(self, reports: Reports) -> Values:
        """Return the public seeds that reports carry, or refuse if they carry none."""
        raise ParameterError("this needs a mechanism whose reports carry a public seed")

    def pure(self) -> "PureMechanism":
        """Return this mechanism as a pure one, whose reports vote for single values, or refuse."""
        raise ParameterError("this needs a pure mechanism, whose reports vote for single values")

    def numeric(self) -> "NumericMechanism":
        """Return this mechanism as a randomiser of numbers, or refuse."""
        raise ParameterError("this needs a mechanism that randomises numbers")

    def check_tally(self, tally: Tally) -> Tally:
        """Return the tally, or refuse an empty one and that of another mechanism."""
        if tally.key != self.key:
            raise MismatchError("this tally was made by another mechanism")
        if tally.users < 1:
            raise NoDataError("no reports have been tallied")
        return tally


class PureMechanism(Mechanism):
    """A mechanism with one p and one q for all values."""

    def output_counts(self, tally: Tally) -> Ints:
        """Return how often each of ``outcomes`` was reported, or refuse if no tally holds it."""
        raise ParameterError(_NO_OUTPUTS)

    @property
    def output_channel(self) -> "Channel":
        """Return the chances of all ``outcomes`` under every value, in a form that decodes fast."""
        raise ParameterError(_NO_OUTPUTS)

    def pure(self) -> "PureMechanism":
        return self

    @property
    @abstractmethod
    def p(self) -> float:
        """Return the probability that a report supports its user's value."""

    @property
    @abstractmethod
    def q(self) -> float:
        """Return the probability that a report supports any one other value."""

    @property
    def share(self) -> float | None:
        """Return the probability that a draw from the blanket supports a given value.

        A mechanism states it if a report has e^epsilon times the probability under the values that
        it supports than under all others, and if ``draw_blanket`` draws from that blanket.  None
        stands for a mechanism that does not state it.
        """
        return None

    @property
    def overlap(self) -> float:
        """Return how likely a blanket draw that supports one value supports another given value.

        Where a report has a public seed, it is the probability over the seeds.
        """
        return 0.0

    @property
    def pair_law(self) -> PairLaw | None:
        """Return how likely a report supports two given values; None where that is not known."""
        return None

    def unrelated(self, candidates: Values) -> Values:
        """Return those of the candidates whose pairs are supported independently of each other."""
        return candidates

    def public_hash(self, reports: Reports, candidates: Values) -> PublicHash | None:
        """Return the buckets of candidates under the seeds of reports; None without a hash."""
        return None

    @property
    def takes_fakes(self) -> bool:
        return self.share is not None

    def fake_votes(self, count: FakeCount) -> FakeVotes:
        """Return the law of the votes that ``count`` fakes add for every value."""
        if self.share is None:
            raise ParameterError(f"the votes of fakes are not known for the mechanism {self.kind}")
        return FakeVotes.of(count, (self.p, self.q), self.share, self.overlap)

    @property
    def blanket(self) -> Blanket:
        # Thresholds may spend less than the stated epsilon.  That is safe: at equal share and
        # overlap, a mechanism of less epsilon is one of more, mixed with draws from the blanket.
        if self.share is None:
            return super().blanket
        return Blanket(self.epsilon, self.share, self.overlap)

    def draw_blanket(self, count: int, rng: Rng) -> Reports:
        if self.share is not None:
            raise NotImplementedError("a mechanism that states `share` must draw its blanket")
        return super().draw_blanket(count, rng)

    def draw_uniform(self, count: int, rng: Rng) -> Reports:
        # The blanket of most pure mechanisms is uniform over all reports; others say so.
        return self.draw_blanket(count, rng)

    def draw_supporting(self, wanted: Values, tries: int, rng: Rng) -> Reports:
        """Return one report per row of ``wanted`` that supports as many of its values as it can.

        An attacker who promotes these values sends such reports.  If a report has a public coin,
        the best of ``tries`` coins is taken.
        """
        best = self.draw_uniform(len(wanted), rng)
        most = self._supported(best, wanted)
        for _ in range(tries - 1):
            reports = self.draw_uniform(len(wanted), rng)
            supported = self._supported(reports, wanted)
            better = supported > most
            best[better] = reports[better]
            most = np.maximum(most, supported)
        return best

    def _supported(self, reports: Reports, wanted: Values) -> Ints:
        """Return how many values of its own row each report supports."""
        columns = [self.supports_own(reports, column) for column in wanted.T]
        return np.asarray(np.sum(columns, axis=0), np.int64)

    def supports_own(self, reports: Reports, values: Values) -> Bools:
        """Return whether each report supports the value at its position."""
        supports = np.zeros(len(reports), bool)
        for value, positions in grouped(values):
            supports[positions] = self.support(reports[positions], np.array([value]))[:, 0]
        return supports

    @abstractmethod
    def support(self, reports: Reports, candidates: Values) -> Bools:
        """Return (reports, candidates): which report supports which candidate."""

    @property
    def noise(self) -> Noise:
        """Return the law of the errors."""
        return IndependentNoise.of(self.p, self.q)

    @property
    def influence(self) -> Influence:
        # One vote for a value, or one against it: devices compute it without listing the domain.
        gap = self.p - self.q
        return Influence((1 - self.q) / gap, self.q / gap)

    @property
    def influence_law(self) -> SupportInfluence:
        return AnySetInfluence(self.p, self.q)

    @property
    def max_supported(self) -> int:
        """Return how many values one report can support together, whichever were chosen.

        Chosen values are in general position: no structure of the reports favours them.
        """
        return self.size

    def mean_supported(self, chosen: int) -> float:
        """Return how many of ``chosen`` values a false report supports on average at the best.

        Its seed is dealt, so that it chooses the rest of the report only; without a seed that is
        the whole report.
        """
        return float(min(chosen, self.max_supported))

    def votes(self, reports: Reports, candidates: Values) -> Floats:
        """Return (reports, candidates): unbiased votes."""
        supports = self.support(reports, candidates)
        return np.asarray((supports - self.q) / (self.p - self.q), np.float64)

    def count(self, reports: Reports, candidates: Values) -> Ints:
        """Return how many reports support each candidate."""
        counts = np.zeros(len(candidates), np.int64)
        for batch in self._batches(reports, len(candidates)):
            counts += np.count_nonzero(self.support(batch, candidates), axis=0)
        return counts

    def tally(self, reports: Reports) -> Tally:
        counts = self.count(reports, np.arange(self.size))
        return Tally(self.key, len(reports), {"support": counts})

    def supports(self, tally: Tally) -> Ints:
        """Return the support counts of the whole domain."""
        return self.check_tally(tally)["support"]

    def estimate(self, tally: Tally) -> Estimate:
        return self.estimate_counts(self.supports(tally), tally.users)

    def estimate_among(self, reports: Reports, candidates: Values) -> Estimate:
        """Return totals for chosen candidates, straight from the reports."""
        estimate = self.estimate_counts(self.count(reports, candidates), len(reports))
        return replace(estimate, noise=self.noise.among())

    def count_blocks(self, reports: Reports, prefixes: Sequence[int], extension: int) -> Ints:
        """Return (prefixes, 2^extension): how many reports support each extension of a prefix."""
        raise ParameterError("this mechanism cannot search for values prefix by prefix")

    def estimate_blocks(
        self, reports: Reports, prefixes: Sequence[int], extension: int
    ) -> Estimate:
        """Return totals for every extension by ``extension`` bits of every prefix, in order."""
        counts = self.count_blocks(reports, prefixes, extension).ravel()
        estimate = self.estimate_counts(counts, len(reports))
        return replace(estimate, noise=self.noise.among())

    def estimate_counts(self, counts: Ints, users: int) -> Estimate:
        """Return unbiased totals from support counts, equation 3.1."""
        # sum of votes = (count - n q) / (p - q)
        votes = np.asarray((counts - users * self.q) / (self.p - self.q), np.float64)
        return Estimate(votes, self.noise, users, self.epsilon, law=self.influence_law)

    def score(self, reports: Reports, coefficients: Floats) -> Floats:
        """Return one unbiased vote per report for a linear target over the whole domain."""
        return self.score_among(reports, np.arange(self.size), coefficients)

    def score_among(self, reports: Reports, candidates: Values, coefficients: Floats) -> Floats:
        """Return one unbiased vote per report for a linear target over some values."""
        batches = self._batches(reports, len(candidates))
        sums = np.concatenate([self.support(batch, candidates) @ coefficients for batch in batches])
        return np.asarray((sums - self.q * coefficients.sum()) / (self.p - self.q))

    def score_terms(self, reports: Reports, target: ProductTarget) -> Floats:
        """Return one unbiased vote per report for a sum of products over the axes of a grid."""
        if target.size <= _MAX_DENSE:
            return self.score(reports, target.dense(self.size))
        return self.score_among(reports, *target.listed())

    def _batches(self, reports: Reports, candidate_count: int) -> list[Reports]:
        step = max(1, _MAX_PAIRS // max(candidate_count, 1))
        starts = range(0, max(len(reports), 1), step)
        return [reports[start : start + step] for start in starts]
