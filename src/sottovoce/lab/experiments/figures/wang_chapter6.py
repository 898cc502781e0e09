"""Wang 2021, chapter 6: marginals of many attributes by CALM and its rivals.

POS, Kosarak, Adult and US are replaced by invented records; figures print no numbers.  Errors are
sums of squared errors over the cells of random tables, after Norm-Sub for every method.
"""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations, product
from typing import ClassVar

import numpy as np

from sottovoce.arrays import Ints
from sottovoce.lab.baselines.priview import PriView
from sottovoce.lab.experiments.base import (
    Axes,
    Claim,
    Curves,
    Experiment,
    FigureRow,
    Progress,
    Size,
    is_below,
    named,
    steps,
    values_of,
)
from sottovoce.lab.experiments.cormode.independence_power import DrawnCollection
from sottovoce.lab.experiments.wang_chapter6.classification import ClassificationSetting
from sottovoce.lab.experiments.wang_chapter6.marginal_errors import (
    MarginalsSetting,
    random_views,
    squared_error,
    uniform_error,
)
from sottovoce.lab.populations.records import (
    applicants,
    kosarak_joint,
    kosarak_like,
    marginal_applicants,
    three_levels,
    true_table,
)
from sottovoce.plans.marginals.covering import cover
from sottovoce.plans.marginals.marginal_table import View, project
from sottovoce.plans.marginals.view_selection import ViewLayout, ViewSelection, choose_views

PAPER = "Wang 2021"


@cache
def click_errors(
    attributes: int, power: int, methods: tuple[str, ...], epsilon: float
) -> dict[str, float]:
    """Return the error of every method on tables of three, and of tables that say nothing."""
    sizes = (2,) * attributes
    records = kosarak_like(1 << power, attributes, seed=0)
    views = random_views(attributes, 3, 20)
    tables = {view: true_table(records, sizes, view) for view in views}
    errors = {"uniform": uniform_error(tables)}
    for method in methods:
        model = MarginalsSetting(sizes, 3, method, epsilon).collect(records, 100)
        errors[method] = squared_error(model, tables)
    return errors


class NoiseErrors(Curves):
    """Figure 6.3: the noise of views of s attributes, times k, over epsilon."""

    name = "wang-6-3"
    title = "Noise errors times k, n = 2^16, m = 8, k = 3"
    paper = PAPER
    reproduces = ("wang-figure-6.3",)
    axes = Axes("epsilon", "k NE", log_y=True)
    schemes: ClassVar[dict[str, int]] = {f"s = {width}": width for width in (2, 3, 4, 5, 6)}
    points = (0.2, 0.6, 1.0, 1.4, 2.0)

    def number(self, scheme: int, point: float, size: Size) -> float:
        return 3 * ViewSelection(1 << 16, (2,) * 8, point, 3).noise_error(scheme)

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        at = {(row.series, row.x): row.ours for row in rows}
        small = self.points[:-1]
        return [
            Claim(
                "up to epsilon 1.4 only s = 2 is below the threshold of 0.001, if any is",
                all(at["s = 3", epsilon] > 1e-3 for epsilon in small),
            ),
            Claim(
                "at epsilon 2 both s = 3 and s = 4 are below it",
                max(at["s = 3", 2.0], at["s = 4", 2.0]) < 1e-3,
            ),
        ]


class BinaryData(Curves):
    """Figure 6.4: CALM and its rivals on binary attributes."""

    name = "wang-6-4"
    title = "Squared error of tables of three of 16 attributes (stand-in for Kosarak)"
    paper = PAPER
    reproduces = ("wang-figure-6.4",)
    axes = Axes("epsilon", "squared error", log_y=True)
    methods = ("calm", "inp_ht", "am", "fc")
    power: ClassVar[dict[str, int]] = {"quick": 15, "full": 16}
    schemes = named("uniform", *methods)
    points = (0.2, 1.0, 2.0)

    def number(self, scheme: str, point: float, size: Size) -> float:
        return click_errors(16, self.power[size], self.methods, point)[scheme]

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        return [
            Claim(
                "CALM is far better than FT (InpHT)",
                is_below(rows, "calm", ("inp_ht",), factor=3),
            ),
            Claim("and than whole tables and all marginals", is_below(rows, "calm", ("am", "fc"))),
        ]


