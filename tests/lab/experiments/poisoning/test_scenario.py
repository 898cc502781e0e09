"""The experiment on poisoning at a small size: what must hold in every run of it."""

import numpy as np
import pytest

from sottovoce.lab.experiments.poisoning.scenario import Scenario, measure, poisoned

SMALL = {"users": 30_000, "size": 256, "epsilon": 2.0, "target_count": 8}


def test_a_collection_is_fixed_by_its_seed():
    first, second, other = (poisoned(Scenario("mga", **SMALL), seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.reports, second.reports)
    assert not np.array_equal(first.reports, other.reports)
    assert first.attackers == 1500
    assert len(first.reports) == 30_000
    assert first.truth.sum() == pytest.approx(1.0)


def test_a_diluted_collection_has_fewer_false_reports_and_the_same_honest_ones():
    collection = poisoned(Scenario("mga", **SMALL), 1)
    (batch,) = collection.diluted(0.01).batches.values()
    np.testing.assert_array_equal(batch.reports, collection.reports[: len(batch.reports)])
    assert len(batch.reports) == round(28_500 / 0.99)


def test_without_attackers_every_answer_is_the_raw_one():
    result = measure(poisoned(Scenario("none", **SMALL, share=0.0), 3))
    assert result.alarms == ()
    assert result.errors["ours"] == result.errors["Norm-Sub"] == result.errors["honest alone"]


@pytest.mark.parametrize("tries", [1, 10, 1000])
def test_correction_halves_the_error_of_ldprecover_and_comes_near_the_honest_reports(tries):
    results = [measure(poisoned(Scenario("mga", **SMALL, tries=tries), seed)) for seed in (11, 12)]
    ours, recover, honest = (
        np.mean([result.errors[method].squared for result in results])
        for method in ("ours", "LDPRecover", "honest alone")
    )
    gain = np.mean([result.errors["ours"].gain for result in results])
    print(f"ours {ours:.2e}, LDPRecover {recover:.2e}, honest {honest:.2e}, gain {gain:.3f}")
    assert ours <= 0.5 * recover
    assert ours <= 1.25 * honest
    assert gain <= 0.05


def test_attacks_that_cannot_be_seen_are_not_seen():
    for scenario in (Scenario("RIA", **SMALL, tries=0), Scenario("SPA", **SMALL, each=1)):
        result = measure(poisoned(scenario, 5))
        assert result.alarms == ()
        assert result.steps == ()
