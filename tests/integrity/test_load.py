"""The load test: it finds greedy reports, passes honest ones, and is blind where it must be."""

import numpy as np
import pytest

from integrity.collections import collection
from sottovoce.integrity.candidates import gather, largest
from sottovoce.integrity.load import load
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.base import Mechanism


def candidates_of(found):
    votes = found.mechanism.estimate(found.mechanism.tally(found.reports)).votes
    return gather(found.mechanism, found.reports, largest(votes))


def test_the_targets_of_greedy_reports_are_found_exactly():
    found = collection("1")
    candidates = candidates_of(found)
    result = load(candidates)
    assert result.test.alarm
    assert set(candidates.values[result.members]) == set(np.flatnonzero(found.targets))


def test_honest_reports_do_not_alarm_and_p_values_are_bounds():
    values = []
    for seed in range(40):
        result = load(candidates_of(collection("none", seed, users=4000)))
        values.append(1.0 if result is None else result.test.p_value)
    print(f"least p-value of 40 honest rounds: {min(values):.3g}")
    assert min(values) > 1e-4
    assert sum(value <= 0.1 for value in values) <= 4 + 5 * np.sqrt(3.6)


def test_one_target_for_each_report_cannot_be_seen():
    from sottovoce.lab.experiments.poisoning.scenario import Scenario, poisoned

    found = poisoned(
        Scenario("spa", users=20_000, size=256, target_count=8, each=1, share=0.1, epsilon=2.0), 5
    )
    assert not load(candidates_of(found)).test.alarm


@pytest.mark.parametrize("kind", ["oue", "grr", "subset"])
def test_mechanisms_without_a_public_hash_are_not_tested(kind):
    mechanism = Mechanism.kinds[kind](epsilon=1.0, size=16)
    reports = mechanism.privatize(np.arange(1000) % 4, SeededRng(1))
    assert load(gather(mechanism, reports, np.arange(8))) is None


def test_other_hashes_are_tested_too():
    mechanism = Mechanism.kinds["olh"](epsilon=2.0, size=64)
    honest = mechanism.privatize(np.random.default_rng(1).integers(0, 64, 15_000), SeededRng(1))
    wanted = np.tile(np.arange(8), (2_000, 1))
    false = mechanism.draw_supporting(wanted, 1, SeededRng(2))
    reports = np.concatenate([honest, false])
    votes = mechanism.estimate(mechanism.tally(reports)).votes
    candidates = gather(mechanism, reports, largest(votes))
    result = load(candidates)
    assert result.test.alarm
    assert set(candidates.values[result.members]) <= set(range(8))


def test_functions_that_supports_explain_are_not_tested():
    """With two buckets and three values the number of pairs is linear in the supports."""
    mechanism = Mechanism.kinds["affine"](epsilon=0.5, size=16)
    assert mechanism.buckets == 2
    values = np.repeat(np.arange(16), np.r_[24_000, 9_000, 6_000, 3_000, np.full(12, 100)])
    for seed in range(5):
        reports = mechanism.privatize(values, SeededRng(seed))
        votes = mechanism.estimate(mechanism.tally(reports)).votes
        result = load(gather(mechanism, reports, largest(votes)))
        assert result is None or not result.test.alarm
