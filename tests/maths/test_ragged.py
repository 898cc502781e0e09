"""Baskets are sets: every operation against Python's own."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import ParameterError
from sottovoce.maths.ragged import Baskets

ITEMS = 7
people = st.lists(st.lists(st.integers(0, ITEMS - 1), max_size=9), max_size=12)
itemsets = st.sets(
    st.frozensets(st.integers(0, ITEMS - 1), min_size=1, max_size=4), min_size=1, max_size=6
)


def baskets(held):
    return Baskets.of([len(one) for one in held], [item for one in held for item in one])


def lists(found):
    bounds = found.starts.tolist()
    return [found.items[low:high].tolist() for low, high in pairwise(bounds)]


@given(people)
def test_order_and_repetition_do_not_count(held):
    found = baskets(held)
    assert lists(found) == [sorted(set(one)) for one in held]
    assert found.sizes.tolist() == [len(set(one)) for one in held]
    assert len(found) == len(held)


@given(people)
def test_every_item_has_an_owner(held):
    found = baskets(held)
    pairs = {(owner, item) for owner, one in enumerate(held) for item in one}
    assert set(zip(found.owners.tolist(), found.items.tolist(), strict=True)) == pairs


@given(people)
def test_counts_are_of_people(held):
    found = baskets(held)
    assert found.counts(ITEMS).tolist() == [
        sum(item in one for one in held) for item in range(ITEMS)
    ]
    assert [found.holds(item).tolist() for item in range(ITEMS)] == [
        [item in one for one in held] for item in range(ITEMS)
    ]


@given(people, st.data())
def test_some_people_keep_their_baskets(held, data):
    found, everybody = baskets(held), lists(baskets(held))
    chosen = data.draw(st.lists(st.integers(0, len(held) - 1), max_size=20)) if held else []
    assert lists(found[np.array(chosen, np.int64)]) == [everybody[one] for one in chosen]
    mask = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(held), max_size=len(held))), bool
    )
    assert lists(found[mask]) == [one for one, kept in zip(everybody, mask, strict=True) if kept]
    low, high = sorted(data.draw(st.tuples(st.integers(0, 12), st.integers(0, 12))))
    assert lists(found[low:high]) == everybody[low:high]


@given(people, itemsets)
def test_a_candidate_is_held_if_all_of_it_is(held, wanted):
    candidates = [tuple(sorted(one)) for one in wanted]
    expected = [
        [place for place, one in enumerate(candidates) if set(one) <= set(mine)] for mine in held
    ]
    found = baskets(held).holding(candidates)
    assert lists(found) == expected
    assert lists(found[::2]) == expected[::2]


@given(people)
def test_nobody_holds_one_of_no_candidates(held):
    assert lists(baskets(held).holding([])) == [[] for _ in held]


def test_items_that_no_candidate_names_do_not_matter():
    assert lists(baskets([[5, 1000], [1000], []]).holding([(5,), (2, 5)])) == [[0], [], []]


@pytest.mark.parametrize(
    ("sizes", "items"), [([1], []), ([0], [1]), ([2], [1, -1]), ([-1, 2], [0])]
)
def test_baskets_that_do_not_add_up_are_refused(sizes, items):
    with pytest.raises(ParameterError):
        Baskets.of(sizes, items)


def test_codes_of_many_people_and_items_do_not_overflow():
    users = 1 << 20
    found = Baskets.of(np.ones(users, np.int64), np.full(users, (1 << 32) - 1))
    assert (found.items == (1 << 32) - 1).all()
    assert (found.sizes == 1).all()


def test_no_people_have_no_baskets():
    assert len(baskets([])) == 0
    assert baskets([]).counts(3).tolist() == [0, 0, 0]
