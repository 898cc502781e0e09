"""Twenty standard questions: which of them lose to a published method, and that a workload mends
it.
"""

import pytest

from sottovoce.lab.experiments.sql_workloads import (
    EPSILONS,
    GOAL,
    PEOPLE,
    QUESTIONS,
    TABLES,
    best_published,
    budget,
    even_people,
    frontier,
    page,
    predicted,
    standing,
    weighted,
)

LABELS = [question for question in QUESTIONS if question[0] == "three labels"]


def test_there_are_twenty_questions_about_every_kind_of_table():
    assert len(set(QUESTIONS)) == len(QUESTIONS) == 20
    assert {table for table, _ in QUESTIONS} == set(TABLES)


@pytest.mark.parametrize("question", LABELS)
def test_a_workload_mends_what_loses(question):
    """Only the condition on every column loses by default, and alone it is as good as MG."""
    table, asked = question
    text = f"SELECT {asked}"
    published = best_published(*question, 2.0)
    fixes_everything = asked.count("=") == 3
    assert (predicted(TABLES[table], text, 2.0) > GOAL * published.variance) == fixes_everything
    assert (published.method == "mg") == fixes_everything
    assert predicted(weighted(table, [text]), text, 2.0) < 1.05 * published.variance


@pytest.mark.papers
def test_tuned_weights_lose_on_nothing():
    assert max(standing(*question, 2.0).ratios[3] for question in QUESTIONS) < GOAL


@pytest.mark.papers
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_balanced_layers_lose_on_nothing(epsilon):
    for table, question in QUESTIONS:
        ours = predicted(weighted(table, "balanced"), f"SELECT {question}", budget(table, epsilon))
        assert ours < GOAL * best_published(table, question, epsilon).variance, question


def test_balanced_layers_of_labels_lose_on_nothing_where_even_ones_do():
    ratios = {
        name: [
            predicted(plan, f"SELECT {asked}", 2.0) / best_published(table, asked, 2.0).variance
            for table, asked in LABELS
        ]
        for name, plan in (
            ("even", TABLES["three labels"]),
            ("balanced", weighted("three labels", "balanced")),
        )
    }
    assert max(ratios["balanced"]) < GOAL < max(ratios["even"])


@pytest.mark.papers
def test_what_points_gain_others_pay():
    strict, loose = (frontier(points, (2.0,)) for points in (1.0, 8.0))
    assert strict.largest < loose.largest
    assert strict.others.mean() > loose.others.mean()


def test_people_are_spread_evenly():
    people = even_people(TABLES["customers and orders"], seed=1)
    assert len(people["people"]["age"]) == PEOPLE
    assert len(people["orders"]["uid"]) == pytest.approx(2 * PEOPLE, rel=0.05)
    assert people["people"]["age"].mean() == pytest.approx(47.5, abs=1)


@pytest.mark.papers
def test_the_page_names_all_questions():
    printed = page((2.0,), checked=False)
    assert all(question in printed for _, question in QUESTIONS)
