"""Truth beside estimate."""

import json
from dataclasses import replace
from itertools import combinations

import numpy as np

import sottovoce as sv
from sottovoce.lab.truth.compare import compare


def test_every_row_has_its_truth_and_says_whether_it_is_covered():
    task = sv.Task("t", sv.Histogram(["a", "b", "c"]), 2.0)
    held = ["a"] * 700 + ["b"] * 300
    (compared,) = compare(task.plan, held, sv.simulate(task, held, seed=1)).parts
    assert compared.truth == {"a": 700, "b": 300, "c": 0}
    rows = compared.rows()
    assert [row["truth"] for row in rows] == [700, 300, 0]
    assert [row["covered"] for row in rows] == [
        row["low"] <= row["truth"] <= row["high"] for row in rows
    ]
    assert compared.covered == sum(row["covered"] for row in rows)
    assert json.loads(json.dumps(compared.to_dict()))["intervals"] == 3


def test_a_survey_is_compared_question_by_question_and_bands_add_up():
    task = sv.Task("t", sv.Survey({"pet": ["cat", "dog"], "age": range(18, 100)}), 1.0)
    held = {"pet": ["cat"] * 600 + ["dog"] * 400, "age": np.full(1000, 25)}
    pet, age = compare(task.plan, held, sv.simulate(task, held, seed=1)).parts
    assert pet.truth == {"cat": 600, "dog": 400}
    bands = {row["value"]: row["truth"] for row in age.rows(most=10)}
    assert bands["20–29"] == 1000
    assert sum(bands.values()) == 1000


FOODS = ["bread", "milk", "tea", "a + b", "a", "salt"]


def baskets():
    return (
        [["bread", "milk"]] * 400
        + [["bread"]] * 200
        + [["milk", "tea", "bread"]] * 150
        + [["a + b", "tea"]] * 120
        + [["a"]] * 30
        + [[]] * 100
    )


def test_what_a_search_of_texts_found_stands_beside_its_true_counts():
    task = sv.Task("t", sv.HeavyHitters(sv.Strings(3), 3), 6.0)
    held = ["yes"] * 900 + ["no"] * 500 + ["ça"] * 300 + ["why"] * 100
    (compared,) = compare(task.plan, held, sv.simulate(task, held, seed=1)).parts
    assert compared.sought == {"yes": 900, "no": 500, "ça": 300}
    assert list(compared.truth) == list(compared.part.labels)
    assert all(compared.truth[label] == held.count(label) for label in compared.part.labels)
    assert compared.scores == {"f1": 1.0, "ncr": 1.0}
    assert json.loads(json.dumps(compared.to_dict()))["ncr"] == 1.0


def test_values_of_many_bits_are_counted_by_their_labels():
    for bits in (40, 80):
        task = sv.Task("t", sv.HeavyHitters(sv.Bits(bits), 2), 5.0)
        held = [5 << (bits - 8)] * 700 + [(1 << bits) - 1] * 500 + [7] * 20
        (compared,) = compare(task.plan, held, sv.simulate(task, held, seed=1)).parts
        assert list(compared.sought.values()) == [700, 500]
        assert compared.truth == compared.sought


def test_a_threshold_seeks_all_above_it():
    plan = sv.HeavyHitters(sv.Bits(8), threshold=0.2)
    assert plan.sought([1] * 50 + [2] * 30 + [3] * 20) == {"0x01": 50, "0x02": 30}


def test_a_stranger_among_what_was_found_costs_score_and_has_no_truth():
    task = sv.Task("t", sv.HeavyHitters(sv.Strings(3), 2), 6.0)
    held = ["yes"] * 900 + ["no"] * 500
    answer = sv.simulate(task, held, seed=1)
    (compared,) = compare(task.plan, held, replace(answer, labels=("yes", "???"))).parts
    assert compared.truth == {"yes": 900, "???": 0}
    assert compared.scores == {"f1": 0.5, "ncr": 2 / 3}


def test_items_are_counted_by_the_people_who_have_them():
    for plan in (sv.TopItems(FOODS, 2), sv.AdaptiveTopItems(FOODS, 1000, 2, rounds=2)):
        task = sv.Task("t", plan, 8.0)
        (compared,) = compare(task.plan, baskets(), sv.simulate(task, baskets(), seed=1)).parts
        assert compared.sought == {"bread": 750, "milk": 550}
        assert compared.truth == compared.sought


def test_sets_are_counted_by_the_people_who_have_them_whole():
    plan = sv.Itemsets(FOODS, 6)
    sought = {
        "bread": 750,
        "milk": 550,
        "bread + milk": 550,
        "tea": 270,
        "bread + tea": 150,
        "milk + tea": 150,
    }
    assert plan.sought(baskets()) == sought
    assert list(plan.sought(baskets())) == list(sought)
    labels = ["milk", "bread + milk + tea", "a + b", "tea + a + b", "a", "bread + salt"]
    true = {
        "milk": 550,
        "bread + milk + tea": 150,
        "a + b": 120,
        "tea + a + b": 120,
        "a": 30,
        "bread + salt": 0,
    }
    assert plan.domain.counts(plan.domain.indices(baskets()), labels) == true


def test_the_most_frequent_sets_are_those_of_a_count_of_every_set():
    plan, dice = sv.Itemsets(range(8), 8), np.random.default_rng(3)
    held = [np.flatnonzero(dice.random(8) < 0.6).tolist() for _ in range(300)]
    every = [items for size in range(1, 9) for items in combinations(range(8), size)]
    counts = sorted(
        (sum(set(items) <= set(basket) for basket in held) for items in every), reverse=True
    )
    assert list(plan.sought(held).values()) == counts[:8]
