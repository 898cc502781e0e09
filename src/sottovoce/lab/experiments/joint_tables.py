"""Joint tables of real and realistic people: our views and tables against the published ones.

    python -m sottovoce.lab.experiments.joint_tables > docs/evidence/joint-tables.md

With ``--keep FOLDER`` a run that was interrupted goes on where it was.

For every table, epsilon and number of users, the same people are asked by CALM (Algorithm 2 and its
consistency), by Hadamard coefficients (InpHT), about single attributes (independence), by every
layout of views that can be asked (each swept by hand, with our estimator), and by the layout that
our planner chooses.  Reports are genuine.  Distances are total variation, after Norm-Sub for every
method, averaged over some tables of the order and over repeated collections.  Hadamard coefficients
are drawn from their law, people included.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from functools import cache, cached_property, partial
from itertools import product
from math import prod, sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints
from sottovoce.lab.aggregate import collections
from sottovoce.lab.baselines.marginals.calm import Calm
from sottovoce.lab.baselines.marginals.hadamard_spectrum import HadamardSpectrum
from sottovoce.lab.baselines.parities import Parities
from sottovoce.lab.experiments.wang_chapter6.marginal_errors import estimated_table, random_views
from sottovoce.lab.populations.real_tables import accidents
from sottovoce.lab.populations.records import true_table
from sottovoce.lab.populations.survey_tables import (
    SurveyTable,
    binary_adult,
    disability_items,
    page_visits,
    survey,
)
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.base import PureMechanism
from sottovoce.mechanisms.grr import GRR
from sottovoce.plans.frequencies.choose_mechanism import choose
from sottovoce.plans.marginals.marginal_table import (
    MarginalTable,
    Model,
    View,
    shape_of,
    table_of_estimate,
)
from sottovoce.plans.marginals.pooled_tables import PooledTables
from sottovoce.plans.marginals.reported_views import ReportedViews
from sottovoce.plans.marginals.view_planning import (
    CoveringLayout,
    ViewPlanning,
    choose_covering,
)
from sottovoce.plans.marginals.view_selection import ViewSelection

EPSILONS = (0.2, 0.5, 1.0, 2.0, 4.0)
RUNS = 20
COVERED_RUNS = 4
TABLES = 12
COVERED_TABLES = 60
STRONGEST = 0.1  # share of the tables whose attributes depend most on each other
MAX_SWEPT_SIZE = 4
_NINETY_FIVE = 1.96


@dataclass(frozen=True, eq=False)
class JointSetting:
    """Some people, the order of the tables that are wanted, and epsilon."""

    people: SurveyTable
    order: int
    epsilon: float

    @property
    def users(self) -> int:
        return len(self.people.records)

    @cached_property
    def planning(self) -> ViewPlanning:
        """Return what our views are chosen from."""
        return ViewPlanning(self.users, self.people.sizes, self.epsilon, self.order)

    @cached_property
    def truths(self) -> dict[View, Floats]:
        """Return some true tables of the order."""
        return self.some_truths(TABLES)

    def some_truths(self, count: int) -> dict[View, Floats]:
        """Return so many true tables of the order."""
        views = random_views(len(self.people.sizes), self.order, count)
        return {view: true_table(self.people.records, self.people.sizes, view) for view in views}

    @property
    def swept(self) -> list[CoveringLayout]:
        """Return all layouts that can be asked."""
        return [layout for layout in self.planning.candidates() if layout.size <= MAX_SWEPT_SIZE]

    def views(self, layout: CoveringLayout) -> tuple[View, ...]:
        """Return the views of a layout."""
        return choose_covering(layout, len(self.people.sizes))

    def ask(self, views: Sequence[View], seed: int) -> ReportedViews:
        """Return what a genuine collection of these views reports."""
        return collect_views(self.people, views, self.epsilon, seed)

    def pooled(self, layout: CoveringLayout, seed: int) -> PooledTables:
        """Return what our estimator makes of a collection of this layout."""
        return PooledTables(self.ask(self.views(layout), seed), self.people.sizes)

    def published(self, seed: int) -> Calm:
        """Return what CALM knows: the views of Algorithm 2, made consistent."""
        views = ViewSelection(self.users, self.people.sizes, self.epsilon, self.order).views()
        return Calm(self.ask(views, seed), self.people.sizes)

    def coefficients(self, seed: int) -> Model:
        """Return what Hadamard coefficients know."""
        mechanism = GRR(self.epsilon, 2)
        family = Parities(mechanism, self.people.sizes, self.order)
        generator = np.random.default_rng(seed)
        times = generator.multinomial(self.users, np.full(len(family), 1 / len(family)))
        odd = odd_shares(self.people, self.order)
        chances = mechanism.q + (mechanism.p - mechanism.q) * odd
        return HadamardSpectrum(family, times, generator.binomial(times, chances))

    def distance(self, model: Model) -> float:
        """Return the mean total variation distance of the tables of a model."""
        apart = [
            np.abs(estimated_table(model, view) - truth).sum() / 2
            for view, truth in self.truths.items()
        ]
        return float(np.mean(apart))


@cache
def odd_shares(people: SurveyTable, order: int) -> Floats:
    """Return for every coefficient of an order the share of people with an odd parity."""
    family = Parities(GRR(1.0, 2), people.sizes, order)
    rng = SeededRng(0)
    shares = []
    for index in range(len(family)):
        members = np.full(len(people.records), index)
        shares.append(family.encoded(members, people.records, rng).mean())
    return np.array(shares)


def collect_views(
    people: SurveyTable, views: Sequence[View], epsilon: float, seed: int
) -> ReportedViews:
    """Return the tables of a genuine collection: a coin picks a view for everybody.

    The sums of GRR are drawn from their exact law; every other mechanism makes its reports.
    """
    rng = SeededRng(seed)
    picked = rng.generator.integers(len(views), size=len(people.records))
    tables: dict[View, MarginalTable] = {}
    for member, view in enumerate(views):
        records = people.records[picked == member]
        if len(records):
            shape = shape_of(people.sizes, view)
            cells = np.ravel_multi_index(tuple(records[:, list(view)].T), shape)
            mechanism = choose(prod(shape), epsilon).mechanism
            supports = _supports(mechanism, cells, rng)
            estimate = mechanism.estimate_counts(supports, len(records))
            estimate = estimate.of(len(people.records))
            tables[view] = table_of_estimate(view, people.sizes, estimate)
    return ReportedViews(tables, len(people.records))


def _supports(mechanism: PureMechanism, cells: Ints, rng: SeededRng) -> Ints:
    if isinstance(mechanism, GRR):
        truth = np.bincount(cells, minlength=mechanism.size)
        seed = int(rng.generator.integers(1 << 62))
        return next(collections(mechanism, truth, 1, seed))
    return mechanism.supports(mechanism.tally(mechanism.privatize(cells, rng)))


@dataclass(frozen=True)
class Distances:
    """The distances of repeated collections."""

    runs: tuple[float, ...]

    @property
    def mean(self) -> float:
        return fmean(self.runs)

    def ratio_to(self, other: "Distances") -> str:
        """Return how many times larger these are, run by run, with its 95 % interval."""
        ratios = [mine / its for mine, its in zip(self.runs, other.runs, strict=True)]
        reach = _NINETY_FIVE * stdev(ratios) / sqrt(len(ratios))
        return f"{fmean(ratios):.2f} ± {reach:.2f}"


@dataclass(frozen=True, eq=False)
class LayoutComparison:
    """The distances of all methods in one setting."""

    setting: JointSetting
    published: Distances
    coefficients: Distances
    swept: dict[CoveringLayout, Distances]
    chosen: CoveringLayout

    @property
    def ours(self) -> Distances:
        return self.swept[self.chosen]

    @property
    def best(self) -> CoveringLayout:
        return min(self.swept, key=lambda layout: self.swept[layout].mean)

    @property
    def regret(self) -> float:
        """Return how many times worse ours is than the best layout."""
        return self.regrets[self.chosen]

    @property
    def regrets(self) -> dict[CoveringLayout, float]:
        """Return how many times worse every layout is than the best one."""
        least = self.swept[self.best].mean
        return {layout: found.mean / least for layout, found in self.swept.items()}

    @property
    def independence(self) -> Distances:
        return next(found for layout, found in self.swept.items() if layout.size == 1)

    @property
    def expected(self) -> float:
        """Return the distance that the advisor states."""
        return self.setting.planning.expected_distance(self.chosen)


def compare(setting: JointSetting, runs: int = RUNS) -> LayoutComparison:
    """Return the distances of all methods, each over repeated collections."""

    def repeated(ask: Callable[[int], Model]) -> Distances:
        return Distances(tuple(setting.distance(ask(seed)) for seed in range(runs)))

    chosen = setting.planning.layout()
    swept = {
        layout: repeated(partial(setting.pooled, layout))
        for layout in dict.fromkeys([*setting.swept, chosen])
    }
    return LayoutComparison(
        setting,
        repeated(setting.published),
        repeated(setting.coefficients),
        swept,
        chosen,
    )


@dataclass(frozen=True)
class IntervalCoverage:
    """The share of cells within their 95 % interval, and the mean length of the intervals.

    ``strongest`` is that share in the tables whose attributes depend most on each other.
    """

    covered: float
    strongest: float
    length: float


def coverage(models: Sequence[Model], setting: JointSetting) -> IntervalCoverage:
    """Return the coverage of all cells of some tables in repeated collections."""
    truths = setting.some_truths(COVERED_TABLES)
    strongest_first = sorted(truths, key=lambda view: -_dependence(truths[view]))
    hits: dict[View, list[Bools]] = {view: [] for view in strongest_first}
    lengths = []
    for model in models:
        for view, truth in truths.items():
            table = model.table(view)
            errors = np.sqrt(np.diag(table.covariance))
            hits[view].append(np.abs((table.shares - truth).ravel()) <= _NINETY_FIVE * errors)
            lengths.append(2 * _NINETY_FIVE * errors)
    rows = [np.concatenate(of_view) for of_view in hits.values()]
    strongest = rows[: max(1, round(STRONGEST * len(rows)))]
    return IntervalCoverage(
        float(np.concatenate(rows).mean()),
        float(np.concatenate(strongest).mean()),
        float(np.concatenate(lengths).mean()),
    )


def _dependence(table: Floats) -> float:
    """Return the distance of a table from the product of its marginals."""
    product_table = np.ones(())
    for axis in range(table.ndim):
        others = tuple(other for other in range(table.ndim) if other != axis)
        product_table = np.multiply.outer(product_table, table.sum(axis=others))
    return float(np.abs(table - product_table).sum()) / 2


def populations() -> dict[str, SurveyTable]:
    """Return all tables by name."""
    names, records = accidents()
    crashes = SurveyTable(names, (2,) * len(names), np.asarray(records, np.int64))
    return {
        "accidents (real), 26,217 users": crashes,
        "disability (invented), 21,574 users": disability_items(),
        "health (real), 20,190 users": survey("health"),
        "census (real), 48,842 users": survey("adult"),
        "accidents (real), 8,000 users": crashes.people(8_000),
        "pages (invented), 20,000 users": page_visits(20_000),
        "census as 13 bits (real), 48,842 users": binary_adult(),
    }


def comparison_row(name: str, found: LayoutComparison) -> str:
    """Return the row of the page about one setting."""
    setting = found.setting
    return (
        f"| {name} | {setting.order} | {setting.epsilon:g} | {found.published.mean:.4f}"
        f" | {found.coefficients.mean:.4f} | {found.independence.mean:.4f}"
        f" | {found.swept[found.best].mean:.4f} ({_layout_text(found.best)})"
        f" | {found.ours.mean:.4f} ({_layout_text(found.chosen)}) | {found.regret:.2f}"
        f" | {found.published.ratio_to(found.ours)}"
        f" | {found.expected:.4f} | {found.ours.mean / found.expected:.2f} |"
    )


def swept_row(name: str, found: LayoutComparison) -> str:
    """Return the row of the page about all layouts of one setting."""
    texts = [
        f"{_layout_text(layout)} {regret:.2f}{' ours' if layout == found.chosen else ''}"
        for layout, regret in found.regrets.items()
    ]
    setting = found.setting
    return f"| {name} | {setting.order} | {setting.epsilon:g} | {', '.join(texts)} |"


def covered_row(name: str, setting: JointSetting) -> str:
    """Return the row of the page about intervals."""
    seeds = range(100, 100 + COVERED_RUNS)
    chosen = setting.planning.layout()
    ours = coverage([setting.pooled(chosen, seed) for seed in seeds], setting)
    published = coverage([setting.published(seed) for seed in seeds], setting)
    return (
        f"| {name} | {setting.order} | {setting.epsilon:g} | {100 * ours.covered:.0f} %"
        f" | {100 * ours.strongest:.0f} % | {ours.length:.4f}"
        f" | {100 * published.covered:.0f} % | {published.length:.4f} |"
    )


@dataclass(frozen=True)
class KeptResults:
    """A folder of results, so that an experiment that was interrupted goes on where it was."""

    folder: Path | None = None

    def compared(self, name: str, setting: JointSetting) -> LayoutComparison:
        """Return the comparison of a setting, from the folder if it is there."""
        path = self._path("distances", name, setting)
        if path is not None and path.exists():
            return _comparison_of(setting, json.loads(path.read_text()))
        found = compare(setting)
        if path is not None:
            path.write_text(json.dumps(_content_of(found)))
        return found

    def covered(self, name: str, setting: JointSetting) -> str:
        """Return the row about intervals, from the folder if it is there."""
        path = self._path("intervals", name, setting)
        if path is not None and path.exists():
            return path.read_text()
        row = covered_row(name, setting)
        if path is not None:
            path.write_text(row)
        return row

    def _path(self, part: str, name: str, setting: JointSetting) -> Path | None:
        if self.folder is None:
            return None
        self.folder.mkdir(parents=True, exist_ok=True)
        words = "".join(letter if letter.isalnum() else "-" for letter in name)
        return self.folder / f"{part}-{words}-{setting.order}-{setting.epsilon:g}.json"


def _content_of(found: LayoutComparison) -> dict[str, Any]:
    return {
        "published": found.published.runs,
        "coefficients": found.coefficients.runs,
        "swept": [[*astuple(layout), *runs.runs] for layout, runs in found.swept.items()],
        "chosen": astuple(found.chosen),
    }


def _comparison_of(setting: JointSetting, content: dict[str, Any]) -> LayoutComparison:
    return LayoutComparison(
        setting,
        Distances(tuple(content["published"])),
        Distances(tuple(content["coefficients"])),
        {CoveringLayout(*row[:3]): Distances(tuple(row[3:])) for row in content["swept"]},
        CoveringLayout(*content["chosen"]),
    )


def _layout_text(layout: CoveringLayout) -> str:
    return f"{layout.size}:{layout.covered}"


HEAD = """# Joint tables of people

