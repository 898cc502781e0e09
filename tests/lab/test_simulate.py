"""A simulation says what speaks against its task before it asks anybody."""

import warnings

import pytest

import sottovoce as sv
from sottovoce.errors import ConcernWarning


def songs(epsilon):
    return sv.Task("songs", sv.AdaptiveTopItems(range(2000), 400, 2, rounds=2), epsilon)


def test_every_concern_is_a_warning():
    with pytest.warns(ConcernWarning, match="pruning 2,000 items") as caught:
        sv.simulate(songs(0.5), [[1, 2]] * 400, seed=1)
    assert [str(one.message) for one in caught] == list(songs(0.5).concerns)
    assert caught[0].filename == __file__, "it names the line that asked for the simulation"


def test_without_concerns_nothing_is_said():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sv.simulate(sv.Task("pets", sv.Histogram(["a", "b"]), 1.0), ["a"] * 10, seed=1)
