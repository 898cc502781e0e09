"""The published configuration of local hashing for shuffled reports."""

import pytest

from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.shuffle_bounds import closed_forms, solh

CENSUS = solh.PublishedTarget(0.5, 602_325, 1e-9)


def test_the_configuration_of_the_census():
    assert CENSUS.m == pytest.approx(502.2216234574, rel=1e-12)
    assert solh.best_buckets(CENSUS, "floor") == 168
    oracle = solh.local_hashing(CENSUS, 168)
    assert oracle.local == pytest.approx(5.8147918756, rel=1e-10)
    assert oracle.variance == pytest.approx(2.2447830059e-8, rel=1e-9)
    assert oracle.mse(915) == pytest.approx(2.3343562208e-8, rel=1e-9)
    round_trip = closed_forms.local_hashing(oracle.local, 168, 602_325, 1e-9)
    assert round_trip == pytest.approx(0.5, abs=1e-12)


def test_the_configuration_of_the_census_with_fakes():
    oracle = solh.local_hashing(CENSUS, 168)
    against_users = solh.against_users(168, 10**5, 1e-9)
    assert against_users == pytest.approx(0.7097281410, rel=1e-9)
    central = solh.with_fakes((oracle.local, 168), 602_325, 10**5, 1e-9)
    assert central == pytest.approx(0.4087509066, rel=1e-9)
    assert solh.optimal_buckets(CENSUS, 10**5) == pytest.approx(195.867, abs=5e-4)


def test_fakes_raise_the_best_number_of_buckets():
    """By brute force: the published sign, which lowers it, is wrong."""
    target = solh.PublishedTarget(0.5, 10**6, 1e-9)
    fakes = 10**5
    bound = 1 / (target.m / (target.users - 1))  # 14 ln(2/delta) / central^2

    def variance(buckets):
        m = (target.users - 1) / (bound - fakes / buckets)
        return (target.users + fakes) * m**2 / ((m - buckets) ** 2 * (buckets - 1))

    best = min(range(200, 500), key=variance)
    assert best == round(solh.optimal_buckets(target, fakes)) == 306


def test_the_best_number_of_buckets_has_the_least_variance():
    best = solh.best_buckets(CENSUS)
    variances = {b: solh.local_hashing(CENSUS, b).variance for b in range(2, 500)}
    assert min(variances, key=variances.get) == best


def test_without_amplification_the_reports_are_plain_local_ones():
    small = solh.PublishedTarget(0.2, 990_002, 1e-9)
    assert solh.local_hashing(small, 1000).local == 0.2
    assert solh.local_hashing(solh.PublishedTarget(0.1, 10**5, 1e-9)).local == 0.1  # m = 3.3
    assert solh.direct_response(small, 42_178).local == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ((1.5, 1000, 1e-9), "`central` must be a number above 0 and at most 1"),
        ((0.5, 1, 1e-9), "`users` must be"),
        ((0.5, 1000, 0.3), "`delta` must be above 0 and below 0.29"),
    ],
)
def test_targets_that_the_proofs_do_not_cover_are_refused(settings, message):
    with pytest.raises(ParameterError, match=message):
        solh.PublishedTarget(*settings)


def test_an_unknown_rounding_is_refused():
    with pytest.raises(ParameterError, match="`rounding` must be one of nearest, floor"):
        solh.best_buckets(CENSUS, "up")
