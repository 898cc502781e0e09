"""Tables that groups of people reported."""

from dataclasses import replace
from itertools import combinations, permutations, product

import numpy as np
import pytest

from sottovoce.core.estimate import Estimate
from sottovoce.engine.memory import MemoryCollected
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.lab.batches import with_fakes
from sottovoce.lab.seeded import SeededRng
from sottovoce.lab.simulate import report_batches
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.oue import OUE
from sottovoce.plans.marginals.marginal_table import MarginalTable, table_of_estimate
from sottovoce.plans.marginals.marginals import Marginals
from sottovoce.plans.marginals.reported_views import ReportedViews, ask_views
from sottovoce.tasks.task import Task
from tasks.toys import shuffle

PEOPLE = np.array([0, 1, 3, 3])  # their cells
TRUTH = np.array([0.25, 0.25, 0.0, 0.5])
SIZES = (2, 2)


def moments(mechanism, group, estimator):
    """The mean of an estimator and its squared error, over all groups of so many people and all
    their reports.
    """
    outcomes = mechanism.outcomes()
    chances = mechanism.likelihood(outcomes)
    members = set(permutations([True] * group + [False] * (len(PEOPLE) - group)))
    found, weights = [], []
    for chosen in members:
        held = PEOPLE[np.array(chosen)]
        for reports in product(range(len(outcomes)), repeat=group):
            found.append(estimator(outcomes[list(reports)]))
            weights.append(np.prod(chances[list(reports), held]) / len(members))
    found, weights = np.array(found), np.array(weights)
    mean = weights @ found
    return mean, (found - mean).T @ ((found - mean) * weights[:, None])


def reported(mechanism, population):
    return lambda reports: table_of_estimate(
        (0, 1), SIZES, mechanism.estimate(mechanism.tally(reports)).of(population)
    ).shares.ravel()


@pytest.mark.parametrize(
    ("mechanism", "group"),
    [(GRR(1.0, 4), 4), (GRR(1.0, 4), 3), (GRR(1.0, 4), 1), (OUE(1.0, 4), 2), (OUE(1.0, 4), 1)],
)
def test_over_all_groups_and_reports_a_table_is_unbiased_and_varies_as_stated(mechanism, group):
    """The whole covariance, for fixed people of whom a group is drawn at random."""
    mean, square = moments(mechanism, group, reported(mechanism, len(PEOPLE)))
    np.testing.assert_allclose(mean, TRUTH, atol=1e-12)
    known = Estimate(TRUTH * group, mechanism.noise, group, 1.0, len(PEOPLE))
    np.testing.assert_allclose(
        square, table_of_estimate((0, 1), SIZES, known).covariance, atol=1e-12
    )


def test_cells_that_are_taken_to_err_apart_would_be_noticed():
    """Broken twin: only the variances of direct response, without the covariance of its cells."""
    _, square = moments(GRR(1.0, 4), 4, reported(GRR(1.0, 4), 4))
    assert abs(square - np.diag(np.diag(square))).max() > 0.1 * np.diag(square).max()
    known = table_of_estimate((0, 1), SIZES, Estimate(TRUTH * 4, GRR(1.0, 4).noise, 4, 1.0, 4))
    apart = MarginalTable((0, 1), known.shares, np.diag(np.diag(known.covariance)))
    both = np.array([[1.0, 1, 0, 0], [0, 0, 1, 1]])
    np.testing.assert_allclose(known.project((0,)).covariance, both @ square @ both.T, atol=1e-12)
    assert np.diag(apart.project((0,)).covariance)[0] > 1.1 * (both @ square @ both.T)[0, 0]


def test_a_group_that_is_taken_for_everybody_would_be_noticed():
    """Broken twin: the drawing of the group is forgotten."""
    _, square = moments(GRR(4.0, 4), 1, reported(GRR(4.0, 4), len(PEOPLE)))
    alone = table_of_estimate((0, 1), SIZES, Estimate(TRUTH, GRR(4.0, 4).noise, 1, 4.0, 1))
    assert np.trace(alone.covariance) < 0.5 * np.trace(square)