Printed by `python -m sottovoce.lab.experiments.joint_tables`. Distances are total variation, after
Norm-Sub for every method, averaged over {tables} tables and {runs} collections with genuine
reports (of InpHT: drawn from their law).
A layout *s:j* has views of *s* attributes that contain all sets of *j* attributes; 1:1 is single
attributes (independence). All layouts that can be asked, of up to {most} attributes, were swept by
hand with our estimator and the same seeds; the planner chose among them before it saw any data.
*Regret* is our distance over that of the best layout, which is chosen with hindsight.
*Gain* is the published distance over ours, run by run, with its 95 % interval.

| people | order | epsilon | CALM | InpHT | independence | best swept | ours | regret | gain\
 | stated | measured / stated |
|---|---|---|---|---|---|---|---|---|---|---|---|"""

SWEPT_HEAD = """
## Every layout

The distance of every layout over that of the best. Before anybody is asked, the planner knows how
many people, attributes and values there are. Disability (16 attributes of two values) and pages
(17) hardly differ in that, and what is best for one is above 1.1 for the other at epsilon 1 and 4
([decision 78](../decisions/0078-what-a-planner-cannot-know.md)).

| people | order | epsilon | layouts |
|---|---|---|---|"""

COVERED_HEAD = """
## Intervals

