"""Findings, intervals and choices: what normal laws promised, and what exact ones keep.

python -m sottovoce.lab.experiments.findings > docs/evidence/findings.md

False findings and coverage are computed from the law of supports, without any sampling.  Searches
are run as well: with genuine reports of up to ``GENUINE_USERS`` people, and with sums drawn from
their exact law (``lab/aggregate.py``) of more.  Searches in baskets are simulated.  With
``--kept FILE`` an interrupted run goes on where it ended.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from math import ceil, expm1, log1p, sqrt
from typing import Any

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core.estimate import Estimate
from sottovoce.core.support_law import Sampled, SupportLaw
from sottovoce.domains.bits import Bits
from sottovoce.domains.sets import JOINT
from sottovoce.domains.strings import Strings
from sottovoce.lab.aggregate import draw_answer
from sottovoce.lab.experiments.consistency.experiment import METHODS, ConsistencyExperiment
from sottovoce.lab.experiments.measured_once import MeasuredOnce, from_arguments
from sottovoce.lab.populations.item_frequencies import WORDS
from sottovoce.lab.populations.real_tables import baskets as real_baskets
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
MANY_SEARCHES = 1000  # that are counted if they have a false finding
GENUINE_USERS = 10_000  # reports of so many people at most are made one by one
QUERIES = 1 << 18  # the candidates of a search that is run many times
REAL_SEARCHES = 40  # in real baskets
GENERATED_SEARCHES = 10  # in baskets that are generated
_HELD = 0xC0FFEE
_WORD = "the"


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
        found = (estimate.totals >= normal_thresholds(estimate), estimate.significant())
        false[seed] = [bool((rows & (truth == 0)).any()) for rows in found]
        plain = replace(estimate, tested=0)
        covered.append([_covered(plain, truth), _covered(estimate, truth)])
    rates = np.mean(covered, axis=0)
    wrong = false.mean(axis=0)
    return SearchCoverage(float(rates[0]), float(rates[1]), (float(wrong[0]), float(wrong[1])))


def normal_thresholds(estimate: Estimate) -> Floats:
    """Return the thresholds of normal laws with the variance of a value that nobody holds."""
    unheld = estimate.noise.unheld_variances(estimate.votes, estimate.users)
    tests = estimate.tested or len(estimate.votes)
    return np.asarray(upper_quantile(ALPHA / tests) * estimate.scale * np.sqrt(unheld))


def _covered(estimate: Estimate, truth: Ints) -> float:
    """Return the share of rows whose interval contains the truth."""
    low, high = estimate.interval(LEVEL)
    return float(((low <= truth) & (truth <= high)).mean())


@dataclass(frozen=True)
class SearchKind:
    """A search, and the one value that everybody holds, with its label in answers."""

    plan: HeavyHitters
    held: Any
    label: str


SEARCH_KINDS: Mapping[str, SearchKind] = {
    "bits": SearchKind(
        HeavyHitters(Bits(SEARCH_BITS), 16, queries=QUERIES), _HELD, Bits(SEARCH_BITS).shown(_HELD)
    ),
    "texts": SearchKind(HeavyHitters(Strings(6), 16, queries=QUERIES), _WORD, _WORD),
}


@dataclass(frozen=True)
class SearchCounts:
    """How many searches have a false finding, by the product's thresholds and by normal ones.

    ``covered`` is the share of all rows whose interval contains the truth.
    """

    searches: int
    false: int
    normal: int
    covered: float

    def false_range(self, level: float = LEVEL) -> tuple[float, float]:
        """Return an interval of the chance of a false finding (Clopper and Pearson)."""
        from scipy.stats import binomtest

        chance = binomtest(self.false, self.searches).proportion_ci(level, "exact")
        return float(chance.low), float(chance.high)


def count_searches(kind: SearchKind, users: int, epsilon: float, runs: int) -> SearchCounts:
    """Run searches where everybody holds one value, and count those with a false finding."""
    task = Task("search", kind.plan, epsilon=epsilon)
    false = np.zeros((runs, 2), bool)
    covered = []
    for seed in range(runs):
        answer = _run_search(task, kind.held, users, seed)
        estimate = answer.estimate
        truth = np.where(np.array(answer.labels) == kind.label, users, 0)
        found = (estimate.significant(), estimate.totals >= normal_thresholds(estimate))
        false[seed] = [bool((rows & (truth == 0)).any()) for rows in found]
        covered.append(_covered(estimate, truth))
    counts = false.sum(axis=0).tolist()
    return SearchCounts(runs, counts[0], counts[1], float(np.mean(covered)))


def _run_search(task: Task, held: Any, users: int, seed: int) -> Any:
    """Return the answer of a search, of genuine reports if there are few people."""
    if users > GENUINE_USERS:
        return draw_answer(task, {held: users}, seed)
    return simulate(task, [held] * users, seed=seed)


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
class BasketSearches:
    """Of every search: the coverage of its rows, and the squared error of their counts."""

    covered: tuple[float, ...]
    squares: tuple[float, ...]
    padded_to: float

    @property
    def error(self) -> float:
        """Return the root mean squared error of the counts."""
        return sqrt(float(np.mean(self.squares)))


def search_baskets(plan: Any, baskets: Baskets, epsilon: float, runs: int) -> BasketSearches:
    """Return how often the rows of searches in baskets cover the truth."""
    people: Any = baskets
    task = Task("baskets", plan, epsilon=epsilon)
    covered = []
    squares = []
    padded = []
    for seed in range(runs):
        answer: Any = simulate(task, people, seed=seed)
        truth = np.array([_holders(baskets, label) for label in answer.labels])
        covered.append(_covered(answer.estimate, truth))
        squares.append(float(((answer.estimate.totals - truth) ** 2).mean()))
        padded.append(answer.details["padded_to"])
    return BasketSearches(tuple(covered), tuple(squares), float(np.mean(padded)))


def paired_gain(after: Sequence[float], before: Sequence[float]) -> tuple[float, float]:
    """Return the mean difference, and half the width of its interval over the searches.

    >>> paired_gain((0.9, 0.8, 1.0), (0.4, 0.3, 0.5))
    (0.5, 0.0)
    """
    from scipy.stats import t

    differences = np.array(after) - np.array(before)
    spread = float(differences.std(ddof=1)) / sqrt(len(differences))
    half_width = float(t.isf((1 - LEVEL) / 2, len(differences) - 1)) * spread
    return round(float(differences.mean()), 12), round(half_width, 12)


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
0046](../decisions/0046-exact-findings.md), for texts [decision
0083](../decisions/0083-the-law-of-pooled-counts.md)). Gains have 95 % intervals over the searches,
paired by seed; figures that are computed rather than sampled have none.
"""


