"""The populations of chapter 9: sizes, shapes, and texts of six letters."""

import numpy as np

from sottovoce.lab.populations.shuffle_surveys import cities, pages, queries


def test_sizes_are_those_of_the_published_sets():
    assert (len(cities()), cities().sum()) == (915, 602_325)
    assert (len(pages()), pages().sum()) == (42_178, 990_002)
    assert (len(queries().codes), queries().counts.sum()) == (120_000, 500_000)


def test_every_query_is_six_small_letters_and_has_somebody():
    population = queries()
    assert len(set(population.codes.tolist())) == 120_000
    letters = population.codes.astype(">u8").view(np.uint8).reshape(-1, 8)
    assert not letters[:, :2].any()
    assert letters[:, 2:].min() >= ord("a")
    assert letters[:, 2:].max() <= ord("z")
    assert population.counts.min() >= 1
    assert (np.diff(population.counts) <= 0).all()


def test_the_exponent_sets_how_steep_the_counts_fall():
    flat, steep = queries(0.9).counts, queries(1.3).counts
    assert steep[0] > 4 * flat[0]
    assert steep[31] / steep[0] < flat[31] / flat[0]


def test_the_most_frequent_come_first():
    assert queries().most_frequent(3) == queries().codes[:3].tolist()
