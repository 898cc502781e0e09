"""Loads: the compiled sums equal a plain NumPy twin."""

import numpy as np
import pytest

from sottovoce.kernels.loads import load_sums


def twin(table, answers, buckets, suspects):
    """The same sums with one array per step."""
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
        sums.append(
            (
                named.sum(),
                (named**2).sum(),
                np.abs(named).max(),
                named @ supported,
                expected.sum(axis=0),
            )
        )
    return sums


@pytest.mark.parametrize(("buckets", "candidates"), [(2, 3), (4, 9), (64, 12)])
def test_the_sums_equal_their_twin(buckets, candidates):
    generator = np.random.default_rng(buckets)
    table = generator.integers(0, buckets, (500, candidates)).astype(np.uint16)
    answers = generator.integers(0, buckets, 500).astype(np.uint16)
    suspects = np.arange(candidates) % 3 != 1
    found = load_sums(table, answers, buckets, suspects)
    for sums, expected in zip(found, twin(table, answers, buckets, suspects), strict=True):
        for part, wanted in zip(sums, expected, strict=True):
            np.testing.assert_allclose(part, wanted, rtol=1e-12, atol=1e-9)


def test_threads_change_nothing():
    generator = np.random.default_rng(1)
    table = generator.integers(0, 4, (1001, 5)).astype(np.uint16)
    answers = generator.integers(0, 4, 1001).astype(np.uint16)
    one, three = (load_sums(table, answers, 4, np.ones(5, bool), threads) for threads in (1, 3))
    for first, second in zip(one, three, strict=True):
        for part, wanted in zip(first, second, strict=True):
            np.testing.assert_allclose(part, wanted, rtol=1e-12, atol=1e-9)
