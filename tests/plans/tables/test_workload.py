"""Weights of layers for a workload: exact errors by enumeration, the best of all weights tried, and
answers of genuine collections.
"""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

import sottovoce as sv
from plans.tables.enumeration import of_total, people, stated
from plans.tables.plans import layout_of, ordinal, plan, planned, question, truth
from sottovoce.domains.categories import Categories
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.tables.plan import PublishedTables
from sottovoce.plans.tables.coefficients import Coefficients
from sottovoce.plans.tables.method import Method
from sottovoce.plans.tables.pipeline import plan_query, read
from sottovoce.plans.tables.scoring import layer_means
from sottovoce.plans.tables.source import Source
from sottovoce.plans.tables.workload import WeightedQuery, layer_weights, workload_of
from sottovoce.wire import codec

THREE = Categories(("x", "y", "z"))
LABELS = {name: [f"{name}{value}" for value in range(4)] for name in "abcdef"}
POINT = "SELECT COUNT(*) FROM people WHERE " + " AND ".join(f"{name} = '{name}1'" for name in "abc")
ONE_WAY = [f"SELECT COUNT(*) FROM people WHERE {name} = '{name}1'" for name in "abcdef"]


def variance(layout, text):
    """The predicted variance of one person's part of the first total."""
    source = Source(layout)
    return plan_query(read(text, source), source).variances[0]


@pytest.mark.parametrize("signal", [0.0, 1.0])
@pytest.mark.parametrize("measured", [None, 0])
def test_answers_are_unbiased_with_the_predicted_variance(signal, measured):
    """Every layer, every report, every map of a seed."""
    even = layout_of({"a": ordinal(4), "b": THREE}, epsilon=2.0)
    layers = len(even.factors[0].slots[0].family)
    weights = tuple(np.random.default_rng(1).integers(1, 9, layers).tolist())
    layout = replace(even, weights=(weights,))
    rows = people(layout)
    for where in ({0: [0, 1, 2], 1: [1]}, {1: [0, 2]}, {0: [3]}):
        method = Method("blue", "lin", signal=signal)
        work = planned(layout, question(layout, where, measured=measured), method)
        mean, spread = of_total(work, rows)
        np.testing.assert_allclose(mean, truth(layout, rows, where, measured=measured), atol=1e-9)
        assert stated(work).variance == pytest.approx(spread.mean(), rel=1e-9)


def test_a_forgotten_scale_of_a_layer_is_noticed():
    even = layout_of({"a": ordinal(4), "b": THREE}, epsilon=2.0)
    layers = len(even.factors[0].slots[0].family)
    layout = replace(even, weights=(tuple(range(1, layers + 1)),))
    work = planned(layout, question(layout, {0: [0, 1, 2], 1: [1]}), Method())
    (scoring,) = work.scorings.values()
    broken = replace(scoring, columns=tuple(replace(c, scales=None) for c in scoring.columns))
    score = scoring.factor.slots[0].family[3].mechanism.outcomes()
    assert not np.allclose(scoring(0, 3, score), broken(0, 3, score))


@pytest.mark.parametrize("query", [POINT, ONE_WAY[0]])
def test_no_other_weights_are_much_better(query):
    """Up to the share that is kept for other queries; random ones and single layers are tried."""
    columns = {name: LABELS[name] for name in "abc"}
    even = sv.Table(columns).layout(1.0)
    best = replace(even, weights=layer_weights(even, [WeightedQuery(query)]))
    layers = len(even.factors[0].slots[0].family)
    dice = np.random.default_rng(2)
    tried = [tuple(dice.integers(1, 1000, layers).tolist()) for _ in range(20)]
    tried += [
        tuple(1 + 10**6 * (each == layer) for each in range(layers)) for layer in range(layers)
    ]
    least = min(variance(replace(even, weights=(each,)), query) for each in tried)
    assert variance(best, query) < 1.05 * least
    assert variance(even, query) > 1.5 * least


def test_points_reach_marginals_and_labels_beat_splitting():
    """The questions on which even layers lose to a published method."""
    three = sv.Table({name: LABELS[name] for name in "abc"}, workload=[POINT])
    published = PublishedTables(three, "mg")
    assert variance(three.layout(2.0), POINT) < 1.05 * variance(published.layout(2.0), POINT)
    six = sv.Table(LABELS, workload=ONE_WAY)
    splitting = PublishedTables(six, "sc")
    assert variance(six.layout(2.0), ONE_WAY[0]) < 0.1 * variance(splitting.layout(2.0), ONE_WAY[0])


def test_queries_that_matter_more_get_more_people():
    columns = {name: LABELS[name] for name in "abc"}
    light = sv.Table(columns, workload=[(POINT, 1), (ONE_WAY[0], 9)])
    heavy = sv.Table(columns, workload={POINT: 9, ONE_WAY[0]: 1})
    assert variance(heavy.layout(1.0), POINT) < variance(light.layout(1.0), POINT)
    assert variance(heavy.layout(1.0), ONE_WAY[0]) > variance(light.layout(1.0), ONE_WAY[0])


def test_joins_and_lists_have_weights_of_their_own():
    tables = {
        "users": sv.Table({"age": range(25), "home": ["flat", "house"]}),
        "orders": sv.Table({"amount": range(25), "kind": ["x", "y", "z"]}, most=3),
        "other": sv.Table({"mood": ["good", "bad"], "day": range(7)}),
    }
    text = "SELECT SUM(amount) FROM orders JOIN users USING (uid) WHERE age < 10 AND home = 'flat'"
    even = sv.Joint(tables)
    best = sv.Joint(tables, workload=[text])
    assert [bool(each) for each in best.weights] == [True, True, False]
    assert variance(best.layout(6.0), text) < 0.5 * variance(even.layout(6.0), text)


