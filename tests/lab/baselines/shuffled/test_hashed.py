"""SOLH: its number of buckets, its fallback, and fakes that nobody can tell from reports."""

from math import exp

import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.shuffle_bounds import closed_forms
from sottovoce.lab.baselines.shuffle_bounds.solh import PublishedTarget
from sottovoce.lab.baselines.shuffled.hashed import had, olh, solh
from sottovoce.lab.seeded import SeededRng

CENSUS = PublishedTarget(0.5, 602_325, 1e-9)


def test_the_golden_configuration():
    oracle = solh(CENSUS, 915, rounding="floor")
    assert oracle.mechanism.buckets == 168
    assert oracle.claim.local == pytest.approx(5.8147918756, rel=1e-10)
    round_trip = closed_forms.local_hashing(oracle.claim.local, 168, 602_325, 1e-9)
    assert round_trip == pytest.approx(0.5, abs=1e-12)
    truth = np.bincount([0], minlength=915) * CENSUS.users
    assert oracle.mse(truth) == pytest.approx(2.3343562208e-8, rel=1e-9)


@pytest.mark.parametrize(
    ("rounding", "expected"), [("nearest", (45, 177, 397, 705)), ("floor", (44, 176, 396, 705))]
)
def test_the_published_row_of_buckets_was_rounded_to_the_nearest(rounding, expected):
    found = [
        solh(PublishedTarget(central, 990_002, 1e-9), 42_178, rounding=rounding).mechanism.buckets
        for central in (0.2, 0.4, 0.6, 0.8)
    ]
    assert tuple(found) == expected


def test_without_amplification_the_reports_are_those_of_plain_hashing():
    weak = PublishedTarget(0.1, 100_000, 1e-9)
    oracle = solh(weak, 1000)
    assert oracle.mechanism == olh(0.1, 1000).mechanism
    with pytest.raises(ParameterError, match="`central` must be larger"):
        solh(weak, 1000, fallback=False)
    with pytest.raises(ParameterError, match="`central` must be larger"):
        solh(CENSUS, 915, 600, fallback=False)


def test_there_are_never_more_buckets_than_values():
    assert solh(CENSUS, 50).mechanism.buckets == 50


def test_a_fake_supports_every_value_with_the_chance_of_a_bucket():
    oracle = solh(CENSUS, 30, 8)
    count = 40_000
    supports = oracle.supports(oracle.fakes(count, SeededRng(3)))
    deviations = (supports - count / 8) / np.sqrt(count * 7 / 64)
    print("largest deviation", np.abs(deviations).max(), "sigma")
    assert np.abs(deviations).max() < 5


def test_randomised_uniform_values_are_no_fakes():
    """The broken twin: given their seed, their buckets follow the hash and are not uniform."""
    oracle = solh(CENSUS, 3, 8)
    reports = oracle.messages(np.arange(40_000) % 3, SeededRng(4))
    buckets = oracle.mechanism.hash(np.arange(3), reports["seed"][:, None])
    hit = (buckets == reports["bucket"][:, None]).any(axis=1).mean()
    fakes = oracle.fakes(40_000, SeededRng(5))
    fake_buckets = oracle.mechanism.hash(np.arange(3), fakes["seed"][:, None])
    fake_hit = (fake_buckets == fakes["bucket"][:, None]).any(axis=1).mean()
    print("in a bucket of some value:", hit, "and of a fake:", fake_hit)
    assert fake_hit < 0.36 < 0.9 < hit


def test_the_unshuffled_methods_spend_the_central_epsilon_locally():
    assert olh(1.0, 100).claim.local == had(1.0, 100).claim.local == 1.0
    assert olh(1.0, 100).mechanism.buckets == round(exp(1.0) + 1)
    assert had(1.0, 100).mechanism.buckets == 2
