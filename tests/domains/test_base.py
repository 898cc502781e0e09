"""The contract of domains: what every domain answers, and what it answers if it does not apply."""

import ast
import json
from pathlib import Path

import numpy as np
import pytest

import sottovoce
from sottovoce.domains.base import Domain, flat_array, normalized_labels
from sottovoce.domains.bits import Bits
from sottovoce.domains.buckets import Buckets
from sottovoce.domains.categories import Categories
from sottovoce.domains.dates import Dates
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


# --- columns of tables ---

CLASSES = {"Buckets", "Categories", "Dates", "Integers", "Numbers"}
SHELLS = ("cli", "collector", "encodings", "engine", "plans/tables", "sql", "wire")


def asked_classes(text):
    """Return the domains of columns whose class a module asks for."""
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    asked = [call for call in calls if getattr(call.func, "id", "") in ("isinstance", "issubclass")]
    names = (node for call in asked for node in ast.walk(call.args[1]))
    return CLASSES & {getattr(name, "id", "") for name in names}


@pytest.mark.parametrize("folder", SHELLS)
def test_whoever_uses_columns_asks_for_no_class(folder):
    paths = list((Path(sottovoce.__file__).parent / folder).rglob("*.py"))
    assert paths
    for path in paths:
        assert not asked_classes(path.read_text("utf-8")), path


def test_a_class_that_is_asked_for_is_noticed():
    assert asked_classes("isinstance(kind, (Dates, int))") == {"Dates"}
    assert asked_classes("Dates('2024', '2025')") == set()


COLUMNS = {
    "categories": (LISTED, "text"),
    "declinable": (Categories(("a", "b"), declinable=True), "text"),
    "dates": (Dates("2024-01", "2024-12"), "date"),
    "integers": (Integers(-1, 3), "number"),
    "numbers": (Numbers(0.0, 1.0, 11), "number"),
    "buckets": (Buckets(-1.0, 1.0, 4), "number"),
}
NO_COLUMNS = ("bits", "records", "sets", "strings")


@pytest.mark.parametrize(("domain", "value_type"), COLUMNS.values(), ids=COLUMNS)
def test_a_column_has_a_type_labels_and_a_value_to_compare_for_each(domain, value_type):
    assert domain.value_type == value_type
    assert domain.has_ranges == (value_type != "text")
    assert len(domain.labels) == domain.size
    assert len(domain.compared_values()) == len(domain.engine_values()) == domain.size
    assert domain.values_in_short


@pytest.mark.parametrize("kind", NO_COLUMNS)
def test_other_domains_are_no_columns(kind):
    assert DOMAINS[kind].value_type is None
    assert not DOMAINS[kind].has_ranges


def test_labels_have_no_numbers():
    with pytest.raises(ParameterError, match="sums need a column of numbers"):
        LISTED.number_cells()


def test_the_numbers_of_a_column_are_its_points_or_the_middles_of_its_buckets():
    assert Integers(10, 19).value_numbers.tolist() == list(range(10, 20))
    assert Buckets(0.0, 100.0, 4).value_numbers.tolist() == [12.5, 37.5, 62.5, 87.5]
    assert Numbers(0.0, 1.0, 11).value_numbers == pytest.approx(np.arange(11) / 10)
    assert Dates("1970-01-01", "1970-01-03").value_numbers.tolist() == [0, 1, 2]


@pytest.mark.parametrize(("domain", "value_type"), COLUMNS.values(), ids=COLUMNS)
def test_the_number_of_a_value_lies_in_its_cell(domain, value_type):
    if value_type == "text":
        return
    cells = domain.number_cells()
    assert (cells.lows <= cells.numbers).all()
    assert (cells.numbers <= cells.highs).all()
    if domain.rounding is None:
        assert (cells.lows == cells.highs).all()
    else:
        assert cells.lows[1:] == pytest.approx(cells.highs[:-1])


def test_whole_numbers_are_compared_exactly_however_large():
    large = Integers((1 << 60) - 1, (1 << 60) + 1)
    assert large.compared_values().tolist() == [(1 << 60) - 1, 1 << 60, (1 << 60) + 1]


@pytest.mark.parametrize(("domain", "value_type"), COLUMNS.values(), ids=COLUMNS)
def test_a_public_value_is_read_as_it_was_written(domain, value_type):
    for index in range(domain.size):
        value = domain.value_at(index)
        assert domain.indices([value]).tolist() in ([index], [max(0, index - 1)])
        sent = domain.public_value(value)
        assert len(json.dumps(sent, ensure_ascii=False).encode()) <= domain.max_public_bytes
        assert domain.public_value(domain.from_public(sent)) == sent


@pytest.mark.parametrize(("domain", "value_type"), COLUMNS.values(), ids=COLUMNS)
def test_groups_of_public_values_are_sorted_as_the_values_are(domain, value_type):
    values = [value for value in domain.engine_values() if value is not None]
    labels = [domain.public_label(value) for value in values]
    ranks = [domain.public_rank(label) for label in labels]
    if domain.has_ranges:
        assert ranks == sorted(ranks)
    assert len(set(labels)) == len(labels)


def test_only_a_declinable_column_has_a_value_that_stands_for_no_answer():
    for domain, _ in COLUMNS.values():
        is_declinable = getattr(domain, "declinable", False)
        assert domain.declined_index == (domain.size - 1 if is_declinable else None)


def test_a_column_is_shown_in_a_few_words():
    many = Categories(tuple(f"label {number}" for number in range(20)))
    assert many.values_in_short.endswith("label 7, ...")
    assert LISTED.values_in_short == "a, b"
    assert Integers(-1, 3).values_in_short == "-1 to 3"
    assert Dates("2024-01", "2024-12").values_in_short == "2024-01 to 2024-12"
