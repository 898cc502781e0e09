"""Domains: values to indices, and nothing else let in."""

import numpy as np
import pytest

from sottovoce.domains.base import DECLINED
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.listed import domain_of
from sottovoce.domains.records import Records
from sottovoce.errors import DomainError, NoDataError, ParameterError


def test_composed_and_decomposed_letters_are_one_label():
    assert Categories(("café", "thé")).indices(["cafe\u0301", "thé"]).tolist() == [0, 1]


def test_declining_is_a_category_of_its_own_and_absence_is_never_guessed():
    asked = Categories(("yes", "no"), declinable=True)
    assert asked.labels == ("yes", "no", DECLINED)
    assert asked.indices(["no", None]).tolist() == [1, 2]
    with pytest.raises(DomainError):
        Categories(("yes", "no")).indices([None])


@pytest.mark.parametrize("labels", [(), ("one",), ("a", "a"), ("a", ""), ("a", 3), ("café", "cafe\u0301")])
def test_impossible_labels_are_refused(labels):
    with pytest.raises(ParameterError):
        Categories(labels)


@pytest.mark.parametrize("values", [[17], [100], [18.5], [float("nan")], ["20"], [None], [True]])
def test_numbers_outside_a_range_are_refused(values):
    with pytest.raises(DomainError):
        Integers(18, 99).indices(values)


def test_ranges_and_lists_name_domains():
    assert domain_of(range(3, 9)) == Integers(3, 8)
    assert domain_of(["a", "b"]) == Categories(("a", "b"))
    for wrong in ("ab", range(1), 7, [1, 2], {"a": 1, "b": 2}):
        with pytest.raises(ParameterError):
            domain_of(wrong)


def test_records_are_columns_or_rows():
    people = Records(("pet", "age"), (Categories(("cat", "dog")), Integers(0, 99)))
    rows = [{"pet": "dog", "age": 3}, {"pet": "cat", "age": 99}]
    columns = {"pet": ["dog", "cat"], "age": np.array([3, 99])}
    assert people.indices(rows).tolist() == people.indices(columns).tolist() == [[1, 3], [0, 99]]


@pytest.mark.parametrize(
    "values", [[{"pet": "cat"}], [{"pet": "cat", "age": 1, "x": 2}], ["cat"], {"pet": ["cat"], "age": [1, 2]}]
)
def test_records_of_another_shape_are_refused(values):
    with pytest.raises(DomainError):
        Records(("pet", "age"), (Categories(("cat", "dog")), Integers(0, 99))).indices(values)


def test_no_records_is_no_data():
    with pytest.raises(NoDataError):
        Records(("pet",), (Categories(("cat", "dog")),)).indices([])
