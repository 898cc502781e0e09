"""Chapter 6 of Du 2025: the filters of poisoned numbers, and graded groups.

Claims of the figures, at the size of the laboratory (60,000 people, 128 buckets, 4 choices of
segments), marked ``papers``.  A smaller collection stands for each in the daily suite.  Windows are
those of the specification; where a daily window is wider, noise is larger by the square root of the
ratio of people.
"""

from functools import cache

import numpy as np
import pytest

from sottovoce.lab.experiments.byzantine_numbers import (
    CATEGORY_EPSILONS,
    EPSILONS,
    SEEDS,
    SHARES,
    Setting,
    category_errors,
    divergences,
    found_share,
)
from sottovoce.lab.populations.numbers import SHAPES
from sottovoce.plans.numbers.graded_groups import PROBE

PROBED = Setting(epsilon=PROBE)
full_size = pytest.mark.papers


@cache
def measured(setting, seeds=SEEDS, weights="paper"):
    found = divergences(setting, seeds, weights)
    print(setting.pattern, setting.epsilon, {name: round(far, 4) for name, far in found.items()})
    return found


def shares_found(setting, seeds=SEEDS):
    found = [found_share(setting, seed) for seed in range(seeds)]
    print(setting.pattern, setting.share, setting.epsilon, np.round(found, 4))
    return np.array(found)


# --- E6-1 and E6-2: the share of false reports ---


def attacked(poisoned, **settings):
    return Setting(epsilon=PROBE, poisoned=poisoned, **settings)


@pytest.mark.parametrize("poisoned", [1, 2, 3])
def test_e6_1_the_share_is_right_at_a_small_epsilon(poisoned):
    """One report each of 60,000 people costs little: this is the full size."""
    assert np.abs(shares_found(attacked(poisoned)) - 0.25).max() <= 0.03


def test_e6_1_the_share_is_wrong_at_a_large_epsilon():
    """The broken twin of the probe: a share from epsilon 2 is off by more than 0.1."""
    found = shares_found(Setting(epsilon=2.0), 2)
    assert np.abs(found.mean() - 0.25) > 0.1
    assert np.abs(shares_found(attacked(2), 2) - 0.25).max() <= 0.03


@pytest.mark.papers
def test_e6_2_the_share_grows_with_the_true_one():
    found = np.array([shares_found(attacked(2, share=share)).mean() for share in SHARES])
    assert (np.diff(found) > 0).all()
    assert np.abs(found - SHARES).max() <= 0.03


@pytest.mark.parametrize("shape", SHAPES)
def test_e6_2_clean_reports_look_clean(shape):
    assert shares_found(attacked(2, share=0.0, shape=shape)).max() <= 0.03


# --- E6-3: divergence by epsilon ---
# The segments of Poi(8, 2) are four listed pairs on both sides of the middle, not drawn ones: the
# claim about ME-EMF, which assumes that all false reports lie on one side, is about such pairs.


@full_size
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_e6_3_the_filters_beat_no_defence(epsilon):
    found = measured(Setting(epsilon=epsilon))
    assert found["de-remf*"] <= 0.4 * found["ostrich"]
    assert found["de-emf*"] <= found["de-emf"] + 0.005
    assert found["me-emf"] >= 2 * found["de-remf*"]
    if epsilon >= 1.5:
        assert found["de-remf*"] < found["de-emf"]


def test_e6_3_daily():
    """12,000 people and 64 buckets at epsilon 1: the order of the decoders."""
    found = measured(Setting(epsilon=1.0, users=12_000, buckets=64), 2)
    assert found["de-remf*"] <= 0.4 * found["ostrich"]
    assert found["de-remf*"] < found["de-emf"] + 0.005
    assert found["me-emf"] > 1.5 * found["de-remf*"]


# --- E6-5: populations ---


