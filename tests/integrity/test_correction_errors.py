"""Errors of corrections: the spread of the correction on halves, drawn alike every time."""

from dataclasses import replace

import numpy as np

from integrity.collections import collection
from sottovoce.engine.defended import defended
from sottovoce.integrity.candidates import gather, largest
from sottovoce.integrity.corrected_estimate import Corrected, FittedLoads, corrected
from sottovoce.integrity.correction_errors import with_errors
from sottovoce.integrity.likely_suspects import Suspected
from sottovoce.integrity.load_emf import LoadFit, LoadModel
from sottovoce.lab.experiments.poisoning.scenario import ADDRESS
from sottovoce.lab.seeded import SeededRng


def plain_of(found):
    """Honest reports as a correction that suspects nobody: all weights are 1."""
    mechanism = found.mechanism
    estimate = mechanism.estimate(mechanism.tally(found.reports))
    count = len(found.reports)
    model = LoadModel(
        np.zeros((count, 1), np.float32), np.zeros(count), np.zeros(count, int), 8, 0.4
    )
    fitted = FittedLoads(model, LoadFit(np.zeros(1), np.zeros(1)))
    return Corrected(estimate, 0.0, (fitted,), (estimate.frequencies,))


def errors_of(found, correction, replicates, seed=1):
    decode = decoder(found.mechanism)
    return with_errors(correction, found.reports, decode, SeededRng(seed), replicates).errors


def decoder(mechanism):
    return lambda part: mechanism.estimate(mechanism.tally(part))


def test_errors_replay():
    collected = collection("1", users=8000).collected
    first, second = (defended(collected, replicates=4).estimate(ADDRESS).errors for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_differences_of_halves_have_the_variance_of_the_estimate():
    """Honest reports: the mechanism's own variance is known, so that the rule can be checked.

    The mean of 256 squared errors of 12 halves each has a relative deviation of about 4 %, and the
    variance of Student's law is 12 / 10 times the normal one.
    """
    found = collection("none", users=4000)
    correction = plain_of(found)
    halves = errors_of(found, correction, 12)
    ratio = float((halves**2).mean() / (correction.estimate.errors**2).mean())
    print(f"variance of halves in parts of the mechanism's: {ratio:.2f}")
    assert abs(ratio / 1.2 - 1) < 5 * 0.04


def test_the_distance_of_two_plausible_models_is_part_of_the_error():
    """The first half is corrected after the first model: it differs by the distance of both."""
    found = collection("1")
    mechanism = found.mechanism
    candidates = gather(mechanism, found.reports, largest(found.collected.estimate(ADDRESS).votes))
    targets = found.targets[candidates.values]
    one, other = (
        corrected(Suspected(candidates, targets, (together,)), found.reports, decoder(mechanism))
        for together in (0, 2)
    )
    middle = (one.frequencies[0] + other.frequencies[0]) / 2
    estimate = replace(one.estimate, votes=middle * one.estimate.users)
    both = Corrected(
        estimate, one.share, one.models + other.models, one.frequencies + other.frequencies
    )
    distance = np.abs(one.frequencies[0] - other.frequencies[0]) * estimate.users
    alone, in_turn = (replicate_of(found, each) for each in (one, both))
    np.testing.assert_allclose(np.abs(alone - in_turn), distance, atol=1e-6)
    assert distance[found.targets].mean() > 10


def replicate_of(found, correction):
    rng = SeededRng(1)
    estimate = with_errors(correction, found.reports, decoder(found.mechanism), rng, 1)
    return estimate.noise.samples[0] - estimate.votes
