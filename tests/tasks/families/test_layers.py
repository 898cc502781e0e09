"""One question for every layer: all of them, each once, with the mechanism for its cells."""

from itertools import product
from math import prod

import numpy as np
import pytest

from plans.tables.plans import layout
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.lists import Lists
from sottovoce.domains.records import Records
from sottovoce.domains.tables import Tables
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.olh import OLH
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.families.layers import ALIGNED_FROM, Layers
from sottovoce.tasks.round import Round
from sottovoce.wire import codec

WIDTHS = ((2, 1), (9, 3, 1))
SETTINGS = {"table": 0, "columns": (0, 1), "sizes": (2, 8), "widths": WIDTHS}
LARGE = (1 << 12, 1 << 6, 1)


def direct(key):
    return GRR(1.0, key[0])


def hashed(key):
    return AffineResponse(1.0, key[0], groups=key[1]) if key[1] else GRR(1.0, key[0])


def layers(**settings):
    return Layers.of(direct, **(SETTINGS | settings))


def cells(family):
    return [family.cell(index) for index in range(len(family))]


def test_members_are_all_combinations_of_widths_each_once_the_last_changing_fastest():
    family = layers()
    assert [cell.widths for cell in cells(family)] == list(product(*WIDTHS))
    assert [family.place(index) for index in range(6)] == [
        (0, digits) for digits in product(range(2), range(3))
    ]
    assert [cell.cells for cell in cells(family)] == [1, 3, 8, 2, 6, 16]


def test_the_layer_that_everybody_knows_can_be_left_out():
    whole, family = layers(), layers(first=1)
    assert len(family) == 5
    assert cells(family) == cells(whole)[1:]
    assert [family.place(index) for index in range(5)] == [
        whole.place(index) for index in range(1, 6)
    ]
    whole, family = (layers(rounding="one", groups=(0, 1), first=first) for first in (0, 1))
    assert [family.place(index) for index in range(23)] == [
        whole.place(index) for index in range(1, 24)
    ]


def test_every_layer_is_asked_by_the_mechanism_for_its_cells():
    """A single cell takes a mechanism of two: there is none for one."""
    family = layers()
    assert [family[index].mechanism for index in range(6)] == [
        GRR(1.0, size) for size in (2, 3, 8, 2, 6, 16)
    ]
    assert family.mechanisms == tuple(GRR(1.0, size) for size in (2, 3, 6, 8, 16))
    domain = Tables(("t",), (Records(("a", "b"), (Categories(("x", "y")), Integers(1, 8))),))
    for index in range(6):
        family[index].check_domain(domain)


def test_a_few_members_stand_for_all_mechanisms():
    family = layers()
    assert {family[index].mechanism for index in family.representatives()} == set(family.mechanisms)
    assert len(family.representatives()) == len(family.mechanisms)
    assert Choice(family).epsilon == 1.0
    assert Choice(family).width == max(family[index].width for index in range(6))


def test_one_number_is_rounded_in_half_of_the_layers_of_its_group():
    family = layers(rounding="one", groups=(0, 1))
    made = cells(family)
    assert len(made) == 2 * 6 * 2
    for group in (0, 1):
        own = made[12 * group : 12 * (group + 1)]
        assert [cell.rounded for cell in own] == [(), (group,)] * 6
        assert (
            [cell.widths for cell in own[::2]]
            == [cell.widths for cell in own[1::2]]
            == list(product(*WIDTHS))
        )
        assert {family.place(12 * group + at)[0] for at in range(12)} == {group}
    assert not any(cell.weighted or cell.mirrored for cell in made)


def test_of_lists_the_coin_for_counting_goes_with_the_rounding_coin():
    plain, rounded = layers(most=4), layers(most=4, rounding="one", groups=(1,))
    assert all(cell.weighted for cell in cells(plain))
    assert [cell.weighted for cell in cells(rounded)] == [
        bool(cell.rounded) for cell in cells(rounded)
    ]
    assert max(cell.cells for cell in cells(rounded)) == 2 * 8 * 4


