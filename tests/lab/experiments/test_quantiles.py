"""Coverage of quantiles and ranges, small: the twin is the bootstrap, which does not cover."""

import pytest

from sottovoce.lab.experiments import quantiles
from sottovoce.lab.experiments.measured_once import MeasuredOnce
from sottovoce.lab.experiments.quantiles import NumberCase, measured, pooled

# Of 40 intervals that cover with a probability of 0.95, fewer than 30 do with one of 1e-6.
RUNS, FEWEST = 8, 30


@pytest.mark.parametrize("shape", ["smooth", "spiky", "constant"])
def test_quantiles_and_ranges_cover_and_the_bootstrap_does_not(shape):
    records = measured(NumberCase(shape, 20_000, 1.0, 32), RUNS)
    likelihood, bootstrap = (pooled(records, method) for method in quantiles.METHODS)
    print(shape, likelihood, bootstrap, records)
    assert likelihood.intervals == 40
    assert likelihood.covered >= FEWEST
    assert records["likelihood ranges"].coverage > 0.9
    if shape != "smooth":
        assert bootstrap.covered < FEWEST


def test_the_page_has_every_case(monkeypatch):
    monkeypatch.setattr(quantiles, "EPSILONS", (1.0,))
    monkeypatch.setattr(quantiles, "USERS", (1_000,))
    monkeypatch.setattr(quantiles, "RUNS", 1)
    one_run = quantiles.measured
    monkeypatch.setattr(quantiles, "measured", lambda case: one_run(case, 1))
    page = quantiles.page(MeasuredOnce())
    assert page.count("| 1,000 | 1 |") == 13
    assert "| 0.95 | " in page


@pytest.mark.papers
def test_every_case_covers_at_full_size():
    page = quantiles.page()
    print(page)
    assert "**below**" not in page
