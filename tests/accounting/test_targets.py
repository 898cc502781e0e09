"""Settings that meet a target, and miss it if they are moved."""

import pytest

from sottovoce.accounting.batch import ShuffledBatch
from sottovoce.accounting.blanket import Blanket
from sottovoce.accounting.targets import (
    CentralTarget,
    default_against_users,
    fakes_for,
    local_for,
)
from sottovoce.errors import ParameterError
from sottovoce.mechanisms.oue import OUE

TARGET = CentralTarget(0.2, 1e-8)


def direct(local):
    return Blanket(local, 1 / 16)


def unary(local):
    return OUE(local, 64).blanket  # its share depends on epsilon


@pytest.mark.parametrize("blanket_at", [direct, unary, Blanket.generic])
@pytest.mark.parametrize("batch", [ShuffledBatch(20_000), ShuffledBatch(20_000, 5_000)])
def test_the_local_epsilon_is_the_largest_that_meets_the_target(blanket_at, batch):
    found = local_for(TARGET, batch, blanket_at)
    met = blanket_at(found).epsilon(batch.users, batch.fakes, TARGET.delta)
    missed = blanket_at(found + 1e-3).epsilon(batch.users, batch.fakes, TARGET.delta)
    assert met <= TARGET.epsilon * (1 + 1e-6)
    assert missed > TARGET.epsilon
    assert found > TARGET.epsilon


def test_the_cap_on_the_local_epsilon_binds():
    batch = ShuffledBatch(10**6)
    assert local_for(TARGET, batch, direct, max_local=2.0) == 2.0
    assert local_for(TARGET, batch, direct, max_local=0.1) == 0.1


def test_a_small_batch_leaves_nothing_but_the_target():
    assert local_for(TARGET, ShuffledBatch(1), direct) == pytest.approx(0.2, abs=1e-5)


@pytest.mark.parametrize(
    ("blanket", "epsilon", "expected"),
    # counted exactly: the specification's approximation found 1,054 and 3,749
    [(Blanket(6.0, 1 / 16), 1.0, 1051), (Blanket(6.0, 1 / 1024), 1.0, 3737)],
)
def test_the_fewest_fakes_meet_the_target(blanket, epsilon, expected):
    found = fakes_for(blanket, CentralTarget(epsilon, 1e-9))
    assert found == expected
    assert blanket.epsilon(1, found, 1e-9) <= epsilon * (1 + 1e-6)
    assert blanket.epsilon(1, found - 1, 1e-9) > epsilon


def test_fakes_of_an_unknown_law_are_worth_less():
    drawn = fakes_for(Blanket(3.0, 0.5), TARGET)
    randomised = fakes_for(Blanket.generic(3.0), TARGET)
    assert randomised > 5 * drawn


def test_no_fakes_are_needed_for_the_local_epsilon():
    assert fakes_for(Blanket(1.0, 0.5), CentralTarget(1.0, 1e-9)) == 0


def test_by_default_fakes_cut_the_local_epsilon_to_a_third_and_to_two():
    assert default_against_users(3.0) == 1.0
    assert default_against_users(9.0) == 2.0


@pytest.mark.parametrize(
    ("settings", "named"), [((0.0, 1e-9), "epsilon"), ((1.0, 0.0), "delta"), ((1.0, 1.0), "delta")]
)
def test_a_target_out_of_range_is_refused_by_name(settings, named):
    with pytest.raises(ParameterError, match=f"`{named}` must be"):
        CentralTarget(*settings)


def test_a_cap_out_of_range_is_refused_by_name():
    with pytest.raises(ParameterError, match="`max_local` must be"):
        local_for(TARGET, ShuffledBatch(10), direct, max_local=0.0)
