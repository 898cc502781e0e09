"""Which reports a person makes under a plan, and what each of them can say."""

from math import prod

import numpy as np
import pytest

from plans.tables.laws import everybody, law
from plans.tables.plans import METHODS, SINGLE, table_plan
from plans.tables.plans import layout as layout_by
from sottovoce.domains.buckets import Buckets
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.lists import Lists
from sottovoce.domains.numbers import Numbers
from sottovoce.domains.records import Records
from sottovoce.domains.tables import Tables
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.plans.tables import layout as module
from sottovoce.plans.tables.layout import WEIGHT
from sottovoce.tasks.bundle import Bundle
from sottovoce.tasks.choice import Choice

AGE, HOURS, STATE = Integers(1, 125), Buckets(0.0, 100.0, 25), Categories(("NY", "WA", "CA"))
ONE = Tables(("t",), (Records(("age",), (AGE,)),))
PERSON = Records(("age", "hours", "state"), (AGE, HOURS, STATE))  # heights 3, 2 and 1
THREE = Tables(("t",), (PERSON,))
MANY = Tables(("t", "u"), (PERSON, Lists(PERSON, 4)))
JOINT = Tables(
    ("a", "b", "c"),
    (PERSON, Records(("x",), (Integers(0, 8),)), Lists(Records(("y",), (STATE,)), 3)),
)
SMALL = Records(("a", "b"), (Integers(0, 2), Numbers(0.0, 1.0, 2)))


def asked(services, method="hio", rows=None, *, published=False, epsilon=1.0, fanout=5):
    rows = rows or (1,) * len(services.names)
    return layout_by(services, rows, method, fanout=fanout, published=published, epsilon=epsilon)


def slots(layout):
    return [slot for factor in layout.factors for slot in factor.slots]


@pytest.mark.parametrize("method", [method for method in METHODS if method not in SINGLE])
@pytest.mark.parametrize("published", [True, False])
def test_one_one_and_two_records_are_four_parts_of_the_budget(method, published):
    """AT-10: whichever of the tables a question uses."""
    layout = asked(JOINT, method, (1, 1, 2), published=published)
    assert layout.record_epsilon == 0.25
    assert [slot.choice.epsilon for slot in slots(layout)] == [0.25] * 4
    assert [(factor.table, len(factor.slots)) for factor in layout.factors] == [
        (0, 1),
        (1, 1),
        (2, 2),
    ]
    assert layout.ask.epsilon == 1.0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("published", [True, False])
@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0, 2.0, 7.7])
def test_the_decimals_of_all_parts_never_come_to_more_than_the_budget(method, published, epsilon):
    layout = asked(THREE, method, published=published, epsilon=epsilon)
    parts = [slot.choice.epsilon for slot in slots(layout)]
    total = sum(map(exact.stated, parts))
    assert exact.stated(epsilon) * (1 - exact.stated(1e-12)) <= total <= exact.stated(epsilon)


@pytest.mark.parametrize(
    ("method", "published", "reports", "layers"),
    [
        ("hio", True, 1, 4 * 3 * 2),
        ("hio", False, 1, 4 * 3 * 2 - 1),
        ("hi", True, 24, 1),
        ("hi", False, 23, 1),
        ("mg", True, 1, 1),
        ("sc", True, 3 + 2 + 1, 1),
        ("sc_join", True, 3 + 2 + 1 + 2, 1),
        ("ahio", True, 1, 2 * 2 * 24),
        ("ehio", True, 1, 5 * 3 * 2 + 4 * 4 * 2),
        ("sr_hio", True, 1, 4 * 24),
    ],
)
def test_a_method_makes_the_stated_number_of_reports_from_the_stated_layers(
    method, published, reports, layers
):
    """K is the product of (h + 1), 2 for categories (Q17); AHIO doubles it for either number, EHIO
    adds a level.
    """
    found = slots(asked(THREE, method, published=published))
    assert [slot.number for slot in found] == list(range(reports))
    assert {len(slot.family) for slot in found} == {layers}


def test_a_level_of_every_column_is_sampled():
    assert [len(slot.family) for slot in slots(asked(THREE, "sc_sampled"))] == [3, 2, 1]


@pytest.mark.parametrize("published", [True, False])
def test_of_a_single_column_what_everybody_knows_is_never_asked(published):
    """Wang 2021, algorithm 3: the levels are 1 to h."""
    layout = asked(ONE, published=published)
    (slot,) = slots(layout)
    assert [slot.levels(member) for member in range(len(slot.family))] == [
        (0, (1,)),
        (0, (2,)),
        (0, (3,)),
    ]
    assert layout.factors[0].known
    assert isinstance(layout.ask, Choice)
    assert [one.levels(0) for one in slots(asked(ONE, "hi", published=published))] == [
        (0, (level,)) for level in (1, 2, 3)
    ]