def test_a_direct_response_sums_over_several_cells_as_one_response_with_more_truth():
    """n Var = [f p'(1 - p') + (1 - f) q'(1 - q')] / (p - q)^2 with p' = p + (M - 1) q, q' = M q, of
    M cells.
    """
    grr, users, share = GRR(1.0, 8), 1000, 0.3
    votes = np.array([0.1, 0.05, 0.1, 0.05, 0.2, 0.2, 0.2, 0.1]) * users
    table = table_of_estimate((0, 1, 2), (2, 2, 2), Estimate(votes, grr.noise, users, 1.0)).project(
        (0,)
    )
    held, other = grr.p + 3 * grr.q, 4 * grr.q
    stated = (
        (share * held * (1 - held) + (1 - share) * other * (1 - other))
        / (grr.p - grr.q) ** 2
        / users
    )
    np.testing.assert_allclose(np.diag(table.covariance), stated, rtol=1e-9)


@pytest.fixture(scope="module")
def halves():
    """All ways to split four people over the views (0, 1) and (0, 2), and all their reports:
    chances and both tables.

    Of three, one and no reports the larger group has more weight.
    """
    grr, records = GRR(2.0, 4), np.array([[0, 0, 1], [0, 1, 1], [1, 1, 0], [0, 1, 0]])
    cells = {(0, 1): records @ [2, 1, 0], (0, 2): records @ [2, 0, 1]}
    chances, found = grr.likelihood(np.arange(4)), []
    for chosen in combinations(range(4), 3):
        for reports in product(range(4), repeat=4):
            groups = {(0, 1): list(chosen), (0, 2): [one for one in range(4) if one not in chosen]}
            held = [cells[(0, 1)][one] if one in chosen else cells[(0, 2)][one] for one in range(4)]
            tables = {
                view: table_of_estimate(
                    view, (2, 2, 2), grr.estimate(grr.tally(np.array(reports)[people])).of(4)
                )
                for view, people in groups.items()
            }
            found.append((np.prod(chances[list(reports), held]) / 4, tables))
    return found


def test_the_mean_of_several_views_is_unbiased(halves):
    """By enumeration; the covariance leaves out that both groups are drawn from the same people."""
    made = [(chance, ReportedViews(tables, 4).table((0,))) for chance, tables in halves]
    truth = np.array([0.75, 0.25])
    np.testing.assert_allclose(
        sum(chance * table.shares for chance, table in made), truth, atol=1e-12
    )
    square = sum(
        chance * np.outer(table.shares - truth, table.shares - truth) for chance, table in made
    )
    weights = np.array([table.project((0,)).precision for table in halves[0][1].values()])
    weights /= weights.sum()
    assert weights[0] > 0.7
    grr, spread = GRR(2.0, 4), np.diag(truth) - np.outer(truth, truth)
    noise = (
        table_of_estimate((0, 1), (2, 2), Estimate(np.array([1.0, 2, 0, 1]), grr.noise, 4, 2.0))
        .project((0,))
        .covariance
        * 4
    )
    parts = weights**2 / np.array([3, 1])
    together = parts.sum() * noise + spread * (parts.sum() * 4 - 1) / 3
    np.testing.assert_allclose(square, together, atol=1e-12)


def test_weights_that_look_at_the_data_would_be_noticed(halves):
    """Broken twin: the precision that each table states after the reports."""
    found = 0.0
    for chance, tables in halves:
        found = (
            found
            + chance
            * ReportedViews(
                {view: replace(one, uniform_variance=0.0) for view, one in tables.items()}, 4
            )
            .table((0,))
            .shares
        )
    assert abs(found - [0.75, 0.25]).max() > 0.001


def test_several_views_of_the_same_attributes_are_averaged_by_their_precision():
    wide = MarginalTable((0, 1), np.full((2, 2), 0.25), np.eye(4) * 0.3)
    narrow = MarginalTable((0, 2), np.array([[0.4, 0.3], [0.2, 0.1]]), np.eye(4) * 0.1)
    table = ReportedViews({(0, 1): wide, (0, 2): narrow}, 100).table((0,))
    np.testing.assert_allclose(table.shares, [0.25 * 0.5 + 0.75 * 0.7, 0.25 * 0.5 + 0.75 * 0.3])
    np.testing.assert_allclose(np.diag(table.covariance), 0.25**2 * 0.6 + 0.75**2 * 0.2)


