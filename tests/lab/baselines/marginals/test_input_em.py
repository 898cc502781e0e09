"""Whole records with a part of the budget for each attribute, joined by expectation
maximisation.
"""

from itertools import product

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.engine.memory import MemoryCollected, ReportBatch
from sottovoce.lab.baselines.marginals import input_em
from sottovoce.lab.baselines.marginals.baseline_marginals import BaselineMarginals
from sottovoce.lab.baselines.marginals.input_em import InputEM, ask_record, failed, maximise
from sottovoce.lab.baselines.product_response import ProductResponse
from sottovoce.lab.populations.records import as_columns, movielens_like, record_domain, true_table
from sottovoce.lab.seeded import SeededRng
from sottovoce.tasks.question import Address

BINARY = ProductResponse(2.0, 8, (2, 2, 2))


def expected(mechanism, joint):
    """The shares of reports to be expected from a distribution."""
    channel = mechanism.likelihood(mechanism.outcomes())
    return channel @ joint


def test_expected_reports_lead_back_to_the_distribution():
    mechanism = ProductResponse(6.0, 8, (2, 2, 2))
    joint = np.random.default_rng(1).dirichlet(np.ones(8) * 3)
    fit = maximise(expected(mechanism, joint)[None], mechanism.channels)
    np.testing.assert_allclose(fit.frequencies[0], joint, atol=5e-3)
    assert fit.iterations[0] > 1


def test_categories_of_any_number_lead_back_too():
    mechanism = ProductResponse(6.0, 30, (2, 5, 3))
    joint = np.random.default_rng(2).dirichlet(np.ones(30) * 3)
    fit = maximise(expected(mechanism, joint)[None], mechanism.channels)
    np.testing.assert_allclose(fit.frequencies[0], joint, atol=5e-3)


def test_a_warm_start_comes_nearer_in_fewer_steps():
    mechanism = ProductResponse(1.0, 8, (2, 2, 2))
    joint = np.array([0.3, 0.05, 0.1, 0.05, 0.2, 0.05, 0.05, 0.2])
    cold, warm = (
        maximise(expected(mechanism, joint)[None], mechanism.channels, warm=start)
        for start in (False, True)
    )
    assert warm.iterations[0] < cold.iterations[0]
    assert abs(warm.frequencies[0] - joint).max() < abs(cold.frequencies[0] - joint).max()


def test_every_row_stops_by_itself():
    """Together or alone: the same numbers, the same steps."""
    rows = np.stack(
        [expected(BINARY, np.random.default_rng(seed).dirichlet(np.ones(8))) for seed in range(4)]
    )
    together = maximise(rows, BINARY.channels)
    alone = [maximise(row[None], BINARY.channels) for row in rows]
    np.testing.assert_array_equal(together.iterations, [fit.iterations[0] for fit in alone])
    expected_rows = [fit.frequencies[0] for fit in alone]
    np.testing.assert_allclose(together.frequencies, expected_rows, atol=1e-12)


def test_each_step_raises_the_likelihood_and_keeps_a_distribution(monkeypatch):
    observed = expected(BINARY, np.random.default_rng(5).dirichlet(np.ones(8) * 0.3))
    before = -np.inf
    for most in range(1, 20):
        monkeypatch.setattr(input_em, "MAX_STEPS", most)
        found = maximise(observed[None], BINARY.channels).frequencies
        now = observed @ np.log(expected(BINARY, found[0]))
        assert now >= before
        assert found.sum() == pytest.approx(1)
        before = now


def test_the_number_of_steps_is_capped(monkeypatch):
    monkeypatch.setattr(input_em, "MAX_STEPS", 3)
    fit = maximise(expected(BINARY, np.eye(8)[0])[None], BINARY.channels)
    assert fit.iterations[0] == 3
    assert not fit.converged[0]


def collected(epsilon, columns, seed=0):
    sizes = (2,) * columns.shape[1]
    mechanism = ask_record(epsilon, sizes).mechanism
    reports = mechanism.privatize(mechanism.join(list(columns.T)), SeededRng(seed))
    records, times = np.unique(reports, return_counts=True)
    return InputEM(mechanism, tuple(mechanism.split(records)), times)


def test_a_failure_is_said():
    """With a channel that says next to nothing the first step already is the last."""
    model = collected(0.1, movielens_like(4096, 16))
    assert failed(model.fit((0, 1)))
    np.testing.assert_allclose(model.fit((0, 1)).frequencies, 0.25, atol=1e-4)
    assert "failed" in model.table((0, 1)).steps[0]


def test_with_much_budget_the_true_marginal_comes_out():
    """Epsilon 20 over four attributes, as 40 over eight: each cell to 5e-3, in a few steps."""
    columns = movielens_like(1 << 14, 4)
    model = collected(20.0, columns)
    for view in ((0, 1), (1, 3), (0, 1, 2)):
        fit = model.fit(view)
        assert not failed(fit)
        assert fit.iterations[0] < 20
        shares = fit.frequencies[0].reshape((2,) * len(view))
        np.testing.assert_allclose(shares, true_table(columns, (2,) * 4, view), atol=5e-3)


def test_a_table_has_the_covariance_of_its_replicates():
    """It is for people drawn anew: 100 collections of others vary as much, five sigma of both being
    a factor of 1.9.

    Of 40 and of 100 draws with two or three independent parts each, the variances are known to 16
    and to 10 %.
    """
    drawn = [collected(4.0, movielens_like(2000, 2, seed), seed) for seed in range(100)]
    found = np.array([one.fit((0, 1)).frequencies[0] for one in drawn])
    table = drawn[0].table((0, 1))
    assert 1 / 1.9 < np.trace(table.covariance) / found.var(axis=0).sum() < 1.9
    assert table.steps[0].startswith("expectation maximisation (")


def test_the_whole_budget_is_spent_over_all_attributes_and_no_more():
    """Every record against every other, by enumeration: e^epsilon, not e^(d epsilon)."""
    for epsilon, sizes in product((0.1, np.log(3), 4.0), ((2, 2), (2, 3, 2))):
        chances = ask_record(float(epsilon), sizes).mechanism.likelihood(np.arange(np.prod(sizes)))
        np.testing.assert_allclose(chances.sum(axis=0), 1)
        assert (chances.max(axis=1) / chances.min(axis=1)).max() == pytest.approx(
            np.exp(epsilon), rel=1e-9
        )


def test_records_that_have_been_erased_are_read_from_their_sums():
    task = sv.Task("all", BaselineMarginals(record_domain((2,) * 4), "inp_em", 2), 2.0)
    question = task.opening.ask
    people = np.stack(list(as_columns(movielens_like(500, 4)).values()), axis=1)
    reports = question.privatize(people, SeededRng(1))
    kept = MemoryCollected(task).after(task.opening, {Address(): ReportBatch(reports)})
    erased = MemoryCollected(task).after_erasing(
        task.opening, {Address(): question.mechanism.tally(reports)}
    )
    first, second = InputEM.read(kept), InputEM.read(erased)
    assert first.users == second.users == 500
    np.testing.assert_array_equal(first.fit((0, 2)).frequencies, second.fit((0, 2)).frequencies)


def test_records_of_too_many_combinations_for_a_sum_are_read_one_by_one():
    task = sv.Task("all", BaselineMarginals(record_domain((2,) * 22), "inp_em", 2), 20.0)
    answer = sv.simulate(task, as_columns(movielens_like(200, 22)), seed=1)
    assert answer.model.users == 200
    assert answer.model.fit((0, 1)).frequencies.sum() == pytest.approx(1)
