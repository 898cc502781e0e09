"""How the tables of a plan are asked about: which reports a person makes, and what each of them can say.

A person's reports stand in numbered slots.  The slots of one ``Factor`` add up to a score for its columns; the factors
of all tables of a question multiply, person by person.

hio         one report per record, of one layer that a public coin picks (the default)
hi          a report of every layer, each for its part of the budget
mg          one report of the finest layer
sc          for every column a report of each of its levels, budgets split; conjunctions by products
sc_sampled  for every column a report of one of its levels
sc_join     like sc, every column for the same part of the budget, and with a rounding coin for every number
ahio        hio, and of one number the coin that rounds it to an end of its range, in half of the layers
ehio        hio, and of one number the values rounded down mirrored before those rounded up
sr_hio      hio, and of every number its coin or not

Source: Wang 2021, sections 7.3 and 7.4; Xu 2020, sections 3 to 5.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import lcm, prod
from typing import Any

from sottovoce.domains.base import Domain
from sottovoce.domains.categories import Categories
from sottovoce.domains.tables import ORDERED, Services
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.maths.interval_tree import Hierarchy
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.base import Mechanism
from sottovoce.plans.frequencies.choose_mechanism import choose
from sottovoce.tasks.bundle import Bundle
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.families.layers import Key, Layers
from sottovoce.tasks.question import Ask

METHODS = ("hio", "hi", "mg", "sc", "sc_sampled", "sc_join", "ahio", "ehio", "sr_hio")
SINGLE = ("hi", "sc", "sc_sampled", "sc_join", "sr_hio")  # of tables with one record per person only
MOST_SLOTS = 1 << 12
WEIGHT = -1  # the coin that says whether a drawn record counts


@dataclass(frozen=True)
class Axis:
    """One factor of the cells of a layer: the intervals of a column, or some coins.

    ``levels`` are those of the tree that layers ask for, by choice.
    """

    tree: Hierarchy
    levels: tuple[int, ...]
    column: int = -1
    coins: tuple[int, ...] = ()


@dataclass(frozen=True)
class Slot:
    """One report of a person: its number, the layers among which a coin picks, and their axes for every group."""

    number: int
    choice: Choice
    groups: tuple[tuple[Axis, ...], ...]

    @property
    def family(self) -> Layers:
        assert isinstance(self.choice.members, Layers)
        return self.choice.members

    def chance(self, member: int) -> float:
        """Return how likely a member is picked."""
        weights = self.choice.weights
        return weights[member] / sum(weights) if weights else 1 / len(self.family)

    def levels(self, member: int) -> tuple[int, tuple[int, ...]]:
        """Return the group of a member and the level of each axis."""
        group, choices = self.family.place(member)
        return group, tuple(
            axis.levels[pick] for axis, pick in zip(self.groups[group], _spread(choices, self), strict=True)
        )


@dataclass(frozen=True)
class Factor:
    """Slots whose scores add up; ``known`` if what is true of everybody is not asked but known to be."""

    table: int
    columns: tuple[int, ...]
    slots: tuple[Slot, ...]
    known: bool


@dataclass(frozen=True)
class Asking:
    """The reports of one person under a plan: the budget in as many parts as there are records."""

    services: Services
    rows: tuple[int, ...]  # how many records of each table are reported
    method: str
    fanout: int
    published: bool  # whether as published, with local hashing and every layer
    epsilon: float

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ParameterError(f"a method is one of {', '.join(METHODS)}")
        many = any(map(self.services.most, range(len(self.services.names))))
        if many and self.method in SINGLE:
            raise ParameterError(f"{self.method} is for tables with one record per person")

    @property
    def ask(self) -> Ask:
        """Return what everybody is asked."""
        choices = [slot.choice for factor in self.factors for slot in factor.slots]
        _check_slots(len(choices))
        return choices[0] if len(choices) == 1 else Bundle(tuple(choices))

    @property
    def each(self) -> float:
        """Return what one record may cost: the budget over all records of all tables, whichever a question uses."""
        return exact.part(self.epsilon, sum(self.rows))

    @cached_property
    def factors(self) -> tuple[Factor, ...]:
        """Return the factors of all tables, their slots numbered throughout."""
        found: list[Factor] = []
        for place in range(len(self.services.names)):
            for columns, asked, known in self._table(place):
                start = sum(len(factor.slots) for factor in found)
                slots = tuple(Slot(start + at, *one) for at, one in enumerate(asked))
                found.append(Factor(place, columns, slots, known))
        return tuple(found)

    def tree(self, place: int, column: int, *, doubled: bool = False) -> Hierarchy:
        """Return the tree of a column."""
        kind = self.attributes(place)[column]
        return Hierarchy(kind.size, self.fanout, isinstance(kind, Categories), doubled)

    def attributes(self, place: int) -> tuple[Domain, ...]:
        """Return what the columns of a table hold."""
        return self.services.records(place).attributes

    def numbers(self, place: int) -> tuple[int, ...]:
        """Return the columns of a table that hold numbers."""
        return tuple(at for at, kind in enumerate(self.attributes(place)) if isinstance(kind, ORDERED))

    def _table(self, place: int) -> list[tuple[tuple[int, ...], list[Any], bool]]:
        columns = tuple(range(len(self.attributes(place))))
        if self.method in ("sc", "sc_sampled", "sc_join"):
            return self._apart(place, columns)
        trees = [self.tree(place, column) for column in columns]
        levels = [range(tree.height + 1) for tree in trees]
        if self.method == "mg":
            levels = [range(tree.height, tree.height + 1) for tree in trees]
        if self.method == "hi":
            _check_slots(prod(len(one) for one in levels) - 1)
            return [(columns, *self._every(place, columns, list(product(*levels))))]
        slots = [self._slot(place, columns, levels, self.each) for _ in range(self.rows[place])]
        known = not self.services.most(place) and _left_out(slots[0][0])
        return [(columns, slots, known)]

    def _every(self, place: int, columns: tuple[int, ...], layers: list[Any]) -> tuple[list[Any], bool]:
        """Return a slot for every layer; of one column, or unless as published, what is known is not asked."""
        known = not (self.published and len(columns) > 1)
        asked = layers[1:] if known else layers
        epsilon = exact.part(self.each, len(asked))
        return [self._slot(place, columns, [[level] for level in one], epsilon) for one in asked], known

    def _apart(self, place: int, columns: tuple[int, ...]) -> list[tuple[tuple[int, ...], list[Any], bool]]:
        heights = [self.tree(place, column).height for column in columns]
        coins = self.numbers(place) if self.method == "sc_join" else ()
        found: list[tuple[tuple[int, ...], list[Any], bool]] = []
        for column, height in zip(columns, heights, strict=True):
            levels = [[level] for level in range(1, height + 1)]
            if self.method == "sc_sampled":
                asked = [self._slot(place, (column,), [range(1, height + 1)], exact.part(self.each, len(columns)))]
            elif self.method == "sc":
                epsilon = exact.part(self.each, sum(heights))
                asked = [self._slot(place, (column,), [one], epsilon) for one in levels]
            else:
                epsilon = exact.part(exact.part(self.each, len(columns) + len(coins)), height)
                asked = [self._slot(place, (column,), [one], epsilon) for one in levels]
            found.append(((column,), asked, True))
        each = exact.part(self.each, len(columns) + len(coins))
        found += [((column,), [self._coin(place, column, each)], False) for column in coins]
        return found

    def _coin(self, place: int, column: int, epsilon: float) -> tuple[Choice, tuple[tuple[Axis, ...], ...]]:
        """Return a slot for the rounding coin of a column alone."""
        return self._slot(place, (column,), [[0]], epsilon, rounding="one", groups=(column,), first=1)

    def _slot(
        self, place: int, columns: tuple[int, ...], levels: Sequence[Sequence[int]], epsilon: float, **settings: Any
    ) -> tuple[Choice, tuple[tuple[Axis, ...], ...]]:
        trees = [self.tree(place, column) for column in columns]
        settings = settings or self._rounding(place, levels)
        family = Layers.of(
            self._mechanism(epsilon),
            table=place,
            columns=columns,
            sizes=tuple(tree.size for tree in trees),
            widths=tuple(tuple(map(tree.width, one)) for tree, one in zip(trees, levels, strict=True)),
            most=self.services.most(place),
            **settings,
        )
        groups = tuple(self._axes(place, family, group, levels) for group in range(len(family.shapes)))
        return Choice(family, _even(family)), groups

    def _rounding(self, place: int, levels: Sequence[Sequence[int]]) -> dict[str, Any]:
        numbers, many = self.numbers(place), bool(self.services.most(place))
        rounding = {"ahio": "one", "ehio": "one" if many else "mirror", "sr_hio": "all"}.get(self.method, "none")
        if numbers and rounding != "none":
            return {"rounding": rounding, "groups": numbers}
        whole = prod(len(one) for one in levels) > 1 and all(one[0] == 0 for one in levels)
        return {"first": int(whole and not many and not (self.published and len(levels) > 1))}

    def _axes(self, place: int, family: Layers, group: int, levels: Sequence[Sequence[int]]) -> tuple[Axis, ...]:
        own = family.groups[group : group + 1] if family.rounding in ("one", "mirror") else family.groups
        axes = []
        for column, asked in zip(family.columns, levels, strict=True):
            doubled = family.rounding == "mirror" and column in own
            chosen = (0, *(level + 1 for level in asked)) if doubled else tuple(asked)
            axes.append(Axis(self.tree(place, column, doubled=doubled), chosen, column))
        if family.rounding == "none" and family.most:
            axes.append(Axis(Hierarchy(2, flat=True), (1,), coins=(WEIGHT,)))
        if family.rounding == "one":
            coins = (WEIGHT, *own) if family.most else own
            axes.append(Axis(Hierarchy(1 << len(coins), flat=True), (0, 1), coins=coins))
        if family.rounding == "all":
            axes += [Axis(Hierarchy(2, flat=True), (0, 1), coins=(column,)) for column in own]
        return tuple(axes)

    def _mechanism(self, epsilon: float) -> Callable[[Key], Mechanism]:
        if self.published:
            from sottovoce.mechanisms.olh import OLH

            return lambda key: OLH(epsilon, key[0])
        return lambda key: (
            AffineResponse(epsilon, key[0], groups=key[1]) if key[1] else choose(key[0], epsilon).mechanism
        )


def _check_slots(count: int) -> None:
    if count > MOST_SLOTS:
        raise ParameterError(f"a person makes at most {MOST_SLOTS:,} reports: use hio, or fewer columns")


def _left_out(choice: Choice) -> bool:
    return isinstance(choice.members, Layers) and choice.members.first == 1


def _even(family: Layers) -> tuple[int, ...]:
    """Return weights that make groups with different numbers of layers equally likely; none where they are alike."""
    sizes = [prod(shape) for shape in family.shapes]
    if len(set(sizes)) == 1:
        return ()
    whole = lcm(*sizes)
    return tuple(whole // size for size in sizes for _ in range(size))


def _spread(choices: tuple[int, ...], slot: Slot) -> tuple[int, ...]:
    """Return the choices with one for the coin that is always part of a layer of lists."""
    family = slot.family
    return (*choices, 0) if family.rounding == "none" and family.most else choices
