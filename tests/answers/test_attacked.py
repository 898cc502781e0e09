"""Intervals that allow for false reports: they cover under attack, and their width is known."""

from functools import partial

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.answers.attacked import COLUMNS, checked_fakes, columns_of, sentence
from sottovoce.engine.memory import ReportBatch, drive, joined
from sottovoce.errors import ParameterError
from sottovoce.lab.attacks.chosen_coins import ChosenCoins
from sottovoce.lab.attacks.input_manipulation import InputManipulation
from sottovoce.lab.attacks.support_target import SupportTarget
from sottovoce.lab.seeded import SeededRng
from sottovoce.lab.simulate import report_batches
from sottovoce.plans.tables.pipeline import plan_query, read
from sottovoce.plans.tables.source import Source
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.question import Address

LABELS = tuple("abcdefgh")
HONEST = np.repeat(LABELS, [900, 500, 300, 150, 80, 50, 20, 0]).tolist()
TRUE_SHARES = {label: HONEST.count(label) / len(HONEST) for label in LABELS}
FAKES = 0.05
RUNS = 100
# Five sigma below 95 % of the runs.
FEWEST = RUNS * 0.95 - 5 * np.sqrt(RUNS * 0.95 * 0.05)


def histogram(kind):
    return sv.Task("letters", sv.Histogram(list(LABELS), kind), epsilon=1.0)


ATTACKS = {
    "promote": lambda domain: SupportTarget(domain, ("h",)),
    "demote": lambda domain: SupportTarget(domain, ("b",), against=True),
    "lie": lambda domain: InputManipulation(domain, ("h", "g")),
}
TARGETS = {"promote": "h", "demote": "b", "lie": "g"}


@pytest.mark.parametrize("name", sorted(ATTACKS))
@pytest.mark.parametrize("kind", ["grr", "affine", "olh", "oue", "subset", "hadamard"])
def test_the_interval_covers_under_attack_and_the_ordinary_one_does_not(kind, name):
    """The twin without allowance fails for every attack that supports a target with certainty."""
    task = histogram(kind)
    attack = ATTACKS[name](task.plan.domain)
    target = TARGETS[name]
    covered = twin = 0
    for seed in range(RUNS):
        answer = sv.simulate(task, HONEST, seed=seed, attack=attack, share=FAKES)
        answer = answer.at(0.95, fakes=FAKES)
        row = next(row for row in answer.rows() if row["value"] == target)
        truth = TRUE_SHARES[target] * answer.users
        covered += row["low_attacked"] <= truth <= row["high_attacked"]
        twin += row["low"] <= truth <= row["high"]
    print(kind, name, "covered", covered, "ordinary", twin, "at least", FEWEST)
    assert covered >= FEWEST
    if name == "promote":
        assert twin < FEWEST


@pytest.mark.parametrize("kind", ["grr", "affine", "oue"])
def test_the_width_is_the_closed_form(kind):
    answer = sv.simulate(histogram(kind), HONEST, seed=1).at(0.9, fakes=FAKES)
    mechanism = sv.simulate(histogram(kind), HONEST, seed=1).estimate.law
    up, down = (
        (1 - mechanism.q) / (mechanism.p - mechanism.q),
        mechanism.q / (mechanism.p - mechanism.q),
    )
    for row in answer.rows():
        low = (row["low"] - FAKES * answer.users * up) / (1 - FAKES)
        high = (row["high"] + FAKES * answer.users * down) / (1 - FAKES)
        assert (row["low_attacked"], row["high_attacked"]) == pytest.approx((low, high))


@pytest.mark.parametrize("checked", [False, True])
def test_a_group_may_be_joined_by_all_attackers_unless_tokens_deal_it(checked):
    """Of four questions the attackers choose one, or are dealt evenly.

    The bounds of the second case would miss in the first.
    """
    domain = {name: list(LABELS) for name in ("p", "q", "r", "s")}
    collection = Collection(enrolment=True) if checked else None
    task = sv.Task("survey", sv.Survey(domain), epsilon=2.0, collection=collection)
    values = dict.fromkeys(domain, HONEST)
    target = dict.fromkeys(domain, "h")
    attack = SupportTarget(task.plan.domain, (target,))
    if not checked:
        attack = ChosenCoins(attack, (2,))
    covered = twin = 0
    for seed in range(RUNS):
        outcome = sv.simulate(task, values, seed=seed, attack=attack, share=FAKES)
        answer = outcome["r"].at(0.95, fakes=FAKES)
        row = next(row for row in answer.rows() if row["value"] == "h")
        covered += row["low_attacked"] <= 0 <= row["high_attacked"]
        even = (row["low"] - FAKES * answer.estimate.law.cells(8)[7].up * outcome.users) / 0.95
        twin += even <= 0
    print("checked", checked, "covered", covered, "as if dealt", twin)
    assert covered >= FEWEST
    if not checked:
        assert twin < FEWEST


