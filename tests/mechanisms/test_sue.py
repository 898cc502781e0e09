"""Symmetric unary encoding, and the two rounds of Basic RAPPOR."""

from math import log

import numpy as np
import pytest

from sottovoce.core.packing import unpack_bits
from sottovoce.core.rng import KeyedRng
from sottovoce.errors import ParameterError
from sottovoce.lab.checks import (
    CONTRACT_CHECKS,
    EXACT_CHECKS,
    PURE_CHECKS,
    SAMPLED_CHECKS,
    RecordedRng,
    ScriptedRng,
    epsilon_is_spent_whole,
    samples_follow_the_likelihood,
)
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths import exact
from sottovoce.mechanisms.sue import SUE
from sottovoce.mechanisms.unary import Unary

SMALL = [SUE(epsilon, size) for epsilon in (0.1, 1.0, 4.0) for size in (2, 5)] + [SUE(1.0, 9)]
SECOND = {
    "second_keep": 3 << 62,
    "second_flip": 1 << 62,
}  # three quarters and one quarter, as deployed
TWICE = [SUE(log(9), 5, **SECOND), SUE(4.0, 2, second_keep=7 << 61, second_flip=1 << 60)]
SECRET = b"sixteen byte key"


@pytest.mark.parametrize(
    "mechanism", SMALL, ids=lambda mechanism: f"{mechanism.epsilon}-{mechanism.size}"
)
@pytest.mark.parametrize("check", PURE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check, mechanism):
    check(mechanism)


@pytest.mark.parametrize(
    "mechanism", TWICE, ids=lambda mechanism: f"{mechanism.epsilon:.1f}-{mechanism.size}"
)
@pytest.mark.parametrize(
    "check", [*CONTRACT_CHECKS, *EXACT_CHECKS, *SAMPLED_CHECKS], ids=lambda check: check.__name__
)
def test_contract_with_an_instantaneous_round(check, mechanism):
    check(mechanism)


def test_one_report_of_two_rounds_does_not_spend_the_permanent_epsilon():
    with pytest.raises(AssertionError):
        epsilon_is_spent_whole(TWICE[0])


def test_golden_estimate():
    """Epsilon 2 ln 3, which is f = 1/2: twice the count less half the users."""
    sue = SUE(epsilon=2 * log(3), size=4)
    assert sue.estimate_counts(np.array([5, 3, 2, 2]), 12).totals == pytest.approx([4, 0, -2, -2])


@pytest.mark.parametrize(("f", "epsilon"), [(1 / 2, log(9)), (1 / 4, log(49))])
def test_it_is_basic_rappor(f, epsilon):
    """Bits are true with 1 - f/2, and (C - n f/2) / (1 - f) estimates: Wang 2021, section 3.1.1."""
    sue = SUE(epsilon, 4)
    assert (sue.p, sue.q) == (pytest.approx(1 - f / 2), pytest.approx(f / 2))
    counts = np.array([700, 400, 300, 250])
    assert sue.estimate_counts(counts, 1000).totals == pytest.approx(
        (counts - 1000 * f / 2) / (1 - f)
    )
    assert sue.keep + sue.flip == exact.UNIT


def test_both_rounds_are_one_symmetric_round_when_the_second_is_symmetric():
    """f = 1/2 and 3/4, 1/4 give 5/8 and 3/8; one report then spends 1.0217, all of them together ln
    9.
    """
    rappor = SUE(log(9), 5, **SECOND)
    assert (rappor.p, rappor.q) == (pytest.approx(5 / 8), pytest.approx(3 / 8))
    assert rappor.epsilon_once == pytest.approx(1.0217, abs=5e-5)
    assert rappor.epsilon_realised == pytest.approx(log(9))
    once = SUE(rappor.epsilon_once, 5)
    assert once.p == pytest.approx(rappor.p)
    assert once.epsilon_once == once.epsilon_realised


def test_scripted_draws_of_both_rounds():
    """Permanent row 0110; words below a quarter set a bit, words below three quarters leave a 1."""
    low, middle, high = 0, 1 << 63, 7 << 61
    rappor, permanent = SUE(log(9), 4, **SECOND), np.array([[0b0110]], np.uint8)
    rng = ScriptedRng(longs=[low, middle, high, middle])
    assert rappor.instantaneous(permanent, rng).tolist() == [[0b0011]]
    rng = ScriptedRng(
        bernoulli=[True, True, False, False, True], longs=[high, high, middle, middle]
    )
    assert rappor.privatize(np.array([2]), rng).tolist() == [[0b0100]]


