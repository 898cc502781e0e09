"""Shuffled reports beside the paper and beside a trusted curator, by formula and by simulation.

``python -m sottovoce.lab.experiments.shuffling`` prints the page that is kept in
``docs/evidence/shuffling.md``.

For every domain, number of people and central epsilon the chooser of the product picks a mechanism,
with and without a cap on the local epsilon.  *Published* is the least error of SOLH, SH, RAP and
AUE under the bounds of the paper.  The simulation draws collections by the law of the counts: the
joint law for direct response, the law of each single count for affine response.

Source: Wang 2021, chapter 9.
"""

from dataclasses import dataclass
from functools import cache
from math import sqrt

import numpy as np

from sottovoce.accounting.batch import ShuffledBatch
from sottovoce.accounting.targets import MAX_LOCAL, CentralTarget
from sottovoce.arrays import Bools, Ints
from sottovoce.core.estimate import Estimate
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.shuffle_bounds.solh import PublishedTarget
from sottovoce.lab.baselines.shuffled.affine import ShuffledAffine
from sottovoce.lab.baselines.shuffled.base import PublishedClaim, PureOracle
from sottovoce.lab.baselines.shuffled.direct import DirectReports
from sottovoce.lab.baselines.shuffled.methods import METHODS
from sottovoce.lab.populations.zipf import zipf
from sottovoce.maths.normal import quantile
from sottovoce.plans.shuffled_choice import ShuffledChoice, Yardsticks, choose_shuffled

DELTA = 1e-9
SIZES = (1024, 65_536)
USERS = (10**5, 10**6)
EPSILONS = (0.1, 0.25, 0.5, 1.0)
NO_CAP = 14.0
CAPS = (NO_CAP, 8.0, MAX_LOCAL)
PUBLISHED = ("SOLH", "SH", "RAP", "AUE")  # all that promise against replacing a value
MAX_OF_PUBLISHED = 1 / 7
MAX_OF_GAUSSIAN = 3.0
SIMULATED_CELLS = 400_000  # of all collections together, at the least
LEVEL = 0.95
_ORACLES: dict[str, type[PureOracle]] = {"grr": DirectReports, "affine": ShuffledAffine}


@dataclass(frozen=True)
class HistogramCase:
    """A histogram that is asked for: values, people, and what the collector may learn."""

    size: int
    users: int
    epsilon: float

    @property
    def truth(self) -> Ints:
        """Return how many people hold each value: shares fall as 1 / rank."""
        return zipf(self.size, self.users, exponent=1.0)

    def published(self) -> "BestPublished":
        """Return the best method of the paper; plain reports where none is amplified."""
        target = PublishedTarget(self.epsilon, self.users, DELTA)
        methods = []
        for name in PUBLISHED:
            try:
                method = METHODS[name](target, self.size)
            except ParameterError:  # the method's own claim does not cover this target
                continue
            local = method.claim.local if method.claim else None
            methods.append(BestPublished(name, method.mse(self.truth), local))
        return min(methods, key=lambda method: method.mse)


@dataclass(frozen=True)
class BestPublished:
    """A method of the paper: its error, and its local epsilon if it has one."""

    name: str
    mse: float
    local: float | None

    def __str__(self) -> str:
        local = "no local guarantee" if self.local is None else f"local {self.local:.2f}"
        return f"{self.name} {self.mse:.2g}, {local}"


@dataclass(frozen=True)
class ComparedChoice:
    """One case under one cap: the chosen mechanism beside the paper and the curator."""

    case: HistogramCase
    choice: ShuffledChoice
    published: BestPublished
    gaussian: float

    @property
    def of_published(self) -> float:
        """Return our error as a part of the best published one."""
        return self.choice.mse / self.published.mse

    @property
    def of_gaussian(self) -> float:
        """Return our error as a multiple of the curator's."""
        return self.choice.mse / self.gaussian

    @property
    def meets(self) -> bool:
        """Return whether the error is at most a seventh of the paper's, and three times the
        curator's.
        """
        near_curator = self.of_gaussian <= MAX_OF_GAUSSIAN
        return self.of_published <= MAX_OF_PUBLISHED and near_curator

    @property
    def reports_per_cell(self) -> float:
        """Return how many reports support a value that nobody holds, on the average."""
        return self.case.users * self.choice.mechanism.q

    def oracle(self) -> PureOracle:
        """Return the chosen mechanism with its messages."""
        mechanism = self.choice.mechanism
        claim = PublishedClaim(self.case.epsilon, DELTA, mechanism.epsilon)
        return _ORACLES[mechanism.kind](mechanism, claim)


