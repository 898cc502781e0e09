"""Noise laws against brute force: every report of every user, listed with its probability.

A user who holds value v reports an outcome with a known probability, so the mean and the covariance
of the votes are finite sums.  The laws must equal them, and what a law draws must have its
covariance.
"""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from sottovoce.core.noise import (
    BalancedNoise,
    IndependentNoise,
    JointNoise,
    Noise,
    SampledNoise,
    SetNoise,
    StatedNoise,
)
from sottovoce.errors import ParameterError

P = 0.6
Q = 0.15
FIVE_SIGMA = 5.0
REPLICATES = 200_000


def unary_reports(held, size):
    """Yield every row of bits with its probability: the held bit is set with P, others with Q."""
    for bits in product((0, 1), repeat=size):
        ones = np.array([P if value == held else Q for value in range(size)])
        yield np.array(bits), float(np.prod(np.where(np.array(bits), ones, 1 - ones)))


def subset_reports(held, size, chosen):
    """Yield every set of ``chosen`` values with its probability: with P it has the held value."""
    subsets = list(combinations(range(size), chosen))
    with_held = [subset for subset in subsets if held in subset]
    for subset in subsets:
        support = np.array([value in subset for value in range(size)]).astype(float)
        others = len(subsets) - len(with_held)
        yield support, P / len(with_held) if held in subset else (1 - P) / others


def brute_force(reports_of, counts, p, q):
    """Return the mean and the covariance of the sums of votes of ``counts[v]`` users holding v."""
    size = len(counts)
    mean = np.zeros(size)
    covariance = np.zeros((size, size))
    for held, count in enumerate(counts):
        first = np.zeros(size)
        second = np.zeros((size, size))
        for support, probability in reports_of(held):
            votes = (support - q) / (p - q)
            first += probability * votes
            second += probability * np.outer(votes, votes)
        mean += count * first
        covariance += count * (second - np.outer(first, first))
    return mean, covariance


def balanced(size, chosen):
    return BalancedNoise.subsets(P, size, chosen)


COUNTS = np.array([5.0, 0.0, 2.0, 4.0])
USERS = 11


def independent_case():
    expected = brute_force(lambda held: unary_reports(held, 4), COUNTS, P, Q)
    return IndependentNoise.of(P, Q), *expected


def balanced_case(chosen):
    q = (chosen - P) / 3
    expected = brute_force(lambda held: subset_reports(held, 4, chosen), COUNTS, P, q)
    return balanced(4, chosen), *expected


