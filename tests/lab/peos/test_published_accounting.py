"""The guideline of the paper: its reference configurations, and what cannot be met."""

from dataclasses import replace

import pytest

from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.shuffle_bounds import solh
from sottovoce.lab.peos.configure import PeosGoals, configure_peos
from sottovoce.lab.peos.published_accounting import PublishedAccounting

PUBLISHED = PublishedAccounting()

# users, values, delta, central, against users, local; mechanism, fakes (thousands), error
REFERENCES = [
    (602_325, 915, 1e-9, 0.5, 1.0, 8.0, "grr", 963, 6.23e-9),
    (602_325, 915, 1e-9, 1.0, 1.0, 8.0, "grr", 274.345, 2.69e-9),
    (602_325, 915, 1e-9, 0.5, 0.9, 4.0, "olh", 18.9, 1.32e-7),
    (990_002, 42_178, 1e-9, 0.5, 1.0, 8.0, "olh", 894, 3.55e-9),
    (10**6, 100, 1e-9, 0.5, 1.0, 6.0, "grr", 29.983, 5.99e-9),
    (10**6, 16, 1e-9, 0.5, 0.8, 4.0, "grr", 7.496, 4.09e-8),
    (10**5, 1000, 1e-6, 0.5, 1.0, 5.0, "olh", 27.8, 3.96e-7),
]


@pytest.mark.parametrize("reference", REFERENCES)
def test_the_reference_configurations(reference):
    users, size, delta, central, against_users, local, kind, thousands, mse = reference
    goals = PeosGoals(users, size, delta, central, against_users, local, 4 * users)
    best = configure_peos(goals, PUBLISHED)
    assert best.mechanism.kind == kind
    assert best.fakes == pytest.approx(1000 * thousands, rel=0.05)
    assert best.mse <= 1.02 * mse
    assert best.central <= central
    assert best.against_users <= against_users
    assert best.local <= local


@pytest.mark.parametrize("reference", REFERENCES[:3])
def test_what_is_achieved_is_recomputed_from_the_closed_forms(reference):
    users, size, delta, central, against_users, local, *_ = reference
    best = configure_peos(
        PeosGoals(users, size, delta, central, against_users, local, 4 * users), PUBLISHED
    )
    cells = getattr(best.mechanism, "buckets", size)
    assert best.central == solh.with_fakes((best.local, cells), users, best.fakes, delta)
    assert best.against_users == solh.against_users(cells, best.fakes, delta)


def test_no_neighbour_is_better():
    """A tenth more or fewer fakes or buckets never helps, within the targets."""
    users, size, delta, central, against_users, local, *_ = REFERENCES[3]
    goals = PeosGoals(users, size, delta, central, against_users, local, 4 * users)
    best = configure_peos(goals, PUBLISHED)
    capped = configure_peos(replace(goals, max_fakes=round(0.9 * best.fakes)), PUBLISHED)
    assert capped.mse > best.mse
    smaller = configure_peos(replace(goals, size=round(0.9 * best.mechanism.buckets)), PUBLISHED)
    # The smaller domain has the larger average share per value, which only adds to the error.
    assert smaller.mechanism.kind == "grr" or smaller.mse > best.mse


GOALS = PeosGoals(10_000, 100, 1e-9, 0.5, 0.5, 4.0, 10_000)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"against_users": 0.05}, "`against_users` cannot be met"),
        ({"users": 3, "max_fakes": 3000, "central": 0.01}, "`central` cannot be met"),
        ({"central": 1.5}, "`central` must be at most 1"),
        ({"against_users": 1.5}, "`against_users` must be at most 1"),
        ({"delta": 0.3}, "`delta` must be below 0.29"),
    ],
)
def test_what_cannot_be_met_is_named(changed, message):
    with pytest.raises(ParameterError, match=message):
        configure_peos(replace(GOALS, **changed), PUBLISHED)
