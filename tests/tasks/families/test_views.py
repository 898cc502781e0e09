"""One question for every view."""

import numpy as np
import pytest

from sottovoce.encodings.view import View
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.oue import OUE
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.families.views import Views
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round
from sottovoce.wire import codec

SIZES = (2, 3, 2)
PAIRS = ((0, 1), (0, 2), (1, 2))
VIEWS = Views(SIZES, PAIRS, (GRR(1.0, 4), OUE(1.0, 6)))


def test_every_view_is_asked_by_the_mechanism_for_its_cells():
    assert len(VIEWS) == 3
    assert [VIEWS[place] for place in range(3)] == [
        Question(OUE(1.0, 6), View((0, 1), (2, 3))),
        Question(GRR(1.0, 4), View((0, 2), (2, 2))),
        Question(OUE(1.0, 6), View((1, 2), (3, 2))),
    ]


def test_a_view_costs_what_one_question_costs():
    """One report per person, so nothing is added up; and nothing is gained by drawing the view,
    which is public.
    """
    assert Choice(VIEWS).epsilon == 1.0


def test_all_messages_have_the_width_of_the_widest():
    assert Choice(VIEWS).width == max(VIEWS[place].width for place in range(3))


def test_a_view_that_there_is_not_is_refused():
    with pytest.raises(ParameterError):
        Round(0, Choice(VIEWS)).question(Address(0, 3))


def test_coins_pick_all_views_alike():
    """64-bit coins at equal distances: equal shares of them."""
    coins = (2 * np.arange(3000, dtype=np.uint64) + 1) * np.uint64((1 << 64) // 6000)
    assert np.bincount(Choice(VIEWS).pick(coins)).tolist() == [1000, 1000, 1000]


@pytest.mark.parametrize(
    ("columns", "mechanisms"),
    [
        ((), ()),
        (((0, 1), (0, 1)), (GRR(1.0, 6),)),
        (((0, 1), (0, 2)), (GRR(1.0, 6),)),
        (((0, 1),), (GRR(1.0, 4), GRR(1.0, 6))),
        (((0, 1),), (GRR(1.0, 6), OUE(1.0, 6))),
        (((0, 3),), (GRR(1.0, 4),)),
        (((0, -1),), (GRR(1.0, 4),)),
        (((1, 0),), (GRR(1.0, 6),)),
        (((),), (GRR(1.0, 6),)),
    ],
)
def test_views_without_their_mechanism_and_other_nonsense_are_refused(columns, mechanisms):
    with pytest.raises(ParameterError):
        Views(SIZES, columns, mechanisms)


def test_the_document_restores_it():
    asked = Round(0, Choice(VIEWS))
    assert codec.round_(codec.parse(codec.canonical(codec.document(asked)))) == asked


def test_the_first_view_of_every_number_of_cells_stands_for_the_others():
    sizes = (2, 2, 3)
    columns = ((0,), (1,), (0, 2), (2,), (1, 2))
    family = Views(sizes, columns, tuple(GRR(1.0, size) for size in (2, 6, 3)))
    assert family.representatives() == [0, 2, 3]
    assert family.examined == len(family) == 5


def test_views_are_bounded():
    columns = tuple((first, second) for first in range(70) for second in range(70, 140))
    with pytest.raises(ParameterError, match="`columns` must have from 1 to 4096 entries"):
        Views((2,) * 140, columns, (GRR(1.0, 4),))
