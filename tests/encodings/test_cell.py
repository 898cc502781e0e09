"""The exact law of a cell: every draw listed, every chance a fraction."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from plans.tables.laws import AllDraws, holding, law
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.lists import Lists
from sottovoce.domains.person_tables import PersonTables, Rows
from sottovoce.domains.records import Records
from sottovoce.domains.tables import Tables
from sottovoce.encodings.cell import MOST_CELLS, Cell
from sottovoce.errors import ParameterError
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.grr import GRR
from sottovoce.tasks.question import Question
from sottovoce.tasks.round import Round
from sottovoce.wire import codec

HALF = Fraction(1, 2)
COLUMNS = Records(("pet", "age"), (Categories(("cat", "dog")), Integers(0, 4)))
DOMAIN = Tables(("people", "visits"), (COLUMNS, Lists(COLUMNS, 3)))
VISITS = Cell(1, (0, 1), (2, 5), (1, 1), most=3, weighted=True)


def visitor(*visits):
    return holding((0, 0), list(visits))


def expected(visits, most):
    """The law that is stated: each record with 1/r, counted with min(r, most)/most, and none is
    any, never counted.
    """
    chances = dict.fromkeys(product(range(2), range(5), range(2)), Fraction(0))
    weight = Fraction(min(len(visits), most), most)
    for pet, age in visits or product(range(2), range(5)):
        chances[pet, age, 1] += weight / len(visits or range(10))
        chances[pet, age, 0] += (1 - weight) / len(visits or range(10))
    return {
        (pet * 5 + age) * 2 + coin: chance for (pet, age, coin), chance in chances.items() if chance
    }


@pytest.mark.parametrize("count", range(5))
def test_one_record_of_a_list_is_drawn_and_counted_with_the_stated_chances(count):
    """Xu 2020, section 5.1, for every list of three records and more; the fifth would be one too
    many to count.
    """
    places = [(0, 0), (0, 3), (1, 4)]
    for visits in combinations_with_replacement(places, count):
        assert law(VISITS, visitor(*visits)) == expected(visits, 3)


class OffByOne(AllDraws):
    """The coin for counting is compared as if it were drawn from 1: as a ``<=`` for a ``<`` would
    do.
    """

    def integers(self, limit, count):
        return super().integers(limit, count) - (limit == VISITS.most)


@pytest.mark.parametrize("count", range(3))
def test_the_law_tells_a_coin_that_falls_once_too_often(count):
    visits = [(0, 0)] * count
    assert law(VISITS, visitor(*visits), OffByOne) != expected(visits, 3)


def test_what_a_list_says_is_the_mean_of_what_its_records_say():
    """Hence the law of a list follows from those of lists of equal records."""
    visits = [(0, 1), (0, 1), (1, 4)]
    total = dict.fromkeys(range(20), Fraction(0))
    for one in visits:
        for cell, chance in law(VISITS, visitor(one, one, one)).items():
            total[cell] += chance / 3
    assert law(VISITS, visitor(*visits)) == {
        cell: chance for cell, chance in total.items() if chance
    }


@pytest.mark.parametrize("most", [1, 2, 5])
def test_a_list_counts_as_its_length_on_average_and_an_empty_one_as_nothing(most):
    """AT-15: with r_max = most / rows, the mean of r is length / rows, whatever is reported."""
    weights = replace(VISITS, most=most)
    for count in range(most + 3):
        chances = law(weights, visitor(*[(1, 2)] * count))
        counted = sum(chance for cell, chance in chances.items() if cell % 2)
        assert counted * most == min(count, most)
        for rows in range(1, most + 1):
            assert sum([counted * Fraction(most, rows)] * rows) == min(count, most)


def test_sampled_lists_count_as_often_as_the_law_says():
    """People without records count as nothing; n = 40,000 each, five sigma."""
    people = 40_000
    sizes = np.arange(people) % 5
    rows = Rows.of(
        np.repeat(np.arange(people), sizes), np.tile([1, 2], (int(sizes.sum()), 1)), people
    )
    coins = VISITS(PersonTables((np.zeros((people, 2), np.int64), rows)), SeededRng(1)) % 2
    for size in range(5):
        share = min(size, 3) / 3
        seen = coins[sizes == size]
        assert abs(seen.mean() - share) <= 5 * np.sqrt(share * (1 - share) / len(seen))


@pytest.mark.parametrize("size", [2, 3, 5, 8])
def test_a_number_is_rounded_up_with_exactly_its_place_in_the_range(size):
    """M_SR of Xu 2020, section 3.2: the mean of the ends is the value."""
    cell = Cell(0, (0,), (size,), (size,), rounded=(0,))
    for value in range(size):
        chances = law(cell, holding((value,)))
        assert chances.get(1, 0) == Fraction(value, size - 1)
        assert sum(end * (size - 1) * chance for end, chance in chances.items()) == value


def test_the_coins_of_two_numbers_are_independent():
    cell = Cell(0, (0, 1), (3, 5), (3, 5), rounded=(0, 1))
    assert law(cell, holding((1, 1))) == {
        2 * first + second: HALF * Fraction(1 if second else 3, 4)
        for first in (0, 1)
        for second in (0, 1)
    }


@pytest.mark.parametrize("size", [2, 4, 5])
def test_values_rounded_down_lie_mirrored_in_front_of_those_rounded_up(size):
    cell = Cell(0, (0,), (size,), (1,), mirrored=(0,))
    for value in range(size):
        up = Fraction(value, size - 1)
        stated = {size - 1 - value: 1 - up, size + value: up}
        assert law(cell, holding((value,))) == {
            place: chance for place, chance in stated.items() if chance
        }


def images(size, low, high):
    """Every cell that some value of a range may be sent to."""
    cell = Cell(0, (0,), (size,), (1,), mirrored=(0,))
    return {place for value in range(low, high + 1) for place in law(cell, holding((value,)))}


def ranges(size, low, high):
    """The values are 0 to size - 1, hence A_min is 0, and cells are counted from 2 A_min - A_max -
    1 = -size.
    """
    return {*range(size - high - 1, size - low), *range(size + low, size + high + 1)}


def swapped(size, low, high):
    return {*range(size - low - 1, size - high), *range(size + low, size + high + 1)}


def test_the_two_mirrored_ranges_hold_exactly_the_images_of_a_range():
    """AT-14: Xu 2020, section 3.3, whose end points are printed the other way round and miss them.

    The lowest value is never rounded up, nor the highest down: nobody reaches these two cells.
    """
    size, caught = 6, 0
    unreachable = {size, 0}
    for low, high in combinations_with_replacement(range(size), 2):
        found, outside = (
            images(size, low, high),
            images(size, 0, low - 1) | images(size, high + 1, size - 1),
        )
        assert ranges(size, low, high) - unreachable == found
        assert not ranges(size, low, high) & outside
        caught += swapped(size, low, high) - unreachable != found
    assert caught == 15  # all but ranges of a single value


def test_intervals_of_the_mirrored_halves_never_mix():
    """Below its root a doubled tree has the two halves as nodes, also where the width does not
    divide the size.
    """
    size, width = 7, 3
    cell = Cell(0, (0,), (size,), (width,), mirrored=(0,))
    assert cell.cells == 6
    for value in range(size):
        for place in law(cell, holding((value,))):
            assert place == ((size - 1 - value) // width if place < 3 else 3 + value // width)
    whole = replace(cell, widths=(0,))
    assert (whole.cells, law(whole, holding((3,)))) == (1, {0: 1})


def test_factors_come_in_order_columns_then_weight_then_roundings():
    cell = Cell(1, (0, 1), (2, 5), (1, 2), most=2, weighted=True, rounded=(1,))
    assert (cell.factors, cell.cells) == ((2, 3, 2, 2), 24)
    (place,) = law(cell, visitor((1, 4), (1, 4)))
    assert place == ((1 * 3 + 2) * 2 + 1) * 2 + 1


def test_aligned_factors_take_whole_bits_those_with_the_fewest_slowest():
    plain = Cell(0, (0, 1, 2), (9, 2, 5), (1, 1, 1))
    cell = replace(plain, aligned=True)
    assert (cell.bits, cell.order, cell.groups, cell.cells) == (
        (4, 1, 3),
        (1, 2, 0),
        (4, 3, 1),
        1 << 8,
    )
    values = np.array(list(product(range(9), range(2), range(5))))
    cells = cell(PersonTables((values,)), AllDraws())
    assert (cells == values[:, 1] << 7 | values[:, 2] << 4 | values[:, 0]).all()
    assert plain.groups == ()


def test_a_factor_of_one_value_takes_no_bits():
    cell = Cell(0, (0, 1), (9, 5), (9, 1), aligned=True)
    assert (cell.factors, cell.bits, cell.groups) == ((1, 5), (0, 3), (3,))


@pytest.mark.parametrize("aligned", [False, True])
def test_cells_of_three_columns_of_a_million_values_are_distinct(aligned):
    """Q19: corners, neighbours and random records; up to 2^60 cells, without overflow."""
    size = 10**6
    cell = Cell(0, (0, 1, 2), (size,) * 3, (1,) * 3, aligned=aligned)
    corners = np.array(list(product((0, 1, size - 2, size - 1), repeat=3)))
    random = np.random.default_rng(2).integers(0, size, (100_000, 3))
    records = np.unique(np.concatenate([corners, random]), axis=0)
    cells = cell(PersonTables((records,)), AllDraws())
    assert cells.min() == 0
    assert cells.max() < cell.cells <= MOST_CELLS
    assert len(np.unique(cells)) == len(records)
    shift = [40, 20, 0] if aligned else None
    exact = [
        sum(int(value) << bits for value, bits in zip(record, shift, strict=True))
        if shift
        else (int(record[0]) * size + int(record[1])) * size + int(record[2])
        for record in records[:200]
    ]
    assert cells[:200].tolist() == exact


def test_more_cells_than_an_integer_tells_apart_are_refused():
    with pytest.raises(ParameterError, match="2\\^62 cells"):
        Cell(0, (0, 1, 2, 3), (10**6,) * 4, (1,) * 4)
    with pytest.raises(ParameterError, match="2\\^62 cells"):
        Cell(0, (0,), ((1 << 61) + 1,), (1,), rounded=(0,), aligned=True)
    assert Cell(0, (0,), (1 << 62,), (1,), aligned=True).cells == MOST_CELLS


@pytest.mark.parametrize(
    "wrong",
    [
        {"columns": (), "sizes": (), "widths": ()},
        {"columns": (1, 0)},
        {"columns": (0, 0)},
        {"columns": (0, -1)},
        {"columns": (0, True)},
        {"sizes": (2,)},
        {"sizes": (1, 5)},
        {"sizes": (2, 5.0)},
        {"widths": (1, 0)},
        {"widths": (1, -1)},
        {"table": -1},
        {"most": 0},
        {"most": -1},
        {"rounded": (2,)},
        {"rounded": (1, 0)},
        {"rounded": (1, 1)},
        {"mirrored": (0, 1)},
        {"mirrored": (2,)},
    ],
)
def test_impossible_cells_are_refused(wrong):
    settings = {
        "table": 1,
        "columns": (0, 1),
        "sizes": (2, 5),
        "widths": (1, 1),
        "most": 3,
        "weighted": True,
    }
    Cell(**settings)
    with pytest.raises(ParameterError):
        Cell(**(settings | wrong))


@pytest.mark.parametrize("rounded", [(1,), (0, 1)])
def test_a_column_is_mirrored_or_rounded_never_both(rounded):
    """It has one coin: a second would overwrite the one that says where the mirrored value lies."""
    replace(VISITS, rounded=rounded)
    replace(VISITS, mirrored=(1,))
    with pytest.raises(ParameterError, match="one rounding coin"):
        replace(VISITS, rounded=rounded, mirrored=(1,))


@pytest.mark.parametrize(
    "wrong",
    [
        {"table": 2},
        {"table": 0},
        {"most": 4},
        {"sizes": (2, 6)},
        {"columns": (0, 2)},
        {"columns": (1, 2)},
    ],
)
def test_a_domain_with_other_tables_or_columns_is_refused(wrong):
    assert VISITS.outputs(DOMAIN) == VISITS.cells == 20
    with pytest.raises(ParameterError, match="domain"):
        replace(VISITS, **wrong).outputs(DOMAIN)
    with pytest.raises(ParameterError, match="domain"):
        VISITS.outputs(COLUMNS)


def test_the_same_draws_are_made_whatever_is_held():
    """Only the range of the first one, which of the records it is, follows their number."""
    made = []
    for visits in ([], [(0, 0)], [(1, 4)] * 3, [(0, 0)] * 9):
        recorded = AllDraws()
        replace(VISITS, rounded=(1,))(visitor(*visits), recorded)
        made.append(recorded.seen)
    assert [seen[1:] for seen in made] == [[2, 5, 3, 4]] * 4
    assert [seen[0] for seen in made] == [1, 1, 3, 9]


COINS = [{"rounded": (1,)}, {"mirrored": (1,)}, {"rounded": (0,), "mirrored": (1,)}]


@pytest.mark.parametrize("coins", COINS)
def test_the_document_restores_it(coins):
    asked = Round(0, Question(GRR(1.0, 80), replace(VISITS, **coins)))
    assert codec.round_(codec.parse(codec.canonical(codec.document(asked)))) == asked


def test_the_record_of_whoever_promotes_it_always_counts():
    """An honest list of one record counts with the chance 1/3."""
    held = {"people": {"pet": "cat", "age": 1}, "visits": [{"pet": "dog", "age": 2}]}
    people = DOMAIN.indices([held] * 300)
    promoted = VISITS.promoting(people, SeededRng(1))
    honest = VISITS(people, SeededRng(1))
    assert set(promoted.tolist()) == {(1 * 5 + 2) * 2 + 1}
    assert 50 < int((honest % 2).sum()) < 150
    nobody = DOMAIN.indices([{**held, "visits": []}] * 20)
    assert not (VISITS.promoting(nobody, SeededRng(1)) % 2).any()
    single = Cell(0, (0, 1), (2, 5), (1, 1))
    assert (single.promoting(people, SeededRng(1)) == single(people, SeededRng(1))).all()