def test_a_genuine_collection_has_the_predicted_error():
    """Counts, averages and groups from 30,000 people, five standard errors from the truth; the
    stated error is the predicted one within 15 %.
    """
    dice = np.random.default_rng(5)
    columns = {"age": range(25), "home": ["flat", "house", "boat"]}
    queries = [
        "SELECT COUNT(*) AS n FROM people WHERE age BETWEEN 5 AND 14 AND home = 'flat'",
        "SELECT SUM(age) AS n FROM people WHERE home <> 'boat'",
        "SELECT home, COUNT(*) AS n FROM people GROUP BY home",
    ]
    table = sv.Table(columns, workload=queries[:2])
    data = {"age": dice.integers(0, 25, 30_000), "home": dice.choice(columns["home"], 30_000)}
    db = sv.simulate(sv.Task("t", table, epsilon=2.0), data, seed=5)
    flat, boat = data["home"] == "flat", data["home"] == "boat"
    within = (data["age"] >= 5) & (data["age"] <= 14)
    truths = [(flat & within).sum(), data["age"][~boat].sum(), flat.sum()]
    for text, true in zip(queries, truths, strict=True):
        figure = db.sql(text).figures[0][0]
        expected = sqrt(30_000 * variance(table.layout(2.0), text))
        assert abs(figure.value - true) < 5 * figure.error
        assert figure.error == pytest.approx(expected, rel=0.15)
    grouped = [row[0].value for row in db.sql(queries[2]).figures]
    np.testing.assert_allclose(db["people.home"].estimate.totals, grouped)


def test_documents_hold_the_weights_and_old_ones_have_none():
    weighted = sv.Task("t", sv.Table(LABELS, workload=ONE_WAY), epsilon=1.0)
    content = codec.document(weighted)
    restored = codec.task(codec.parse(codec.canonical(content)))
    assert restored.plan == weighted.plan
    assert restored.plan.weights == weighted.plan.weights
    assert restored.opening == weighted.opening
    even = codec.document(sv.Task("t", sv.Table(LABELS), epsilon=1.0))
    assert "weights" not in even["plan"]
    assert "workload" not in content["plan"]


def test_workloads_are_queries_with_weights_above_nought():
    assert workload_of({"q": 2}) == (WeightedQuery("q", 2.0),)
    for wrong in ("SELECT 1", [], [("q", 0)], [("q", True)], [3], [("q", 1, 2)]):
        with pytest.raises(ParameterError, match="`workload`"):
            workload_of(wrong)
    with pytest.raises(ParameterError, match="must ask for numbers"):
        sv.Table(LABELS, workload=["SHOW TABLES"])
    with pytest.raises(ParameterError, match="not both"):
        sv.Table(LABELS, workload=ONE_WAY, weights=((1,) * 63,))
    with pytest.raises(ParameterError, match="`weights`"):
        sv.Table(LABELS, weights=((1,) * 5,))
    assert sv.Table(LABELS, weights=[[1] * 63]).weights == ((1,) * 63,)


def test_a_query_without_a_private_part_leaves_layers_even():
    table = sv.Table(
        {"a": ["x", "y"]},
        public={"os": ["x", "y"]},
        workload=["SELECT os, COUNT(*) FROM people GROUP BY os"],
    )
    assert table.weights == ()
    assert plan(table.layout(1.0), read("SELECT COUNT(*) FROM people", Source(table.layout(1.0))))


def test_balanced_layers_follow_from_the_columns_alone():
    """Points are nearly as good as if everybody were asked about the finest layer; nothing is much
    worse than it is allowed to be.
    """
    columns = {name: LABELS[name] for name in "abc"}
    even, balanced = (sv.Table(columns, workload=each) for each in (None, "balanced"))
    alone = sv.Table(columns, workload=[POINT])
    layouts = [each.layout(1.0) for each in (even, balanced, alone)]
    points = [variance(layout, POINT) for layout in layouts]
    singles = [variance(layout, ONE_WAY[0]) for layout in layouts]
    print(f"points {points}, single columns {singles}")
    assert points[1] < 1.2 * points[2] < points[0]
    assert singles[1] < 3.5 * singles[0] < singles[2]


def test_every_table_of_a_join_is_balanced_and_other_words_are_refused():
    tables = {
        "users": sv.Table({"age": range(25), "home": ["flat", "house"]}),
        "orders": sv.Table({"amount": range(25), "kind": ["x", "y", "z"]}, most=3),
    }
    assert all(sv.Joint(tables, workload="balanced").weights)
    assert sv.Table({"age": range(25)}, workload="balanced").weights
    with pytest.raises(ParameterError, match="a list of queries, or 'balanced'"):
        sv.Table({"age": range(25)}, workload="any")


@pytest.mark.parametrize("is_weighted", [False, True])
def test_a_total_that_no_layer_has_a_part_in_has_the_mean_nought(is_weighted):
    """Nobody can meet the condition of such a total."""
    slot = layout_of({"a": ordinal(4), "b": THREE}, epsilon=2.0).factors[0].slots[0]
    scales = np.ones(len(slot.family)) if is_weighted else None
    nothing = Coefficients(groups=tuple(() for _ in slot.groups), known=0.0, scales=scales)
    assert layer_means(slot, nothing) == 0