@dataclass(frozen=True)
class DrawnCollections:
    """What many drawn collections gave: the mean squared error, and how often intervals cover.

    ``covered`` is that of the product's intervals.  ``score_covered`` takes the variance at the
    value in question in place of the estimated one.
    """

    mse: float
    covered: float
    score_covered: float


@cache
def compare(case: HistogramCase, cap: float) -> ComparedChoice:
    """Return the choice for a case under a cap, beside the others."""
    target = CentralTarget(case.epsilon, DELTA)
    choice = choose_shuffled(case.size, target, ShuffledBatch(case.users), cap)
    gaussian = Yardsticks.of(case.size, target, case.users).gaussian
    return ComparedChoice(case, choice, case.published(), gaussian)


def simulate(comparison: ComparedChoice, seed: int = 9) -> DrawnCollections:
    """Return what collections of the chosen mechanism give."""
    truth = comparison.case.truth
    oracle = comparison.oracle()
    generator = np.random.default_rng(seed)
    runs = _runs(comparison.case)
    errors = np.zeros(runs)
    covered = np.zeros(runs)
    score_covered = np.zeros(runs)
    for run in range(runs):
        supports = oracle.draw_supports(truth, 0, generator)
        estimate = oracle.mechanism.estimate_counts(supports, comparison.case.users)
        low, high = estimate.interval(LEVEL)
        errors[run] = ((estimate.totals - truth) ** 2).mean() / comparison.case.users**2
        covered[run] = ((low <= truth) & (truth <= high)).mean()
        score_covered[run] = _score_covers(estimate, truth).mean()
    return DrawnCollections(
        float(errors.mean()), float(covered.mean()), float(score_covered.mean())
    )


