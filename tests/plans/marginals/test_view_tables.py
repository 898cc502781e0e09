"""The table of any attributes from views: projected, by maximum entropy, with errors."""

from dataclasses import dataclass

import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.plans.marginals.marginal_table import MarginalTable, project
from sottovoce.plans.marginals.maximum_entropy import FittedTable
from sottovoce.plans.marginals.reported_views import ReportedViews
from sottovoce.plans.marginals.view_tables import REPLICATES, ViewTables, entropy_step

JOINT = np.random.default_rng(1).dirichlet(np.ones(12)).reshape(2, 3, 2)
VIEWS = ((0, 1), (1, 2))


@dataclass(frozen=True, eq=False)
class AsReported(ViewTables):
    """The simplest method: views as they are, replicates by their noise."""

    @property
    def views(self):
        return {view: table.shares for view, table in self.reported.tables.items()}

    @property
    def replicates(self):
        generator = np.random.default_rng(self.seed)
        return {
            view: np.concatenate([shares[None], shares + self.noise(view, generator)])
            for view, shares in self.views.items()
        }

    def steps(self, fitted):
        return entropy_step(fitted)


def model(variance=1e-6):
    tables = {}
    for view in VIEWS:
        shares = project(JOINT, (0, 1, 2), view)
        tables[view] = MarginalTable(view, shares, variance * np.eye(shares.size))
    return AsReported(ReportedViews(tables, 500), JOINT.shape)


def test_a_table_inside_a_view_is_projected_with_its_noise():
    table = model().table((1,))
    np.testing.assert_allclose(table.shares, JOINT.sum(axis=(0, 2)))
    assert table.steps == ()
    assert not table.guessed
    # Each share sums two cells of the first view; the variance of a variance is 2 / replicates.
    ratios = np.diag(table.covariance) / 2e-6
    assert np.abs(ratios - 1).max() < 5 * np.sqrt(2 / REPLICATES)


def test_a_table_outside_views_has_their_marginals():
    table = model().table((0, 1, 2))
    for view in VIEWS:
        np.testing.assert_allclose(
            project(table.shares, (0, 1, 2), view), project(JOINT, (0, 1, 2), view), atol=1e-8
        )
    assert table.guessed
    assert table.steps[0].startswith("maximum entropy (")
    assert table.raw is None


def test_errors_replay_and_unknown_attributes_are_refused():
    np.testing.assert_array_equal(
        model().table((0, 1)).covariance, model().table((0, 1)).covariance
    )
    with pytest.raises(ParameterError, match="in no view"):
        model().fit((0, 3))


def test_errors_are_the_same_whichever_eigenvectors_a_processor_finds(monkeypatch):
    """All eigenvalues are equal here, so that any rotation of the eigenvectors is as good."""
    before = model().noise((0, 1), np.random.default_rng(2))
    rotation, _ = np.linalg.qr(np.random.default_rng(3).standard_normal((6, 6)))
    monkeypatch.setattr(np.linalg, "eigh", lambda matrix: (np.diag(matrix), rotation))
    after = model().noise((0, 1), np.random.default_rng(2))
    np.testing.assert_allclose(after, before, rtol=1e-9)


def test_a_step_does_not_tell_of_rounding():
    assert entropy_step(FittedTable(JOINT, 5.6e-17, 2)) == (
        "maximum entropy (2 sweeps, residual below 1e-12)",
    )
    assert entropy_step(FittedTable(JOINT, 0.02, 2)) == (
        "maximum entropy (2 sweeps, residual 0.02)",
    )
