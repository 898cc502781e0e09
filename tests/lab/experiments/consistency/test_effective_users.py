"""The effective number of users inverts the error of Base."""

import pytest

from sottovoce.errors import ParameterError
from sottovoce.lab.experiments.consistency.effective_users import effective_users
from sottovoce.mechanisms.olh import OLH


def test_the_raw_error_of_some_users_is_worth_these_users():
    """Base at epsilon 1, 1024 values and a million users: a mean squared error of 3.693e-6."""
    noise = OLH(1.0, 1024).noise
    assert effective_users(3.6931e-6, noise, 1024) == pytest.approx(1e6, rel=1e-4)
    with pytest.raises(ParameterError):
        effective_users(0.0, noise, 1024)