def page(kept: MeasuredOnce | None = None) -> str:
    """Return the page as Markdown; pieces of it may have been measured before."""
    pieces = kept or MeasuredOnce()
    parts = (_findings, _searches, _many_searches, _intervals, _generated, _real, _methods)
    return "\n".join([_HEAD, *(line for part in parts for line in part(pieces))]) + "\n"


def _findings(kept: MeasuredOnce) -> Iterator[str]:
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


def _searches(kept: MeasuredOnce) -> Iterator[str]:
    yield "\n## Searches for heavy hitters: computed\n"
    yield f"The 16 most frequent of 2^{SEARCH_BITS} values are sought; everybody holds one of them,"
    yield "so that 15 of 16 rows are noise. The chance of a false finding is computed; coverage is"
    yield f"that of {SEARCHES} searches drawn from the law of sums. *Plain*: intervals that ignore"
    yield "that rows were selected. *Selected*: intervals as the product states them.\n"
    yield from _header(
        ["users", "epsilon", "false, normal", "false, exact", "covered, plain", "covered, selected"]
    )
    for users in (1000, 10_000, 100_000, 1_000_000):
        for epsilon in EPSILONS:
            yield kept.piece(f"search {users} {epsilon:g}", partial(_search_row, users, epsilon))


def _search_row(users: int, epsilon: float) -> str:
    found = false_search_findings(users, epsilon)
    false = [f"{100 * chance:.2f} %" for chance in (found.normal, found.exact)]
    rows = search_coverage(users, epsilon)
    covered = [f"{rows.plain:.3f}", f"{rows.selected:.3f}"]
    return _row([f"{users:,}", f"{epsilon:g}", *false, *covered])


