"""The list of methods: each states what it promises, and only shuffled ones pass a shuffler."""

import numpy as np
import pytest

from sottovoce.lab.baselines.shuffle_bounds.solh import PublishedTarget
from sottovoce.lab.baselines.shuffled.base import REMOVAL, ShuffledOracle
from sottovoce.lab.baselines.shuffled.methods import METHODS, SHUFFLED

TARGET = PublishedTarget(0.5, 602_325, 1e-9)
TRUTH = np.full(900, 669)
TRUTH[0] += TARGET.users - TRUTH.sum()


@pytest.mark.parametrize("name", METHODS)
def test_every_method_states_its_promise_and_its_error(name):
    method = METHODS[name](TARGET, 900)
    shares = method.draw(TRUTH, 0, np.random.default_rng(1))
    assert shares.shape == TRUTH.shape
    assert method.mse(TRUTH) > 0
    if method.claim is None:
        assert name == "Base"
    else:
        assert method.claim.central == 0.5


def test_shuffled_methods_are_named():
    oracles = {name for name, make in METHODS.items() if _passes_a_shuffler(make(TARGET, 900))}
    assert set(SHUFFLED) == oracles


def _passes_a_shuffler(method):
    return isinstance(method, ShuffledOracle) and method.claim.delta > 0


def test_one_method_compares_other_neighbours_and_one_has_no_local_guarantee():
    claims = {name: METHODS[name](TARGET, 900).claim for name in SHUFFLED}
    assert [name for name, claim in claims.items() if claim.neighbours == REMOVAL] == ["RAP_R"]
    assert [name for name, claim in claims.items() if claim.local is None] == ["AUE"]