def test_where_all_reports_of_a_question_may_be_false_there_is_no_bound():
    task = sv.Task("survey", sv.Survey({"p": ["x", "y"], "q": ["x", "y"]}), epsilon=2.0)
    answers = sv.simulate(task, {"p": ["x"] * 400, "q": ["y"] * 400}, seed=1)
    row = answers.at(0.95, fakes=0.6).rows()[0]
    assert (row["low_attacked"], row["high_attacked"]) == (None, None)
    assert "no bound" in str(answers.at(0.95, fakes=0.6))
    about = answers.at(0.95, fakes=0.6)["p"].about
    assert "could be all the reports" in about["no_bound"]
    assert "no_bound" not in answers.at(0.95, fakes=0.1)["p"].about


@pytest.mark.parametrize("kind", ["duchi", "hybrid"])
def test_a_mean_covers_under_attack(kind):
    task = sv.Task("weight", sv.Mean(0, 10, kind), epsilon=1.0)
    values = np.linspace(2, 4, 2000)
    attack = SupportTarget(task.plan.domain, (10,))
    covered = twin = 0
    for seed in range(RUNS):
        answer = sv.simulate(task, values, seed=seed, attack=attack, share=FAKES)
        answer = answer.at(0.95, fakes=FAKES)
        (row,) = answer.rows()
        covered += row["low_attacked"] <= 3 <= row["high_attacked"]
        twin += row["low"] <= 3 <= row["high"]
    print(kind, "covered", covered, "ordinary", twin)
    assert covered >= FEWEST
    assert twin < FEWEST


def test_a_distribution_bounds_all_but_its_variance():
    task = sv.Task("weight", sv.Distribution(0, 10, 64), epsilon=2.0)
    values = np.linspace(2, 4, 4000)
    attack = SupportTarget(task.plan.domain, (9.9,))
    answer = sv.simulate(task, values, seed=1, attack=attack, share=FAKES).at(0.95, fakes=FAKES)
    figures = {row["value"]: row for row in answer.measures().rows()}
    assert figures["mean"]["low_attacked"] <= 3 <= figures["mean"]["high_attacked"]
    assert not figures["mean"]["low"] <= 3 <= figures["mean"]["high"]
    assert figures["50 %"]["low_attacked"] < 3 < figures["50 %"]["high_attacked"]
    assert figures["variance"]["low_attacked"] is None
    assert "not sums over reports" in answer.measures().about["no_bound"]
    row = answer.rows()[0]
    assert row["low_attacked"] <= row["low"] <= row["high"] < row["high_attacked"]
    assert answer.about["influence"]["mean"]["up"] > 0
    assert "no_bound" not in answer.about


def test_post_processing_keeps_the_bounds_of_the_raw_estimate():
    task = histogram("affine")
    answer = sv.simulate(task, HONEST, seed=3).at(0.95, fakes=FAKES)
    raw, processed = answer.rows(), answer.consistent().rows()
    for before, after in zip(raw, processed, strict=True):
        assert after["low_attacked"] == pytest.approx(min(before["low_attacked"], after["low"]))
        assert after["high_attacked"] == pytest.approx(max(before["high_attacked"], after["high"]))
    assert answer.consistent().about["influence"] == answer.about["influence"]


def test_sums_have_bounds_of_their_own():
    """A report supports one value with direct response: a sum is exposed like one value."""
    answer = sv.simulate(histogram("grr"), HONEST, seed=3)
    alone, together = answer.sum(["a"]), answer.sum(["a", "b", "c"])
    gain = answer.estimate.law.p - answer.estimate.law.q
    assert alone.exposure.influence.up == pytest.approx((1 - answer.estimate.law.q) / gain)
    assert together.exposure.influence.up == pytest.approx((1 - 3 * answer.estimate.law.q) / gain)
    low, high = together.attacked(0.95, FAKES)
    assert low < together.interval()[0] < together.interval()[1] < high
    processed = answer.consistent().sum(["a", "b", "c"])
    assert processed.exposure is None
    assert processed.raw.exposure == together.exposure
    assert processed.attacked(0.95, FAKES)[0] <= processed.interval()[0]


def test_a_bloom_filter_has_no_bound():
    pytest.importorskip("sklearn")
    answer = sv.simulate(histogram("bloom"), HONEST, seed=3).at(0.95, fakes=FAKES)
    assert answer.about["influence"] is None
    assert answer.rows()[0]["low_attacked"] is None
    assert answer.sum(["a"]).attacked(0.95, FAKES) is None
    assert "not sums over reports" in answer.about["no_bound"]


