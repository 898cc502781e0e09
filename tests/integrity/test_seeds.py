"""Pools of seeds, and the filter: it loses honest reports only at random."""

import numpy as np

from integrity.collections import collection
from sottovoce.integrity import seeds
from sottovoce.integrity.candidates import gather
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.affine_prefix import AffinePrefix


def test_mechanisms_with_one_law_of_seeds_share_a_pool():
    first = AffineResponse(epsilon=1.0, size=200)
    second = AffineResponse(epsilon=1.0, size=256)
    other = AffineResponse(epsilon=1.0, size=16)
    parts = [
        (mechanism, mechanism.privatize(np.arange(10), SeededRng(1)))
        for mechanism in (first, second, other)
    ]
    pools = seeds.pooled(parts)
    assert sorted(pool.evidence.users for pool in pools.values()) == [10, 20]


def test_copied_seeds_alarm_across_addresses():
    mechanism = AffineResponse(epsilon=1.0, size=200)
    reports = mechanism.privatize(np.arange(50), SeededRng(1))
    (pool,) = seeds.pooled([(mechanism, reports), (mechanism, reports[:3])]).values()
    alarms = [test.name for test in pool.tests(0) if test.alarm]
    assert alarms == ["equal seeds"]


def fresh(found):
    return seeds.fresh_reports(found.mechanism, SeededRng(1))


def test_the_filter_leaves_out_searched_seeds_and_few_others():
    found = collection("1000")
    (pool,) = seeds.pooled([(found.mechanism, found.reports)]).values()
    kept = seeds.plausible_seeds(pool, found.reports, fresh(found))
    lost_honest = 1 - kept[: -found.attackers].mean()
    lost_false = 1 - kept[-found.attackers :].mean()
    print(f"left out: {lost_honest:.3f} of honest, {lost_false:.3f} of false reports")
    assert lost_false > 0.8
    assert lost_honest < 0.05


def test_honest_reports_that_are_left_out_are_a_random_sample():
    """The filter sees seeds alone: the estimate from what it leaves out stays unbiased."""
    found = collection("1000")
    (pool,) = seeds.pooled([(found.mechanism, found.reports)]).values()
    mixed = np.concatenate(
        [found.reports, found.mechanism.privatize(np.zeros(150_000, int), SeededRng(9))]
    )
    marks = found.mechanism.seed_marks(mixed, pool.evidence)
    kept = seeds.plausible_seeds(pool, found.reports, fresh(found))
    dropped = set(marks[: len(found.reports)][~kept].tolist())
    others = mixed[len(found.reports) :]
    left_out = others[np.isin(marks[len(found.reports) :], list(dropped))]
    estimate = found.mechanism.estimate_among(left_out, np.array([0, 1]))
    errors = estimate.errors / len(left_out)
    print(f"{len(left_out)} left out; shares {estimate.frequencies}, errors {errors}")
    assert len(left_out) > 300
    assert abs(estimate.frequencies[0] - 1) < 5 * errors[0]
    assert abs(estimate.frequencies[1]) < 5 * errors[1]


def test_wide_domains_test_the_pairs_of_found_values():
    mechanism = AffinePrefix(epsilon=1.0, size=1 << 40)
    values = np.array([3, 1 << 39, 12345678901, 77])
    honest = mechanism.privatize(values[np.zeros(6000, int)], SeededRng(1))
    assert not mechanism.has_seed_spectrum
    test = seeds.seed_pairs(gather(mechanism, honest, values))
    assert not test.alarm
    false = mechanism.draw_supporting(np.tile(values, (600, 1)), 200, SeededRng(2))
    poisoned = np.concatenate([honest, false])
    assert seeds.seed_pairs(gather(mechanism, poisoned, values)).alarm
