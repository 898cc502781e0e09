"""The invented census."""

import numpy as np

import sottovoce as sv
from sottovoce.lab.populations.census import SCHEMA, census


def test_the_same_seed_invents_the_same_people():
    assert census(300, seed=1) == census(300, seed=1) != census(300, seed=2)


def test_everybody_lies_within_the_schema():
    domain = sv.Marginals(SCHEMA, users=2_000).domain
    assert domain.indices(census(2_000, seed=3)).shape == (2_000, len(SCHEMA))


def test_attributes_hang_together():
    people = census(20_000, seed=4)
    old = np.array(people["age"]) == "75+"
    works = np.array(people["work"]) != "none"
    assert works[old].mean() < 0.1 < 0.5 < works[~old].mean()
