"""One Hadamard coefficient of a record."""

from itertools import product

import numpy as np
import pytest

from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.records import Records
from sottovoce.encodings.parity import Parity, bits_of
from sottovoce.errors import ParameterError
from sottovoce.lab.checks import RecordedRng
from sottovoce.mechanisms.grr import GRR
from sottovoce.tasks.question import Question
from sottovoce.tasks.round import Round
from sottovoce.wire import codec

MIXED = Records(
    ("pet", "age", "town"),
    (Categories(("cat", "dog")), Integers(0, 4), Categories(("a", "b", "c"))),
)
RECORDS = np.array(list(product(range(2), range(5), range(3))))


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
    assert Parity((0, 1), (2, 5), (1, 4)).outputs(MIXED) == 2
    for domain in (Integers(0, 5), Records(("pet",), MIXED.attributes[:1])):
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


def test_the_document_restores_it():
    asked = Round(0, Question(GRR(1.0, 2), Parity((0, 2), (2, 3), (1, 3))))
    assert codec.round_(codec.parse(codec.canonical(codec.document(asked)))) == asked