class ThreeValues(Experiment):
    """Figure 6.5: attributes of more than two values."""

    name = "wang-6-5"
    title = "Squared error of tables of three of 8 attributes with three values"
    paper = PAPER
    reproduces = ("wang-figure-6.5",)
    axes = Axes("epsilon", "squared error", log_y=True)

    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        sizes = (3,) * 8
        records = three_levels(1 << 16, seed=0)
        tables = {view: true_table(records, sizes, view) for view in random_views(8, 3, 20)}
        rows = []
        for epsilon in steps((0.6, 1.0, 2.0), progress):
            rows.append(FigureRow("uniform", epsilon, uniform_error(tables)))
            for method in ("calm", "am", "fc"):
                model = MarginalsSetting(sizes, 3, method, epsilon).collect(records, 0)
                rows.append(FigureRow(method, epsilon, squared_error(model, tables)))
        return sorted(rows, key=lambda row: row.series)

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        return [Claim("CALM is the best method", is_below(rows, "calm", ("am", "fc")))]


class Classification(Experiment):
    """Figure 6.6: records that are classified by what was learnt from tables of six.

    Adult has 2^16 people; the chapter repeats each of them four and sixteen times.
    """

    name = "wang-6-6"
    title = "Records misclassified, 15 attributes (stand-ins for Adult)"
    paper = PAPER
    reproduces = ("wang-figure-6.6",)
    axes = Axes("epsilon", "share misclassified")
    difference = (
        "at epsilon 1.4 and 2^20 people the planning rule turns from 105 pairs to 838 views of "
        "four, whose error is larger, on the population where one combination decides"
    )
    runs: ClassVar[dict[str, int]] = {"quick": 4, "full": 10}
    epsilons = (0.2, 0.8, 1.4)
    populations: ClassVar[dict[str, Callable[[int, int], Ints]]] = {
        "one decides": marginal_applicants,
        "several": applicants,
    }

    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        rows = []
        for (name, population), epsilon in steps(
            list(product(self.populations.items(), self.epsilons)), progress
        ):
            for power in (18, 20):
                setting = ClassificationSetting(population, power, epsilon)
                wrong = setting.by_calm(self.runs[size])
                rows.append(FigureRow(f"{name}: CALM, 2^{power}", epsilon, wrong))
            rows.append(FigureRow(f"{name}: no noise", epsilon, setting.without_noise()))
            rows.append(FigureRow(f"{name}: majority", epsilon, setting.majority()))
        return sorted(rows, key=lambda row: row.series)

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        return [
            Claim(
                f"below majority and close to no noise (0.02) {where}",
                all(self._is_close(rows, name, *cell) for name in self.populations),
            )
            for where, cell in {
                "at epsilon 0.8 with sixteen times the people": (20, 0.8),
                "at epsilon 1.4 with four times the people": (18, 1.4),
                "at epsilon 1.4 with sixteen times the people": (20, 1.4),
            }.items()
        ]

    def _is_close(self, rows: Sequence[FigureRow], name: str, power: int, epsilon: float) -> bool:
        at = {(row.series, row.x): row.ours for row in rows}
        wrong = at[f"{name}: CALM, 2^{power}", epsilon]
        best = at[f"{name}: no noise", epsilon]
        return wrong <= best + 0.02 and wrong < at[f"{name}: majority", epsilon]


