"""Findings, intervals and choices: what normal laws promised, and what exact ones keep.

python -m sottovoce.lab.experiments.findings > docs/evidence/findings.md

False findings and coverage are computed from the law of supports, without any sampling.  Rows of
searches are drawn from that law, and those of baskets are simulated.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, expm1, log1p, sqrt
from typing import Any

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core.estimate import Estimate
from sottovoce.core.support_law import Sampled, SupportLaw
from sottovoce.domains.bits import Bits
from sottovoce.domains.sets import JOINT
from sottovoce.lab.aggregate import draw_answer
from sottovoce.lab.experiments.consistency.experiment import METHODS, ConsistencyExperiment
from sottovoce.lab.populations.item_frequencies import WORDS
from sottovoce.lab.populations.transactions import Transactions
from sottovoce.lab.simulate import simulate
from sottovoce.maths import binomial
from sottovoce.maths.normal import upper_quantile
from sottovoce.maths.ragged import Baskets
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.oue import OUE
from sottovoce.plans.heavy_hitters.advice import group_sizes
from sottovoce.plans.heavy_hitters.heavy_hitters import HeavyHitters
from sottovoce.plans.itemsets.itemsets import Itemsets
from sottovoce.plans.itemsets.top_items import TopItems
from sottovoce.tasks.task import Task

ALPHA = 0.05
LEVEL = 0.95
EPSILONS = (0.5, 1.0, 2.0, 4.0)
SEARCH_BITS = 24
SEARCHES = 10  # whose rows are compared with the truth
_HELD = 0xC0FFEE


# --- findings ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class FalseFindings:
    """The chance of any false finding in a collection, by normal and by exact thresholds.

    ``raised`` is how much higher the exact threshold is.
    """

    normal: float
    exact: float
    raised: float


def false_findings(mechanism: PureMechanism, users: int, candidates: int = 0) -> FalseFindings:
    """Return the chance that any candidate is found although nobody holds it.

    One of the ``candidates`` (by default all values) is held by everybody; the supports of all
    others are independent.
    """
    law = SupportLaw(mechanism.p, mechanism.q)
    count = candidates or mechanism.size
    tail = ALPHA / count
    normal = upper_quantile(tail) * sqrt(users * law.q * (1 - law.q)) / law.gap
    exact = law.unheld_votes(tail, users)
    chances = []
    for threshold in (normal, exact):
        least = ceil(float(law.supports(np.array(threshold), users)))
        single = binomial.at_least(least, users, law.q)
        chances.append(-expm1((count - 1) * log1p(-single)))
    return FalseFindings(chances[0], chances[1], exact / normal)


def search() -> HeavyHitters:
    """Return a search for the 16 most frequent of 16 million values."""
    return HeavyHitters(Bits(SEARCH_BITS), 16)


def false_search_findings(users: int, epsilon: float) -> FalseFindings:
    """Return the chance of any false finding of a search where everybody holds one value.

    What is found are candidates of the last group: all extensions of the prefixes that are kept.
    """
    plan = search()
    shorter, longer = plan.lengths[-2:]
    mechanism = AffinePrefix(epsilon, 1 << longer)
    candidates = plan.limits.kept << (longer - shorter)
    return false_findings(mechanism, group_sizes(plan, users)[-1], candidates)


@dataclass(frozen=True)
class SearchCoverage:
    """Of all rows of some searches, how many intervals covered: plain ones, and the product's.

    ``false`` are the shares of searches with a false finding by a normal threshold and by the
    product's.
    """

    plain: float
    selected: float
    false: tuple[float, float]


def search_coverage(users: int, epsilon: float, runs: int = SEARCHES) -> SearchCoverage:
    """Return what searches for heavy hitters state where everybody holds one value."""
    plan = search()
    task = Task("search", plan, epsilon=epsilon)
    false = np.zeros((runs, 2), bool)
    covered = []
    for seed in range(runs):
        answer: Any = draw_answer(task, {_HELD: users}, seed)
        estimate = answer.estimate
        truth = np.where(np.array(answer.labels) == plan.domain.shown(_HELD), users, 0)
        found = (estimate.totals >= normal_threshold(estimate), estimate.significant())
        false[seed] = [bool((rows & (truth == 0)).any()) for rows in found]
        plain = replace(estimate, tested=0)
        covered.append([_covered(plain, truth), _covered(estimate, truth)])
    rates = np.mean(covered, axis=0)
    wrong = false.mean(axis=0)
    return SearchCoverage(float(rates[0]), float(rates[1]), (float(wrong[0]), float(wrong[1])))


def normal_threshold(estimate: Estimate) -> float:
    """Return the threshold of a normal law with the variance of a value that nobody holds."""
    unheld = estimate.noise.variances(np.zeros(1), estimate.users)[0]
    tests = estimate.tested or len(estimate.votes)
    return float(upper_quantile(ALPHA / tests) * estimate.scale * np.sqrt(unheld))


def _covered(estimate: Estimate, truth: Ints) -> float:
    """Return the share of rows whose interval contains the truth."""
    low, high = estimate.interval(LEVEL)
    return float(((low <= truth) & (truth <= high)).mean())


# --- intervals --------------------------------------------------------------------------------


@dataclass(frozen=True)
class ExactCoverage:
    """The worst and the mean coverage over all numbers of holders, and the mean length."""

    worst: float
    mean: float
    length: float


def coverages(
    mechanism: PureMechanism, users: int, most: int = 100
) -> tuple[ExactCoverage, ExactCoverage]:
    """Return the coverage of normal and of exact intervals, by enumeration of all supports.

    At most about ``most`` numbers of holders are looked at, evenly from none to all.
    """
    law = SupportLaw(mechanism.p, mechanism.q)
    votes = np.array([law.votes(count, users) for count in range(users + 1)])
    estimate = Estimate(votes, mechanism.noise, users, mechanism.epsilon)
    half_width = upper_quantile((1 - LEVEL) / 2) * estimate.errors
    normal = (votes - half_width, votes + half_width)
    exact = law.bounds(votes, Sampled(users, users), (1 - LEVEL) / 2)
    holders = range(0, users + 1, max(1, users // most))
    laws = [support_law(law, count, users) for count in holders]
    return _coverage(normal, holders, laws), _coverage(exact, holders, laws)


def support_law(law: SupportLaw, holders: int, users: int) -> Floats:
    """Return the probability of every number of supports."""
    from scipy.stats import binom

    own = binom.pmf(np.arange(holders + 1), holders, law.p)
    others = binom.pmf(np.arange(users - holders + 1), users - holders, law.q)
    return np.asarray(np.convolve(own, others))


def _coverage(
    bounds: tuple[Floats, Floats], holders: Sequence[int], laws: Sequence[Floats]
) -> ExactCoverage:
    low, high = bounds
    rates = []
    lengths = []
    for count, chances in zip(holders, laws, strict=True):
        inside = (low <= count + 1e-9) & (count - 1e-9 <= high)
        rates.append(chances[inside].sum())
        lengths.append(chances @ (high - low))
    return ExactCoverage(min(rates), float(np.mean(rates)), float(np.mean(lengths)))


# --- sets of items ----------------------------------------------------------------------------


@dataclass(frozen=True)
class BasketErrors:
    """Coverage of all rows, and the root mean squared error of their counts."""

    covered: float
    error: float
    padded_to: float


def basket_errors(plan: Any, population: Transactions, epsilon: float, runs: int) -> BasketErrors:
    """Return how often the rows of searches in baskets cover the truth."""
    baskets = population.baskets(1)
    people: Any = baskets
    task = Task("baskets", plan, epsilon=epsilon)
    covered = []
    squares = []
    padded = []
    for seed in range(runs):
        answer: Any = simulate(task, people, seed=seed)
        truth = np.array([_holders(baskets, label) for label in answer.labels])
        covered.append(_covered(answer.estimate, truth))
        squares.append(((answer.estimate.totals - truth) ** 2).mean())
        padded.append(answer.details["padded_to"])
    return BasketErrors(
        float(np.mean(covered)), float(np.sqrt(np.mean(squares))), float(np.mean(padded))
    )


def _holders(baskets: Baskets, label: str) -> int:
    """Return how many people have a whole set of items."""
    columns = [baskets.holds(int(item)) for item in label.split(JOINT)]
    return int(np.count_nonzero(np.logical_and.reduce(columns)))


# --- choices ----------------------------------------------------------------------------------


def shapes(users: int) -> dict[str, Ints]:
    """Return populations of different shapes: how many people hold each value."""
    words = WORDS / WORDS.sum()
    bell = np.exp(-((np.arange(256) - 110) ** 2) / (2 * 30**2))
    steps = np.where(np.arange(512) < 40, 1.0, 1e-4)
    weights = {
        "power law 1": np.arange(1, 1025.0) ** -1,
        "power law 1.5": np.arange(1, 1025.0) ** -1.5,
        "power law 3": np.arange(1, 1025.0) ** -3,
        "words": words,
        "bell": bell,
        "forty equal": steps,
        "even": np.ones(300),
    }
    return {name: _counts(shares / shares.sum(), users) for name, shares in weights.items()}


def _counts(shares: Floats, users: int) -> Ints:
    counts = np.floor(shares * users).astype(np.int64)
    counts[0] += users - counts.sum()
    return counts


@dataclass(frozen=True)
class MethodLosses:
    """By how much the error of a method exceeds that of the best one: over all settings."""

    median: float
    worst: float


def method_losses(
    users: Sequence[int], runs: int, seed: int = 5
) -> dict[str, dict[str, MethodLosses]]:
    """Return the losses of every method for single values, and for the ten most frequent ones."""
    ratios: dict[str, dict[str, list[float]]] = {"full": {}, "frequent": {}}
    for count in users:
        for truth in shapes(count).values():
            for epsilon in EPSILONS:
                experiment = ConsistencyExperiment(truth, epsilon, runs, seed)
                full = {method: experiment.full_error(method) for method in METHODS}
                top = {method: experiment.frequent_error(method, 10) for method in METHODS}
                for goal, errors in (("full", full), ("frequent", top)):
                    least = min(errors.values())
                    for method, error in errors.items():
                        ratios[goal].setdefault(method, []).append(error / least)
    return {
        goal: {
            method: MethodLosses(float(np.median(losses)), max(losses))
            for method, losses in by_method.items()
        }
        for goal, by_method in ratios.items()
    }


# --- the page ---------------------------------------------------------------------------------

_HEAD = """# Findings, intervals and choices: what was measured