def _runs(case: HistogramCase) -> int:
    return max(20, SIMULATED_CELLS // case.size)


def _score_covers(estimate: Estimate, truth: Ints) -> Bools:
    """Return which true totals the score intervals contain."""
    variances = estimate.noise.variances(truth.astype(float), estimate.users)
    return np.asarray(np.abs(estimate.totals - truth) <= quantile(LEVEL) * np.sqrt(variances))


def cases() -> list[HistogramCase]:
    """Return all cases of the page."""
    return [
        HistogramCase(size, users, epsilon)
        for size in SIZES
        for users in USERS
        for epsilon in EPSILONS
    ]


def page() -> str:
    """Return the page."""
    parts = [_HEAD, "\n".join(_summary()) + "\n"]
    for cap in CAPS:
        comparisons = [compare(case, cap) for case in cases()]
        parts.append("\n".join(_section(cap, comparisons)) + "\n")
    return "".join(parts)


def _summary() -> list[str]:
    """Return what holds under each cap, in one table."""
    return [
        "",
        "## What holds, and what does not",
        "",
        f"The default cap on the local epsilon is {MAX_LOCAL:g}. **Under the default cap the two"
        " requirements do not hold together in general;",
        "without a cap they do.** All figures are of one run of the command above.",
        "",
        "| cap on the local epsilon | settings that meet both | of these with 1,024 values and"
        " 1,000,000 people | largest times published | largest times Gaussian"
        " | largest times uncapped | largest local epsilon |",
        "|---|---:|---:|---:|---:|---:|---:|",
        *(_summary_row(cap) for cap in CAPS),
        "",
        "Whoever needs both requirements must raise the cap, and tell people the larger local"
        " epsilon. `sottovoce advise",
        "--shuffle` says for one collection whether the cap binds, what it costs, and which cap"
        " costs nothing.",
    ]


def _summary_row(cap: float) -> str:
    comparisons = [compare(case, cap) for case in cases()]
    named = [
        comparison
        for comparison in comparisons
        if (comparison.case.size, comparison.case.users) == (1024, 10**6)
    ]
    cells = [
        _cap_name(cap),
        f"{sum(comparison.meets for comparison in comparisons)} of {len(comparisons)}",
        f"{sum(comparison.meets for comparison in named)} of {len(named)}",
        f"{max(comparison.of_published for comparison in comparisons):.2g}",
        f"{max(comparison.of_gaussian for comparison in comparisons):.3g}",
        f"{max(_of_uncapped(comparison) for comparison in comparisons):.3g}",
        f"{max(comparison.choice.mechanism.epsilon for comparison in comparisons):.2f}",
    ]
    return "| " + " | ".join(cells) + " |"


def _cap_name(cap: float) -> str:
    if cap == NO_CAP:
        return "none"
    return f"{cap:g}, the default" if cap == MAX_LOCAL else f"{cap:g}"


def _of_uncapped(comparison: ComparedChoice) -> float:
    """Return an error as a multiple of that without a cap."""
    return comparison.choice.mse / compare(comparison.case, NO_CAP).choice.mse


def _section(cap: float, comparisons: list[ComparedChoice]) -> list[str]:
    met = sum(comparison.meets for comparison in comparisons)
    title = f"Local epsilon up to {_cap_name(cap)}"
    if cap == NO_CAP:
        title = "Without a cap on the local epsilon"
    return [
        "",
        f"## {title}",
        "",
        f"{met} of {len(comparisons)} rows meet both requirements.",
        "",
        "| values | people | epsilon | chosen | local | error | best published"
        " | times published | times Gaussian | times uncapped | both met | simulated | covered"
        " | reports per cell | score covered |",
        "|---:|---:|---:|---|---:|---:|---|---:|---:|---:|---|---:|---:|---:|---:|",
        *(_row(comparison, simulate(comparison)) for comparison in comparisons),
    ]


def _row(comparison: ComparedChoice, simulation: DrawnCollections) -> str:
    case = comparison.case
    choice = comparison.choice
    cells = [
        f"{case.size:,}",
        f"{case.users:,}",
        f"{case.epsilon:g}",
        _named(choice),
        f"{choice.mechanism.epsilon:.2f}",
        f"{choice.mse:.3g}",
        str(comparison.published),
        f"{comparison.of_published:.2g}",
        f"{comparison.of_gaussian:.2f}",
        f"{_of_uncapped(comparison):.3g}",
        "yes" if comparison.meets else "no",
        f"{simulation.mse / choice.mse - 1:+.1%}",
        f"{simulation.covered:.1%}",
        f"{comparison.reports_per_cell:,.1f}",
        f"{simulation.score_covered:.1%}",
    ]
    return "| " + " | ".join(cells) + " |"


def _named(choice: ShuffledChoice) -> str:
    buckets = round(1 / choice.mechanism.blanket.share)
    return "direct" if choice.mechanism.kind == "grr" else f"affine, {buckets:,} buckets"


def standard_error(comparison: ComparedChoice) -> float:
    """Return the relative standard error of the simulated mean squared error.

    The square of a normal error has a relative variance of 2; frequent values have larger errors
    than others and count for more.
    """
    truth = comparison.case.truth
    batch = ShuffledBatch(comparison.case.users)
    variances = comparison.oracle().variances(truth / comparison.case.users, batch)
    spread = sqrt(2 * float((variances**2).sum())) / float(variances.sum())
    return spread / sqrt(_runs(comparison.case))


_HEAD = """# Shuffled reports beside the paper and a trusted curator

Printed by `python -m sottovoce.lab.experiments.shuffling`. [How it works](../shuffling.md).

A histogram is collected so that the collector alone learns at most (epsilon, 1e-9) about anybody.
*Error* is the exact mean squared error of the shares. *Best published* is the least one of SOLH,
SH, RAP and AUE of Wang 2021 under the bounds of the paper, with the local epsilon that it spends;
where none of them is amplified they are plain local reports. *Gaussian* is a trusted curator. The
two requirements are: at most 1/7 of the best published error, and at most 3 times the curator's.
*Times uncapped* is the error beside that of the choice without a cap.

*Simulated* is how far the error of drawn collections deviates from the exact one, and *covered* how
often the 95 % intervals of the product contain the truth, over all values. Where a value gets few
reports, intervals are wider than they need be: the estimated variance of a value is never below
that of a value that nobody holds, and grows with its estimate. *Score covered* takes the variance
at the true value instead.

The local epsilon is what holds if the shufflers are dishonest, and what a device is charged. Where
a cap on it binds, no shuffled method can be near a curator: the reports are then those of the best
local mechanism of that epsilon. The published methods have no cap.
"""

if __name__ == "__main__":
    print(page(), end="")
