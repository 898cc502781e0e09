"""Several attributes as one value."""

from itertools import product

import numpy as np
import pytest

from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.records import Records
from sottovoce.encodings.view import View
from sottovoce.errors import ParameterError
from sottovoce.lab.checks import RecordedRng
from sottovoce.mechanisms.grr import GRR
from sottovoce.tasks.question import Question
from sottovoce.tasks.round import Round
from sottovoce.wire import codec

PETS = Records(
    ("pet", "age", "town"),
    (Categories(("cat", "dog")), Integers(0, 4), Categories(("a", "b", "c"))),
)


def test_sixteen_records_of_two_attributes_fall_into_four_cells():
    """Cormode 2018, example 3.1: the second and the fourth of four attributes of two values."""
    records = np.array(list(product((0, 1), repeat=4)))
    cells = View((1, 3), (2, 2))(records, RecordedRng(b""))
    assert cells.tolist() == [2 * second + fourth for _, second, _, fourth in records.tolist()]
    assert np.bincount(cells).tolist() == [4, 4, 4, 4]


def test_every_combination_has_a_cell_of_its_own_and_the_first_column_changes_slowest():
    records = np.array(list(product(range(2), range(5), range(3))))
    view = View((0, 1, 2), (2, 5, 3))
    assert view(records, RecordedRng(b"")).tolist() == list(range(30))
    assert view.outputs(PETS) == 30


def test_a_view_of_one_column_is_that_column():
    assert View((1,), (5,))(np.array([[1, 4, 2], [0, 3, 1]]), RecordedRng(b"")).tolist() == [4, 3]


def test_it_hides_nothing_by_itself():
    assert View((0, 2), (2, 3)).worst_ratio(GRR(1.0, 6)) == GRR(1.0, 6).worst_ratio


@pytest.mark.parametrize(
    ("columns", "sizes"),
    [
        ((), ()),
        ((0, 1), (2,)),
        ((1, 0), (2, 2)),
        ((0, 0), (2, 2)),
        ((-1, 0), (2, 2)),
        ((0,), (1,)),
        ((0.0,), (2,)),
        ((True,), (2,)),
        (tuple(range(63)), (2,) * 63),
    ],
)
def test_columns_that_make_no_table_are_refused(columns, sizes):
    with pytest.raises(ParameterError):
        View(columns, sizes)


@pytest.mark.parametrize(
    "domain",
    [
        Integers(0, 29),
        Records(("pet",), PETS.attributes[:1]),
        Records(("a", "b", "c"), PETS.attributes[::-1]),
    ],
)
def test_a_domain_with_other_attributes_is_refused(domain):
    with pytest.raises(ParameterError, match="attributes"):
        View((0, 1, 2), (2, 5, 3)).outputs(domain)


def test_the_document_restores_it():
    asked = Round(0, Question(GRR(1.0, 6), View((0, 2), (2, 3))))
    assert codec.round_(codec.parse(codec.canonical(codec.document(asked)))) == asked
