"""Advice before a search: users that a wished share takes."""

import pytest

from sottovoce.errors import ParameterError
from sottovoce.plans.search_advice import MIN_USERS, check_search, users_for_share


def findable(users):
    """Return a share that falls like one over the root of the users."""
    return None if users < 10_000 else 10 / users**0.5


@pytest.mark.parametrize("share", [0.01, 0.05, 0.1])
def test_the_fewest_users_are_found_to_one_in_a_hundred(share):
    exact = max(10_000, (10 / share) ** 2)
    users = users_for_share(findable, share)
    assert exact <= users <= 1.011 * exact


def test_nothing_is_searched_without_a_wish():
    assert users_for_share(findable, None) is None


def test_a_share_that_no_number_of_users_finds_is_refused():
    with pytest.raises(ParameterError, match="`share` must be larger"):
        users_for_share(lambda users: 0.5, 0.1)


def test_a_search_needs_people_and_a_share_below_one():
    check_search(MIN_USERS, 0.5)
    with pytest.raises(ParameterError, match="`users`"):
        check_search(MIN_USERS - 1, None)
    with pytest.raises(ParameterError, match="`share`"):
        check_search(MIN_USERS, 1.0)
