"""Which reports a person makes about the tables of a plan, and what each of them can say.

A person's reports stand in numbered slots.  The scores of the slots of one ``Factor`` are added;
the factors of all tables of a query are multiplied, person by person.

The layout of the product is HIO: one report per record, about one layer that a public coin picks.
A layer is one level of the tree of intervals for each column; the report says which cell of the
layer holds the record, by affine response, with the whole budget of the record.

Source: Wang 2021, sections 7.3 and 7.4; Xu 2020, sections 3 to 5.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import lcm, prod
from typing import Any

import numpy as np

from sottovoce.arrays import Bools, Floats
from sottovoce.domains.base import Domain
from sottovoce.domains.tables import Tables
from sottovoce.encodings.cell import Cell
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.maths.interval_tree import Hierarchy
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.base import Mechanism, PureMechanism
from sottovoce.plans.frequencies.choose_mechanism import UNSTATED_RULE, choose
from sottovoce.plans.tables.method import Method
from sottovoce.tasks.bundle import Bundle
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.families.layers import Key, Layers
from sottovoce.tasks.question import Ask

MAX_SLOTS = 1 << 12
WEIGHT = -1  # the coin that says whether a drawn record counts
TREE_MEASURES = ("lin", "enum")  # ways to measure a column that read its tree of intervals


@dataclass(frozen=True)
class Axis:
    """One factor of the cells of a layer: the intervals of a column, or some coins.

    ``levels`` are the levels of the tree that the layers ask about, in the order of the family's
    choices.
    """

    tree: Hierarchy
    levels: tuple[int, ...]
    column: int = -1
    coins: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class LayerLaws:
    """``ScoreMoments`` of several layers, an entry per layer."""

    centred: Bools
    spread: Floats
    held: Floats


@dataclass(frozen=True)
class Slot:
    """One report of a person: its number, the layers among which a coin picks, and the axes of
    every group.
    """

    choice: Choice
    groups: tuple[tuple[Axis, ...], ...]
    number: int = 0

    @property
    def family(self) -> Layers:
        """Return the layers."""
        assert isinstance(self.choice.members, Layers)
        return self.choice.members

    def mechanism(self, member: int) -> PureMechanism:
        """Return what randomises the cell of a layer."""
        return self.family[member].mechanism.pure()

    def chance(self, member: int) -> float:
        """Return how likely a layer is picked."""
        return float(self.chances[member])

    @cached_property
    def chances(self) -> Floats:
        """Return how likely every layer is picked."""
        weights = np.array(self.choice.weights or [1] * len(self.family), float)
        return np.asarray(weights / weights.sum())

    @property
    def weighted(self) -> bool:
        """Return whether some layers of the product were made more likely than others."""
        return bool(self.choice.weights) and self.family.rounding == "none"

    def precisions(self, *, by_level: bool) -> Floats:
        """Return the chance of every layer over the variance of the vote for one of its cells.

        ``by_level`` counts what holding a cell adds to that variance, for people who are spread
        evenly.  Only ratios matter: the mean is 1.
        """
        variances = self.laws.spread
        if by_level:
            cells = [self.cell(member).cells for member in range(len(self.family))]
            variances = variances + np.maximum(self.laws.held + 1, 0.0) / np.array(cells, float)
        precisions = self.chances / variances
        return np.asarray(precisions / precisions.mean())

    @cached_property
    def laws(self) -> "LayerLaws":
        """Return the laws of the scores of all layers."""
        known = {
            id(mechanism): mechanism.pure().noise.score_moments
            for mechanism in self.family.mechanisms
        }
        laws = [known[id(self.family[member].mechanism)] for member in range(len(self.family))]
        return LayerLaws(
            np.array([law.centred for law in laws]),
            np.array([law.spread for law in laws]),
            np.array([law.held for law in laws]),
        )

    def cell(self, member: int) -> Cell:
        """Return how a layer numbers its cells."""
        encoding = self.family[member].encoding
        assert isinstance(encoding, Cell)
        return encoding

    def levels(self, member: int) -> tuple[int, tuple[int, ...]]:
        """Return the group of a layer and the level of each of its axes."""
        return self._levels[member]

    @cached_property
    def _levels(self) -> list[tuple[int, tuple[int, ...]]]:
        levels = []
        for member in range(len(self.family)):
            group, choices = self.family.place(member)
            if self.family.rounding == "none" and self.family.most:
                choices = (*choices, 0)  # the coin that is always part of a layer of lists
            axes = zip(self.groups[group], choices, strict=True)
            levels.append((group, tuple(axis.levels[choice] for axis, choice in axes)))
        return levels


@dataclass(frozen=True)
class Factor:
    """Slots whose scores are added.

    ``known`` says that the cell of everything is not asked about but known.  ``measures`` are the
    ways to measure a column that read these reports, and ``conditional`` says whether conditions
    do.
    """

    table: int
    columns: tuple[int, ...]
    slots: tuple[Slot, ...]
    known: bool
    measures: tuple[str, ...] = (*TREE_MEASURES, "round")
    conditional: bool = True

    def rounds(self, column: int) -> bool:
        """Return whether reports hold the rounding coin of a column."""
        family = self.slots[0].family
        return family.rounding != "none" and column in family.groups

    def levels_asked(self, axis: Axis) -> list[int]:
        """Return the levels of an axis that any slot asks about."""
        axes = [each for slot in self.slots for group in slot.groups for each in group]
        same = [
            each
            for each in axes
            if (each.column, each.coins, each.tree) == (axis.column, axis.coins, axis.tree)
        ]
        return sorted({level for each in same for level in each.levels})


@dataclass(frozen=True)
class LayerSettings:
    """What the layers of one slot are made from: some levels of some columns of a table, for an
    epsilon.
    """

    table: int
    columns: tuple[int, ...]
    levels: Sequence[Sequence[int]]
    epsilon: float
    rounding: dict[str, Any] = field(default_factory=dict)  # further settings of ``Layers``


@dataclass(frozen=True)
class Layout:
    """The reports of one person: the budget in as many parts as there are records."""

    tables: Tables
    rows: tuple[int, ...]  # how many records of each table are reported
    fanout: int
    epsilon: float
    # How likely the layers of every table are; empty: all alike.
    weights: tuple[tuple[int, ...], ...] = field(default=(), kw_only=True)

    name = "hio"
    max_cells = 0  # cells that a report may be compared with one by one; 0: any number

    @property
    def description(self) -> str:
        """Return how people are asked, in words."""
        return f"{self.name}, affine response"

    @property
    def ask(self) -> Ask:
        """Return what everybody is asked."""
        choices = [slot.choice for factor in self.factors for slot in factor.slots]
        check_slots(len(choices))
        return choices[0] if len(choices) == 1 else Bundle(tuple(choices))

    @property
    def record_epsilon(self) -> float:
        """Return the budget of one record: the whole over all records of all tables, whatever a
        query uses.
        """
        return exact.part(self.epsilon, sum(self.rows))

    @cached_property
    def factors(self) -> tuple[Factor, ...]:
        """Return the factors of all tables, their slots numbered throughout."""
        factors: list[Factor] = []
        first = 0
        for table in range(len(self.tables.names)):
            for factor in self.table_factors(table):
                numbered = [
                    replace(slot, number=first + index) for index, slot in enumerate(factor.slots)
                ]
                factors.append(replace(factor, slots=tuple(numbered)))
                first += len(factor.slots)
        return tuple(factors)

    def table_factors(self, table: int) -> list[Factor]:
        """Return the factors of one table: in HIO one, with all columns and a slot per reported
        record.

        The layer of everything is left out unless people may have any number of records: it is
        known.
        """
        columns = tuple(range(len(self.attributes(table))))
        known = not self.tables.most(table)
        settings = LayerSettings(
            table, columns, self.all_levels(table), self.record_epsilon, {"first": int(known)}
        )
        slot = self.slot(settings)
        if self.weights and self.weights[table]:
            slot = replace(slot, choice=replace(slot.choice, weights=self.weights[table]))
        return [Factor(table, columns, (slot,) * self.rows[table], known)]

    def default_methods(self, measure: str) -> tuple[Method, ...]:
        """Return the methods that are compared where a query names none."""
        return (Method("blue", measure), Method("blue", measure, signal=self.signal))

    def default_measure(self, *, squares: bool) -> str:
        """Return how columns are measured where a query does not say it."""
        return "lin"

    @property
    def signal(self) -> float:
        """Return what holding a node adds to the variance of its votes, in units of that of other
        nodes.
        """
        largest = self.factors[0].slots[0].family.mechanisms[-1].pure()
        law = largest.noise.score_moments
        return max(0.0, float((law.held + 1) / law.spread))

    def mechanism(self, epsilon: float) -> Callable[[Key], Mechanism]:
        """Return what makes the mechanism for a number of cells, and the bit groups of large
        layers.
        """

        def make(key: Key) -> Mechanism:
            size, groups = key
            return (
                AffineResponse(epsilon, size, groups=groups)
                if groups
                else choose(size, epsilon, UNSTATED_RULE).mechanism
            )

        return make

    def tree(self, table: int, column: int, *, doubled: bool = False) -> Hierarchy:
        """Return the tree of a column."""
        kind = self.attributes(table)[column]
        return Hierarchy(kind.size, self.fanout, not kind.has_ranges, doubled)

    def all_levels(self, table: int) -> list[range]:
        """Return the levels of the trees of all columns."""
        columns = range(len(self.attributes(table)))
        return [range(self.tree(table, column).height + 1) for column in columns]

    def attributes(self, table: int) -> tuple[Domain, ...]:
        """Return the domains of the private columns of a table."""
        return self.tables.records(table).attributes

    def numbers(self, table: int) -> tuple[int, ...]:
        """Return the columns of a table that hold numbers."""
        kinds = self.attributes(table)
        return tuple(column for column, kind in enumerate(kinds) if kind.ordered)

    def slot(self, settings: LayerSettings) -> Slot:
        """Return a slot whose layers are all combinations of the levels of some columns."""
        trees = [self.tree(settings.table, column) for column in settings.columns]
        levels = zip(trees, settings.levels, strict=True)
        family = Layers.of(
            self.mechanism(settings.epsilon),
            table=settings.table,
            columns=settings.columns,
            sizes=tuple(tree.size for tree in trees),
            widths=tuple(tuple(map(tree.width, asked)) for tree, asked in levels),
            most=self.tables.most(settings.table),
            **settings.rounding,
        )
        groups = tuple(
            self._axes(family, group, settings.levels) for group in range(len(family.shapes))
        )
        return Slot(Choice(family, _even_weights(family)), groups)

    def _axes(
        self, family: Layers, group: int, levels: Sequence[Sequence[int]]
    ) -> tuple[Axis, ...]:
        """Return the axes of one group of layers: the columns, then the coins."""
        own = (
            family.groups[group : group + 1]
            if family.rounding in ("one", "mirror")
            else family.groups
        )
        axes = []
        for column, asked in zip(family.columns, levels, strict=True):
            doubled = family.rounding == "mirror" and column in own
            chosen = (0, *(level + 1 for level in asked)) if doubled else tuple(asked)
            axes.append(Axis(self.tree(family.table, column, doubled=doubled), chosen, column))
        if family.rounding == "none" and family.most:
            axes.append(Axis(Hierarchy(2, flat=True), (1,), coins=(WEIGHT,)))
        if family.rounding == "one":
            coins = (WEIGHT, *own) if family.most else own
            axes.append(Axis(Hierarchy(1 << len(coins), flat=True), (0, 1), coins=coins))
        if family.rounding == "all":
            axes += [Axis(Hierarchy(2, flat=True), (0, 1), coins=(column,)) for column in own]
        return tuple(axes)


def check_slots(count: int) -> None:
    """Refuse more reports than one person makes."""
    if count > MAX_SLOTS:
        raise ParameterError(
            f"a person makes at most {MAX_SLOTS:,} reports: use fewer columns or records"
        )


def _even_weights(family: Layers) -> tuple[int, ...]:
    """Return weights that make groups with different numbers of layers equally likely.

    None where they are alike.
    """
    sizes = [prod(shape) for shape in family.shapes]
    if len(set(sizes)) == 1:
        return ()
    whole = lcm(*sizes)
    weights: list[int] = []
    for size in sizes:
        weights += [whole // size] * size
    return tuple(weights)