CASES = {
    "independent": independent_case,
    "one of four": lambda: balanced_case(1),
    "two of four": lambda: balanced_case(2),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_covariance_is_that_of_every_report_listed(case):
    noise, mean, covariance = case()
    assert mean == pytest.approx(COUNTS)
    assert noise.covariance(COUNTS, USERS) == pytest.approx(covariance)
    assert noise.variances(COUNTS, USERS) == pytest.approx(np.diag(covariance))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize(
    "coefficients", [(1, 0, 0, 0), (1, 1, 0, 0), (2, -1, 0.5, 3), (1, 1, 1, 1)]
)
def test_the_variance_of_a_sum_is_that_of_every_report_listed(case, coefficients):
    noise, _, covariance = case()
    weights = np.array(coefficients, float)
    expected = weights @ covariance @ weights
    assert noise.linear(weights, COUNTS, USERS) == pytest.approx(expected, abs=1e-9)
    assert noise.total(weights, COUNTS, USERS) == pytest.approx(weights @ COUNTS)


def test_two_cells_of_a_balanced_law_mirror_each_other():
    counts = np.array([3.0, 8.0])
    reports = brute_force(lambda held: subset_reports(held, 2, 1), counts, P, 1 - P)
    assert balanced(2, 1).covariance(counts, USERS) == pytest.approx(reports[1])


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_single_vote_and_a_single_score_have_the_moments_of_the_law(case):
    """One user holds value 2: the variance of a vote for it, for another value, and of a score."""
    noise, _, _ = case()
    held = np.array([0.0, 0.0, 1.0, 0.0])
    covariance = noise.covariance(held, 1)
    vote = noise.vote_variance
    assert vote.unheld == pytest.approx(covariance[0, 0])
    assert vote.unheld + vote.held == pytest.approx(covariance[2, 2])
    coefficients = np.array([2.0, -1.0, 0.5, 3.0])
    moments = noise.score_moments
    centre = coefficients.mean() if moments.centred else 0.0
    squares = (coefficients - centre) ** 2
    expected = moments.spread * squares.sum() + moments.held * squares[2]
    assert coefficients @ covariance @ coefficients == pytest.approx(expected)


# --- groups of cells -----------------------------------------------------------------------------


def test_groups_of_independent_cells_have_the_covariance_of_their_sums():
    noise = IndependentNoise.of(P, Q)
    groups = np.array([0, 1, 1, 0])
    sums, covariance = noise.grouped(groups, COUNTS, USERS)
    plain_sums, plain_covariance = Noise.grouped(noise, groups, COUNTS, USERS)
    assert sums == pytest.approx(plain_sums)
    assert covariance == pytest.approx(plain_covariance)


@pytest.mark.parametrize("padding", [0, 2, 8])
@pytest.mark.parametrize("groups", [(0, 0, 1, 1), (0, 1, 0, 1), (0, 1, 2, 3), (0, 0, 0, 0)])
def test_groups_of_balanced_cells_share_the_padding_equally(padding, groups):
    """The sums are those of coefficients on the padded domain: the padding has their mean."""
    noise = balanced(4 + padding, 2)
    member = (np.array(groups) == np.arange(max(groups) + 1)[:, None]).astype(float)
    padded_votes = np.pad(COUNTS, (0, padding))
    means = np.repeat(member.mean(axis=1, keepdims=True), padding, axis=1)
    padded_member = np.hstack([member, means])
    sums, covariance = noise.grouped(np.array(groups), COUNTS, USERS)
    assert sums == pytest.approx(padded_member @ padded_votes)
    expected = padded_member @ noise.covariance(padded_votes, USERS) @ padded_member.T
    assert covariance == pytest.approx(expected)


def test_candidates_of_a_balanced_mechanism_have_the_covariance_of_the_whole_domain():
    """Partial noise equals the full law with coefficient 0 on every other cell."""
    full = BalancedNoise.subsets(0.6, 16, 4)
    votes = np.zeros(16)
    votes[:4] = [50, 20, 20, 10]
    coefficients = np.zeros(16)
    coefficients[:4] = [1.0, -2.0, 0.5, 3.0]
    partial = full.among().linear(coefficients[:4], votes[:4], 100)
    assert partial == pytest.approx(full.linear(coefficients, votes, 100))


# --- draws ---------------------------------------------------------------------------------------


def worst_deviation(draws, covariance):
    """Return the largest deviation of a sample covariance from the stated one, in standard errors.

    An entry of the sample covariance of R normal draws has the variance (C_ii C_jj + C_ij^2) / R.
    """
    sampled = draws.T @ draws / len(draws)
    variances = np.diag(covariance)
    spread = np.sqrt((np.outer(variances, variances) + covariance**2) / len(draws))
    return float((np.abs(sampled - covariance) / spread).max())


DRAWN = {
    "independent": IndependentNoise.of(P, Q),
    "balanced": balanced(4, 2),
    "balanced with padding": balanced(16, 4),
}


@pytest.mark.parametrize("noise", DRAWN.values(), ids=DRAWN)
def test_draws_have_the_covariance_of_the_law(noise):
    generator = np.random.default_rng(3)
    draws = noise.draw(COUNTS, USERS, generator, REPLICATES)
    deviation = worst_deviation(draws, noise.covariance(COUNTS, USERS))
    print("worst deviation", deviation, "expected below", FIVE_SIGMA)
    assert deviation < FIVE_SIGMA


def test_draws_that_ignore_the_covariance_are_caught():
    """The broken twin: independent draws with the variances of a balanced law."""
    noise = balanced(4, 2)
    generator = np.random.default_rng(3)
    scale = np.sqrt(noise.variances(COUNTS, USERS))
    draws = scale * generator.standard_normal((REPLICATES, len(COUNTS)))
    assert worst_deviation(draws, noise.covariance(COUNTS, USERS)) > FIVE_SIGMA


def test_errors_of_a_whole_balanced_domain_cancel():
    """Votes of every report sum to one, so that the sums of all cells have no error together."""
    noise = balanced(4, 2)
    draws = noise.draw(COUNTS, USERS, np.random.default_rng(4), 5)
    assert draws.sum(axis=1) == pytest.approx(np.zeros(5), abs=1e-9)
    assert noise.covariance(COUNTS, USERS).sum() == pytest.approx(0, abs=1e-9)


# --- laws without a formula ----------------------------------------------------------------------


def test_replicates_give_variances_and_covariances():
    draws = np.random.default_rng(2).multivariate_normal([0, 0], [[4, -3], [-3, 4]], 50_000)
    noise = SampledNoise(draws)
    assert noise.variances(np.zeros(2), 1) == pytest.approx([4, 4], rel=0.05)
    assert noise.linear(np.array([1.0, 1.0]), np.zeros(2), 1) == pytest.approx(2, rel=0.05)
    assert noise.replicates is draws


def test_replicates_around_known_votes_include_the_bias():
    samples = np.array([[3.0, 0.0], [5.0, 0.0]])
    around = np.array([1.0, 1.0])
    noise = SampledNoise(samples, around=around)
    assert noise.variances(np.zeros(2), 1).tolist() == [(4 + 16) / 2, 1.0]
    assert noise.linear(np.array([1.0, -1.0]), np.zeros(2), 1) == pytest.approx((9 + 25) / 2)


def test_a_function_of_replicates_is_applied_to_each():
    noise = SampledNoise(np.array([[3.0, 0.0], [5.0, 2.0]]), around=np.array([1.0, 1.0]))
    doubled = noise.transformed(lambda votes: 2 * votes)
    assert doubled.replicates.tolist() == [[6.0, 0.0], [10.0, 4.0]]
    with pytest.raises(ParameterError, match="a bootstrap needs raw votes"):
        SampledNoise(np.zeros((2, 2))).transformed(lambda votes: votes)


def test_draws_of_replicates_are_replicates_less_their_mean():
    samples = np.array([[3.0, 0.0], [5.0, 2.0]])
    draws = SampledNoise(samples).draw(np.zeros(2), 1, np.random.default_rng(1), 50)
    assert {tuple(row) for row in draws.tolist()} == {(-1.0, -1.0), (1.0, 1.0)}


def test_no_replicate_may_state_less_than_the_floor():
    """A cell that no replicate ever selects still has an error, alone and in sums."""
    noise = SampledNoise(np.zeros((10, 3)), floor=2.0)
    assert noise.variances(np.zeros(3), 1) == pytest.approx([4, 4, 4])
    assert noise.linear(np.array([1.0, 1.0, 0.0]), np.zeros(3), 1) == pytest.approx(8)


def test_a_joint_law_is_its_matrix():
    matrix = np.array([[4.0, -1.0, 0.5], [-1.0, 2.0, 0.0], [0.5, 0.0, 1.0]])
    noise = JointNoise(matrix)
    votes = np.zeros(3)
    weights = np.array([1.0, 2.0, -1.0])
    assert noise.variances(votes, 1).tolist() == [4.0, 2.0, 1.0]
    assert noise.covariance(votes, 1) is matrix
    assert noise.linear(weights, votes, 1) == pytest.approx(weights @ matrix @ weights)
    assert noise.picked(np.array([2, 0])).matrix.tolist() == [[1.0, 0.5], [0.5, 4.0]]
    groups = np.array([0, 0, 1])
    sums, covariance = noise.grouped(groups, np.array([1.0, 2.0, 3.0]), 1)
    assert sums.tolist() == [3.0, 3.0]
    assert covariance.tolist() == [[4.0, 0.5], [0.5, 1.0]]


def test_a_joint_law_states_no_variance_below_zero():
    noise = JointNoise(np.array([[1.0, -1.0 - 1e-12], [-1.0 - 1e-12, 1.0]]))
    assert noise.linear(np.ones(2), np.zeros(2), 1) == 0.0


@pytest.mark.parametrize(
    "noise", [StatedNoise(np.ones(3)), SampledNoise(np.zeros((2, 3))), JointNoise(np.eye(3))]
)
def test_laws_of_sums_know_no_single_vote(noise):
    with pytest.raises(ParameterError, match="raw votes"):
        _ = noise.vote_variance
    with pytest.raises(ParameterError, match="raw votes"):
        _ = noise.score_moments


def test_laws_with_a_formula_have_no_replicates():
    noise = IndependentNoise.of(P, Q)
    with pytest.raises(ParameterError, match="no bootstrap replicates"):
        _ = noise.replicates
    with pytest.raises(ParameterError, match="a bootstrap needs raw votes"):
        noise.transformed(lambda votes: votes)


# --- sets of items -------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [1, 2, 3, 4])
@pytest.mark.parametrize(
    ("p", "q"), [(Fraction(1, 2), Fraction(1, 8)), (Fraction(9, 10), Fraction(1, 3))]
)
def test_the_noise_of_sampled_sets_is_exact(length, p, q):
    """All sets of at most ``length`` of four items, one person each, in rational numbers.

    A vote is length (supports - q) / (p - q).  The report of somebody who holds the item supports
    it with probability q + (p - q) / length.
    """
    sets = [held for size in range(length + 1) for held in combinations(range(4), size)]
    seen = [q + (p - q) / length if 0 in held else q for held in sets]
    exact = sum((length / (p - q)) ** 2 * chance * (1 - chance) for chance in seen)
    holders = sum(0 in held for held in sets)
    noise = SetNoise.sampled(float(p), float(q), length)
    stated = noise.variances(np.array([float(holders)]), len(sets))
    assert stated == pytest.approx([float(exact)], rel=1e-12)
    unheld_alone = IndependentNoise.of(float(p), float(q)).variances(np.zeros(1), len(sets))
    if p + q < 1:
        # The published formula leaves out what holders add.
        assert length**2 * unheld_alone[0] < float(exact)


def test_the_noise_of_sets_of_one_is_that_of_a_pure_mechanism():
    plain = IndependentNoise.of(0.5, 0.2)
    sets = SetNoise.sampled(0.5, 0.2, 1)
    assert (sets.unheld, sets.held) == pytest.approx((plain.unheld, plain.held))


@pytest.mark.parametrize(
    "noise", [SetNoise.sampled(0.5, 0.2, 3), StatedNoise(np.array([4.0, 9.0, 1.0]))]
)
def test_counts_of_several_items_have_no_sum(noise):
    with pytest.raises(ParameterError, match=r"a sum of several|several items"):
        noise.linear(np.array([1.0, 1.0, 0.0]), np.zeros(3), 10)
