"""Errors at a place: what stands there, and a caret below it."""

import pickle

import pytest

from sottovoce.core.located import LocatedError


def test_the_caret_stands_below_the_column():
    error = LocatedError("no", 2, 4, "first\nab\tcd")
    assert (error.before, error.after) == ("ab\t", "cd")
    assert error.caret == "ab\tcd\n  \t^"


@pytest.mark.parametrize(("line", "column"), [(9, 1), (1, 10**12)])
def test_a_place_outside_of_the_text_is_no_trouble(line, column):
    assert LocatedError("no", line, column, "abc").caret.endswith("^")


def test_it_travels_between_processes():
    error = pickle.loads(pickle.dumps(LocatedError("no", 1, 2, "abc")))
    assert (str(error), error.caret) == ("no", "abc\n ^")
