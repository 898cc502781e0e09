"""Generalised randomised response."""

import numpy as np
import pytest

from sottovoce.errors import CodecError, ParameterError
from sottovoce.lab.checks import PURE_CHECKS, ScriptedRng
from sottovoce.mechanisms.grr import GRR

SMALL = [GRR(epsilon, size) for epsilon in (0.1, 1.0, 4.0) for size in (2, 5)]


@pytest.mark.parametrize(
    "mechanism", SMALL, ids=lambda mechanism: f"{mechanism.epsilon}-{mechanism.size}"
)
@pytest.mark.parametrize("check", PURE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check, mechanism):
    check(mechanism)


def test_scripted_draws_give_known_reports():
    """One honest report; a lie skips over the truth."""
    rng = ScriptedRng(bernoulli=[True, False, False, False], integers=[0, 0, 1, 2])
    reports = GRR(epsilon=1.0, size=4).privatize(np.array([2, 0, 1, 3]), rng)
    assert reports.tolist() == [2, 1, 2, 2]


def test_variance_of_a_rare_value_is_the_published_one():
    """n (d - 2 + e^eps) / (e^eps - 1)^2: Wang 2021, equation 3.5."""
    grr = GRR(epsilon=float(np.log(3)), size=10)
    rare = grr.estimate(grr.tally(np.zeros(1000, np.int64))).variance[1]
    assert rare == pytest.approx(1000 * (10 - 2 + 3) / (3 - 1) ** 2)


def test_golden_estimate_of_a_small_count():
    """Epsilon ln 3, four values, counts 5 3 2 2: nine, three, none, none."""
    grr = GRR(epsilon=float(np.log(3)), size=4)
    reports = np.repeat(np.arange(4), [5, 3, 2, 2])
    estimate = grr.estimate(grr.tally(reports))
    assert estimate.totals == pytest.approx([9, 3, 0, 0], abs=1e-9)
    assert estimate.totals.sum() == pytest.approx(12)


@pytest.mark.parametrize("data", [b"\x04", b"\xff\x00"], ids=["too big", "one too big"])
def test_a_report_that_could_not_have_been_made_is_refused(data):
    with pytest.raises(CodecError):
        GRR(epsilon=1.0, size=4).unpack(data)


def test_a_threshold_that_spends_more_than_stated_is_refused():
    honest = GRR(epsilon=1.0, size=4)
    GRR(epsilon=1.0, size=4, keep=honest.keep - 1)
    with pytest.raises(ParameterError, match="more than the stated epsilon"):
        GRR(epsilon=1.0, size=4, keep=honest.keep + 1)


@pytest.mark.parametrize("keep", [1, 1 << 61, 1 << 62, -5, 1 << 64, 1 << 70])
def test_a_threshold_that_prefers_lies_or_is_no_probability_is_refused(keep):
    """A certain lie about two values tells everything, though its ratio is below one."""
    with pytest.raises(ParameterError):
        GRR(epsilon=1.0, size=4, keep=keep)
    with pytest.raises(ParameterError):
        GRR(epsilon=1.0, size=2, keep=min(keep, 1 << 63))


@pytest.mark.parametrize("epsilon", [0.0, -1.0, 20.001, float("nan"), float("inf"), True, "1"])
def test_an_impossible_epsilon_is_refused(epsilon):
    with pytest.raises(ParameterError):
        GRR(epsilon=epsilon, size=4)


@pytest.mark.parametrize("size", [1, 0, -3, 2.0, True, 1 << 33])
def test_an_impossible_size_is_refused(size):
    with pytest.raises(ParameterError):
        GRR(epsilon=1.0, size=size)
