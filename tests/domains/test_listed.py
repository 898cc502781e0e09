"""The domain that a list of labels or a range stands for."""

import pytest

from sottovoce.domains.bits import Bits
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.listed import domain_of
from sottovoce.errors import ParameterError


def test_ranges_and_lists_name_domains():
    assert domain_of(range(3, 9)) == Integers(3, 8)
    assert domain_of(["a", "b"]) == Categories(("a", "b"))
    assert domain_of(label for label in "ab") == Categories(("a", "b"))
    assert domain_of(["a", "b"], declinable=True) == Categories(("a", "b"), declinable=True)


def test_a_domain_stands_for_itself():
    for domain in (Integers(3, 8), Categories(("a", "b"))):
        assert domain_of(domain) is domain


@pytest.mark.parametrize("values", ["ab", b"ab", 7, {"a": 1, "b": 2}, Bits(8)])
def test_what_is_neither_a_list_nor_a_range_is_refused(values):
    rule = f"a domain must be a list of labels or a range, not {type(values).__name__}"
    with pytest.raises(ParameterError, match=rule):
        domain_of(values)


@pytest.mark.parametrize("values", [range(0), range(1), ["a"], [1, 2], range(0, 10, 2)])
def test_lists_and_ranges_without_two_labels_are_refused(values):
    with pytest.raises(ParameterError):
        domain_of(values)
