"""Clean rounds of many shapes: the daily part of the thousand."""

import numpy as np
import pytest

from sottovoce.lab.experiments.poisoning.clean_rounds import (
    EXPONENTS,
    KINDS,
    SHAPES,
    CleanRound,
    examined,
    rounds,
    shares,
)


@pytest.mark.parametrize("shape", [*(f"zipf {exponent:g}" for exponent in EXPONENTS), *SHAPES])
def test_shapes_are_populations(shape):
    for size in (16, 4096):
        population = shares(shape, size)
        assert population.min() >= 0
        assert population.sum() == pytest.approx(1.0)


def test_honest_rounds_do_not_alarm():
    alarms = [clean for clean in rounds(30, 1, most_users=10_000) if examined(clean).alarm]
    assert alarms == []


@pytest.mark.parametrize(
    "clean",
    [
        CleanRound("zipf 1.3", "affine", 1 << 20, 1_000, 1.0, 640043),
        CleanRound("steps", "affine", 1 << 20, 1_000, 1.0, 640122),
        CleanRound("zipf 1.1", "olh", 131_072, 1_000, 0.5, 640465),
    ],
    ids=lambda clean: f"{clean.kind}-{clean.seed}",
)
def test_values_that_noise_chose_do_not_stick_together(clean):
    """These rounds alarmed while supports were not centred."""
    assert examined(clean).alarms == ()


def test_rounds_are_drawn_from_all_that_is_listed():
    drawn = list(rounds(300, 1))
    assert {clean.kind for clean in drawn} == set(KINDS)
    assert len({clean.shape for clean in drawn}) == len(EXPONENTS) + len(SHAPES)
    assert np.ptp([clean.users for clean in drawn]) == 999_000
