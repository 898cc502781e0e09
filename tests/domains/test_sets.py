"""Sets of items as a domain: strangers are left out on the device, nothing else is."""

from unicodedata import normalize

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.sets import Sets
from sottovoce.errors import DomainError, ParameterError
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths.ragged import Baskets
from sottovoce.plans.itemsets.top_items import TopItems
from sottovoce.wire import codec

FOOD = ("bread", "milk", "tea", "crème")
names = st.lists(st.lists(st.sampled_from([*FOOD, "caviar", ""]), max_size=8), max_size=8)
numbers = st.lists(st.lists(st.integers(-5, 30), max_size=8), max_size=8)


def lists(found):
    return [found[place : place + 1].items.tolist() for place in range(len(found))]


@given(names)
def test_named_items_are_found_and_strangers_left_out(held):
    expected = [sorted({FOOD.index(name) for name in mine if name in FOOD}) for mine in held]
    assert lists(Sets(FOOD).indices(held)) == expected


@given(numbers)
def test_numbered_items_are_found_and_strangers_left_out(held):
    expected = [sorted({number - 3 for number in mine if 3 <= number <= 20}) for mine in held]
    assert lists(Sets(range(3, 21)).indices(held)) == expected
    assert lists(Sets(range(3, 21)).indices(map(np.array, held) if all(held) else held)) == expected


def test_any_collection_of_items_is_a_set():
    values = [
        {"tea", "milk"},
        ("tea", "tea"),
        iter(["bread"]),
        frozenset(),
        [normalize("NFD", "crème")],
    ]
    assert lists(Sets(FOOD).indices(values)) == [[1, 2], [2], [0], [], [3]]


def test_somebody_with_only_strangers_has_the_empty_set():
    assert lists(Sets(FOOD).indices([["caviar"], []])) == [[], []]


@pytest.mark.parametrize("value", ["tea", b"tea", {"tea": 1}, 3, None, [3], [None], [["tea"]]])
def test_what_is_no_set_of_names_is_refused(value):
    with pytest.raises(DomainError) as refused:
        Sets(FOOD).indices([value])
    assert repr(value) not in str(refused.value)


@pytest.mark.parametrize("value", ["12", 3, None, [1.0], [True], ["3"], [float("nan")]])
def test_what_is_no_set_of_numbers_is_refused(value):
    with pytest.raises(DomainError):
        Sets(range(10)).indices([value])


def test_baskets_pass_if_their_items_exist():
    held = Baskets.of([2, 0], [1, 3])
    assert Sets(FOOD).indices(held) is held
    with pytest.raises(DomainError):
        Sets(FOOD).indices(Baskets.of([1], [4]))


@pytest.mark.parametrize("items", [["one"], ["a", "a"], range(1), "abc", [1, 2], []])
def test_too_few_items_or_the_same_twice_are_refused(items):
    with pytest.raises(ParameterError):
        Sets(items)


def test_declining_is_no_item():
    with pytest.raises(ParameterError, match="empty"):
        Sets(Categories(FOOD, declinable=True))


def test_sets_are_too_many_to_have_a_size():
    with pytest.raises(ParameterError, match="encoding"):
        assert Sets(FOOD).size


@pytest.mark.parametrize(
    "domain", [Sets(FOOD), Sets(range(5, 50)), Sets(Categories(("x", "y"))), Sets(Integers(0, 9))]
)
def test_the_document_restores_the_domain(domain):
    task = sv.Task("sets", TopItems(domain, 2), 1.0)
    written = codec.document(task)
    read = codec.task(codec.parse(codec.canonical(written)))
    assert read.plan.domain == domain
    assert codec.digest(codec.document(read)) == codec.digest(written)


def test_a_rehearsal_holds_any_item():
    drawn = {int(Sets(FOOD).random_value(SeededRng(seed)).items[0]) for seed in range(60)}
    assert drawn == {0, 1, 2, 3}
