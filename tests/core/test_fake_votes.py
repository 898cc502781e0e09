"""Fakes: what they add to votes, by listing every report, and the noise of what is left."""

from dataclasses import replace
from itertools import product
from math import comb, exp

import numpy as np
import pytest

from accounting import laws
from sottovoce.core.estimate import Estimate
from sottovoce.core.fake_count import FakeCount
from sottovoce.core.fake_votes import FakeVotes, NoiseWithFakes
from sottovoce.core.noise import SetNoise
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.olh import OLH
from sottovoce.mechanisms.rmp import RMP

FAKES = 7


def votes_of_reports(mechanism):
    """Return (reports, values): the votes of every report; and its law under each value."""
    supports, chances = laws.law(mechanism)
    return (supports - mechanism.q) / (mechanism.p - mechanism.q), chances


def blanket_law(mechanism):
    """Return the probability of every report of the blanket."""
    supports, chances = laws.law(mechanism)
    epsilon = mechanism.epsilon_once or mechanism.epsilon_realised
    bases = chances[:, 0] / np.where(supports[:, 0], exp(epsilon), 1.0)
    return bases / bases.sum()


def moments(votes, law):
    """Return the mean and the covariance of the votes of one report with this law."""
    mean = law @ votes
    return mean, (votes * law[:, None]).T @ votes - np.outer(mean, mean)


def summed(mechanism, truth, fakes):
    """Return the exact mean and covariance of the votes of all reports together."""
    votes, chances = votes_of_reports(mechanism)
    mean, covariance = moments(votes, blanket_law(mechanism))
    mean, covariance = fakes * mean, fakes * covariance
    for value, holders in enumerate(truth):
        mean_of_one, covariance_of_one = moments(votes, chances[:, value])
        mean = mean + holders * mean_of_one
        covariance = covariance + holders * covariance_of_one
    return mean, covariance


def truth_for(mechanism):
    return np.arange(1, mechanism.size + 1) ** 2


def without_fakes(mechanism, votes, reports, fakes):
    estimate = Estimate(votes, mechanism.noise, reports, mechanism.epsilon)
    return mechanism.fake_votes(FakeCount(float(fakes))).removed_from(estimate)