def test_only_what_is_left_out_counts_as_known():
    assert [asked(THREE, published=published).factors[0].known for published in (True, False)] == [
        False,
        True,
    ]
    assert [factor.known for factor in asked(MANY).factors] == [True, False]
    assert [factor.known for factor in asked(THREE, "sc_join").factors] == [True] * 3 + [False] * 2


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("published", [True, False])
@pytest.mark.parametrize("services", [THREE, MANY], ids=["record", "lists"])
def test_the_axes_of_a_layer_are_the_factors_of_its_cells(services, method, published):
    """Where nothing is padded to whole bits, the real nodes of the axes number the cells."""
    if services is MANY and method in SINGLE:
        with pytest.raises(ParameterError, match="one record per person"):
            asked(services, method)
        return
    for slot in slots(asked(services, method, published=published)):
        for member in range(len(slot.family)):
            group, levels = slot.levels(member)
            axes = slot.groups[group]
            nodes = [len(axis.tree.real(level)) for axis, level in zip(axes, levels, strict=True)]
            cell = slot.family.cell(member)
            assert prod(nodes) == prod(cell.factors)
            assert [axis.column for axis in axes if axis.column >= 0] == list(cell.columns)
            coins = [
                coin
                for axis, level in zip(axes, levels, strict=True)
                if level
                for coin in axis.coins
            ]
            assert coins == [*([WEIGHT] if cell.weighted else []), *cell.rounded]
            assert slot.family[member].mechanism.size == max(2, cell.cells)


@pytest.mark.parametrize("method", METHODS)
def test_cells_are_the_nodes_of_the_trees_that_hold_the_value(method):
    """Every value of a small table, every layer: the cell is the mixed-radix number of nodes and
    coins.
    """
    layout = asked(Tables(("t",), (SMALL,)), method, fanout=2)
    for slot in slots(layout):
        for member in range(len(slot.family)):
            group, levels = slot.levels(member)
            axes, cell = slot.groups[group], slot.family.cell(member)
            for person in everybody(layout):
                assert set(law(cell, person)) <= _reachable(axes, levels, person.tables[0][0])


def _reachable(axes, levels, record):
    """The cells that a record may lie in: doubled trees and coins leave two possibilities each."""
    found = {0}
    for axis, level in zip(axes, levels, strict=True):
        real = axis.tree.real(level).tolist()
        if axis.column < 0:
            places = range(len(real))
        elif axis.tree.doubled:
            value, half = int(record[axis.column]), axis.tree.leaves // 2
            ends = np.array([axis.tree.size - 1 - value, half + value])
            places = [real.index(node) for node in axis.tree.node(ends, level)]
        else:
            places = [real.index(axis.tree.node(record[[axis.column]], level)[0])]
        found = {cell * len(real) + place for cell in found for place in places}
    return found


def test_published_plans_hash_locally_and_others_take_the_best_for_every_layer():
    published, ours = (
        {
            one.kind
            for slot in slots(asked(MANY, published=published))
            for one in slot.family.mechanisms
        }
        for published in (True, False)
    )
    assert published == {"olh"}
    assert ours == {"grr", "affine"}


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("sc", [0.2] * 6),
        ("sc_sampled", [0.4] * 3),
        ("sc_join", [0.08] * 3 + [0.12] * 2 + [0.24] * 3),
    ],
)
def test_split_and_conjunction_gives_every_level_or_every_column_the_same_part(method, expected):
    """epsilon / sum of heights; epsilon / columns; epsilon / (columns and coins), then over the
    levels.
    """
    parts = [slot.choice.epsilon for slot in slots(asked(THREE, method, epsilon=1.2))]
    assert parts == pytest.approx(expected, rel=1e-12)


def test_a_coin_alone_is_asked_with_its_layer_left_out():
    """The report of a rounding coin: two cells, never the one that everybody is in."""
    coins = [factor for factor in asked(THREE, "sc_join").factors if not factor.known]
    for factor, column in zip(coins, (0, 1), strict=True):
        (slot,) = factor.slots
        assert factor.columns == (column,)
        assert [slot.family.cell(0).rounded, slot.family.cell(0).cells, len(slot.family)] == [
            (column,),
            2,
            1,
        ]
        assert slot.levels(0) == (0, (0, 1))


def test_lists_round_weight_and_value_as_published_also_where_records_are_mirrored():
    """Mirroring is not defined for lists: they are asked as AHIO asks them."""
    mirrored, plain = (asked(MANY, method).factors for method in ("ehio", "ahio"))
    assert mirrored[1] == plain[1]
    assert mirrored[0] != plain[0]


def test_several_reports_are_a_bundle_with_one_width():
    ask = asked(JOINT, rows=(1, 1, 2)).ask
    assert isinstance(ask, Bundle)
    assert ask.width == max(part.width for part in ask.parts)


def test_impossible_methods_and_too_many_reports_are_refused(monkeypatch):
    with pytest.raises(ParameterError, match="`method` must be one of"):
        table_plan({"a": ["x", "y"]}, method="hoi")
    monkeypatch.setattr(module, "MAX_SLOTS", 23)
    assert len(asked(THREE, "hi").ask.parts) == 23
    with pytest.raises(ParameterError, match="at most 23 reports"):
        assert asked(THREE, "hi", published=True).ask
