"""Whole records with a part of the budget for each attribute, joined by expectation maximisation."""

from itertools import product

import numpy as np
import pytest

import sottovoce as sv
from papers.records import domain, held, movielens_like, shares
from sottovoce.engine.memory import MemoryCollected, ReportBatch
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.product import Product
from sottovoce.plans.marginals import input_em
from sottovoce.plans.marginals.input_em import InputEM, ask, climbed
from sottovoce.plans.marginals.marginals import Marginals
from sottovoce.tasks.question import Address

BINARY = Product(2.0, 8, (2, 2, 2))


def expected(mechanism, joint):
    """The shares of reports to be expected from a distribution."""
    channel = mechanism.likelihood(mechanism.outcomes())
    return channel @ joint


def test_expected_reports_lead_back_to_the_distribution():
    mechanism = Product(6.0, 8, (2, 2, 2))
    joint = np.random.default_rng(1).dirichlet(np.ones(8) * 3)
    found, steps = climbed(expected(mechanism, joint)[None], mechanism.channels)
    np.testing.assert_allclose(found[0], joint, atol=5e-3)
    assert steps[0] > 1


def test_categories_of_any_number_lead_back_too():
    mechanism = Product(6.0, 30, (2, 5, 3))
    joint = np.random.default_rng(2).dirichlet(np.ones(30) * 3)
    found, _ = climbed(expected(mechanism, joint)[None], mechanism.channels)
    np.testing.assert_allclose(found[0], joint, atol=5e-3)


def test_a_warm_start_comes_nearer_in_fewer_steps():
    mechanism = Product(1.0, 8, (2, 2, 2))
    joint = np.array([0.3, 0.05, 0.1, 0.05, 0.2, 0.05, 0.05, 0.2])
    cold, warm = (climbed(expected(mechanism, joint)[None], mechanism.channels, warm=start) for start in (False, True))
    assert warm[1][0] < cold[1][0]
    assert abs(warm[0][0] - joint).max() < abs(cold[0][0] - joint).max()


def test_every_row_stops_by_itself():
    """Together or alone: the same numbers, the same steps."""
    rows = np.stack([expected(BINARY, np.random.default_rng(seed).dirichlet(np.ones(8))) for seed in range(4)])
    together = climbed(rows, BINARY.channels)
    alone = [climbed(row[None], BINARY.channels) for row in rows]
    np.testing.assert_array_equal(together[1], [steps[0] for _, steps in alone])
    np.testing.assert_allclose(together[0], [found[0] for found, _ in alone], atol=1e-12)


def test_each_step_raises_the_likelihood_and_keeps_a_distribution(monkeypatch):
    observed = expected(BINARY, np.random.default_rng(5).dirichlet(np.ones(8) * 0.3))
    before = -np.inf
    for most in range(1, 20):
        monkeypatch.setattr(input_em, "MOST", most)
        found, _ = climbed(observed[None], BINARY.channels)
        now = observed @ np.log(expected(BINARY, found[0]))
        assert now >= before
        assert found.sum() == pytest.approx(1)
        before = now


def test_the_number_of_steps_is_capped(monkeypatch):
    monkeypatch.setattr(input_em, "MOST", 3)
    _, steps = climbed(expected(BINARY, np.eye(8)[0])[None], BINARY.channels)
    assert steps[0] == 3


def collected(epsilon, columns, seed=0):
    sizes = (2,) * columns.shape[1]
    mechanism = ask(epsilon, sizes).mechanism
    reports = mechanism.privatize(mechanism.joined(list(columns.T)), SeededRng(seed))
    records, times = np.unique(reports, return_counts=True)
    return InputEM(mechanism, tuple(mechanism.digits(records)), times)


def test_a_failure_is_said():
    """With a channel that says next to nothing the first step already is the last."""
    model = collected(0.1, movielens_like(4096, 16))
    assert model.climb((0, 1)).failed
    np.testing.assert_allclose(model.climb((0, 1)).shares, 0.25, atol=1e-4)
    assert "failed" in model.table((0, 1)).steps[0]


def test_with_much_budget_the_true_marginal_comes_out():
    """Epsilon 20 over four attributes, as 40 over eight: each cell to 5e-3, in a few steps."""
    columns = movielens_like(1 << 14, 4)
    model = collected(20.0, columns)
    for view in ((0, 1), (1, 3), (0, 1, 2)):
        found = model.climb(view)
        assert not found.failed
        assert found.steps < 20
        np.testing.assert_allclose(found.shares.reshape((2,) * len(view)), shares(columns, view), atol=5e-3)


def test_a_table_has_the_covariance_of_its_replicates():
    """It is for people drawn anew: 100 collections of others vary as much, five sigma of both being a factor of 1.9.

    Of 40 and of 100 draws with two or three independent parts each, the variances are known to 16 and to 10 %.
    """
    drawn = [collected(4.0, movielens_like(2000, 2, seed), seed) for seed in range(100)]
    found = np.array([one.climb((0, 1)).shares for one in drawn])
    table = drawn[0].table((0, 1))
    assert 1 / 1.9 < np.trace(table.covariance) / found.var(axis=0).sum() < 1.9
    assert table.steps[0].startswith("expectation maximisation (")


def test_the_whole_budget_is_spent_over_all_attributes_and_no_more():
    """Every record against every other, by enumeration: e^epsilon, not e^(d epsilon)."""
    for epsilon, sizes in product((0.1, np.log(3), 4.0), ((2, 2), (2, 3, 2))):
        chances = ask(float(epsilon), sizes).mechanism.likelihood(np.arange(np.prod(sizes)))
        np.testing.assert_allclose(chances.sum(axis=0), 1)
        assert (chances.max(axis=1) / chances.min(axis=1)).max() == pytest.approx(np.exp(epsilon), rel=1e-9)


def test_records_that_have_been_erased_are_read_from_their_sums():
    task = sv.Task("all", Marginals(domain(4), 500, 2, "inp_em"), 2.0)
    question = task.opening.ask
    people = np.stack(list(held(movielens_like(500, 4)).values()), axis=1)
    reports = question.privatize(people, SeededRng(1))
    kept = MemoryCollected(task).after(task.opening, {Address(): ReportBatch(reports)})
    erased = MemoryCollected(task).after_erasing(task.opening, {Address(): question.mechanism.tally(reports)})
    first, second = InputEM.read(kept), InputEM.read(erased)
    assert first.users == second.users == 500
    np.testing.assert_array_equal(first.climb((0, 2)).shares, second.climb((0, 2)).shares)


def test_records_of_too_many_combinations_for_a_sum_are_read_one_by_one():
    task = sv.Task("all", Marginals(domain(22), 200, 2, "inp_em"), 20.0)
    answer = sv.simulate(task, held(movielens_like(200, 22)), seed=1)
    assert answer.model.users == 200
    assert answer.model.climb((0, 1)).shares.sum() == pytest.approx(1)
