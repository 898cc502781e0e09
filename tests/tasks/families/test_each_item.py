"""One question for every item."""

import numpy as np
import pytest

from sottovoce.domains.sets import Sets
from sottovoce.encodings.holds import Holds
from sottovoce.errors import ParameterError
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths import exact
from sottovoce.mechanisms.grr import GRR
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.families.each_item import EachItem
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round
from sottovoce.wire import codec

COIN = GRR(1.0, 2)


def test_the_questions_are_about_the_items_in_turn():
    assert len(EachItem(COIN, 9)) == 9
    assert [EachItem(COIN, 9)[place].encoding.item for place in range(9)] == list(range(9))
    some = EachItem(COIN, 9, (7, 0, 4))
    assert [some[place] for place in range(len(some))] == [
        Question(COIN, Holds(9, item)) for item in (7, 0, 4)
    ]


def test_all_questions_cost_and_weigh_the_same():
    choice = Choice(EachItem(COIN, 9))
    assert {EachItem(COIN, 9)[place].epsilon for place in range(9)} == {choice.epsilon} == {1.0}
    assert {EachItem(COIN, 9)[place].width for place in range(9)} == {choice.width}
    for place in range(9):
        EachItem(COIN, 9)[place].check_domain(Sets(range(9)))


def test_the_coin_asks_about_all_items_equally_often():
    """100,000 coins over five items, five sigma; weights change that as they say."""
    coins = SeededRng(1).longs(100_000)
    picks = np.bincount(Choice(EachItem(COIN, 5)).pick(coins), minlength=5)
    assert np.abs(picks - 20_000).max() < 5 * np.sqrt(100_000 * 0.2 * 0.8), picks
    weighted = np.bincount(Choice(EachItem(COIN, 5), (1, 2, 3, 4, 10)).pick(coins), minlength=5)
    assert np.abs(weighted - np.array([1, 2, 3, 4, 10]) * 5000).max() < 5 * np.sqrt(100_000 / 4), (
        weighted
    )


def test_a_member_beyond_the_items_is_refused():
    asked = Round(0, Choice(EachItem(COIN, 5, (1, 3))))
    assert asked.question(Address(0, 1)).encoding == Holds(5, 3)
    with pytest.raises(ParameterError):
        asked.question(Address(0, 2))
    assert asked.addresses(lambda slot: exact.UNIT - 1) == [Address(0, 1)]


@pytest.mark.parametrize("among", [(1, 1), (5,), (-1,), (0.5,), (1.0,), (True,)])
def test_items_that_there_are_not_are_refused(among):
    with pytest.raises(ParameterError):
        EachItem(COIN, 5, among)


@pytest.mark.parametrize("items", [0, -2, 5.0, True])
def test_nothing_to_ask_about_is_refused(items):
    with pytest.raises(ParameterError):
        EachItem(COIN, items)


def test_having_an_item_is_yes_or_no():
    with pytest.raises(ParameterError, match="yes or no"):
        EachItem(GRR(1.0, 3), 5)


@pytest.mark.parametrize("family", [EachItem(COIN, 5), EachItem(COIN, 5, (3, 1))])
def test_the_document_restores_it(family):
    asked = Round(2, Choice(family), 5, 99)
    assert codec.round_(codec.parse(codec.canonical(codec.document(asked)))) == asked
