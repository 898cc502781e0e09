"""Marginals from Hadamard coefficients."""

from itertools import combinations, permutations, product

import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.marginals.hadamard_spectrum import HadamardSpectrum, ask_parity
from sottovoce.lab.baselines.parities import Parities
from sottovoce.maths.walsh import transform
from sottovoce.mechanisms.grr import GRR

RR = GRR(1.0, 2)
GAIN = 1 / (RR.p - RR.q)


def exact_spectrum(family, joint, users=10**14):
    """A spectrum whose signs are those of a joint distribution."""
    grid = np.indices(joint.shape).reshape(joint.ndim, -1)
    signs = []
    for place in range(len(family)):
        columns, masks = family.coefficient(place)
        odd = (
            sum(
                np.bitwise_count(grid[column] & mask)
                for column, mask in zip(columns, masks, strict=True)
            )
            % 2
        )
        signs.append(float((1 - 2.0 * odd) @ joint.ravel()))
    ones = np.rint(users * (1 - np.array(signs) / GAIN) / 2).astype(np.int64)
    made = HadamardSpectrum(family, np.full(len(family), users), ones)
    vars(made)["signs"] = np.array(signs)
    return made


def marginal(joint, view):
    return joint.sum(axis=tuple(axis for axis in range(joint.ndim) if axis not in view))


@pytest.mark.parametrize("within", [False, True])
@pytest.mark.parametrize("sizes", [(2, 2, 2, 2), (2, 2, 2, 2, 2, 2), (2, 5, 3, 4)])
def test_the_coefficients_of_a_distribution_give_all_its_marginals(sizes, within):
    """Cormode 2018, lemma 3.7, for attributes of any number of values."""
    joint = np.random.default_rng(1).dirichlet(np.ones(np.prod(sizes))).reshape(sizes)
    for order in (1, 2, 3):
        spectrum = exact_spectrum(Parities(RR, sizes, order, within), joint)
        for view in (
            one for size in range(1, order + 1) for one in combinations(range(len(sizes)), size)
        ):
            np.testing.assert_allclose(
                spectrum.table(view).shares, marginal(joint, view), atol=1e-12
            )


def test_the_fast_transform_is_the_dense_product():
    vector = np.random.default_rng(2).normal(size=64)
    dense = 1 - 2.0 * (np.bitwise_count(np.arange(64)[:, None] & np.arange(64)) % 2)
    np.testing.assert_allclose(transform(vector), dense @ vector, atol=1e-12)


PEOPLE = np.array([[0, 0], [0, 1], [1, 1], [1, 1]])
TRUTH = np.array([[0.25, 0.25], [0.0, 0.5]])


@pytest.mark.parametrize(
    ("sizes", "order", "within"), [((2, 2), 2, False), ((2, 2), 2, True), ((2, 2), 1, False)]
)
def test_over_all_ways_to_ask_and_to_report_estimates_are_unbiased_and_vary_as_stated(
    sizes, order, within
):
    """Every assignment of four people to the coefficients, and every report: by the law of the
    clients themselves.

    The groups are drawn from the same people, so two coefficients vary together by -(w_ab - w_a
    w_b) / (n - 1), less than the noise by the number of coefficients and more; this is left out of
    the covariance.
    """
    family = Parities(RR, sizes, order, within)
    groups = {3: (2, 1, 1), 2: (3, 1)}[len(family)]
    view = tuple(range(order))
    mean, square = moments(
        family,
        groups,
        lambda times, ones: HadamardSpectrum(family, times, ones).table(view).shares.ravel(),
    )
    truth = marginal(TRUTH, view)
    np.testing.assert_allclose(mean, truth.ravel(), atol=1e-12)
    stated = exact_spectrum(family, TRUTH)
    vars(stated)["times"] = np.array(groups)
    alike = (np.diag(truth.ravel()) - np.outer(truth.ravel(), truth.ravel())) / (len(PEOPLE) - 1)
    cells = np.arange(truth.size)
    each = (
        transform(np.diag(dense(truth.size) @ alike @ dense(truth.size)))[cells[:, None] ^ cells]
        / truth.size**2
    )
    np.testing.assert_allclose(square, stated.table(view).covariance + each - alike, atol=1e-12)


def dense(size):
    return 1 - 2.0 * (np.bitwise_count(np.arange(size)[:, None] & np.arange(size)) % 2)


def moments(family, groups, estimator):
    """The mean of an estimator and its squared error, over all assignments and reports."""
    members = set(permutations(np.repeat(np.arange(len(family)), groups).tolist()))
    found, weights = [], []
    for chosen in members:
        odd = family.encoded(np.array(chosen), PEOPLE, None)
        for turned in product((0, 1), repeat=len(PEOPLE)):
            ones = np.bincount(chosen, odd ^ np.array(turned), len(family)).astype(np.int64)
            found.append(estimator(np.array(groups), ones))
            weights.append(np.prod(np.where(turned, 1 - RR.p, RR.p)) / len(members))
    found, weights = np.array(found), np.array(weights)
    mean = weights @ found
    return mean, (found - mean).T @ ((found - mean) * weights[:, None])


