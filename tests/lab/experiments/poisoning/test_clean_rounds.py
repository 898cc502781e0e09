"""Clean rounds of many shapes: the daily part of the thousand."""

import numpy as np
import pytest

from sottovoce.lab.experiments.poisoning.clean_rounds import (
    EXPONENTS,
    FEW_VALUES,
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


def test_honest_rounds_do_not_alarm_and_are_not_corrected():
    results = {clean: examined(clean) for clean in rounds(30, 1, most_users=10_000)}
    assert [clean for clean, found in results.items() if found.integrity.alarm] == []
    assert [clean for clean, found in results.items() if not found.unchanged] == []


@pytest.mark.parametrize("kind", sorted(set(KINDS)))
def test_every_kind_is_examined_at_its_smallest_and_left_alone(kind):
    size = 3 if kind in FEW_VALUES else 16
    found = examined(CleanRound("zipf 1.1", kind, size, 1_000, 1.0, 7))
    assert found.integrity.reports >= 1_000
    assert found.unchanged


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
    assert examined(clean).integrity.alarms == ()


def test_rounds_are_drawn_from_all_that_is_listed():
    drawn = list(rounds(600, 1))
    assert {clean.kind for clean in drawn} == set(KINDS)
    assert len({clean.shape for clean in drawn}) == len(EXPONENTS) + len(SHAPES)
    assert np.ptp([clean.users for clean in drawn]) == 999_000
