"""Coverage of quantiles and ranges, small: the twin is the bootstrap, which does not cover."""

import numpy as np
import pytest

from sottovoce.lab.experiments import quantiles
from sottovoce.lab.experiments.measured_once import MeasuredOnce
from sottovoce.lab.experiments.quantiles import NumberCase, measured, pooled
from sottovoce.plans.numbers.likelihood_intervals import LikelihoodIntervals

# Of 40 intervals that cover with a probability of 0.95, fewer than 30 do with one of 1e-6.
RUNS, FEWEST = 8, 30


@pytest.mark.parametrize("shape", ["smooth", "spiky", "constant"])
def test_quantiles_and_ranges_cover_and_the_bootstrap_does_not(shape):
    records = measured(NumberCase(shape, 20_000, 1.0, 32), RUNS, RUNS)
    likelihood, bootstrap = (pooled(records, method) for method in quantiles.METHODS)
    print(shape, likelihood, bootstrap, records)
    assert likelihood.intervals == 40
    assert likelihood.covered >= FEWEST
    assert records["likelihood ranges"].coverage > 0.9
    if shape != "smooth":
        assert bootstrap.covered < FEWEST


@pytest.mark.parametrize("seed", [1, 2])
def test_a_number_is_allowed_if_and_only_if_the_interval_contains_it(seed):
    """So that coverage can be counted without looking for the ends of intervals."""
    case = NumberCase("heaped ages", 2_000, 1.0, 16)
    drawing = quantiles.drawn(case, seed)
    found = LikelihoodIntervals(drawing.counts.astype(float), case.wave.sliding)
    for share in (0.05, 0.5, 0.75):
        first, last = found.quantile(share, 0.95)
        allowed = [bucket for bucket in range(16) if found.allows_quantile(share, bucket, 0.95)]
        assert allowed == list(range(first, last))
    inside = np.arange(16) < 4
    low, high = found.share(inside, 0.95)
    assert found.allows_share(inside, (low + high) / 2, 0.95)
    for outside in (low - 0.01, high + 0.01):
        assert not found.allows_share(inside, outside, 0.95)


def test_the_page_has_every_case(monkeypatch):
    monkeypatch.setattr(quantiles, "EPSILONS", (1.0,))
    monkeypatch.setattr(quantiles, "USERS", (1_000,))
    one_run = quantiles.measured
    monkeypatch.setattr(quantiles, "measured", lambda case: one_run(case, 1, 1))
    page = quantiles.page(MeasuredOnce())
    assert page.count("| 1,000 | 1 |") == 13
    assert "| 0.95 | " in page


@pytest.mark.papers
def test_every_case_covers_at_full_size():
    page = quantiles.page()
    print(page)
    assert "**below**" not in page
