"""Loads: the compiled sums equal a plain NumPy twin."""

from math import comb

import numpy as np
import pytest

from sottovoce.kernels.loads import Hashed, load_sums, named_buckets


def drawn(buckets, candidates, count=500):
    generator = np.random.default_rng(buckets)
    table = generator.integers(0, buckets, (count, candidates)).astype(np.uint16)
    answers = generator.integers(0, buckets, count).astype(np.uint16)
    return Hashed(table, answers, buckets)


def twin(hashed, suspects):
    """The same sums with one array per step."""
    table, answers, buckets = hashed
    load = (table[:, suspects][:, None, :] == np.arange(buckets)[:, None]).sum(axis=2)
    largest = load == load.max(axis=1, keepdims=True)
    functions = largest / largest.sum(axis=1, keepdims=True), load * (load - 1) / 2
    rows = np.arange(len(table))
    sums = []
    for function in functions:
        centred = function - function.mean(axis=1, keepdims=True)
        named = centred[rows, answers]
        supported = table == answers[:, None]
        expected = np.take_along_axis(centred, table.astype(np.int64), axis=1)
        single = named.sum(), (named**2).sum(), np.abs(named).max()
        sums.append((*single, named @ supported, expected.sum(axis=0)))
    return sums


def assert_equal(found, expected):
    for sums, wanted in zip(found, expected, strict=True):
        for part, other in zip(sums, wanted, strict=True):
            np.testing.assert_allclose(part, other, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize(("buckets", "candidates"), [(2, 3), (4, 9), (64, 12)])
def test_the_sums_equal_their_twin(buckets, candidates):
    hashed = drawn(buckets, candidates)
    suspects = np.arange(candidates) % 3 != 1
    assert_equal(load_sums(hashed, suspects), twin(hashed, suspects))


def test_threads_change_nothing():
    hashed = drawn(4, 5, 1001)
    one, three = (load_sums(hashed, np.ones(5, bool), threads) for threads in (1, 3))
    assert_equal(one, three)


@pytest.mark.parametrize("together", [0, 2, 3])
def test_the_named_buckets_equal_their_twin(together):
    hashed = drawn(4, 7)
    suspects = np.arange(7) % 4 != 1
    loads = (hashed.table[:, suspects][:, None, :] == np.arange(4)[:, None]).sum(axis=2)
    largest = loads.max(axis=1)
    sets = np.array([comb(count, together) for count in range(8)])[loads] * (together > 0)
    fullest = loads == largest[:, None]
    wanted = np.where(sets.any(axis=1, keepdims=True), sets, fullest)
    chance = (wanted / wanted.sum(axis=1, keepdims=True))[np.arange(500), hashed.answers]
    found = named_buckets(hashed, suspects, together)
    np.testing.assert_array_equal(found.largest, largest)
    np.testing.assert_allclose(found.chance, chance)