def _many_searches(kept: MeasuredOnce) -> Iterator[str]:
    yield "\n## Searches for heavy hitters: run\n"
    yield f"Of {MANY_SEARCHES:,} searches, those with a false finding; at most 5 % are promised."
    yield f"Everybody holds one of 2^{SEARCH_BITS} values (*bits*) or the text of six bytes at most"
    yield f'"{_WORD}" (*texts*, which many groups count together). Reports of up to'
    yield f"{GENUINE_USERS:,} people are genuine; of more people sums are drawn from their exact"
    yield f"law. Searches have {QUERIES:,} candidates. *Chance*: 95 % interval of the chance of a"
    yield "false finding. *Normal*: how many would have one by normal thresholds. *Covered*: the"
    yield "share of all rows whose interval holds the truth.\n"
    yield from _header(
        ["values", "users", "reports", "epsilon", "false", "chance", "normal", "covered"]
    )
    total = 0
    above = 0
    for name in SEARCH_KINDS:
        for users in (1000, 10_000, 100_000, 1_000_000):
            for epsilon in EPSILONS:
                counts = _kept_searches(kept, name, users, epsilon)
                total += 1
                above += counts.false_range()[0] > ALPHA
                yield _many_searches_row(name, users, epsilon, counts)
    yield f"\nThe interval of the chance lies above 5 % in {above} of {total} settings."


def _kept_searches(kept: MeasuredOnce, name: str, users: int, epsilon: float) -> SearchCounts:
    def measure() -> dict[str, Any]:
        return asdict(count_searches(SEARCH_KINDS[name], users, epsilon, MANY_SEARCHES))

    return SearchCounts(**kept.piece(f"searches {name} {users} {epsilon:g}", measure))


def _many_searches_row(name: str, users: int, epsilon: float, counts: SearchCounts) -> str:
    reports = "drawn" if users > GENUINE_USERS else "genuine"
    low, high = counts.false_range()
    chance = f"{100 * low:.1f} to {100 * high:.1f} %"
    cells = [name, f"{users:,}", reports, f"{epsilon:g}", f"{counts.false:,}", chance]
    return _row([*cells, f"{counts.normal:,}", f"{counts.covered:.3f}"])


def _intervals(kept: MeasuredOnce) -> Iterator[str]:
    yield "\n## Coverage of 95 % intervals over all numbers of holders\n"
    yield "By enumeration of every number of supports. *Length*: exact over normal.\n"
    yield from _header(
        ["mechanism", "users", "epsilon", "worst, normal", "worst, exact", "mean, exact", "length"]
    )
    for users in (10, 30, 100, 300):
        for epsilon in (0.5, 1.0, 2.0, 4.0, 8.0):
            for mechanism in (OUE(epsilon, 50), GRR(epsilon, 4), AffineResponse(epsilon, 1000)):
                name = f"intervals {mechanism.kind} {users} {epsilon:g}"
                yield kept.piece(name, partial(_interval_row, mechanism, users))


def _interval_row(mechanism: PureMechanism, users: int) -> str:
    normal, exact = coverages(mechanism, users)
    rates = [f"{rate:.3f}" for rate in (normal.worst, exact.worst, exact.mean)]
    cells = [mechanism.kind, f"{users:,}", f"{mechanism.epsilon:g}", *rates]
    return _row([*cells, f"{exact.length / normal.length:.2f}"])


_BASKET_COLUMNS = (
    *("search", "epsilon", "published", "error", "padded to"),
    *("product", "error", "padded to", "gain"),
)


