"""Whether somebody has an item."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.domains.integers import Integers
from sottovoce.domains.sets import Sets
from sottovoce.encodings.holds import Holds
from sottovoce.errors import ParameterError
from sottovoce.lab.checks import RecordedRng
from sottovoce.maths.ragged import Baskets
from sottovoce.mechanisms.grr import GRR
from sottovoce.tasks.question import Question
from sottovoce.tasks.round import Round
from sottovoce.wire import codec

ITEMS = 6
people = st.lists(st.frozensets(st.integers(0, ITEMS - 1)), min_size=1, max_size=8)


@given(people, st.integers(0, ITEMS - 1))
def test_one_for_those_who_have_it_and_none_for_others(held, item):
    baskets = Baskets.of(
        [len(basket) for basket in held], [found for basket in held for found in basket]
    )
    assert Holds(ITEMS, item)(baskets, RecordedRng(b"")).tolist() == [
        int(item in basket) for basket in held
    ]


def test_yes_and_no_are_two_answers():
    assert Holds(ITEMS, 0).outputs(Sets(range(ITEMS))) == 2
    for domain in (Integers(0, 5), Sets(range(5))):
        with pytest.raises(ParameterError, match="the question asks about sets of 6 items"):
            Holds(ITEMS, 0).outputs(domain)


def test_it_hides_nothing_by_itself():
    assert Holds(ITEMS, 1).worst_ratio(GRR(1.0, 2)) == GRR(1.0, 2).worst_ratio
    with pytest.raises(ParameterError, match="spends more"):
        Question(GRR(1.5, 2), Holds(ITEMS, 1), 1.0)


@pytest.mark.parametrize(
    ("items", "item"), [(6, 6), (6, -1), (6, 1.0), (6, True), (6.0, 1), (0, 0)]
)
def test_an_item_that_there_is_not_is_refused(items, item):
    with pytest.raises(ParameterError):
        Holds(items, item)


def test_the_document_restores_it():
    asked = Round(0, Question(GRR(1.0, 2), Holds(6, 3)))
    assert codec.round_(codec.parse(codec.canonical(codec.document(asked)))) == asked
