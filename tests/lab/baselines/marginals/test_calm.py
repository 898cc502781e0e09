from itertools import combinations
from math import sqrt

import numpy as np
import pytest

import sottovoce as sv
from plans.marginals.agreement import disagreement
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.marginals.baseline_marginals import BaselineMarginals
from sottovoce.lab.baselines.marginals.calm import Calm
from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.lab.experiments.cormode.independence_power import DrawnCollection
from sottovoce.lab.experiments.wang_chapter6.marginal_errors import MarginalsSetting
from sottovoce.lab.populations.records import as_columns, record_domain, true_table
from sottovoce.plans.marginals.consistency import make_consistent
from sottovoce.plans.marginals.marginal_table import MarginalTable, project
from sottovoce.plans.marginals.maximum_entropy import MAX_SWEEPS
from sottovoce.plans.marginals.reported_views import ReportedViews

SIZES = (2, 3, 2, 2, 2)
JOINT = np.random.default_rng(11).dirichlet(np.full(np.prod(SIZES), 0.7)).reshape(SIZES)


def people(users, seed, joint=JOINT):
    cells = np.random.default_rng(seed).choice(joint.size, users, p=joint.ravel())
    return np.stack(np.unravel_index(cells, joint.shape), axis=1)


def asked(records, epsilon=1.0, seed=0, order=2, sizes=SIZES):
    plan = BaselineMarginals(record_domain(sizes), "calm", order, len(records))
    return sv.simulate(sv.Task("tables", plan, epsilon=epsilon), as_columns(records), seed=seed)


@pytest.fixture(scope="module")
def answer():
    return asked(people(20_000, 1))


def reported(tables, users=1_000):
    made = {
        view: MarginalTable(view, table, np.eye(table.size) * 1e-4)
        for view, table in tables.items()
    }
    return ReportedViews(made, users)


def test_a_marginal_inside_a_view_is_that_view_summed(answer):
    views = answer.model.views
    assert disagreement(views) < 1e-12
    for view in [(0,), (1,), (0, 1), (2, 4)]:
        holder = next(one for one in views if set(view) <= set(one))
        made = answer.model.fit(view)
        np.testing.assert_allclose(made.table, project(views[holder], holder, view), atol=1e-12)
        assert (made.sweeps, made.residual) == (0, 0.0)


def test_a_table_of_everything_is_refused_nothing_and_has_the_marginals_of_the_views(answer):
    """Order 2 was planned, order 5 is answered; what it says about a pair is within its
    residual.
    """
    made = answer.model.fit(tuple(range(5)))
    assert made.table.shape == SIZES
    assert made.table.sum() == pytest.approx(1)
    assert 0 < made.sweeps <= MAX_SWEEPS
    pair = project(made.table, tuple(range(5)), (0, 1))
    clipped = np.maximum(answer.model.fit((0, 1)).table, 0)
    assert np.abs(pair - clipped / clipped.sum()).max() <= made.residual + 1e-12


def test_steps_say_what_was_done(answer):
    assert answer.marginal("a0", "a1").estimate.steps == ("10 views made consistent",)
    steps = answer.marginal("a0", "a1", "a2").estimate.steps
    assert steps[0] == "10 views made consistent"
    assert steps[1].startswith("maximum entropy (")
    assert "sweeps, residual" in steps[1]


def test_the_raw_table_is_kept_where_there_is_one(answer):
    made = answer.marginal("a0", "a1")
    raw = made.raw.estimate
    np.testing.assert_allclose(raw.frequencies, answer.model.reported.table((0, 1)).shares.ravel())
    assert raw.steps == ()
    assert answer.marginal("a0", "a1", "a2").estimate.raw is None


def test_an_attribute_in_no_view_is_refused():
    known = Calm(
        reported({(0, 1): np.full((2, 2), 0.25), (1, 2): np.full((2, 2), 0.25)}), (2, 2, 2, 2)
    )
    with pytest.raises(ParameterError, match="no view"):
        known.fit((0, 3))
    with pytest.raises(ParameterError, match="no view"):
        known.table((3,))


def test_an_answer_reads_the_same_twice(answer):
    again = Calm(answer.model.reported, SIZES)
    for view in [(0, 1), (0, 1, 2)]:
        one, other = answer.model.table(view), again.table(view)
        np.testing.assert_array_equal(one.shares, other.shares)
        np.testing.assert_array_equal(one.covariance, other.covariance)
        np.testing.assert_allclose(answer.model.fit(view).table, one.shares, atol=1e-12)


def test_replicates_together_are_replicates_one_by_one(answer):
    """All go through consistency on one axis; each is what it would be alone."""
    model = answer.model
    rows = model.replicates
    precisions = {view: table.precision for view, table in model.reported.tables.items()}
    dice = np.random.default_rng(model.seed)
    redrawn = {view: shares + model.noise(view, dice) for view, shares in model.views.items()}
    for row in (0, 17):
        alone = make_consistent({view: table[row] for view, table in redrawn.items()}, precisions)
        for view, table in alone.items():
            np.testing.assert_allclose(rows[view][row + 1], table, atol=1e-12)