Printed by `python -m sottovoce.lab.experiments.findings`. *Normal* is a normal law with the right
variance, *exact* the law of supports that the product uses ([decision
0046](../decisions/0046-exact-findings.md)).
"""


def page() -> str:
    """Return the page as Markdown."""
    parts = (_findings(), _searches(), _intervals(), _baskets(), _methods())
    return "\n".join([_HEAD, *(line for part in parts for line in part)]) + "\n"


def _findings() -> Iterator[str]:
    yield "## False findings of a histogram\n"
    yield "The chance of any false finding where everybody holds one of the values; 5 % is"
    yield "promised.  Computed, not sampled. *Raised*: the exact threshold over the normal one.\n"
    yield from _header(["values", "users", "epsilon", "normal", "exact", "raised"])
    for size in (100, 5000):
        for users in (100, 1000, 10_000, 100_000, 1_000_000):
            for epsilon in EPSILONS:
                found = false_findings(OUE(epsilon, size), users)
                chances = [f"{100 * chance:.2f} %" for chance in (found.normal, found.exact)]
                cells = [f"{size:,}", f"{users:,}", f"{epsilon:g}", *chances]
                yield _row([*cells, f"{found.raised:.3f}"])


def _searches() -> Iterator[str]:
    yield "\n## Searches for heavy hitters\n"
    yield f"The 16 most frequent of 2^{SEARCH_BITS} values are sought; everybody holds one of them,"
    yield "so that 15 of 16 rows are noise. The chance of a false finding is computed; coverage is"
    yield f"that of {SEARCHES} searches drawn from the law of sums. *Plain*: intervals that ignore"
    yield "that rows were selected. *Selected*: intervals as the product states them.\n"
    yield from _header(
        ["users", "epsilon", "false, normal", "false, exact", "covered, plain", "covered, selected"]
    )
    for users in (1000, 10_000, 100_000, 1_000_000):
        for epsilon in EPSILONS:
            found = false_search_findings(users, epsilon)
            false = [f"{100 * chance:.2f} %" for chance in (found.normal, found.exact)]
            rows = search_coverage(users, epsilon)
            covered = [f"{rows.plain:.3f}", f"{rows.selected:.3f}"]
            yield _row([f"{users:,}", f"{epsilon:g}", *false, *covered])


def _intervals() -> Iterator[str]:
    yield "\n## Coverage of 95 % intervals over all numbers of holders\n"
    yield "By enumeration of every number of supports. *Length*: exact over normal.\n"
    yield from _header(
        ["mechanism", "users", "epsilon", "worst, normal", "worst, exact", "mean, exact", "length"]
    )
    for users in (10, 30, 100, 300):
        for epsilon in (0.5, 1.0, 2.0, 4.0, 8.0):
            for mechanism in (OUE(epsilon, 50), GRR(epsilon, 4), AffineResponse(epsilon, 1000)):
                normal, exact = coverages(mechanism, users)
                rates = [f"{rate:.3f}" for rate in (normal.worst, exact.worst, exact.mean)]
                cells = [mechanism.kind, f"{users:,}", f"{epsilon:g}", *rates]
                yield _row([*cells, f"{exact.length / normal.length:.2f}"])


def _baskets() -> Iterator[str]:
    yield "\n## Items and sets of items\n"
    yield "100,000 generated baskets (`lab/populations/transactions.py`), 16 rows, 2 searches each."
    yield "*Published* is the method as in the paper, with the product's intervals.\n"
    yield from _header(
        ["search", "epsilon", "published", "error", "padded to", "product", "error", "padded to"]
    )
    population = Transactions(100_000, 2000, 8.1, 1.1)
    for name, plan in (("items", TopItems), ("sets", Itemsets)):
        for epsilon in (1.0, 2.0, 4.0):
            cells = [name, f"{epsilon:g}"]
            for paper in (True, False):
                found = basket_errors(plan(range(2000), 16, paper=paper), population, epsilon, 2)
                cells += [f"{found.covered:.2f}", f"{found.error:,.0f}", f"{found.padded_to:.0f}"]
            yield _row(cells)


def _methods() -> Iterator[str]:
    yield "\n## Post-processing: loss against the best method\n"
    yield f"Squared error over that of the best method, over {len(shapes(1000))} shapes, 30,000"
    yield "users and four epsilons: median and worst. *Full*: every single value."
    yield "*Frequent*: the ten most frequent values.\n"
    yield from _header(["method", "full", "frequent"])
    losses = method_losses((30_000,), 3)
    for method in sorted(losses["full"], key=lambda name: losses["full"][name].median):
        cells = [losses[goal][method] for goal in ("full", "frequent")]
        yield _row([method, *(f"{each.median:.2f}, {each.worst:.1f}" for each in cells)])


def _header(names: Sequence[str]) -> Iterator[str]:
    yield _row(names)
    yield "|" + "---:|" * len(names)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    print(page(), end="")