def test_attributes_that_are_in_no_view_together_are_refused():
    model = ReportedViews({(0, 1): MarginalTable((0, 1), np.full((2, 2), 0.25), np.eye(4))}, 100)
    assert model.attributes == {0, 1}
    with pytest.raises(ParameterError, match="together"):
        model.table((0, 2))


def test_without_any_report_there_is_no_table():
    class Silence:
        rounds = (type("Asked", (), {"ask": ask_views(1.0, SIZES, [(0, 1)])})(),)

        def estimate(self, address):
            raise NoDataError("nobody")

    with pytest.raises(NoDataError, match="no view"):
        ReportedViews.read(Silence())


def test_each_number_of_cells_has_the_best_mechanism_and_two_cells_the_direct_one():
    sizes = (2, 3, 8)
    best = ask_views(1.0, sizes, [(0,), (0, 1), (1, 2)]).members.mechanisms
    assert [(one.kind, one.size) for one in best] == [("grr", 2), ("subset", 6), ("subset", 24)]


def test_padded_cells_leave_the_covariance_as_stated():
    """Affine response pads 5 cells to 8: sums of cells vary as the noise of the mechanism says."""
    response, votes = AffineResponse(1.0, 5), np.array([40.0, 30, 20, 10, 0])
    table = table_of_estimate((0,), (5,), Estimate(votes, response.noise, 100, 1.0))
    partial = response.noise.among()
    for seed in range(5):
        coefficients = np.random.default_rng(seed).normal(size=5)
        stated = partial.linear(coefficients, votes, 100) / 100**2
        assert coefficients @ table.covariance @ coefficients == pytest.approx(stated)


@pytest.mark.parametrize(
    "mechanism", [GRR(0.2, 16), OUE(0.2, 16), AffineResponse(0.2, 12)], ids=lambda one: one.kind
)
def test_no_sum_of_cells_has_a_negative_variance_however_few_reported(mechanism):
    for users in (1, 3, 50):
        reports = mechanism.privatize(np.zeros(users, np.int64), SeededRng(users))
        table = table_of_estimate(
            (0,), (mechanism.size,), mechanism.estimate(mechanism.tally(reports)).of(1000)
        )
        assert np.linalg.eigvalsh(table.covariance).min() > -1e-9 * np.trace(table.covariance)


def test_tables_with_fakes_are_unbiased_and_vary_as_stated():
    """Views of two and of six cells, whose fakes follow another coin than people; 5 sigma."""
    plan = Marginals({"sex": ["f", "m"], "age": range(3)}, users=100_000, order=1)
    task = Task("mixed", plan, 3.0, shuffle=shuffle(3.0, fakes=600))
    records = [{"sex": "f", "age": 0}] * 360 + [{"sex": "m", "age": 2}] * 240
    people = plan.domain.indices(records)
    truth = {(0,): np.array([0.6, 0.4]), (1,): np.array([0.6, 0.0, 0.4])}
    runs = 300
    rng = SeededRng(6)
    found = {view: [] for view in truth}
    stated = {view: [] for view in truth}
    for _ in range(runs):
        batches = report_batches(task.opening, people, rng)
        batches = with_fakes(batches, task.opening, task.fakes, rng)
        views = ReportedViews.read(MemoryCollected(task).after(task.opening, batches))
        for view in truth:
            table = views.table(view)
            found[view].append(table.shares)
            stated[view].append(np.diag(table.covariance))
    for view, shares in truth.items():
        variances = np.mean(stated[view], axis=0)
        sigmas = (np.mean(found[view], axis=0) - shares) / np.sqrt(variances / runs)
        ratios = np.var(found[view], axis=0) / variances
        print(view, "off by", sigmas, "sigma; variance over the stated one", ratios)
        assert np.abs(sigmas).max() < 5
        assert np.abs(ratios - 1).max() < 5 * np.sqrt(2 / runs)
