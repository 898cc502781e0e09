"""How many candidates somebody has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.domains.integers import Integers
from sottovoce.domains.sets import Sets
from sottovoce.encodings.size import Size
from sottovoce.errors import ParameterError
from sottovoce.lab.checks import RecordedRng
from sottovoce.maths.ragged import Baskets
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.olh import OLH
from sottovoce.tasks.question import Question
from sottovoce.tasks.round import Round
from sottovoce.wire import codec

ITEMS = 6
people = st.lists(st.frozensets(st.integers(0, ITEMS - 1)), min_size=1, max_size=8)
itemsets = st.sets(st.frozensets(st.integers(0, ITEMS - 1), min_size=1), min_size=1, max_size=8)


def baskets(held):
    return Baskets.of(
        [len(basket) for basket in held], [item for basket in held for item in basket]
    )


@given(people, itemsets)
def test_the_number_is_of_candidates_held_whole(held, wanted):
    among = tuple(tuple(sorted(candidate)) for candidate in wanted)
    expected = [sum(candidate <= mine for candidate in wanted) for mine in held]
    assert Size(ITEMS, among)(baskets(held), RecordedRng(b"")).tolist() == expected


@given(people)
def test_without_candidates_it_is_the_number_of_items(held):
    assert Size(ITEMS)(baskets(held), RecordedRng(b"")).tolist() == [len(basket) for basket in held]


def test_every_number_from_none_to_all_has_an_answer():
    domain = Sets(range(ITEMS))
    assert Size(ITEMS).outputs(domain) == ITEMS + 1
    assert Size(ITEMS, ((0,), (1, 2))).outputs(domain) == 3
    Question(OLH(1.0, 3), Size(ITEMS, ((0,), (1, 2)))).check_domain(domain)
    with pytest.raises(ParameterError, match="the mechanism serves"):
        Question(GRR(1.0, 2), Size(ITEMS, ((0,), (1, 2)))).check_domain(domain)


def test_nothing_is_drawn_so_nothing_is_gained():
    asked = Round(0, Question(GRR(1.0, ITEMS + 1), Size(ITEMS)))
    assert codec.round_(codec.parse(codec.canonical(codec.document(asked)))) == asked
    with pytest.raises(ParameterError, match="spends more"):
        Question(GRR(2.0, ITEMS + 1), Size(ITEMS), 1.0)


@pytest.mark.parametrize(
    "among",
    [
        ((),),
        ((1, 1),),
        ((2, 1),),
        ((0,), (0,)),
        ((6,),),
        ((-1,),),
        ((0, 1), (2,), (0, 1)),
        ((0.0,),),
        ((True,),),
    ],
    ids=[
        "empty",
        "twice",
        "descending",
        "same",
        "beyond",
        "negative",
        "same pair",
        "real",
        "truth",
    ],
)
def test_what_is_no_list_of_sets_is_refused(among):
    with pytest.raises(ParameterError):
        Size(ITEMS, among)


@pytest.mark.parametrize("items", [1, 0, -3, 2.0, True, "6"])
def test_too_few_items_are_refused(items):
    with pytest.raises(ParameterError):
        Size(items)


def test_other_domains_are_refused():
    for domain in (Integers(0, 5), Sets(range(5)), Sets(range(7))):
        with pytest.raises(ParameterError, match="the question asks about sets of 6 items"):
            Size(ITEMS).outputs(domain)


@pytest.mark.parametrize("encoding", [Size(6), Size(6, ((0,), (1, 5)))])
def test_the_document_restores_it(encoding):
    asked = Round(0, Question(OLH(1.0, 7), encoding))
    assert codec.round_(codec.parse(codec.canonical(codec.document(asked)))) == asked
