"""Co-support: pair scores of mean 0 and variance 1, the edge, and members of a block."""

from itertools import product
from math import erfc, sqrt

import numpy as np
import pytest

from integrity.collections import collection
from sottovoce.integrity.candidates import Candidates, gather, largest
from sottovoce.integrity.co_support import (
    co_support,
    pair_scores,
    tracy_widom_quantile,
    tracy_widom_tail,
)
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths import hashing
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.subset import SubsetSelection


def candidates_of(found):
    votes = found.mechanism.estimate(found.mechanism.tally(found.reports)).votes
    return gather(found.mechanism, found.reports, largest(votes))


@pytest.mark.parametrize("kind", ["oue", "sue", "subset"])
def test_pair_laws_are_exact(kind):
    """The law is the sum over all reports of their probability."""
    mechanism = Mechanism.kinds[kind](epsilon=1.0, size=5)
    reports = mechanism.outcomes()
    chances = mechanism.likelihood(reports)
    supports = mechanism.support(reports, np.arange(5))
    both = supports[:, 0] & supports[:, 1]
    assert np.isclose(chances[both, 0].sum(), mechanism.pair_law.one_held)
    assert np.isclose(chances[both, 2].sum(), mechanism.pair_law.none_held)


def test_the_pair_law_of_affine_response_is_exact():
    """Over all pairs of independent masks of 3 bits and all offsets."""
    mechanism = AffineResponse(epsilon=1.0, size=8, buckets=4)
    masks = [(a, b) for a, b in product(range(1, 8), repeat=2) if a != b]
    held, first, second = 5, 2, 7

    def bucket(pair, offset, point):
        bits = [((mask & point).bit_count() + (offset >> r)) % 2 for r, mask in enumerate(pair)]
        return bits[0] + 2 * bits[1]

    other = (1 - mechanism.p) / 3
    sums = np.zeros(2)
    for pair, offset, named in product(masks, range(4), range(4)):
        chance = mechanism.p if named == bucket(pair, offset, held) else other
        chance /= len(masks) * 4
        with_held = named == bucket(pair, offset, held) == bucket(pair, offset, first)
        sums += chance * np.array(
            [with_held, named == bucket(pair, offset, first) == bucket(pair, offset, second)]
        )
    assert np.allclose(sums, [mechanism.pair_law.one_held, mechanism.pair_law.none_held])


def test_pair_scores_are_standard_normal_for_honest_reports():
    mechanism = AffineResponse(epsilon=1.0, size=1024)
    values = np.repeat(np.arange(1024), np.r_[4000, 2000, np.full(1022, 10)])
    scores = []
    for seed in range(12):
        reports = mechanism.privatize(values, SeededRng(seed))
        candidates = gather(mechanism, reports, np.arange(24))
        scores.append(pair_scores(candidates, mechanism.pair_law)[np.triu_indices(24, 1)])
    found = np.concatenate(scores)
    error = 1 / np.sqrt(len(found))
    print(f"mean {found.mean():.3f}, variance {found.var():.3f}, {len(found)} scores")
    assert abs(found.mean()) < 5 * error
    assert abs(found.var() - 1) < 5 * np.sqrt(2) * error
    # Broken twin: hashing into g buckets without the correction for distinct values.
    broken = Candidates(
        candidates.mechanism, candidates.values, candidates.users, candidates.pairs * 1.02, None
    )
    assert abs(
        pair_scores(broken, mechanism.pair_law)[np.triu_indices(24, 1)].mean()
    ) > 5 / np.sqrt(276)


def test_values_that_are_promoted_together_are_found():
    found = collection("1000")
    result = co_support(candidates_of(found))
    assert result.test.alarm
    members = candidates_of(found).values[result.members]
    assert set(np.flatnonzero(found.targets)) <= set(members.tolist())


def test_honest_reports_have_no_members():
    result = co_support(candidates_of(collection("none")))
    assert not result.test.alarm
    assert len(result.members) == 0


def test_too_few_reports_are_not_tested():
    mechanism = AffineResponse(epsilon=4.0, size=1024)
    reports = mechanism.privatize(np.arange(1000), SeededRng(1))
    assert co_support(gather(mechanism, reports, np.arange(32))) is None