def test_redrawn_noise_has_the_covariance_of_the_reports(monkeypatch, answer):
    monkeypatch.setattr("sottovoce.plans.marginals.view_tables.REPLICATES", 20_000)
    noise = answer.model.noise((0, 1), np.random.default_rng(2)).reshape(20_000, -1)
    stated = answer.model.reported.tables[0, 1].covariance
    spread = np.sqrt((np.outer(np.diag(stated), np.diag(stated)) + stated**2) / 20_000)
    assert np.abs((noise.T @ noise / 20_000 - stated) / spread).max() < FIVE_SIGMA


def test_at_a_large_epsilon_only_sampling_is_left():
    """All 15 pairs of 6 bits, epsilon 20: the mean squared error is at most the views over the
    users.
    """
    dice, users = np.random.default_rng(3), 1 << 14
    records = (dice.random((users, 6)) < 0.4 + 0.3 * dice.random((users, 1))).astype(np.int64)
    pairs, sizes = list(combinations(range(6), 2)), (2,) * 6
    model = Calm(MarginalsSetting(sizes, 2, "am", 20.0).collect(records, seed=1), sizes)
    assert sorted(model.views) == pairs
    errors = [
        ((model.fit(pair).table - true_table(records, sizes, pair)) ** 2).sum() for pair in pairs
    ]
    print("mean squared error", np.mean(errors), "of at most", 15 / users)
    assert np.mean(errors) <= 15 / users


def pairs_only():
    """Four bits with interactions of pairs only, so that maximum entropy is right about triples."""
    signs = 1 - 2 * np.indices((2, 2, 2, 2))
    weights = np.exp(
        sum(0.3 * signs[one] * signs[other] for one, other in combinations(range(4), 2))
        + 0.4 * signs[0]
    )
    return weights / weights.sum()


class Hopeful(Calm):
    """Replicates with less noise than the reports have."""

    def noise(self, view, dice):
        return 0.6 * super().noise(view, dice)


def coverage(kind, views, runs, seed):
    """For every view the share of its cells, over collections drawn from their law, within 1.96
    standard errors.
    """
    joint, dice, hits = pairs_only(), np.random.default_rng(seed), {view: [] for view in views}
    for _ in range(runs):
        model = kind(DrawnCollection("marg_ps", 1 << 13, 1.5).draw(joint, dice), joint.shape)
        for view in views:
            table = model.table(view)
            errors = (table.shares - project(joint, (0, 1, 2, 3), view)).ravel()
            hits[view].append(np.abs(errors) < 1.96 * np.sqrt(np.diag(table.covariance)))
    return {view: float(np.mean(hit)) for view, hit in hits.items()}


def test_intervals_cover_inside_views_and_by_maximum_entropy():
    """Replicates know noise, drawing and the bias of non-negative cells; seen over 400 collections:
    93 to 95 %.
    """
    rates = coverage(Calm, [(2, 3), (0, 1, 2)], 100, 1)
    print("coverage of 95 % intervals", rates)
    assert all(0.92 < rate < 0.98 for rate in rates.values())
    assert max(coverage(Hopeful, [(2, 3), (0, 1, 2)], 30, 1).values()) < 0.9


def test_raw_tables_are_unbiased():
    joint, dice, runs = pairs_only(), np.random.default_rng(2), 300
    scores = []
    for _ in range(runs):
        raw = (
            Calm(DrawnCollection("marg_ps", 1 << 12, 1.0).draw(joint, dice), joint.shape)
            .table((0, 1))
            .raw
        )
        scores.append(
            (raw.shares - project(joint, (0, 1, 2, 3), (0, 1))).ravel()
            / np.sqrt(np.diag(raw.covariance))
        )
    bias = np.mean(scores, axis=0) * sqrt(runs)
    print("bias of raw cells in sigmas", bias)
    assert np.abs(bias).max() < FIVE_SIGMA


def _inside(table, made, level):
    low, high = made.estimate.interval(level)
    return (low <= table) & (table <= high)


def xor():
    """Three bits of which any two are independent and the third is their sum: no pair knows
    anything about it.
    """
    return np.array([[[0.25, 0.0], [0.0, 0.25]], [[0.0, 0.25], [0.25, 0.0]]])


def test_intervals_do_not_know_what_no_view_holds():
    """An exclusive or is seen by no pair: the interval of a triple then misses, and the residual
    does not tell.
    """
    records = people(1 << 13, 5, xor())
    answer = asked(records, 1.5, sizes=(2, 2, 2))
    table = true_table(records, (2, 2, 2), (0, 1, 2)).ravel() * len(records)
    assert not _inside(table, answer.marginal("a0", "a1", "a2"), 0.95).any()
    assert answer.model.fit((0, 1, 2)).residual < 0.01