def test_every_combination_of_rounding_coins_is_a_layer():
    family = layers(rounding="all", groups=(0, 1))
    assert len(set(cells(family))) == len(family) == 6 * 4
    assert {cell.rounded for cell in cells(family)} == {(), (0,), (1,), (0, 1)}


def test_a_mirrored_column_has_one_more_level():
    family = layers(rounding="mirror", groups=(0, 1))
    assert family.shapes == ((3, 3), (2, 4))
    made = cells(family)
    assert len(set(made)) == len(made) == 17
    assert [cell.widths for cell in made[:9]] == list(product((0, 2, 1), WIDTHS[1]))
    assert [cell.widths for cell in made[9:]] == list(product(WIDTHS[0], (0, 9, 3, 1)))
    assert [cell.mirrored for cell in made] == [(0,)] * 9 + [(1,)] * 8
    assert [cell.cells for cell in made[9:13]] == [1, 2, 6, 16]


def test_groups_of_different_numbers_of_layers_are_equally_likely():
    """EHIO: the groups are drawn alike, then a layer of the group; all by one public coin."""
    services = Tables(("t",), (Records(("a", "b"), (Integers(0, 1), Integers(0, 7))),))
    slot = (
        layout(services, (1,), "ehio", fanout=3, published=False, epsilon=1.0).factors[0].slots[0]
    )
    sizes = [prod(shape) for shape in slot.family.shapes]
    assert len(set(sizes)) == 2
    chances = {0: 0.0, 1: 0.0}
    for member in range(len(slot.family)):
        group = slot.family.place(member)[0]
        assert slot.chance(member) == pytest.approx(0.5 / sizes[group], rel=1e-12)
        chances[group] += slot.chance(member)
    assert chances == {0: pytest.approx(0.5), 1: pytest.approx(0.5)}
    coins = (2 * np.arange(1440, dtype=np.uint64) + 1) * np.uint64((1 << 64) // 2880)
    picked = np.bincount(slot.choice.pick(coins), minlength=len(slot.family))
    assert (picked == [1440 * slot.chance(member) for member in range(len(slot.family))]).all()


def test_large_layers_are_aligned_and_permuted_column_by_column():
    settings = {"table": 0, "columns": (0, 1), "sizes": (4000, 4000), "widths": (LARGE, LARGE)}
    family = Layers.of(hashed, **settings)
    for index, cell in enumerate(cells(family)):
        plain = prod(cell.factors)
        assert cell.aligned == (plain > 1 << ALIGNED_FROM)
        assert family[index].mechanism.size == max(2, cell.cells)
        assert getattr(family[index].mechanism, "groups", ()) == cell.groups
        assert sum(cell.groups) == (family[index].mechanism.bits if cell.aligned else 0)
    assert cells(family)[-1].groups == (12, 12)


def test_local_hashing_serves_layers_of_one_size_whatever_their_columns():
    """Two layers of 2^25 cells, 10 + 10 + 5 and 10 + 7 + 5 + 3 bits, are one mechanism."""
    sizes, widths = (625,) * 4, ((625, 125, 25, 5, 1),) * 4
    settings = {"table": 0, "columns": (0, 1, 2, 3), "sizes": sizes, "widths": widths}
    family = Layers.of(lambda key: OLH(1.0, key[0]), **settings)
    groups = {cell.groups for cell in cells(family) if cell.cells == 1 << 25}
    assert groups >= {(10, 10, 5), (10, 7, 5, 3)}
    assert len({one.size for one in family.mechanisms}) == len(family.mechanisms)
    assert all(
        family[index].mechanism.size == max(2, cell.cells)
        for index, cell in enumerate(cells(family))
    )


@pytest.mark.parametrize("method", ["hio", "ehio"])
@pytest.mark.parametrize("published", [True, False])
def test_three_columns_of_a_million_values_are_asked_and_four_are_refused(published, method):
    """Q19: a clear error instead of cells that meet."""
    columns = [Integers(1, 10**6)] * 4
    three = Tables(("t",), (Records(("a", "b", "c"), tuple(columns[:3])),))
    four = Tables(("t",), (Records(("a", "b", "c", "d"), tuple(columns)),))
    ask = layout(three, (1,), method, fanout=10, published=published, epsilon=1.0).ask
    assert max(one.size for one in ask.members.mechanisms) >= 1 << 60
    with pytest.raises(ParameterError, match="2\\^62 cells"):
        assert layout(four, (1,), method, fanout=10, published=published, epsilon=1.0).ask


def test_too_many_layers_are_refused_before_they_are_listed():
    columns = tuple(Integers(0, 15) for _ in range(9))
    services = Tables(("t",), (Records(tuple("abcdefghi"), columns),))
    with pytest.raises(ParameterError, match="4,096 layers"):
        assert layout(services, (1,), "hio", fanout=2, published=False, epsilon=1.0).ask


@pytest.mark.parametrize(
    "wrong",
    [
        {"rounding": "some", "groups": (0,)},
        {"rounding": "one"},
        {"groups": (1,)},
        {"first": 2},
        {"first": -1},
        {"widths": (WIDTHS[0],)},
        {"widths": (WIDTHS[0], ())},
        {"widths": ((1,), (1,)), "first": 1},
        {"table": -1},
        {"sizes": (1, 8)},
        {"mechanisms": ()},
        {"mechanisms": tuple(GRR(1.0, size) for size in (2, 3, 6, 8))},
        {"mechanisms": tuple(GRR(1.0, size) for size in (2, 3, 6, 8, 16, 17))},
        {"mechanisms": tuple(GRR(1.0, size) for size in (2, 3, 6, 8, 16, 16))},
    ],
)
def test_impossible_layers_are_refused(wrong):
    right = SETTINGS | {"mechanisms": layers().mechanisms}
    Layers(**right)
    with pytest.raises(ParameterError):
        Layers(**(right | wrong))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"first": 1},
        {"most": 3},
        {"rounding": "mirror", "groups": (0, 1)},
        {"rounding": "one", "groups": (1,), "most": 3},
        {"rounding": "all", "groups": (1,)},
    ],
)
def test_the_document_restores_them(settings):
    asked = Round(0, Choice(layers(**settings)))
    assert codec.round_(codec.parse(codec.canonical(codec.document(asked)))) == asked


