"""What a task about tables states of false reports: no message that exists exceeds it."""

from itertools import product
from math import prod

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.lab.seeded import SeededRng
from sottovoce.plans.tables.explain import MOVED, facts_of
from sottovoce.plans.tables.pipeline import plan_query, read
from sottovoce.plans.tables.source import Source
from sottovoce.tasks.collection import Collection

PEOPLE = sv.Table({"age": range(4), "state": ["x", "y"]})
BASKETS = sv.Table({"price": range(3), "item": ["a", "b"]}, most=2, rows=2)
JOINED = sv.Joint(
    {"people": sv.Table({"age": range(3)}), "pets": sv.Table({"kind": ["cat", "dog"]})}
)
EPSILONS = (1.0, 6.0)
QUERIES = {
    "count": "SELECT COUNT(*) FROM {table} WHERE {column} = {value}",
    "sum": "SELECT SUM({column}) FROM {table}",
}


def query_of(number):
    """The query whose number is stated, in SQL."""
    if number.kind == "join":
        parts = [part.split(" = ") for part in number.name.split(", ")]
        tables = " JOIN ".join(dict.fromkeys(name.split(".")[0] for name, _ in parts))
        where = " AND ".join(f"{name} = {quoted(value)}" for name, value in parts)
        return f"SELECT COUNT(*) FROM {tables} USING (uid) WHERE {where}"
    name, _, value = number.name.partition(" = ")
    table, column = name.split(".")
    return QUERIES[number.kind].format(table=table, column=column, value=quoted(value))


def quoted(value):
    return value if value.isdigit() else f"'{value}'"


def planned(layout, text):
    source = Source(layout)
    return plan_query(read(text, source), source)


def slot_scores(scoring, slot):
    """The scores of every report that a slot can hold: all of direct response, many of a hash."""
    scores = []
    for member in range(len(slot.family)):
        mechanism = slot.mechanism(member)
        if mechanism.kind == "grr":
            reports = mechanism.outcomes()
        else:
            reports = mechanism.privatize(np.arange(2000) % mechanism.size, SeededRng(member))
        scores.append(scoring(slot.number, member, reports)[:, 0])
    return scores


def message_scores(plan):
    """The extremes of what any message contributes: any report about any layer in every slot."""
    (total,) = plan.totals
    (term,) = total.products
    ends = []
    for score in term.scores:
        scoring = plan.scoring(score.factor, [score.column])
        slots = [np.concatenate(slot_scores(scoring, slot)) for slot in scoring.factor.slots]
        low = sum(scores.min() for scores in slots)
        high = sum(scores.max() for scores in slots)
        ends.append((low, high))
    corners = [term.weight * prod(corner) for corner in product(*ends)]
    return min(corners), max(corners)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("plan", [PEOPLE, BASKETS, JOINED], ids=["people", "baskets", "joined"])
def test_no_false_message_exceeds_what_is_stated(plan, epsilon):
    layout = plan.layout(epsilon)
    for number in plan.moved_numbers(epsilon, coins_checked=False):
        low, high = message_scores(planned(layout, query_of(number)))
        print(number, low, high)
        assert max(high, 0.0) <= number.influence.up * (1 + 1e-9)
        assert max(-low, 0.0) <= number.influence.down * (1 + 1e-9)
        if is_direct(layout):
            assert (high, -low) == pytest.approx((number.influence.up, number.influence.down))


def is_direct(layout):
    """Whether all layers have direct response, of which every report is tried."""
    families = [slot.family for factor in layout.factors for slot in factor.slots]
    return {each.kind for family in families for each in family.mechanisms} == {"grr"}


def test_some_plans_have_nothing_but_direct_response():
    """So the bound is reached for each kind of number."""
    assert is_direct(PEOPLE.layout(EPSILONS[1]))
    assert is_direct(JOINED.layout(EPSILONS[0]))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("plan", [PEOPLE, BASKETS, JOINED], ids=["people", "baskets", "joined"])
@pytest.mark.parametrize("checked", [False, True])
def test_explain_states_the_same_of_the_same_query(plan, epsilon, checked):
    layout = plan.layout(epsilon)
    for number in plan.moved_numbers(epsilon, coins_checked=checked):
        facts = facts_of(planned(layout, query_of(number)), 1000, coins_checked=checked)
        stated = max(number.influence.up, number.influence.down)
        assert facts["numbers"][0][MOVED] == pytest.approx(stated)


def test_the_statement_of_one_question_would_be_too_small():
    """The twin: what one report does to the count of its own question, as other plans state it."""
    from sottovoce.wire import codec
    from sottovoce.wire.integrity import influence

    notice = codec.publish(sv.Task("baskets", BASKETS, 1.0))
    alone = influence(notice.opening.ask, notice.collection)
    (count,) = [
        each for each in BASKETS.moved_numbers(1.0, coins_checked=False) if each.kind == "count"
    ]
    low, high = message_scores(planned(BASKETS.layout(1.0), query_of(count)))
    print(alone, low, high)
    assert high > alone["up"] or -low > alone["down"]


def test_every_column_of_numbers_and_every_table_is_stated():
    plan = sv.Joint(
        {
            "people": sv.Table(
                {"age": range(20), "income": sv.Buckets(0, 100, 10), "state": ["x", "y"]}
            ),
            "pets": sv.Table({"weight": range(5)}, most=2),
        }
    )
    numbers = plan.moved_numbers(4.0, coins_checked=False)
    kinds = [number.kind for number in numbers]
    assert kinds == ["count", "count", "sum", "sum", "sum", "join"]
    sums = {number.name: (number.low, number.high) for number in numbers if number.kind == "sum"}
    assert sums == {"people.age": (0, 19), "people.income": (5, 95), "pets.weight": (0, 4)}


def test_a_table_without_numbers_has_no_sum():
    numbers = sv.Table({"state": ["x", "y"]}).moved_numbers(1.0, coins_checked=False)
    assert [number.kind for number in numbers] == ["count"]


def test_tokens_that_deal_the_layers_lessen_the_influence_of_a_task():
    free = sv.Task("people", PEOPLE, 1.0).moved_numbers
    dealt = sv.Task("people", PEOPLE, 1.0, collection=Collection(enrolment=True)).moved_numbers
    for chosen, mean in zip(free, dealt, strict=True):
        assert max(mean.influence.up, mean.influence.down) < max(
            chosen.influence.up, chosen.influence.down
        )
