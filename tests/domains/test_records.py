"""Records: several attributes at once, given as rows or as columns."""

import numpy as np
import pytest

from sottovoce.domains.bits import Bits
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.records import Records
from sottovoce.domains.sets import Sets
from sottovoce.domains.strings import Strings
from sottovoce.errors import DomainError, NoDataError, ParameterError
from sottovoce.lab.seeded import SeededRng

PETS = Categories(("cat", "dog"))
PEOPLE = Records(("pet", "age"), (PETS, Integers(0, 99)))


def test_records_are_columns_or_rows():
    rows = [{"pet": "dog", "age": 3}, {"pet": "cat", "age": 99}]
    columns = {"pet": ["dog", "cat"], "age": np.array([3, 99])}
    assert PEOPLE.indices(rows).tolist() == PEOPLE.indices(columns).tolist() == [[1, 3], [0, 99]]


@pytest.mark.parametrize(
    "values",
    [
        [{"pet": "cat"}],
        [{"pet": "cat", "age": 1, "x": 2}],
        ["cat"],
        {"pet": ["cat"], "age": [1, 2]},
        {"pet": ["cat"]},
    ],
)
def test_records_of_another_shape_are_refused(values):
    with pytest.raises(DomainError):
        PEOPLE.indices(values)


def test_no_records_is_no_data():
    with pytest.raises(NoDataError):
        PEOPLE.indices([])


def test_attributes_have_their_sizes():
    assert PEOPLE.attribute_count == 2
    assert [PEOPLE.attribute_size(column) for column in range(2)] == [2, 100]
    assert PETS.attribute_count == 0
    with pytest.raises(ParameterError, match="no attributes"):
        PETS.attribute_size(0)


def test_a_random_record_has_a_value_of_every_attribute():
    drawn = PEOPLE.random_value(SeededRng(1))
    assert drawn.shape == (1, 2)
    assert (drawn >= 0).all()
    assert drawn[0, 0] < 2
    assert drawn[0, 1] < 100


def test_records_are_too_many_to_ask_about_whole():
    with pytest.raises(ParameterError, match="needs an encoding"):
        _ = PEOPLE.size


@pytest.mark.parametrize(
    ("names", "attributes", "rule"),
    [
        ((), (), "`names` must have at least 1 entry, not 0"),
        (("a", "a"), (PETS, PETS), "the entries of `names` must differ, but 1 and 2 are equal"),
        (("a", "b"), (PETS,), "`attributes` must have exactly 2 entries, not 1"),
        (("",), (PETS,), "each entry of `names` must be text that is not empty, not ''"),
    ],
)
def test_impossible_names_are_refused(names, attributes, rule):
    with pytest.raises(ParameterError) as caught:
        Records(names, attributes)
    assert str(caught.value) == rule


@pytest.mark.parametrize("attribute", [Strings(8), Bits(64), Sets(["a", "b"]), PEOPLE], ids=str)
def test_a_record_holds_no_parts_and_no_long_values(attribute):
    with pytest.raises(ParameterError, match="`attributes` must have values of at most 63 bits"):
        Records(("a", "b"), (Integers(0, 1), attribute))
    Records(("a", "b"), (Bits(63), Strings(7)))
