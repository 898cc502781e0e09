"""Goals and shapes of a configuration."""

import pytest

from sottovoce.errors import ParameterError
from sottovoce.lab.peos.configure import PeosGoals, ReportShape, configure_peos
from sottovoce.lab.peos.published_accounting import PublishedAccounting


def test_a_shape_becomes_a_mechanism():
    assert ReportShape.direct(12).mechanism(2.0).key.startswith("grr")
    hashed = ReportShape(12, 5, hashed=True).mechanism(2.0)
    assert (hashed.kind, hashed.buckets, hashed.epsilon) == ("olh", 5, 2.0)


def test_the_accounting_is_exchangeable():
    goals = PeosGoals(10**6, 16, 1e-9, 0.5, 0.8, 4.0, 4 * 10**6)
    published = PublishedAccounting()
    assert configure_peos(goals, published) == published.configure(goals)


@pytest.mark.parametrize(
    ("position", "setting", "name"),
    [(0, 1, "users"), (1, 1, "size"), (2, 0.0, "delta"), (3, 0.0, "central"), (6, 0, "max_fakes")],
)
def test_goals_are_checked(position, setting, name):
    settings = [1000, 16, 1e-6, 0.5, 0.8, 4.0, 1000]
    settings[position] = setting
    with pytest.raises(ParameterError, match=f"`{name}`"):
        PeosGoals(*settings)