The share of all cells of {tables} tables in {runs} collections that lie within their 95 % interval,
and the mean length of the intervals. *Strongest*: the same in the tenth of the tables whose
attributes depend most on each other; there shrinkage is wrong most often, and where single
attributes were asked about, nothing was measured. Most tables of three attributes are in no view.

| people | order | epsilon | ours covers | strongest | length | CALM covers | length |
|---|---|---|---|---|---|---|---|"""


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(description="Compare ways to collect joint tables.")
    parser.add_argument("--keep", type=Path, help="folder of results, to go on after a pause")
    kept = KeptResults(parser.parse_args().keep)
    tables = populations()
    print(HEAD.format(tables=TABLES, runs=RUNS, most=MAX_SWEPT_SIZE))
    comparisons: dict[tuple[str, float, int], LayoutComparison] = {}
    pairs = [name for name in tables if "bits" not in name]
    triples = [name for name in tables if "bits" in name or "26,217" in name]
    for order, epsilons, names in ((2, EPSILONS, pairs), (3, (1.0,), triples)):
        for name, epsilon in product(names, epsilons):
            found = kept.compared(name, JointSetting(tables[name], order, epsilon))
            comparisons[name, epsilon, order] = found
            print(comparison_row(name, found), flush=True)
    _print_summary(list(comparisons.values()))
    print(SWEPT_HEAD)
    for (name, _, _), found in comparisons.items():
        print(swept_row(name, found))
    print(COVERED_HEAD.format(tables=COVERED_TABLES, runs=COVERED_RUNS))
    small = [name for name in pairs if "census" not in name]  # whose tables of three are small
    for order, epsilon, names in ((2, 0.5, pairs), (2, 2.0, pairs), (3, 1.0, small)):
        for name in names:
            print(kept.covered(name, JointSetting(tables[name], order, epsilon)), flush=True)


def _print_summary(comparisons: Sequence[LayoutComparison]) -> None:
    regrets = [found.regret for found in comparisons]
    gains = [found.published.mean / found.ours.mean for found in comparisons]
    stated = [found.ours.mean / found.expected for found in comparisons]
    print(
        f"\nOver {len(comparisons)} settings the largest regret is {max(regrets):.2f} and the mean"
        f" {fmean(regrets):.3f}. CALM errs {min(gains):.2f} to {max(gains):.2f} times as much as"
        f" ours. The measured distance is {min(stated):.2f} to {max(stated):.2f} times the stated."
    )


if __name__ == "__main__":
    main()
