"""Invented people."""

import numpy as np

import sottovoce as sv
from sottovoce.lab.populations.residents import CONFESSION, DISHES, QUESTIONS, people


def test_the_same_seed_invents_the_same_people():
    first, again, other = people(500, seed=1), people(500, seed=1), people(500, seed=2)
    assert all(list(first[name]) == list(again[name]) for name in QUESTIONS)
    assert list(first["age"]) != list(other["age"])


def test_everybody_lies_within_the_questions():
    domain = sv.Survey(QUESTIONS).domain
    assert domain.indices(people(2_000, seed=3)).shape == (2_000, len(QUESTIONS))
    assert len(DISHES) == len(set(DISHES)) == 60


def test_age_tells_something_about_the_rest():
    held = people(20_000, seed=4)
    young = held["age"] < 35
    edge, drove = np.array(held["browser"]) == "Edge", np.array(held[CONFESSION]) == "yes"
    assert edge[young].mean() < edge[~young].mean() - 0.05
    assert drove[young].mean() > drove[~young].mean() + 0.05