def test_the_edge_of_random_matrices_is_exceeded_as_rarely_as_stated():
    generator = np.random.default_rng(1)
    runs = 4000
    for count in (6, 12, 24):
        matrices = generator.standard_normal((runs, count, count))
        matrices = np.triu(matrices, 1)
        largest_eigenvalues = np.linalg.eigvalsh(matrices + matrices.transpose(0, 2, 1))[:, -1]
        limit = 2 * np.sqrt(count) + count ** (-1 / 6) * tracy_widom_quantile(0.01)
        share = (largest_eigenvalues > limit).mean()
        print(f"{count} values: {share:.4f} beyond the limit of 0.01")
        assert share <= 0.01 + 5 * np.sqrt(0.01 * 0.99 / runs)
    assert tracy_widom_tail(tracy_widom_quantile(1e-6)) == pytest.approx(1e-6, rel=1e-6)


def test_pairs_of_equal_difference_are_tested_once():
    mechanism = AffineResponse(epsilon=0.5, size=64)
    chosen = mechanism.unrelated(np.arange(64))
    points = hashing.permute(chosen, 6).astype(int)
    differences = [int(a ^ b) for i, a in enumerate(points) for b in points[:i]]
    assert len(differences) == len(set(differences))
    assert len(chosen) >= 6


def drawn_sets(mechanism, users, seed):
    """Return the candidates of a drawn round in which everybody's value is as likely."""
    supports = mechanism.support(mechanism.outcomes(), np.arange(mechanism.size)).astype(float)
    chances = mechanism.likelihood(mechanism.outcomes()).mean(axis=1)
    counts = np.random.default_rng(seed).multinomial(users, chances / chances.sum())
    pairs = (supports.T * counts) @ supports
    return Candidates(mechanism, np.arange(mechanism.size), users, pairs, None)


@pytest.mark.parametrize("size", [6, 10])
def test_pair_scores_of_sets_of_one_size_are_standard_normal_and_dependent(size):
    """The scores of the pairs of one value nearly cancel: hence the spread of sums over pairs."""
    mechanism = SubsetSelection(0.5, size)
    runs = 300
    rounds = [drawn_sets(mechanism, 100_000, seed) for seed in range(runs)]
    scores = np.array([pair_scores(each, mechanism.pair_law) for each in rounds])
    squares = scores[:, *np.triu_indices(size, 1)] ** 2
    # The squares of a round have a mean of 1 and, in size (size - 3) / 2 dimensions, this variance.
    error = sqrt(4 / (size * (size - 3)) / runs)
    print(f"{size} values: variance {squares.mean():.3f}, within {5 * error:.3f} of 1")
    assert abs(squares.mean() - 1) < 5 * error
    # If pairs were independent, the sums would have this standard deviation.
    assert np.sqrt((scores.sum(axis=2) ** 2).mean()) < 0.5 * sqrt(size - 1)


def test_four_values_alarm_as_rarely_as_stated():
    """Pairs of four values in sets of two have equal scores if they are complements.

    So the eigenvalues are 0 and twice three standard normal numbers.  The broken twin is the test
    without the spread.
    """
    found = co_support(drawn_sets(SubsetSelection(0.5, 4), 100_000, 1))
    chances = [
        3 * erfc(limit / 2 / sqrt(2)) / 2
        for limit in (found.test.threshold * sqrt(3), found.test.threshold)
    ]
    print(f"false alarms: {chances[0]:.1e}, without the spread {chances[1]:.1e}")
    assert chances[0] < 1e-6 < chances[1]


def test_values_that_sets_promote_together_are_found():
    mechanism = SubsetSelection(1.0, 64)
    rng = SeededRng(5)
    honest = mechanism.privatize(np.arange(19_000) % 64, rng)
    wanted = np.tile(np.arange(5), (1_000, 1))
    reports = np.concatenate([honest, mechanism.draw_supporting(wanted, 1, rng)])
    votes = mechanism.estimate(mechanism.tally(reports)).votes
    result = co_support(gather(mechanism, reports, largest(votes)))
    assert result.test.alarm
    members = largest(votes)[result.members]
    assert set(range(5)) <= set(members.tolist())
    assert not co_support(gather(mechanism, honest, np.arange(32))).test.alarm