def test_without_an_instantaneous_round_nothing_more_is_drawn():
    sue, stream = SUE(1.0, 20), bytes(SeededRng(1).bytes(21 * 8))
    recorded = RecordedRng(stream)
    rows = sue.privatize(np.array([3]), recorded)
    assert recorded.consumed == len(stream)
    assert rows.tolist() == sue.permanent(np.array([3]), RecordedRng(stream)).tolist()


def test_the_same_value_for_a_thousand_epochs_gives_one_permanent_response():
    """And averaging its instantaneous reports recovers that response, and only that."""
    rappor, held = SUE(log(9), 64, **SECOND), np.array([7])
    epochs = [rappor.permanent(held, KeyedRng(SECRET, b"task/7")) for _ in range(1000)]
    assert len({row.tobytes() for row in epochs}) == 1
    reports = rappor.instantaneous(np.concatenate(epochs), SeededRng(11))
    average = unpack_bits(reports, 64).mean(axis=0)
    permanent = unpack_bits(epochs[0], 64)[0]
    np.testing.assert_array_equal(average > 0.5, permanent)
    expected, error = np.where(permanent, 0.75, 0.25), np.sqrt(0.75 * 0.25 / 1000)
    assert np.abs(average - expected).max() < 5 * error
    assert permanent.sum() > 8  # of 64, about 16 lies hide the one that may be true


def test_a_permanent_response_that_is_drawn_anew_is_averaged_away():
    """The twin of the test above: forgetting betrays the value, here within a thousand reports."""
    rappor = SUE(log(9), 64, **SECOND)
    fresh = rappor.privatize(np.full(1000, 7), SeededRng(12))
    assert unpack_bits(fresh, 64).mean(axis=0).argmax() == 7
    assert (unpack_bits(fresh, 64).mean(axis=0) > 0.5).sum() == 1


def test_the_permanent_response_to_a_key_is_pinned():
    """Made by the plain loop of test_unary on KeyedRng(b"sixteen byte key", b"task/7")."""
    permanent = SUE(log(9), 64).permanent(np.array([7]), KeyedRng(SECRET, b"task/7"))
    assert permanent.tobytes().hex() == "002809231bcf20aa"


def test_the_exponent_is_half_of_epsilon():
    class Whole(SUE):
        def probabilities(self):
            odds = exact.exp(self.epsilon)
            return odds / (odds + 1), 1 / (odds + 1)

    with pytest.raises(ParameterError, match="more than the stated epsilon"):
        Whole(epsilon=1.0, size=5)


@pytest.mark.parametrize(
    "check", [samples_follow_the_likelihood, *SAMPLED_CHECKS], ids=lambda check: check.__name__
)
def test_a_device_with_the_whole_exponent_is_caught(check):
    class Careless(SUE):
        def privatize(self, values, rng):
            return SUE(2 * self.epsilon, self.size).privatize(values, rng)

    with pytest.raises(AssertionError):
        check(Careless(epsilon=1.0, size=5))


@pytest.mark.parametrize(
    "check", [samples_follow_the_likelihood, *SAMPLED_CHECKS], ids=lambda check: check.__name__
)
def test_an_estimate_that_forgets_the_second_round_is_caught(check):
    class Forgetful(SUE):
        p, q = Unary.p, Unary.q

    with pytest.raises(AssertionError):
        check(Forgetful(log(9), 5, **SECOND))


@pytest.mark.parametrize(
    ("second_keep", "second_flip"),
    [(1 << 63, 0), (0, 1 << 63), (1 << 62, 3 << 62), (1 << 62, 1 << 62)],
)
def test_an_impossible_instantaneous_round_is_refused(second_keep, second_flip):
    with pytest.raises(
        ParameterError, match="`second_flip` must be above 0 and below `second_keep`"
    ):
        SUE(1.0, 4, second_keep=second_keep, second_flip=second_flip)


@pytest.mark.parametrize(
    ("name", "second"), [("second_keep", exact.UNIT), ("second_flip", -1), ("keep", 0.5)]
)
def test_a_threshold_outside_of_64_bits_is_refused(name, second):
    with pytest.raises(
        ParameterError, match=rf"`{name}` must be a whole number from 0 to 2\^64 - 1"
    ):
        SUE(1.0, 4, **{name: second})


def test_thresholds_that_spend_more_than_stated_are_refused():
    """Keep and flip may each be one unit short of their ideal, so two units are surely too much."""
    sue = SUE(epsilon=1.0, size=4)
    SUE(epsilon=1.0, size=4, keep=sue.keep - 1)
    SUE(epsilon=1.0, size=4, flip=sue.flip + 1)
    for lavish in ({"keep": sue.keep + 2}, {"flip": sue.flip - 2}):
        with pytest.raises(ParameterError, match="more than the stated epsilon"):
            SUE(epsilon=1.0, size=4, **lavish)
