"""The three epsilons of a shuffled batch."""

import json

import pytest

from sottovoce.accounting.blanket import Blanket
from sottovoce.accounting.shuffled_guarantee import ShuffledGuarantee


def test_a_guarantee_states_all_three_epsilons():
    blanket = Blanket(6.0, 1 / 16)
    guarantee = ShuffledGuarantee.of(blanket, 100_000, 5_000, 1e-9)
    assert guarantee.local == 6.0
    assert guarantee.central == blanket.epsilon(100_000, 5_000, 1e-9)
    assert guarantee.against_users == blanket.epsilon(1, 5_000, 1e-9)
    assert guarantee.central < guarantee.against_users < guarantee.local


def test_without_fakes_colluding_users_leave_the_local_epsilon():
    guarantee = ShuffledGuarantee.of(Blanket(2.0, 1 / 4), 10_000, 0, 1e-9)
    assert guarantee.against_users == pytest.approx(2.0, abs=1e-6)
    assert guarantee.against_users <= 2.0


def test_a_guarantee_is_plain_data():
    guarantee = ShuffledGuarantee(0.5, 1e-9, 1.0, 6.0)
    assert json.loads(json.dumps(guarantee.to_dict())) == {
        "central": 0.5,
        "delta": 1e-9,
        "against_users": 1.0,
        "local": 6.0,
    }