def test_marginal_tables_are_exposed_through_the_view_that_an_attacker_chooses():
    domain = {name: ["x", "y"] for name in "abcd"}
    plan = sv.Marginals(domain, users=4000, order=2)
    values = {name: np.where(np.arange(4000) % 3 == 0, "x", "y").tolist() for name in "abcd"}
    free = sv.simulate(sv.Task("table", plan, epsilon=2.0), values, seed=1)
    dealt_task = sv.Task("table", plan, epsilon=2.0, collection=Collection(enrolment=True))
    dealt = sv.simulate(dealt_task, values, seed=1)
    chosen, even = (answers.marginal("a", "b").about["influence"] for answers in (free, dealt))
    assert chosen["up"] > even["up"]
    row = free.marginal("a", "b").at(0.95, fakes=0.01).rows()[0]
    assert row["low_attacked"] < row["low"] < row["high"] < row["high_attacked"]


def tables(text, epsilon=3.0):
    """Return a task about a table, a query, and the report that moves its first number most."""
    plan = sv.Table({"age": range(16), "state": ["x", "y", "z"]})
    task = sv.Task("people", plan, epsilon=epsilon)
    source = Source(plan.layout(epsilon))
    query = plan_query(read(text, source), source)
    scoring = query.scorings[0]
    best = (-np.inf, None, None)
    for member in range(len(scoring.factor.slots[0].family)):
        mechanism = scoring.factor.slots[0].mechanism(member)
        reports = mechanism.privatize(np.arange(4000) % mechanism.size, SeededRng(member))
        scores = scoring(0, member, reports)[:, 0]
        index = int(np.argmax(scores))
        best = max(best, (float(scores[index]), member, reports[index : index + 1]), key=first)
    return task, best


def first(entry):
    return entry[0]


AGES, STATES = np.arange(4000) % 16, np.arange(4000) % 3
QUERIES = {
    "SELECT COUNT(*) FROM people WHERE age < 5": (AGES < 5).mean(),
    "SELECT SUM(age) FROM people WHERE state = 'x'": (AGES * (STATES == 0)).mean(),
}


@pytest.mark.parametrize("text", QUERIES)
def test_queries_cover_under_the_worst_message_that_was_found(text):
    task, (score, member, report) = tables(text)
    states = [("x", "y", "z")[state] for state in STATES]
    people = task.plan.domain.indices({"age": AGES, "state": states})
    fakes = 0.02
    attackers = round(4000 * fakes / (1 - fakes))
    covered = twin = 0
    for seed in range(20):
        outcome = drive(task, partial(poisoned_batches, people, (member, report, attackers), seed))
        result = outcome.sql(text).at(0.95, fakes=fakes)
        (row,) = result.rows()
        name = result.names[0]
        expected = QUERIES[text] * result.users
        covered += row[f"{name}_low_attacked"] <= expected <= row[f"{name}_high_attacked"]
        twin += row[f"{name}_low"] <= expected <= row[f"{name}_high"]
    print(text, "score", score, "covered", covered, "ordinary", twin)
    assert covered >= 20 * 0.95 - 5 * np.sqrt(20 * 0.95 * 0.05)
    assert twin < 5


def poisoned_batches(people, attack, seed, asked):
    """Return the honest reports of a round, and those of attackers who all send one report."""
    member, report, attackers = attack
    batches = report_batches(asked, people, SeededRng(seed), subjects=True)
    address = Address(0, member)
    false = ReportBatch(np.repeat(report, attackers), np.arange(4000, 4000 + attackers))
    return {**batches, address: joined([batches[address], false])}


def test_explanations_and_texts_name_the_share():
    outcome = sv.simulate(histogram("grr"), HONEST, seed=1)
    assert "if up to 5 % of the reports were false" in str(outcome.at(0.95, fakes=FAKES))
    assert outcome.at(0.95, fakes=FAKES).about["fakes"] == FAKES
    assert "fakes" not in outcome.about
    assert set(outcome.rows()[0]).isdisjoint(COLUMNS)
    mean = sv.simulate(sv.Task("m", sv.Mean(0, 1), epsilon=1.0), [0.5] * 500, seed=1)
    assert "were false" in str(mean.at(0.95, fakes=0.01))
    assert mean.about["influence"]["mean"]["up"] > 0


@pytest.mark.parametrize("fakes", [0, 1, -0.1, "x", True])
def test_a_share_of_false_reports_lies_between_0_and_1(fakes):
    with pytest.raises(ParameterError, match="`fakes` must be a number above 0 and below 1"):
        sv.simulate(histogram("grr"), HONEST, seed=1).at(0.95, fakes=fakes)


def test_columns_without_a_bound_are_empty():
    assert columns_of(None) == {"low_attacked": None, "high_attacked": None}
    assert columns_of((float("nan"), float("nan"))) == columns_of(None)
    assert columns_of((1.0, 2.0)) == {"low_attacked": 1.0, "high_attacked": 2.0}
    assert checked_fakes(None) is None
    assert sentence(0.01) == "if up to 1 % of the reports were false"
