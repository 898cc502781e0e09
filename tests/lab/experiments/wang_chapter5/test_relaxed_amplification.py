"""Amplification of local hashing but for a chance delta."""

from math import comb, exp

import pytest

from sottovoce.errors import ParameterError
from sottovoce.lab.experiments.wang_chapter5.relaxed_amplification import amplified_but_for


@pytest.mark.parametrize(
    ("name", "delta", "length"), [("delta", 1.0, 3), ("delta", -0.1, 3), ("length", 0.1, 0)]
)
def test_impossible_settings_are_refused_by_their_name(name, delta, length):
    with pytest.raises(ParameterError, match=f"`{name}`"):
        amplified_but_for(delta, 1.0, length)


@pytest.mark.parametrize("length", [1, 2, 5, 20])
def test_without_a_chance_to_fail_local_hashing_gains_nothing(length):
    assert amplified_but_for(0.0, 1.5, length).epsilon == 1.5


@pytest.mark.parametrize(
    ("delta", "epsilon", "length"), [(1e-3, 4.0, 5), (1e-3, 1.0, 20), (1e-9, 2.0, 100)]
)
def test_the_bound_holds_for_what_is_returned_and_for_nothing_smaller(delta, epsilon, length):
    found = amplified_but_for(delta, epsilon, length)
    assert comb(length, found.shared + 1) <= delta * found.buckets**found.shared
    assert found.buckets >= exp(found.epsilon) + 1 - 1e-9
