"""Poisoned frequency collections at full size, at seeds of their own."""

import numpy as np
import pytest

from sottovoce.lab.experiments.poisoning.clean_rounds import examined, rounds
from sottovoce.lab.experiments.poisoning.coverage import coverage
from sottovoce.lab.experiments.poisoning.page import COVERED
from sottovoce.lab.experiments.poisoning.scenario import Scenario, measure, poisoned

pytestmark = pytest.mark.papers

RUNS = 10
FIRST_SEED = 124_000
CLEAN_ROUNDS = 1_000


@pytest.mark.parametrize("tries", [1, 10, 1000])
def test_our_correction_halves_ldprecover_and_comes_near_the_honest_error(tries):
    results = [
        measure(poisoned(Scenario("mga", tries=tries), FIRST_SEED + 100 * tries + run))
        for run in range(RUNS)
    ]

    def mean(method):
        return float(np.mean([result.errors[method].squared for result in results]))

    gain = float(np.mean([result.errors["ours"].gain for result in results]))
    print({method: mean(method) for method in results[0].errors}, f"gain {gain:.3f}")
    assert mean("ours") <= 0.5 * mean("LDPRecover")
    assert mean("ours") <= 1.25 * mean("honest alone")
    assert gain <= 0.05
    if tries == 1000:
        assert mean("ours") < mean("LDPRecover*")


@pytest.mark.parametrize("scenario", COVERED, ids=lambda scenario: scenario.name)
def test_intervals_of_corrected_answers_keep_their_level(scenario):
    """Of all values and of the targets, less 5 sigma of the targets of all runs."""
    found = [coverage(poisoned(scenario, FIRST_SEED + 50_000 + run)) for run in range(RUNS)]
    corrected = [each for each in found if each is not None]
    least = 0.95 - 5 * (0.95 * 0.05 / (len(corrected) * scenario.target_count)) ** 0.5
    everything, targets = (
        float(np.mean([getattr(each, part) for each in corrected])) for part in ("all", "targets")
    )
    print(f"{len(corrected)} runs: all values {everything:.3f}, targets {targets:.3f}")
    assert everything >= 0.94
    assert targets >= least


def test_a_thousand_clean_rounds_raise_at_most_one_alarm_and_are_left_alone():
    alarms, changed = [], []
    for clean in rounds(CLEAN_ROUNDS, 700_000):
        seen = examined(clean)
        if seen.integrity.alarm:
            alarms.append(clean)
        elif not seen.unchanged:
            changed.append(clean)
    print(alarms)
    assert len(alarms) <= 1
    assert changed == []
