"""How often two patterns go together, and which rows of patterns all do."""

from itertools import combinations, product
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from sottovoce.errors import NoDataError
from sottovoce.lab.baselines import joining
from sottovoce.lab.baselines.joining import PatternVotes, join, shares_of_pairs
from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.grr import GRR

ONE = np.array([0])
EVERYTHING = np.arange(4)


def alone(votes):
    """The votes of one user."""
    return PatternVotes(ONE, votes[:, None])


def moments(estimator, mechanism, held):
    """The mean and the variance of one user's estimates, all pairs of reports listed with their
    chances.
    """
    outcomes = mechanism.outcomes()
    votes, chances = mechanism.votes(outcomes, EVERYTHING), mechanism.likelihood(outcomes)
    pairs = list(product(range(len(outcomes)), repeat=2))
    tables = np.array([estimator(alone(votes[a]), alone(votes[b])) for a, b in pairs])
    weights = np.array([chances[a, held[0]] * chances[b, held[1]] for a, b in pairs])
    mean = np.tensordot(weights, tables, 1)
    return mean, np.tensordot(weights, tables**2, 1) - mean**2


@pytest.mark.parametrize("held", [(0, 0), (2, 1), (3, 0)])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_a_product_of_votes_is_unbiased_and_has_the_stated_variance_where_nobody_is(epsilon, held):
    """Null variance (q (1 - q))^2 / (p - q)^4, by enumeration."""
    mechanism = GRR(epsilon, 4)
    mean, variance = moments(shares_of_pairs, mechanism, held)
    np.testing.assert_allclose(mean, np.outer(np.eye(4)[held[0]], np.eye(4)[held[1]]), atol=1e-10)
    p, q = mechanism.p, mechanism.q
    nobody = np.delete(np.delete(variance, held[0], 0), held[1], 1)
    np.testing.assert_allclose(nobody, (q * (1 - q)) ** 2 / (p - q) ** 4, rtol=1e-9)


def once_scaled(first, second):
    """A broken twin: supports are multiplied first and scaled like one report, with the q of both
    together.
    """
    mechanism = GRR(1.0, 4)
    p, q = mechanism.p, mechanism.q
    supports = [votes * (p - q) + q for _, votes in (first, second)]
    return (supports[0] @ supports[1].T - q**2) / (p**2 - q**2)


def test_the_enumeration_catches_an_estimator_that_forgets_half_known_pairs():
    mean, _ = moments(once_scaled, GRR(1.0, 4), (2, 1))
    assert mean[2, 1] == pytest.approx(1)
    assert np.abs(mean - np.outer(np.eye(4)[2], np.eye(4)[1])).max() > 0.05


def reports(first, second, epsilon=2.0, seed=1):
    """Votes of users for sixteen patterns of two segments, subjects in the same order."""
    mechanism, rng = AffineResponse(epsilon, 16), SeededRng(seed)
    sides = [
        mechanism.votes(mechanism.privatize(held, rng), np.arange(16)).T for held in (first, second)
    ]
    return [PatternVotes(np.arange(len(first)), side) for side in sides]