def _generated(kept: MeasuredOnce) -> Iterator[str]:
    yield "\n## Items and sets of items: generated baskets\n"
    yield "100,000 baskets (`lab/populations/transactions.py`), 2,000 items, 16 rows,"
    yield f"{GENERATED_SEARCHES} searches each. *Published* is the method as in the paper, without"
    yield "the product's rule for padding, but with its intervals: the share of rows whose 95 %"
    yield "interval holds the truth. *Error* is the root mean squared error of their counts, in"
    yield "people. *Gain* is that of the coverage.\n"
    population = Transactions(100_000, 2000, 8.1, 1.1)
    yield from _basket_rows(
        kept, "generated", lambda: population.baskets(1), 2000, GENERATED_SEARCHES
    )


def _real(kept: MeasuredOnce) -> Iterator[str]:
    items, baskets = real_baskets("dependencies")
    yield "\n## Items and sets of items: real baskets\n"
    yield f"The same for {len(baskets):,} real baskets: what packages of Debian 12 depend on"
    yield f"([where they are from](../../src/sottovoce/lab/data/README.md)), of {len(items):,}"
    yield f"items; {REAL_SEARCHES} searches each.\n"
    yield from _basket_rows(kept, "real", lambda: baskets, len(items), REAL_SEARCHES)


def _basket_rows(
    kept: MeasuredOnce, source: str, baskets: Callable[[], Baskets], items: int, runs: int
) -> Iterator[str]:
    yield from _header(_BASKET_COLUMNS)
    gains = []
    for name, plan in (("items", TopItems), ("sets", Itemsets)):
        for epsilon in (1.0, 2.0, 4.0):
            found = []
            for paper in (True, False):
                search_plan = plan(range(items), 16, paper=paper)

                def measure(plan: Any = search_plan, epsilon: float = epsilon) -> dict[str, Any]:
                    return asdict(search_baskets(plan, baskets(), epsilon, runs))

                way = "published" if paper else "product"
                content = kept.piece(f"{source} {name} {epsilon:g} {way}", measure)
                found.append(BasketSearches(**content))
            gains.append(paired_gain(found[1].covered, found[0].covered))
            yield _basket_row([name, f"{epsilon:g}"], *found)
    gained = sum(mean > half_width for mean, half_width in gains)
    lost = sum(mean < -half_width for mean, half_width in gains)
    yield f"\nOf {len(gains)} gains the interval of {gained} lies above 0, that of {lost} below."


def _basket_row(names: Sequence[str], published: BasketSearches, product: BasketSearches) -> str:
    cells = [*names]
    for found in (published, product):
        covered = float(np.mean(found.covered))
        cells += [f"{covered:.3f}", f"{found.error:,.0f}", f"{found.padded_to:.0f}"]
    mean, half_width = paired_gain(product.covered, published.covered)
    return _row([*cells, f"{mean:+.3f} ± {half_width:.3f}"])


def _methods(kept: MeasuredOnce) -> Iterator[str]:
    yield "\n## Post-processing: loss against the best method\n"
    yield f"Squared error over that of the best method, over {len(shapes(1000))} shapes, 30,000"
    yield "users and four epsilons: median and worst. *Full*: every single value."
    yield "*Frequent*: the ten most frequent values.\n"
    yield from _header(["method", "full", "frequent"])
    yield from kept.piece("methods", _method_rows)


def _method_rows() -> list[str]:
    losses = method_losses((30_000,), 3)
    rows = []
    for method in sorted(losses["full"], key=lambda name: losses["full"][name].median):
        cells = [losses[goal][method] for goal in ("full", "frequent")]
        rows.append(_row([method, *(f"{each.median:.2f}, {each.worst:.1f}" for each in cells)]))
    return rows


def _header(names: Sequence[str]) -> Iterator[str]:
    yield _row(names)
    yield "|" + "---:|" * len(names)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    print(page(from_arguments(__doc__)), end="")
