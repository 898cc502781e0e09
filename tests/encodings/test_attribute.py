"""One attribute of a record."""

import numpy as np
import pytest

from sottovoce.domains.categories import Categories
from sottovoce.domains.integers import Integers
from sottovoce.domains.records import Records
from sottovoce.encodings.attribute import Attribute
from sottovoce.errors import ParameterError
from sottovoce.lab.checks import RecordedRng
from sottovoce.mechanisms.grr import GRR
from sottovoce.tasks.question import Question
from sottovoce.tasks.round import Round
from sottovoce.wire import codec

PEOPLE = Records(("pet", "age"), (Categories(("cat", "dog")), Integers(0, 4)))


def test_it_keeps_one_column():
    records = np.array([[1, 4], [0, 3]])
    assert Attribute(1)(records, RecordedRng(b"")).tolist() == [4, 3]
    assert [Attribute(column).outputs(PEOPLE) for column in range(2)] == [2, 5]


def test_it_hides_nothing_by_itself():
    assert Attribute(0).worst_ratio(GRR(1.0, 2)) == GRR(1.0, 2).worst_ratio


@pytest.mark.parametrize("column", [-1, 1.0, True, None])
def test_a_column_that_is_no_number_is_refused(column):
    with pytest.raises(ParameterError, match="`column` must be a whole number of at least 0"):
        Attribute(column)


@pytest.mark.parametrize("domain", [PEOPLE, Integers(0, 9)])
def test_an_attribute_that_the_domain_does_not_have_is_refused(domain):
    with pytest.raises(ParameterError, match="asks about the attribute in column 2"):
        Attribute(2).outputs(domain)


def test_the_document_restores_it():
    asked = Round(0, Question(GRR(1.0, 5), Attribute(1)))
    assert codec.round_(codec.parse(codec.canonical(codec.document(asked)))) == asked
