"""Hadamard coefficients of records: the encoding of one, and the family of all that are needed."""

from itertools import combinations, product
from math import comb

import numpy as np
import pytest

from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.records import Records
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.parities import Parities, Parity, bits_of, coefficient_count
from sottovoce.lab.checks import RecordedRng
from sottovoce.mechanisms.grr import GRR
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round
from sottovoce.wire import codec

RR = GRR(1.0, 2)
MIXED = (2, 5, 3)
DOMAIN = Records(
    ("pet", "age", "town"),
    (Categories(("cat", "dog")), Integers(0, 4), Categories(("a", "b", "c"))),
)
RECORDS = np.array(list(product(range(2), range(5), range(3))))


@pytest.mark.parametrize(
    ("sizes", "order", "count"),
    [
        ((2,) * 8, 2, 36),
        ((2,) * 8, 3, 92),
        ((2,) * 16, 3, 696),
        ((3,) * 8, 3, 1788),
        ((2,) * 3, 3, 7),
        (MIXED, 1, 11),
    ],
)
def test_only_coefficients_of_at_most_so_many_attributes_are_asked(sizes, order, count):
    """Cormode 2018, section 4.3, and for attributes of three values 1,788 instead of the published
    14,892.
    """
    assert len(Parities(RR, sizes, order)) == count == coefficient_count(sizes, order)


def test_coefficients_that_are_too_many_to_ask_about_are_still_counted():
    assert coefficient_count((2,) * 32, 8) == 15_033_172


@pytest.mark.parametrize("within", [False, True])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_every_coefficient_is_listed_and_the_known_one_never(order, within):
    family = Parities(RR, MIXED, order, within)
    found = [family.coefficient(place) for place in range(len(family))]
    assert all(columns and all(masks) for columns, masks in found)
    wanted = {
        tuple((column, mask) for column, mask in enumerate(masks) if mask)
        for masks in product(range(2), range(8), range(4))
        if 0 < sum(map(bool, masks)) <= order
    }
    listed = [tuple(zip(*one, strict=True)) for one in found]
    assert set(listed) == wanted
    if not within:
        assert len(listed) == len(wanted)


def test_within_sets_of_attributes_the_coefficients_of_fewer_come_once_for_every_set():
    family = Parities(RR, (2,) * 5, 2, within=True)
    assert len(family) == comb(5, 2) * 3
    singles = [
        family.coefficient(place)[0]
        for place in range(len(family))
        if len(family.coefficient(place)[0]) == 1
    ]
    assert all(singles.count((one,)) == 4 for one in range(5))


def test_a_set_starts_where_its_first_coefficient_stands():
    family = Parities(RR, MIXED, 2, within=True)
    ends = [family.start(pair) for pair in combinations(range(3), 2)] + [len(family)]
    assert ends == [0, 15, 22, 53]
    for pair, start, end in zip(combinations(range(3), 2), ends[:-1], ends[1:], strict=True):
        assert all(set(family.coefficient(place)[0]) <= set(pair) for place in range(start, end))


@pytest.mark.parametrize("within", [False, True])
def test_many_people_at_once_are_encoded_as_one_by_one(within):
    family = Parities(RR, MIXED, 2, within)
    dice = np.random.default_rng(1)
    records = np.stack([dice.integers(0, size, 500) for size in MIXED], axis=1)
    members = dice.integers(0, len(family), 500)
    rng = RecordedRng(b"")
    one_by_one = [
        family[int(place)].encoding(row[None], rng)[0]
        for place, row in zip(members, records, strict=True)
    ]
    assert family.encoded(members, records, rng).tolist() == one_by_one


def test_a_coefficient_costs_what_one_question_costs():
    assert Choice(Parities(RR, (2,) * 16, 3)).epsilon == 1.0
    assert Choice(Parities(RR, (2,) * 16, 3)).width == 1


