"""Which reports people make under the published methods for SQL over private tables.

    hio         one report per record, about one layer that a public coin picks
    hi          a report about every layer, each for its part of the budget
    mg          one report about the finest layer, of all columns or of those that are asked about
    amg         mg; the layer also holds the coin that rounds one number, which a public coin picks
    sc          a report about each level of every column, budgets split; conjunctions by products
    sc_sampled  a report about one level of every column
    sc_join     like sc, the same budget for every column, with a rounding coin for every number
    ahio        hio; half of the layers hold the coin that rounds one number to an end of its range
    ehio        hio; the values of one number, rounded down, stand mirrored before those rounded up
    sr_hio      hio; every number has its coin in a layer, or not

As ``published``, reports are made by local hashing and no layer is left out; otherwise by affine
response.

Source: Wang 2021, sections 7.3 and 7.4; Xu 2020, sections 3 to 5.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any, ClassVar

from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.tables.augmented_layers import AugmentedLayers
from sottovoce.maths import exact
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.olh import OLH
from sottovoce.plans.tables.layout import (
    TREE_MEASURES,
    Factor,
    LayerSettings,
    Layout,
    Slot,
    check_slots,
)
from sottovoce.plans.tables.method import Method
from sottovoce.tasks.families.layers import Key

MAX_HASHED_CELLS = 2000  # cells that a report is compared with one by one


@dataclass(frozen=True)
class BaselineLayout(Layout):
    """A layout that can also collect exactly as published."""

    published: bool = False
    asked: tuple[str, ...] = ()  # the columns of a marginal; empty: all
    partition: tuple[str, ...] = ()  # the columns with rounding coins; empty: all numbers

    lists: ClassVar[bool] = True  # whether people may have any number of records
    rounding: ClassVar[str] = "none"  # what the layers do with numbers

    def __post_init__(self) -> None:
        if not self.lists and any(map(self.tables.most, range(len(self.tables.names)))):
            raise ParameterError(f"{self.name} is for tables with one record per person")

    @property
    def description(self) -> str:
        return f"{self.name}, {'as published' if self.published else 'affine response'}"

    @property
    def max_cells(self) -> int:  # type: ignore[override]
        return MAX_HASHED_CELLS if self.published else 0

    def default_methods(self, measure: str) -> tuple[Method, ...]:
        return (Method("add", measure),) if self.published else super().default_methods(measure)

    def default_measure(self, *, squares: bool) -> str:
        if not self.published or squares:  # a coin that keeps the mean does not keep squares
            return "lin"
        return "enum" if self.rounding == "none" else "round"

    def mechanism(self, epsilon: float) -> Callable[[Key], Mechanism]:
        if not self.published:
            return super().mechanism(epsilon)
        return lambda key: OLH(epsilon, key[0])

    def table_factors(self, table: int) -> list[Factor]:
        columns = self.columns(table)
        settings = LayerSettings(
            table, columns, self.all_levels(table), self.record_epsilon, self._rounding(table)
        )
        slot = self.slot(settings)
        known = not self.tables.most(table) and slot.family.first == 1
        return [Factor(table, columns, (slot,) * self.rows[table], known)]

    def columns(self, table: int) -> tuple[int, ...]:
        """Return the columns of a table."""
        return tuple(range(len(self.attributes(table))))

    def rounded_columns(self, table: int) -> tuple[int, ...]:
        """Return the columns with rounding coins, among which people are partitioned.

        Where ``partition`` names labels, their coins are collected and never read.
        """
        if self.rounding == "none":
            return ()
        if not self.partition:
            return self.numbers(table)
        return self._named(table, self.partition)

    def _named(self, table: int, chosen: tuple[str, ...]) -> tuple[int, ...]:
        """Return the columns of a table that have one of the chosen names."""
        names = self.tables.records(table).names
        return tuple(column for column in self.columns(table) if names[column] in chosen)

    def _rounding(self, table: int) -> dict[str, Any]:
        """Return how layers round numbers, or whether the layer of everything is left out."""
        lists = bool(self.tables.most(table))
        rounded = self.rounded_columns(table)
        if rounded:
            return {"rounding": self._rounding_of(lists=lists), "groups": rounded}
        left_out = not lists and not (self.published and len(self.columns(table)) > 1)
        return {"first": int(left_out)}

    def _rounding_of(self, *, lists: bool) -> str:
        return self.rounding


class HIO(BaselineLayout):
    """One report about one layer."""

    name = "hio"


class AHIO(BaselineLayout):
    """HIO with the coin of one number in half of the layers."""

    name = "ahio"
    rounding = "one"


class EHIO(BaselineLayout):
    """HIO with one number doubled by its coin; over lists the coin stands apart."""

    name = "ehio"
    rounding = "mirror"

    def _rounding_of(self, *, lists: bool) -> str:
        return "one" if lists else "mirror"


class SRHIO(BaselineLayout):
    """HIO with the coin of every number in a layer, or not."""

    name = "sr_hio"
    rounding = "all"
    lists = False


class MG(BaselineLayout):
    """One report about the finest layer: all single cells, of the marginal of ``asked`` columns.

    Queries about other columns are refused.
    """

    name = "mg"

    def table_factors(self, table: int) -> list[Factor]:
        columns = self.asked_columns(table)
        slot = self.finest_slot(table, columns)
        return [Factor(table, columns, (slot,) * self.rows[table], known=False)]

    def asked_columns(self, table: int) -> tuple[int, ...]:
        """Return the columns of the marginal."""
        columns = self._named(table, self.asked) if self.asked else self.columns(table)
        if not columns:
            raise ParameterError("`asked` must name at least one column of every table")
        return columns

    def finest_slot(
        self, table: int, columns: tuple[int, ...], rounding: dict[str, Any] | None = None
    ) -> Slot:
        """Return a slot about single values of some columns."""
        levels = self.all_levels(table)
        finest = [levels[column][-1:] for column in columns]
        return self.slot(LayerSettings(table, columns, finest, self.record_epsilon, rounding or {}))


class AMG(MG):
    """MG with the coin of one number in the layer; a public coin picks the number."""

    name = "amg"
    rounding = "one"

    def finest_slot(
        self, table: int, columns: tuple[int, ...], rounding: dict[str, Any] | None = None
    ) -> Slot:
        rounded = tuple(column for column in self.rounded_columns(table) if column in columns)
        if not rounded:
            return super().finest_slot(table, columns)
        slot = super().finest_slot(table, columns, {"rounding": "one", "groups": rounded})
        family = AugmentedLayers.of_family(slot.family)
        groups = [(*axes[:-1], replace(axes[-1], levels=(1,))) for axes in slot.groups]
        return replace(slot, choice=replace(slot.choice, members=family), groups=tuple(groups))


class HI(BaselineLayout):
    """A report about every layer.

    What is known is left out for one column, or unless as published.
    """

    name = "hi"
    lists = False

    def table_factors(self, table: int) -> list[Factor]:
        columns = self.columns(table)
        levels = self.all_levels(table)
        check_slots(prod(map(len, levels)) - 1)
        known = not (self.published and len(columns) > 1)
        layers = list(product(*levels))[int(known) :]
        epsilon = exact.part(self.record_epsilon, len(layers))
        slots = [
            self.slot(LayerSettings(table, columns, [[level] for level in layer], epsilon))
            for layer in layers
        ]
        return [Factor(table, columns, tuple(slots), known)]


class SC(BaselineLayout):
    """A factor for every column, with a slot for each of its levels."""

    name = "sc"
    lists = False

    def table_factors(self, table: int) -> list[Factor]:
        return [
            Factor(table, (column,), self._slots(table, column), known=True)
            for column in self.columns(table)
        ]

    def heights(self, table: int) -> list[int]:
        """Return the heights of the trees of all columns."""
        return [levels[-1] for levels in self.all_levels(table)]

    def _slots(self, table: int, column: int) -> tuple[Slot, ...]:
        epsilon = exact.part(self.record_epsilon, sum(self.heights(table)))
        return self._level_slots(table, column, epsilon)

    def _level_slots(self, table: int, column: int, epsilon: float) -> tuple[Slot, ...]:
        levels = range(1, self.heights(table)[column] + 1)
        return tuple(
            self.slot(LayerSettings(table, (column,), [[level]], epsilon)) for level in levels
        )


class SampledSC(SC):
    """A factor for every column, with one slot about one of its levels."""

    name = "sc_sampled"

    def _slots(self, table: int, column: int) -> tuple[Slot, ...]:
        epsilon = exact.part(self.record_epsilon, len(self.columns(table)))
        levels = range(1, self.heights(table)[column] + 1)
        return (self.slot(LayerSettings(table, (column,), [levels], epsilon)),)


class JoinSC(SC):
    """SC with further factors that hold nothing but the rounding coin of a number."""

    name = "sc_join"

    def default_measure(self, *, squares: bool) -> str:
        return "round" if self.published and not squares else "lin"

    def table_factors(self, table: int) -> list[Factor]:
        numbers = self.numbers(table)
        each = exact.part(self.record_epsilon, len(self.columns(table)) + len(numbers))
        factors = []
        for column, height in enumerate(self.heights(table)):
            slots = self._level_slots(table, column, exact.part(each, height))
            factors.append(Factor(table, (column,), slots, known=True, measures=TREE_MEASURES))
        for column in numbers:
            rounding = {"rounding": "one", "groups": (column,), "first": 1}
            coin = self.slot(LayerSettings(table, (column,), [[0]], each, rounding))
            factors.append(
                Factor(
                    table, (column,), (coin,), known=False, measures=("round",), conditional=False
                )
            )
        return factors


LAYOUTS: dict[str, type[BaselineLayout]] = {
    layout.name: layout for layout in (HIO, HI, MG, AMG, SC, SampledSC, JoinSC, AHIO, EHIO, SRHIO)
}