def deviations(estimator, users=20_000):
    """Errors in null standard errors for pairs that nobody has, and of a planted pair of a
    tenth.
    """
    rng = np.random.default_rng(2)
    first, second = rng.integers(0, 8, users), rng.integers(0, 8, users)
    first[: users // 10], second[: users // 10] = 15, 12
    found = estimator(*reports(first, second))
    mechanism = AffineResponse(2.0, 16)
    spread = mechanism.noise.unheld / np.sqrt(users)
    return found[8:12, 12:] / spread, (found[15, 12] - 0.1) / spread


def test_pairs_that_nobody_has_err_as_stated_and_a_planted_pair_is_seen():
    nobody, planted = deviations(shares_of_pairs)
    assert np.abs(nobody).max() < FIVE_SIGMA
    assert abs(planted) < 2 * FIVE_SIGMA  # its variance is larger than where nobody is


def test_reports_that_are_joined_to_strangers_are_caught():
    def shuffled(first, second):
        strangers = np.random.default_rng(3).permutation(len(second.subjects))
        return shares_of_pairs(first, PatternVotes(second.subjects, second.votes[:, strangers]))

    _, planted = deviations(shuffled)
    assert abs(planted) > 2 * FIVE_SIGMA


def test_reports_meet_by_subject_whatever_their_order_and_halves_say_nothing():
    held = np.random.default_rng(4).integers(0, 16, 500)
    first, second = reports(held, held[::-1].copy())
    names = np.random.default_rng(5).bytes(16 * 500)
    subjects = np.frombuffer(names, np.dtype((np.void, 16)))
    order = np.random.default_rng(6).permutation(500)
    moved = PatternVotes(subjects[order], second.votes[:, order])
    whole = shares_of_pairs(PatternVotes(subjects, first.votes), moved)
    np.testing.assert_allclose(whole, shares_of_pairs(first, second), atol=1e-12)
    some_lost = shares_of_pairs(PatternVotes(subjects[:400], first.votes[:, :400]), moved)
    kept = [PatternVotes(np.arange(400), side.votes[:, :400]) for side in (first, second)]
    np.testing.assert_allclose(some_lost, shares_of_pairs(*kept))
    with pytest.raises(NoDataError, match="both segments"):
        shares_of_pairs(
            PatternVotes(subjects[:10], first.votes[:, :10]),
            PatternVotes(subjects[10:], second.votes[:, 10:]),
        )


def by_hand(shares, segments, patterns, wanted):
    """Every row of the most frequent pairs, one pair more at a time."""
    places = [
        (share, *pair, *place)
        for pair, table in shares.items()
        for place, share in np.ndenumerate(table)
    ]
    places.sort(key=lambda one: -one[0])
    for number in range(1, len(places) + 1):
        chosen = {place[1:] for place in places[:number]}
        everything = product(range(patterns), repeat=segments)
        rows = {
            row for row in everything if all((i, j, row[i], row[j]) in chosen for i, j in shares)
        }
        if len(rows) >= wanted:
            break
    return rows, number


@given(some.integers(2, 4), some.integers(1, 3), some.integers(1, 6), some.integers(0, 1 << 30))
def test_rows_are_those_whose_pairs_are_all_selected(segments, patterns, wanted, seed):
    rng = np.random.default_rng(seed)
    shares = {
        pair: rng.normal(size=(patterns, patterns)) for pair in combinations(range(segments), 2)
    }
    found = join(shares, wanted, lambda row: True)
    rows, pairs = by_hand(shares, segments, patterns, wanted)
    assert set(found.rows) == rows
    assert len(found.rows) == len(rows)
    assert (found.pairs, found.cut) == (pairs, False)


def test_impossible_rows_do_not_count():
    shares = {(0, 1): np.array([[0.9, 0.8], [0.7, 0.6]])}
    assert join(shares, 1, lambda row: row != (0, 0)).rows == ((0, 1),)
    assert join(shares, 9, lambda row: True).rows == ((0, 0), (0, 1), (1, 0), (1, 1))
    assert join(shares, 1, lambda row: False).rows == ()


def test_the_search_ends_with_what_it_has(monkeypatch):
    shares = {pair: np.full((6, 6), exp(-sum(pair))) for pair in combinations(range(5), 2)}
    assert not join(shares, 4, lambda row: True).cut
    monkeypatch.setattr(joining, "MAX_ROWS", 3)
    found = join(shares, 4, lambda row: True)
    assert (len(found.rows), found.cut) == (3, True)
    monkeypatch.setattr(joining, "MAX_STEPS", 2)
    found = join(shares, 4, lambda row: True)
    assert (len(found.rows), found.cut) == (0, True)
