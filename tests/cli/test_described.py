"""The columns of a file with the options about them: one column, or a clear error."""

import pytest

from sottovoce.cli.described import Described
from sottovoce.cli.domains import DomainOptions
from sottovoce.errors import ParameterError

NOTHING_STATED = DomainOptions((), (), (), decline=False)
AGE = ["30", None, "41"]


def described(mechanism="", **cells):
    return Described(cells, NOTHING_STATED, mechanism)


def test_people_are_the_rows_of_the_file():
    assert described(age=AGE).people == 3


def test_the_only_column_is_given_and_several_are_refused():
    assert described(age=AGE).only_column("a mean is of one") == ("age", AGE)
    with pytest.raises(ParameterError, match="give --column once: a mean is of one"):
        described(age=AGE, pet=AGE).only_column("a mean is of one")


def test_a_mechanism_is_refused_where_the_plan_chooses_its_own():
    described(age=AGE).refuse_mechanism("--top")
    with pytest.raises(ParameterError, match="--mechanism does not go with --top"):
        described("grr", age=AGE).refuse_mechanism("--top")
