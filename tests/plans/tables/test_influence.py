"""The influence of one false message on the numbers of a query: no report scores beyond it."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.lab.seeded import SeededRng
from sottovoce.plans.tables.explain import MOVED, facts_of
from sottovoce.plans.tables.influence import NumberInfluence, ScoreSpan, score_influence, total_span
from sottovoce.plans.tables.pipeline import plan_query, read
from sottovoce.plans.tables.scoring import layer_means
from sottovoce.plans.tables.source import Source

SMALL = sv.Table({"age": range(4), "state": ["x", "y"]})
LARGE = sv.Table({"age": range(32), "state": ["x", "y", "z"]})
QUERIES = [
    "SELECT COUNT(*) FROM people WHERE age >= 1",
    "SELECT SUM(age) FROM people WHERE state = 'x'",
    "SELECT COUNT(*) FROM people WHERE age BETWEEN 1 AND 2 OR state = 'y'",
    "SELECT FREQ(*) FROM people WHERE age < 3",
]


def planned(plan, text, epsilon):
    source = Source(plan.layout(epsilon))
    return plan_query(read(text, source), source)


def scores(scoring, column, member):
    """Return the scores of reports about a layer: all that there are, or many of a hashing one."""
    slot = scoring.factor.slots[0]
    mechanism = slot.mechanism(member)
    if mechanism.kind == "grr":
        reports = mechanism.outcomes()
    else:
        reports = mechanism.privatize(np.arange(3000) % mechanism.size, SeededRng(member))
    return scoring(slot.number, member, reports)[:, column]


def extremes(scoring, column):
    layers = [scores(scoring, column, m) for m in range(len(scoring.factor.slots[0].family))]
    slot = scoring.factor.slots[0]
    worst = (max(layer.max() for layer in layers), min(layer.min() for layer in layers))
    constant = layer_means(slot, scoring.columns[column]) + scoring.columns[column].known
    chances = slot.chances
    means = (
        constant + sum(p * (y.max() - constant) for p, y in zip(chances, layers, strict=True)),
        constant + sum(p * (y.min() - constant) for p, y in zip(chances, layers, strict=True)),
    )
    return worst, means


@pytest.mark.parametrize("text", QUERIES)
@pytest.mark.parametrize("epsilon", [0.7, 3.0])
@pytest.mark.parametrize("plan", [SMALL, LARGE], ids=["small", "large"])
def test_no_report_scores_beyond_the_influence(plan, epsilon, text):
    """With direct response the worst report is found, so the bound is reached."""
    query = planned(plan, text, epsilon)
    for scoring in query.scorings.values():
        kinds = {mechanism.kind for mechanism in scoring.factor.slots[0].family.mechanisms}
        for index, column in enumerate(scoring.columns):
            (high, low), (mean_high, mean_low) = extremes(scoring, index)
            free = score_influence(scoring.factor, column, coins_checked=False)
            dealt = score_influence(scoring.factor, column, coins_checked=True)
            print(text, kinds, free, (high, low), dealt, (mean_high, mean_low))
            assert max(high, 0) <= free.up * (1 + 1e-9) + 1e-9
            assert max(-low, 0) <= free.down * (1 + 1e-9) + 1e-9
            assert max(mean_high, 0) <= dealt.up * (1 + 1e-9) + 1e-9
            assert max(-mean_low, 0) <= dealt.down * (1 + 1e-9) + 1e-9
            if kinds == {"grr"}:
                assert free.up == pytest.approx(max(high, 0))
                assert free.down == pytest.approx(max(-low, 0))


def test_the_bound_is_reached_by_direct_response():
    """The case above is not empty: some small table has nothing but direct response."""
    kinds = {
        mechanism.kind
        for mechanism in planned(SMALL, QUERIES[0], 3.0)
        .layout.factors[0]
        .slots[0]
        .family.mechanisms
    }
    assert kinds == {"grr"}


def test_dealt_layers_bound_less_than_chosen_ones():
    query = planned(LARGE, QUERIES[0], 1.0)
    scoring = query.scorings[0]
    free = score_influence(scoring.factor, scoring.columns[0], coins_checked=False)
    dealt = score_influence(scoring.factor, scoring.columns[0], coins_checked=True)
    assert dealt.up < free.up


def test_a_join_multiplies_the_extremes_of_its_tables():
    tables = {"people": sv.Table({"age": range(4)}), "pets": sv.Table({"kind": ["cat", "dog"]})}
    plan = sv.Joint(tables)
    text = "SELECT COUNT(*) FROM people JOIN pets USING (uid) WHERE age < 2 AND kind = 'cat'"
    query = planned(plan, text, 4.0)
    candidate = query.prediction.candidate
    (term,) = query.totals[0].products
    parts = [
        score_influence(
            query.layout.factors[score.factor], candidate.coefficients(score), coins_checked=False
        )
        for score in term.scores
    ]
    span = total_span(candidate, query.totals[0], coins_checked=False)
    corners = [
        first * second
        for first in (parts[0].up, -parts[0].down)
        for second in (parts[1].up, -parts[1].down)
    ]
    assert (span.high, span.low) == pytest.approx((max(corners), min(corners)))
    dealt = total_span(candidate, query.totals[0], coins_checked=True)
    assert dealt.high <= max(abs(corner) for corner in corners)


def test_a_ratio_moves_around_itself_and_a_count_around_zero():
    query = planned(SMALL, "SELECT AVG(age), COUNT(*) FROM people WHERE state = 'x'", 3.0)
    row = query.rows[0]
    candidate = query.prediction.candidate
    average, count = (
        NumberInfluence(candidate, row, number, coins_checked=False) for number in row.numbers
    )
    assert average.exposure([750.0, 500.0], 1000).origin == pytest.approx(1.5)
    assert count.exposure([500.0], 1000).origin == pytest.approx(0.0)
    assert average.exposure([750.0, 0.0], 1000) is None, "there is no such mean"


def test_explain_says_what_one_false_report_does():
    query = planned(SMALL, "SELECT COUNT(*), AVG(age) FROM people WHERE state = 'x'", 3.0)
    facts = facts_of(query, 10_000)
    assert [number["name"] for number in facts["numbers"]] == ["count", "avg_age"]
    assert facts["coins"] == "chosen by whoever reports"
    count, average = (number[MOVED] for number in facts["numbers"])
    exposure = NumberInfluence(
        query.prediction.candidate, query.rows[0], query.rows[0].numbers[0], coins_checked=False
    ).exposure([5_000.0], 10_000)
    assert count == pytest.approx(max(exposure.influence.up, exposure.influence.down))
    assert 0 < average < 0.01
    dealt = facts_of(query, 10_000, coins_checked=True)
    assert dealt["numbers"][0][MOVED] < count
    assert dealt["coins"] == "dealt by enrolment tokens"


def test_spans_add_and_multiply():
    assert ScoreSpan(-1.0, 2.0).plus(ScoreSpan(-3.0, 1.0)) == ScoreSpan(-4.0, 3.0)
    assert ScoreSpan(-1.0, 2.0).times(ScoreSpan(-3.0, 1.0)) == ScoreSpan(-6.0, 3.0)
    assert ScoreSpan(1.0, 2.0).influence.down == 0.0