@pytest.mark.parametrize("place", [-1, 36])
def test_a_coefficient_that_there_is_not_is_refused(place):
    family = Parities(RR, (2,) * 8, 2)
    with pytest.raises(ParameterError):
        family.coefficient(place)
    with pytest.raises(ParameterError):
        Round(0, Choice(family)).question(Address(0, 36))


@pytest.mark.parametrize(
    ("mechanism", "sizes", "order"),
    [
        (GRR(1.0, 3), (2, 2), 1),
        (RR, (2, 2), 0),
        (RR, (2, 2), 3),
        (RR, (2, 1), 1),
        (RR, (), 1),
        (RR, (2,) * 200, 50),
    ],
)
def test_an_impossible_family_is_refused(mechanism, sizes, order):
    with pytest.raises(ParameterError):
        Parities(mechanism, sizes, order)


@pytest.mark.parametrize(
    ("ask", "family"),
    [
        (Choice(Parities(RR, MIXED, 2)), "family"),
        (Question(RR, Parity((0, 2), (2, 3), (1, 3))), "encoding"),
    ],
)
def test_no_document_can_name_them(ask, family):
    content = codec.document(Round(0, ask))
    with pytest.raises(ParameterError, match=f"unknown {family} kind"):
        codec.round_(codec.parse(codec.canonical(content)))


def test_the_parity_of_two_attributes_is_whether_they_differ():
    records = np.array(list(product((0, 1), repeat=3)))
    assert Parity((0, 2), (2, 2), (1, 1))(records, RecordedRng(b"")).tolist() == [
        a ^ c for a, _, c in records.tolist()
    ]


@pytest.mark.parametrize(
    ("columns", "masks"), [((1,), (5,)), ((0, 1), (1, 6)), ((0, 1, 2), (1, 7, 3))]
)
def test_it_is_the_parity_of_the_chosen_bits_of_all_columns(columns, masks):
    sizes = tuple((2, 5, 3)[one] for one in columns)
    found = Parity(columns, sizes, masks)(RECORDS, RecordedRng(b""))
    expected = [
        sum(
            int(row[column] & mask).bit_count() for column, mask in zip(columns, masks, strict=True)
        )
        % 2
        for row in RECORDS
    ]
    assert found.tolist() == expected


def test_coefficients_of_whole_codes_average_out():
    """Over all codes of an attribute with a power of two values, half of the parities are odd."""
    codes = np.arange(8)[:, None]
    assert all(
        Parity((0,), (8,), (mask,))(codes, RecordedRng(b"")).sum() == 4 for mask in range(1, 8)
    )


def test_odd_and_even_are_two_answers():
    assert Parity((0, 1), (2, 5), (1, 4)).outputs(DOMAIN) == 2
    for domain in (Integers(0, 5), Records(("pet",), DOMAIN.attributes[:1])):
        with pytest.raises(ParameterError, match="attributes"):
            Parity((0, 1), (2, 5), (1, 4)).outputs(domain)


@pytest.mark.parametrize(("size", "bits"), [(2, 1), (3, 2), (4, 2), (5, 3), (256, 8), (257, 9)])
def test_as_many_bits_as_the_largest_value_needs(size, bits):
    assert bits_of(size) == bits


@pytest.mark.parametrize(
    ("columns", "sizes", "masks"),
    [
        ((), (), ()),
        ((0,), (2,), (0,)),
        ((0,), (2,), (2,)),
        ((0,), (3,), (4,)),
        ((0,), (3,), (-1,)),
        ((0,), (3,), (1.0,)),
        ((0,), (3,), (True,)),
        ((0, 1), (2, 2), (1,)),
        ((1, 0), (2, 2), (1, 1)),
    ],
)
def test_a_coefficient_that_touches_no_bit_or_bits_that_there_are_not_is_refused(
    columns, sizes, masks
):
    with pytest.raises(ParameterError):
        Parity(columns, sizes, masks)
