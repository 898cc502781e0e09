"""Tables of pooled views: inside views, by maximum entropy, and whether their intervals cover."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from plans.marginals.agreement import disagreement
from plans.marginals.drawn_views import drawn
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.lab.baselines.marginals.calm import Calm
from sottovoce.plans.marginals.independence import dependence
from sottovoce.plans.marginals.marginal_table import project
from sottovoce.plans.marginals.pooled_tables import PooledTables
from sottovoce.plans.marginals.reported_views import ReportedViews

SIX = (2,) * 6
EVERYTHING = tuple(range(6))
PAIRS = tuple(combinations(EVERYTHING, 2))
SINGLES = tuple((one,) for one in EVERYTHING)


def chain(strength=0.6):
    """Return bits that copy the one before them with some probability; the first is rare."""
    joint = np.array([0.7, 0.3])
    for _ in range(5):
        copied = (1 - strength) * np.array([[0.6, 0.4]] * 2) + strength * np.eye(2)
        joint = joint[..., None] * copied
    return joint


JOINT = chain()


def collected(views=PAIRS, users=20_000, epsilon=1.0, seed=1, joint=JOINT):
    reported = drawn(joint, views, users, epsilon, np.random.default_rng(seed))
    return PooledTables(reported, joint.shape)


def test_views_agree_and_tables_inside_are_projections():
    model = collected()
    assert disagreement(model.views) < 1e-12
    fitted = model.fit((1, 4))
    np.testing.assert_allclose(fitted.table, model.views[1, 4])
    assert fitted.sweeps == 0
    assert model.fit(EVERYTHING).table.sum() == pytest.approx(1)


def test_steps_and_raw_tables_are_stated():
    model = collected()
    inside = model.table((0, 1))
    assert inside.steps[0] == "15 views pooled and shrunken"
    assert not inside.guessed
    np.testing.assert_array_equal(inside.raw.shares, model.reported.table((0, 1)).shares)
    outside = model.table((0, 1, 2))
    assert outside.guessed
    assert outside.raw is None
    assert outside.steps[-1].startswith("maximum entropy (")


def test_an_answer_reads_the_same_twice():
    for view in ((0, 1), (0, 1, 2)):
        one = collected().table(view)
        other = collected().table(view)
        np.testing.assert_array_equal(one.covariance, other.covariance)


def test_what_no_view_contains_is_refused_or_said_to_be_unknown():
    model = collected(SINGLES)
    with pytest.raises(NoDataError, match="no view contains"):
        model.unbiased((0, 1))
    assert model.table((0, 1)).guessed
    few = collected(((0, 1), (1, 2)))
    with pytest.raises(ParameterError, match="in no view"):
        few.fit((0, 5))


def test_tables_are_nearer_than_those_of_calm():
    """Weak ties, over 8 collections with the same reports, pairs and triples."""
    joint = chain(0.15)
    views = [*PAIRS, *combinations(EVERYTHING, 3)]
    apart = {PooledTables: [], Calm: []}
    for seed in range(8):
        reported = collected(seed=seed, joint=joint).reported
        for kind, found in apart.items():
            model = kind(reported, SIX)
            found += [
                np.abs(model.fit(view).table - project(joint, EVERYTHING, view)).sum() / 2
                for view in views
            ]
    ours, published = np.mean(apart[PooledTables]), np.mean(apart[Calm])
    print("distance", ours, "CALM", published)
    assert ours < 0.9 * published


def hopeful(reported, sizes):
    """Return tables of reports that are said to have half of their noise."""
    tables = {
        view: replace(
            table,
            centred_variance=table.centred_variance / 4,
            covariance=table.covariance / 4,
        )
        for view, table in reported.tables.items()
    }
    return PooledTables(ReportedViews(tables, reported.users), sizes)


def coverage(kind, targets, views, runs, seed=0):
    generator = np.random.default_rng(seed)
    hits = []
    for _ in range(runs):
        reported = drawn(JOINT, views, 8_000, 1.5, generator)
        model = kind(reported, SIX)
        for view in targets:
            table = model.table(view)
            errors = (table.shares - project(JOINT, EVERYTHING, view)).ravel()
            hits.append(np.abs(errors) <= 1.96 * np.sqrt(np.diag(table.covariance)))
    return float(np.concatenate(hits).mean())


TRIPLES = ((0, 1, 2), (1, 3, 5), (2, 3, 4))


def test_intervals_cover_inside_views_and_outside():
    """The window is calibrated: over 200 collections 94 to 98 % were seen."""
    inside = coverage(PooledTables, PAIRS[::3], PAIRS, 12)
    outside = coverage(PooledTables, TRIPLES, PAIRS, 12)
    print("coverage", inside, outside)
    assert 0.91 < inside <= 1
    assert 0.91 < outside <= 1


def test_intervals_that_forget_half_of_the_noise_are_caught():
    assert coverage(hopeful, PAIRS[::3], PAIRS, 8) < 0.85


def test_pooled_tables_give_the_test_of_independence_more_power():
    """A tie of rare values: single attributes are known from all views, not from the pair's own."""
    joint = chain(0.07)
    generator = np.random.default_rng(4)
    pooled = []
    alone = []
    for _ in range(40):
        model = PooledTables(drawn(joint, PAIRS, 60_000, 1.5, generator), SIX)
        pooled.append(dependence(model.unbiased((0, 1)), model.users).statistic)
        alone.append(dependence(model.reported.table((0, 1)), model.users).statistic)
    print("mean statistic", np.mean(pooled), "of the pair's own views", np.mean(alone))
    assert np.mean(pooled) > np.mean(alone)