def test_dividing_by_the_expected_number_of_reports_would_be_noticed():
    """Broken twin: n / |T| instead of the number who reported, which is biased for every given
    assignment.
    """
    family = Parities(RR, (2, 2), 2)

    def careless(times, ones):
        signs = GAIN * (times - 2 * ones) * len(family) / len(PEOPLE)
        return transform(np.concatenate([[1.0], signs[[1, 0, 2]]])) / 4

    mean, _ = moments(family, (2, 1, 1), careless)
    assert abs(mean - TRUTH.ravel()).max() > 0.05


def test_counting_reports_has_less_variance_than_weighting_them():
    """Of 36 coefficients at epsilon = ln 3, one of mean sign 0.9: 115 against 143, over n; at five
    sigma.
    """
    response, users, runs, dice = GRR(float(np.log(3)), 2), 7200, 40_000, np.random.default_rng(3)
    gain = 1 / (response.p - response.q)
    times = dice.binomial(users, 1 / 36, runs)
    positive = dice.hypergeometric(int(users * 0.95), users - int(users * 0.95), times)
    ones = dice.binomial(positive, response.q) + dice.binomial(times - positive, response.p)
    ratio, weighted = gain * (times - 2 * ones) / times, gain * (times - 2 * ones) * 36 / users
    inverse = (1 / times).mean()
    expected = (
        gain**2 * inverse - 0.81 * inverse - (1 - 0.81) / users,
        (36 * gain**2 - 0.81) / users,
    )
    for seen, stated in zip((ratio, weighted), expected, strict=True):
        assert abs(seen.var() / stated - 1) < 5 * np.sqrt(2 / runs)
    assert users * ratio.var() == pytest.approx(115, rel=0.1)
    assert users * weighted.var() == pytest.approx(143, rel=0.1)
    family = Parities(response, (2,) * 8, 2)
    stated = HadamardSpectrum(family, np.full(36, 200), np.zeros(36, np.int64))
    vars(stated)["signs"] = np.full(36, 0.9)
    assert stated.variances[0] * users == pytest.approx(36 * (gain**2 - 1 + (7000 / 7199) * 0.19))


def test_a_coefficient_that_nobody_was_asked_about_is_nought_give_or_take_one():
    spectrum = HadamardSpectrum(Parities(RR, (2, 2), 2), np.array([5, 0, 5]), np.array([1, 0, 4]))
    assert spectrum.signs[1] == 0
    assert spectrum.variances[1] == 1
    assert spectrum.users == 10
    assert np.isfinite(spectrum.table((0, 1)).covariance).all()


def test_one_person_alone_is_no_division_by_zero():
    spectrum = HadamardSpectrum(Parities(RR, (2, 2), 1), np.array([1, 0]), np.array([1, 0]))
    assert np.isfinite(spectrum.table((0,)).covariance).all()


def test_cells_that_nobody_can_hold_are_not_in_the_table():
    spectrum = exact_spectrum(Parities(RR, (3, 5), 2), np.full((3, 5), 1 / 15))
    assert spectrum.table((0, 1)).shares.shape == (3, 5)
    assert spectrum.table((0, 1)).covariance.shape == (15, 15)


@pytest.mark.parametrize("view", [(), (0, 1, 2)])
def test_a_table_beyond_the_order_is_refused(view):
    with pytest.raises(ParameterError):
        exact_spectrum(Parities(RR, (2, 2, 2), 2), np.full((2, 2, 2), 1 / 8)).table(view)


def test_a_question_is_about_one_coefficient_at_the_full_budget():
    asked = ask_parity(1.5, (2, 3), 2)
    assert asked.epsilon == 1.5
    assert asked.members.mechanism == GRR(1.5, 2)


def test_coefficients_of_fewer_attributes_are_pooled_over_the_sets_they_were_asked_in():
    """Three attributes in pairs: that of the first stands in the pairs (0, 1) and (0, 2)."""
    family = Parities(RR, (2, 2, 2), 2, within=True)
    alone = [place for place in range(len(family)) if family.coefficient(place) == ((0,), (1,))]
    times, ones = np.full(9, 10), np.zeros(9, np.int64)
    times[alone], ones[alone] = [30, 0], [6, 0]  # nobody at all was asked in the second
    table = HadamardSpectrum(family, times, ones).table((0,))
    assert table.shares[1] == pytest.approx(0.5 - GAIN * (30 - 12) / 30 / 2)
    assert table.covariance[0, 0] < 0.25 * (GAIN**2) / 30


def test_a_table_of_the_whole_order_uses_the_reports_of_its_own_set_only():
    family = Parities(RR, (2, 2, 2), 2, within=True)
    times, ones = np.full(9, 10), np.arange(9)
    before = HadamardSpectrum(family, times, ones).table((0, 1)).shares
    start = family.start((0, 1))
    other = [place for place in range(9) if not start <= place < start + 3]
    ones[other] = 10
    np.testing.assert_array_equal(
        HadamardSpectrum(family, times, ones).table((0, 1)).shares, before
    )