@pytest.mark.parametrize("mechanism", laws.MECHANISMS, ids=laws.name)
def test_mean_and_covariance_with_fakes_are_those_of_all_listed_reports(mechanism):
    truth = truth_for(mechanism)
    mean, covariance = summed(mechanism, truth, FAKES)
    users = int(truth.sum())
    estimate = without_fakes(mechanism, mean, users + FAKES, FAKES)
    # unbiased: the mean of all votes, less what fakes add, is the truth
    assert estimate.users == users
    assert estimate.votes == pytest.approx(truth, rel=1e-9)
    assert estimate.totals == pytest.approx(truth, rel=1e-9)
    # and the stated variances are those of the listed law
    assert estimate.variance == pytest.approx(np.diag(covariance), rel=1e-9)
    stated = estimate.noise.covariance(estimate.votes, users)
    assert stated == pytest.approx(covariance, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("mechanism", laws.MECHANISMS, ids=laws.name)
@pytest.mark.parametrize("coefficients", [(1, 0), (1, 1), (2, -1), (1, 3)])
def test_sums_with_fakes_have_the_variance_of_all_listed_reports(mechanism, coefficients):
    truth = truth_for(mechanism)
    wanted = np.resize(np.array(coefficients, float), mechanism.size)
    mean, covariance = summed(mechanism, truth, FAKES)
    users = int(truth.sum())
    estimate = without_fakes(mechanism, mean, users + FAKES, FAKES)
    total = estimate.weighted(wanted)
    assert total.total == pytest.approx(wanted @ truth, rel=1e-9)
    # Where all votes sum to one, the law leaves out what is known: the mean coefficient.
    known = estimate.noise.total(wanted, np.zeros(mechanism.size), 1)
    centred = wanted - known
    assert total.variance == pytest.approx(centred @ covariance @ centred, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("mechanism", laws.MECHANISMS, ids=laws.name)
def test_candidates_with_fakes_have_the_covariance_of_the_listed_law(mechanism):
    truth = truth_for(mechanism)
    mean, covariance = summed(mechanism, truth, FAKES)
    users = int(truth.sum())
    estimate = without_fakes(mechanism, mean, users + FAKES, FAKES).picked(np.array([1, 0]))
    assert estimate.votes == pytest.approx(truth[[1, 0]], rel=1e-9)
    assert estimate.variance == pytest.approx(np.diag(covariance)[[1, 0]], rel=1e-9)
    assert not mechanism.noise.among().complete or mechanism.kind == "hadamard"
    assert estimate.noise.complete == mechanism.noise.among().complete


def test_a_value_that_nobody_holds_has_the_variance_of_people_and_fakes():
    """n q (1 - q) / (p - q)^2 + F share (1 - share) / (p - q)^2: what significance is tested by."""
    mechanism = GRR(1.0, 4)
    estimate = without_fakes(mechanism, np.zeros(4), 100 + FAKES, FAKES)
    square = (mechanism.p - mechanism.q) ** 2
    unheld = (100 * mechanism.q * (1 - mechanism.q) + FAKES * 0.25 * 0.75) / square
    assert estimate.noise.variances(np.zeros(4), 100) == pytest.approx(unheld, rel=1e-12)
    assert estimate.noise.vote_variance.unheld == pytest.approx(unheld / 100, rel=1e-12)
    alone = Estimate(np.zeros(4), mechanism.noise, 100, 1.0)
    assert alone.noise.inflation == 1
    assert estimate.noise.inflation == pytest.approx(unheld / alone.variance[0], rel=1e-12)
    many = replace(estimate, users=100 * 10**6, population=100 * 10**6)
    fakes = replace(estimate.noise.fakes, count=FakeCount(FAKES * 10**6))
    many = replace(many, noise=replace(estimate.noise, fakes=fakes))
    ratio = many.threshold() / replace(alone, users=10**8, population=10**8).threshold()
    assert ratio**2 == pytest.approx(unheld / alone.variance[0], rel=1e-3)


def test_the_published_correction_is_biased_for_hashing():
    """A broken twin, equation 9.5: it takes n_r / d from every value, and OLH adds nothing to them.

    The bias of a share is -n_r / (n d).
    """
    mechanism = OLH(1.0, 3, 3)
    truth = np.array([30, 50, 20])
    mean, _ = summed(mechanism, truth, 40)
    right = without_fakes(mechanism, mean, 140, 40)
    assert right.frequencies == pytest.approx(truth / 100, rel=1e-9)
    published = (mean - 40 / 3) / 100
    assert published - truth / 100 == pytest.approx(-40 / (100 * 3), rel=1e-9)


@pytest.mark.parametrize(
    ("mechanism", "fakes", "factor"), [(GRR(3.0, 10), 100, 1.5), (GRR(4.0, 10), 150, 3.0)]
)
def test_the_published_variance_is_too_small_for_direct_response(mechanism, fakes, factor):
    """A broken twin: "replace n by n + n_r" in n q (1 - q) / (p - q)^2 forgets that a fake supports
    a value with probability 1 / d, more often than the q of a person who does not hold it.
    """
    truth = np.array([0, *[20] * 8, 40])
    _, covariance = summed(mechanism, truth, fakes)
    spread = mechanism.q * (1 - mechanism.q) / (mechanism.p - mechanism.q) ** 2
    published = (200 + fakes) * spread
    print("exact over published:", covariance[0, 0] / published)
    assert covariance[0, 0] / published > factor
    estimate = without_fakes(mechanism, truth + fakes / 10, 200 + fakes, fakes)
    assert estimate.variance[0] == pytest.approx(covariance[0, 0], rel=1e-9)


def test_draws_with_fakes_have_the_stated_covariance():
    """5 sigma of the variance of 40,000 draws, at 10 times as many fakes as people."""
    for mechanism in (GRR(2.0, 4), laws.OUE(1.5, 3), laws.AffineResponse(1.0, 3, 2)):
        truth = truth_for(mechanism).astype(float)
        users = int(truth.sum())
        fakes = mechanism.fake_votes(FakeCount(10.0 * users, 3.0))
        noise = NoiseWithFakes(mechanism.noise, fakes, users)
        errors = noise.draw(truth, users, np.random.default_rng(2), 40_000)
        stated = noise.covariance(truth, users)
        deviation = np.sqrt((np.outer(np.diag(stated), np.diag(stated)) + stated**2) / 40_000)
        assert (np.abs(errors.T @ errors / 40_000 - stated) < 5 * deviation).all()
        assert (
            np.abs(errors.T @ errors / 40_000 - noise.people.covariance(truth, users)).max()
        ) > (5 * deviation.max())


def group_law(people, fakes, reports, chances):
    """Return the law of the number of fakes among the reports of a group, by Bayes."""
    of_people, of_fakes = chances
    weights = {}
    for count in range(max(0, reports - people), min(fakes, reports) + 1):
        rest = reports - count
        weights[count] = (
            comb(fakes, count) * of_fakes**count * (1 - of_fakes) ** (fakes - count)
        ) * (comb(people, rest) * of_people**rest * (1 - of_people) ** (people - rest))
    total = sum(weights.values())
    return {count: weight / total for count, weight in weights.items()}


@pytest.mark.parametrize("chances", [(0.3, 0.3), (0.3, 0.45), (0.5, 0.1)])
@pytest.mark.parametrize("reports", [3, 6, 13])
def test_the_number_of_fakes_in_a_group_follows_from_the_coins(chances, reports):
    law = group_law(8, 5, reports, chances)
    mean = sum(count * chance for count, chance in law.items())
    variance = sum((count - mean) ** 2 * chance for count, chance in law.items())
    a, b = chances
    count = FakeCount.among(reports, 8, 5, b * (1 - a) / (a * (1 - b)) if a != b else 1.0)
    assert count.mean == pytest.approx(mean, rel=1e-9)
    assert count.variance == pytest.approx(variance, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("chances", [(0.5, 0.5), (0.5, 0.2)])
def test_a_group_is_estimated_without_bias_and_with_its_variance(chances):
    """Every way to deal people and fakes to the group is listed, given the size of the group."""
    mechanism = GRR(1.0, 2)
    values = np.array([0, 0, 0, 1, 1])  # of 5 people
    fakes, reports = 4, 5
    a, b = chances
    odds = b * (1 - a) / (a * (1 - b)) if a != b else 1.0
    count = FakeCount.among(reports, 5, fakes, odds)
    votes, chances_of = votes_of_reports(mechanism)
    fake_mean, fake_covariance = moments(votes, blanket_law(mechanism))
    weights, means, squares = [], [], []
    for dealt in product((0, 1), repeat=5):
        people = np.flatnonzero(dealt)
        in_group = reports - len(people)
        if not 0 <= in_group <= fakes:
            continue
        chance = a ** len(people) * (1 - a) ** (5 - len(people))
        chance *= comb(fakes, in_group) * b**in_group * (1 - b) ** (fakes - in_group)
        mean, covariance = in_group * fake_mean, in_group * fake_covariance
        for person in people:
            one = moments(votes, chances_of[:, values[person]])
            mean, covariance = mean + one[0], covariance + one[1]
        weights.append(chance)
        means.append(mean)
        squares.append(np.diag(covariance) + mean**2)
    law = np.array(weights) / sum(weights)
    mean = law @ np.array(means)
    variance = law @ np.array(squares) - mean**2
    exact_people = reports - count.mean
    # The share is unbiased, given how many reports the group has.
    shares = np.array([0.6, 0.4])
    assert (mean - count.mean * 0.5) / exact_people == pytest.approx(shares, rel=1e-9)
    # And so is the variance, in the units of votes: noise, fakes, dealing, drawing.
    votes_of_group = shares * exact_people
    noise = NoiseWithFakes(mechanism.noise, mechanism.fake_votes(count), round(exact_people))
    stated = noise.variances(votes_of_group, exact_people)
    drawing = exact_people * (5 - exact_people) / 4 * shares * (1 - shares)
    too_much = count.variance * shares * (1 - shares) / 4
    assert stated + drawing - too_much == pytest.approx(variance, rel=1e-9)
    # Covariances and sums contain the dealing as well.
    joint = noise.covariance(votes_of_group, exact_people)
    assert np.diag(joint) == pytest.approx(stated, rel=1e-9)
    single = np.array([1.0, 0.0])
    assert noise.linear(single, votes_of_group, exact_people) == pytest.approx(stated[0], rel=1e-9)


def test_the_rounded_number_of_people_leaves_the_shares_alone():
    mechanism = OLH(1.0, 3, 3)
    estimate = Estimate(np.array([20.0, 10.0, 3.0]), mechanism.noise, 50, 1.0)
    count = FakeCount(10.4, 2.0)
    removed = mechanism.fake_votes(count).removed_from(estimate)
    assert removed.users == 40
    assert removed.frequencies == pytest.approx(np.array([20.0, 10.0, 3.0]) / 39.6, rel=1e-12)


def test_a_group_of_fakes_only_has_no_data():
    mechanism = GRR(1.0, 3)
    estimate = Estimate(np.zeros(3), mechanism.noise, 10, 1.0)
    with pytest.raises(NoDataError, match="there are only fakes among these reports"):
        mechanism.fake_votes(FakeCount(9.6)).removed_from(estimate)


def test_votes_times_a_factor_carry_the_fakes_along():
    """As padding and sampling does: votes are multiplied by the length of the padded sets."""
    mechanism = GRR(1.0, 4)
    noise = without_fakes(mechanism, np.zeros(4), 100 + FAKES, FAKES).noise
    sampled = SetNoise.sampled(mechanism.p, mechanism.q, 3)
    with_fakes = noise.for_people(sampled, 3)
    added = with_fakes.variances(np.zeros(2), 100) - sampled.variances(np.zeros(2), 100)
    one = 0.25 * 0.75 / (mechanism.p - mechanism.q) ** 2
    assert added == pytest.approx(9 * FAKES * one, rel=1e-9)
    assert mechanism.noise.for_people(sampled, 3) is sampled
    with pytest.raises(ParameterError, match="do not add up to people"):
        with_fakes.linear(np.ones(2), np.zeros(2), 100)


def test_a_pool_of_rows_errs_as_over_all_matrices():
    votes = RMP(1.0, 4, rows=8).fake_votes(FakeCount(1.0))
    assert votes.common == 0
    assert votes.vote == 0


def test_a_mechanism_without_a_blanket_has_no_votes_of_fakes():
    class Unknown(GRR, kind="unknown_blanket", wire=False):
        share = None

    assert not Unknown(1.0, 4).takes_fakes
    with pytest.raises(ParameterError, match="the votes of fakes are not known"):
        Unknown(1.0, 4).fake_votes(FakeCount(1.0))


def test_fake_votes_are_those_of_the_two_numbers_of_a_blanket():
    votes = FakeVotes.of(FakeCount(1.0), (0.5, 0.25), 0.4, 0.1)
    assert votes.vote == pytest.approx(0.6)
    assert votes.variance == pytest.approx(0.4 * 0.6 / 0.0625)
    assert votes.common == pytest.approx(0.4 * (0.1 - 0.4) / 0.0625)