class Layouts(Curves):
    """Figure 6.7: the number and the size of the views."""

    name = "wang-6-7"
    title = "Squared error by views, 8 attributes, 2^16 people"
    paper = PAPER
    reproduces = ("wang-figure-6.7",)
    axes = Axes("views", "squared error", log_y=True)
    runs: ClassVar[dict[str, int]] = {"quick": 4, "full": 10}
    schemes: ClassVar[dict[str, tuple[int, float]]] = {
        f"{width} wide, eps {epsilon:g}": (width, epsilon)
        for epsilon in (0.6, 2.0)
        for width in (2, 3)
    }
    points = (4, 8, 16, 28)

    def number(self, scheme: tuple[int, float], point: int, size: Size) -> float:
        width, epsilon = scheme
        joint = kosarak_joint(8)
        dice = np.random.default_rng(3)
        everything = tuple(range(8))
        chosen: list[View] = list(combinations(everything, 3))
        tables = {view: project(joint, everything, view) for view in chosen}
        collection = DrawnCollection(
            "calm", 1 << 16, epsilon, choose_views(ViewLayout(point, width), 8, 3)
        )
        models = [collection.draw(joint, dice) for _ in range(self.runs[size])]
        return float(np.mean([squared_error(model, tables) for model in models]))

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        at = {(row.series, row.x): row.ours for row in rows}
        return [
            Claim(
                "when epsilon is large, larger views are better",
                at["3 wide, eps 2", 16] < at["2 wide, eps 2", 16],
            ),
            Claim(
                "more pairs are better at a small epsilon",
                at["2 wide, eps 0.6", 28] < at["2 wide, eps 0.6", 4],
            ),
        ]


class PlannedOrders(Curves):
    """Figure 6.8: tables of three, from views that are planned for tables of another order."""

    name = "wang-6-8"
    title = "Squared error of tables of three of 16 attributes, 2^18 people"
    paper = PAPER
    reproduces = ("wang-figure-6.8",)
    axes = Axes("order that views are planned for", "squared error", log_y=True)
    difference = (
        "up to epsilon 1 the plan is the same 120 pairs for every order, and beyond it the pairs "
        "planned for tables of two are better than larger views on this population"
    )
    runs: ClassVar[dict[str, int]] = {"quick": 2, "full": 10}
    schemes: ClassVar[dict[str, float]] = {
        f"epsilon {epsilon:g}": epsilon for epsilon in (1.0, 1.4, 2.0)
    }
    points = (2, 3, 6, 8)

    def number(self, scheme: float, point: int, size: Size) -> float:
        joint = kosarak_joint(16)
        everything = tuple(range(16))
        tables = {view: project(joint, everything, view) for view in random_views(16, 3, 50)}
        views = ViewSelection(1 << 18, (2,) * 16, scheme, point).views()
        collection = DrawnCollection("calm", 1 << 18, scheme, views)
        dice = np.random.default_rng(8)
        models = [collection.draw(joint, dice) for _ in range(self.runs[size])]
        return float(np.mean([squared_error(model, tables) for model in models]))

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        found = {name: values_of(rows, name) for name in self.schemes}
        asked = self.points.index(3)
        return [
            Claim(
                "results are best when views are planned for the order that is asked for",
                all(errors[asked] == min(errors) for errors in found.values()),
            ),
            Claim(
                "planned for a larger order they are better than for a smaller one",
                all(errors[asked + 1] <= errors[0] for errors in found.values()),
            ),
        ]


class Curator(Experiment):
    """Figure 6.9: CALM against a trusted curator."""

    name = "wang-6-9"
    title = "Squared error of CALM and of a trusted curator, 16 attributes"
    paper = PAPER
    reproduces = ("wang-figure-6.9",)
    axes = Axes("epsilon", "squared error", log_y=True)
    power: ClassVar[dict[str, int]] = {"quick": 15, "full": 18}

    def run(self, size: Size, progress: Progress) -> list[FigureRow]:
        sizes = (2,) * 16
        records = kosarak_like(1 << self.power[size], 16)
        tables = {view: true_table(records, sizes, view) for view in random_views(16, 3, 20)}
        rows = []
        for epsilon in steps((0.5, 1.0, 2.0), progress):
            blocks = cover(16, 2, 8)
            assert blocks is not None
            curated = PriView(sizes, blocks, epsilon).publish(records, 1)
            local = MarginalsSetting(sizes, 3, "calm", epsilon).collect(records, 1)
            rows.append(FigureRow("PriView (central)", epsilon, squared_error(curated, tables)))
            rows.append(FigureRow("CALM (local)", epsilon, squared_error(local, tables)))
        return sorted(rows, key=lambda row: row.series)

    def claims(self, rows: Sequence[FigureRow]) -> list[Claim]:
        return [
            Claim(
                "the local setting is one order worse or more",
                is_below(rows, "PriView (central)", ("CALM (local)",), factor=10),
            )
        ]