def test_layers_of_a_list_are_refused_for_a_table_of_records():
    records = Records(("a", "b"), (Categories(("x", "y")), Integers(1, 8)))
    with pytest.raises(ParameterError, match="domain"):
        layers(most=3)[1].check_domain(Tables(("t",), (records,)))
    layers(most=3)[1].check_domain(Tables(("t",), (Lists(records, 3),)))


@pytest.mark.parametrize("most", [0, 3])
@pytest.mark.parametrize("rounding", ["none", "one", "all", "mirror"])
@pytest.mark.parametrize("first", [0, 1])
def test_mechanisms_are_found_for_the_cells_of_every_layer(rounding, most, first):
    """Keys are computed from factors alone; here every cell is made, large ones among them."""
    settings = {"table": 0, "columns": (0, 1), "sizes": (4000, 90), "widths": (LARGE, (90, 9, 1))}
    groups = () if rounding == "none" else (0, 1)
    settings |= {"rounding": rounding, "groups": groups, "most": most, "first": first}
    family = Layers.of(hashed, **settings)
    sizes = set()
    for index, cell in enumerate(cells(family)):
        mechanism = family[index].mechanism
        assert mechanism.size == max(2, cell.cells)
        assert getattr(mechanism, "groups", ()) == cell.groups
        sizes.add((mechanism.size, cell.groups))
    assert len(family.representatives()) == len(sizes)
    assert family.examined == len(family)
