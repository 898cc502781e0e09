"""A batch counts honest people and fakes."""

import pytest

from sottovoce.accounting.batch import ShuffledBatch
from sottovoce.errors import ParameterError


def test_the_person_is_one_of_the_users():
    assert ShuffledBatch(1).others == 0
    assert ShuffledBatch(1000, 50).others == 999


@pytest.mark.parametrize(
    ("settings", "named"),
    [({"users": 0}, "users"), ({"users": 2.0}, "users"), ({"users": 5, "fakes": -1}, "fakes")],
)
def test_numbers_that_count_nothing_are_refused(settings, named):
    with pytest.raises(ParameterError, match=f"`{named}` must be a whole number"):
        ShuffledBatch(**settings)
