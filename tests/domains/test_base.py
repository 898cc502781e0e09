"""The contract of domains: what every domain answers, and what it answers if it does not apply."""

import numpy as np
import pytest

from sottovoce.domains.base import Domain, flat_array, normalized_labels
from sottovoce.domains.bits import Bits
from sottovoce.domains.buckets import Buckets
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.numbers import Numbers
from sottovoce.domains.records import Records
from sottovoce.domains.sets import Sets
from sottovoce.domains.strings import Strings
from sottovoce.errors import DomainError, ParameterError
from sottovoce.lab.seeded import SeededRng

LISTED = Categories(("a", "b"))
DOMAINS = {
    "bits": Bits(48),
    "buckets": Buckets(0.0, 1.0, 4),
    "categories": LISTED,
    "integers": Integers(0, 3),
    "numbers": Numbers(0.0, 1.0, 11),
    "records": Records(("x", "y"), (LISTED, Integers(0, 2))),
    "sets": Sets(["a", "b", "c"]),
    "strings": Strings(4),
}
SHAPES = {"bits": (48, 0, 0), "strings": (32, 0, 0), "sets": (0, 3, 0), "records": (0, 0, 2)}


@pytest.mark.parametrize("kind", DOMAINS)
def test_a_domain_is_registered_under_its_kind(kind):
    assert Domain.kinds[kind] is type(DOMAINS[kind])
    assert DOMAINS[kind].kind == kind


@pytest.mark.parametrize("kind", DOMAINS)
def test_a_domain_says_what_its_values_are_made_of(kind):
    domain = DOMAINS[kind]
    shape = (domain.value_bits, domain.item_count, domain.attribute_count)
    assert shape == SHAPES.get(kind, (0, 0, 0))


@pytest.mark.parametrize("kind", DOMAINS)
def test_a_random_value_is_one_value(kind):
    assert len(DOMAINS[kind].random_value(SeededRng(1))) == 1


def test_flat_arrays_refuse_nested_values():
    assert flat_array([1, 2]).tolist() == [1, 2]
    assert flat_array(iter((1.5,))).tolist() == [1.5]
    for nested in ([[1], [2]], [[1], [2, 3]], np.zeros((2, 2))):
        with pytest.raises(DomainError, match="a value must be a single number"):
            flat_array(nested)


def test_labels_are_composed_text():
    assert normalized_labels("names", ["cafe\u0301"]) == ("café",)
    with pytest.raises(ParameterError, match="each entry of `names` must be text"):
        normalized_labels("names", ["a", 7])
