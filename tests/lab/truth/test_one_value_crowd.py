"""A crowd that holds one value: the formula against the enumeration of all multisets."""

from itertools import permutations
from math import comb

import numpy as np
import pytest

from accounting import laws
from sottovoce.lab.truth import shuffled
from sottovoce.lab.truth.one_value_crowd import OneValueCrowd, compositions
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.oue import OUE


@pytest.mark.parametrize("mechanism", [GRR(1.5, 4), OUE(1.5, 3)], ids=laws.name)
@pytest.mark.parametrize("users", [2, 4])
def test_it_is_the_enumeration(mechanism, users):
    law = laws.law(mechanism)[1]
    for first, second in permutations(range(3), 2):
        for held in range(3):
            others = [held] * (users - 1)
            expected = shuffled.shuffled_delta(law, (first, second), others, 0.3)
            found = OneValueCrowd(law, held, users).delta(first, second, 0.3)
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_compositions_are_all_and_different():
    rows = compositions(4, 6)
    assert len(np.unique(rows, axis=0)) == len(rows) == comb(9, 3)
    assert (rows.sum(axis=1) == 6).all()
    assert rows.min() == 0