@full_size
def test_e6_5_flat_people_are_recovered_best():
    found = {shape: measured(Setting(shape=shape, poisoned=1)) for shape in SHAPES}
    for each in found.values():
        assert each["de-remf*"] < 0.4 * each["ostrich"]
    far = {shape: each["de-remf*"] for shape, each in found.items()}
    assert far["taxi-like"] == min(far.values())
    assert abs(far["Beta(2, 5)"] - far["Beta(5, 2)"]) <= 0.015


# --- E6-6: patterns ---


@full_size
@pytest.mark.parametrize("poisoned", [1, 2, 3, 4, 5])
def test_e6_6_up_to_five_of_eight_segments_the_filter_wins(poisoned):
    found = measured(Setting(poisoned=poisoned))
    assert found["de-remf*"] < found["ostrich"]


@full_size
@pytest.mark.parametrize("poisoned", [6, 7])
def test_e6_6_with_more_segments_it_costs_little(poisoned):
    found = measured(Setting(poisoned=poisoned))
    assert found["de-remf*"] <= 1.25 * found["ostrich"]


@full_size
def test_e6_6_half_of_the_outputs_is_the_case_of_me_emf():
    found = measured(Setting(segments=2, poisoned=1))
    assert found["me-emf"] <= found["de-remf*"] < found["ostrich"]


# --- E6-8: shares ---


@full_size
def test_e6_8_the_filter_is_stable_whatever_the_share():
    shares = [share for share in SHARES if share]
    found = [measured(Setting(share=share)) for share in shares]
    filtered = [each["de-remf*"] for each in found]
    undefended = [each["ostrich"] for each in found]
    assert max(filtered) - min(filtered) <= 0.02
    assert (np.diff(undefended) > 0).all()


@full_size
def test_e6_8_without_attackers_de_emf_is_worse_than_nothing():
    """A known limit, which is why the share must come from the probe."""
    found = measured(Setting(share=0.0))
    assert found["de-emf"] > found["ostrich"]
    assert found["de-remf*"] < found["de-emf"]


# --- E6-9: attackers who lie ---


def lies(**settings):
    return Setting(lie=True, **settings)


@pytest.mark.parametrize("shape", SHAPES)
def test_e6_9_the_share_of_liars_is_not_found(shape):
    assert shares_found(lies(shape=shape, epsilon=PROBE)).max() <= 0.04


@full_size
@pytest.mark.parametrize("shape", SHAPES)
def test_e6_9_lies_are_not_seen(shape):
    found = measured(lies(shape=shape))
    assert found["de-remf*"] == pytest.approx(found["ostrich"], rel=0.1)


# --- E6-11: categories ---


@cache
def category_means(poisoned, epsilon, seeds=SEEDS):
    runs = [category_errors(poisoned, epsilon, seed) for seed in range(seeds)]
    means = {name: float(np.mean([run[name] for run in runs])) for name in runs[0]}
    print(poisoned, epsilon, means)
    return means


@pytest.mark.parametrize("epsilon", CATEGORY_EPSILONS)
def test_e6_11_one_poisoned_category(epsilon):
    found = category_means((9,), epsilon)
    assert found["de-emf"] < 0.01
    assert found["de-remf*"] < 0.01
    assert found["ostrich"] >= 4 * found["de-remf*"]


@pytest.mark.parametrize("epsilon", CATEGORY_EPSILONS)
def test_e6_11_three_poisoned_categories(epsilon):
    found = category_means((9, 10, 11), epsilon)
    assert found["de-emf"] < 0.01
    assert found["de-remf*"] < 0.01
    if epsilon >= 0.5:
        assert found["ostrich"] >= 4 * found["de-remf*"]


# --- the weights ---


@full_size
def test_calibrated_weights_are_better_than_published_ones_and_counts_are_worst():
    far = {rule: measured(Setting(), weights=rule)["de-remf*"] for rule in ("calibrated", "paper")}
    counted = measured(Setting(), weights="count")["de-remf*"]
    assert far["calibrated"] < far["paper"] < counted
