"""How domains describe themselves to shells: columns of files, short forms, parts, counts,
edges.
"""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.domains.base import Domain, domain_from_short
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.numbers import Numbers
from sottovoce.domains.records import Records
from sottovoce.errors import DomainError, ParameterError

PETS = Categories(("cat", "dog"))
RECORDS = Records(("pet", "age"), (PETS, Integers(18, 20)))

CELLS = {
    "categories": (PETS, ["cat", "dog"], ["cat", "dog"]),
    "declinable": (Categories(("cat", "dog"), declinable=True), ["cat", None], ["cat", None]),
    "integers": (Integers(1, 9), ["3", "9"], [3, 9]),
    "numbers": (Numbers(0.0, 1.0, 11), ["0.5", "1"], [0.5, 1.0]),
    "buckets": (sv.Buckets(0.0, 1.0, 4), ["0.25"], [0.25]),
    "bits": (sv.Bits(16), ["255", "0x0f"], [255, 15]),
    "strings": (sv.Strings(4), ["yes"], ["yes"]),
    "sets": (sv.Sets(["a", "b"]), ["a; b", None, "b;"], [["a", "b"], [], ["b"]]),
    "sets of numbers": (sv.Sets(range(5)), ["1;4", ""], [[1, 4], []]),
}


@pytest.mark.parametrize(("domain", "cells", "values"), CELLS.values(), ids=CELLS)
def test_cells_of_text_become_values(domain, cells, values):
    assert domain.from_cells("x", cells) == values
    assert domain.from_columns({"": {"x": cells}}) == values
    assert len(domain.indices(values)) == len(values)


EMPTY = [
    PETS,
    Integers(1, 9),
    Numbers(0.0, 1.0, 11),
    sv.Bits(16),
    sv.Strings(4),
    sv.Buckets(0.0, 1.0, 4),
]


@pytest.mark.parametrize("domain", EMPTY, ids=lambda domain: domain.kind)
def test_empty_cells_are_refused_without_showing_others(domain):
    with pytest.raises(DomainError, match="column 'x'") as caught:
        domain.from_cells("x", ["7", None])
    assert "7" not in str(caught.value)


def test_records_read_a_column_for_every_attribute():
    assert RECORDS.file_columns == {"": ("pet", "age")}
    read = RECORDS.from_columns({"": {"age": ["18", "20"], "pet": ["cat", "dog"]}})
    assert read == {"pet": ["cat", "dog"], "age": [18, 20]}


def test_entries_that_are_no_items_are_counted():
    domain = sv.Sets(["a", "b"])
    assert domain.remarks([["a"], ["b", "a"]]) == ()
    (remark,) = domain.remarks([["a", "x"], ["y"]])
    assert remark.startswith("2 of 3 entries are no items of the domain")


def test_every_short_form_names_one_domain():
    forms = [form for domain in Domain.kinds.classes() for form in domain.short_forms]
    assert len(forms) == len(set(forms))
    assert domain_from_short({"low": 1, "high": 3}) == Integers(1, 3)
    assert domain_from_short({"low": 0.0, "high": 1.0, "points": 11}) == Numbers(0.0, 1.0, 11)
    assert domain_from_short({"low": 0, "high": 1, "buckets": 4}) == sv.Buckets(0.0, 1.0, 4)
    assert domain_from_short({"bits": 48}) == sv.Bits(48)
    assert domain_from_short({"bytes": 20, "whole": True}) == sv.Strings(20, whole=True)
    assert domain_from_short({"luck": 1}) is None


def test_parts_of_records_are_their_attributes():
    indices = RECORDS.indices({"pet": ["cat", "dog", "dog"], "age": [18, 18, 20]})
    assert RECORDS.part("age") == Integers(18, 20)
    assert RECORDS.part("pet & age") is None
    assert PETS.part("anything") is PETS
    assert RECORDS.part_indices(indices, "pet").tolist() == [0, 1, 1]


def test_parts_of_tables_are_their_columns():
    shop = sv.Joint(
        {
            "users": {"columns": {"age": range(3)}},
            "txn": {"columns": {"amount": range(5)}, "most": 9},
        }
    ).domain
    people = {"users": {"age": [0, 2]}, "txn": {"uid": np.array([1, 1, 0]), "amount": [4, 1, 1]}}
    indices = shop.indices(people)
    assert shop.part("txn.amount") == Integers(0, 4)
    assert shop.part_indices(indices, "users.age").tolist() == [0, 2]
    assert sorted(shop.part_indices(indices, "txn.amount").tolist()) == [1, 1, 4]


def test_counts_are_of_people_by_label():
    assert PETS.counts(PETS.indices(["dog", "dog"]), ["cat", "dog"]) == {"cat": 0, "dog": 2}
    texts = sv.Strings(3)
    assert texts.counts(texts.indices(["yes", "no", "no"]), ["no", "why"]) == {"no": 2, "why": 0}
    assert texts.counts(texts.indices(["yes", "no", "no"])) == {"yes": 1, "no": 2}


@pytest.mark.parametrize("domain", [Integers(3, 6), sv.Buckets(0.0, 1.0, 4), Numbers(0.0, 1.0, 5)])
def test_edges_lie_between_neighbouring_values(domain):
    assert domain.ordered
    assert len(domain.edges) == domain.size + 1
    assert np.diff(domain.edges) == pytest.approx(np.full(domain.size, np.diff(domain.edges)[0]))


def test_labels_have_no_order():
    assert not PETS.ordered
    with pytest.raises(ParameterError, match="no order"):
        _ = PETS.edges


def test_numbers_have_bounds_and_labels_have_none():
    assert Integers(3, 6).bounds == (3, 6)
    assert Numbers(-1.0, 1.0, 5).bounds == sv.Buckets(-1.0, 1.0, 4).bounds == (-1.0, 1.0)
    with pytest.raises(ParameterError, match="no order"):
        _ = PETS.bounds


def test_the_middle_of_two_edges_is_the_value():
    assert (Integers(3, 6).edges[:-1] + 0.5).tolist() == [3, 4, 5, 6]
    edges = Numbers(0.0, 1.0, 5).edges
    assert (edges[:-1] + edges[1:]) / 2 == pytest.approx([0, 0.25, 0.5, 0.75, 1])


@pytest.mark.parametrize(
    "domain", [*EMPTY, RECORDS, sv.Sets(["a", "b"])], ids=lambda domain: domain.kind
)
def test_a_domain_says_in_words_what_it_asks_for(domain):
    assert domain.described.split()[0] in ("one", "a", "the")
