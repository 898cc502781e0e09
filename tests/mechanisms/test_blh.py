"""Binary local hashing."""

import numpy as np
import pytest

from sottovoce.errors import CodecError, ParameterError
from sottovoce.lab.checks import HASHED_CHECKS, RecordedRng
from sottovoce.mechanisms.blh import BLH
from sottovoce.mechanisms.olh import OLH

SMALL = [BLH(epsilon, size) for epsilon in (0.2, 1.0, 3.0) for size in (2, 5)]


@pytest.mark.parametrize(
    "mechanism", SMALL, ids=lambda mechanism: f"{mechanism.epsilon}-{mechanism.size}"
)
@pytest.mark.parametrize("check", HASHED_CHECKS, ids=lambda check: check.__name__)
def test_contract(check, mechanism):
    check(mechanism)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_variance_is_the_published_one(epsilon):
    """n ((e^eps + 1) / (e^eps - 1))^2: Wang 2021, table 3.1.  It tends to n, not to 0."""
    rare = BLH(epsilon, 100).noise.variances(np.zeros(1), 1000)[0]
    assert rare == pytest.approx(1000 / np.tanh(epsilon / 2) ** 2)
    assert rare > 1000


def test_more_buckets_are_fourteen_times_better_at_epsilon_four():
    """Wang 2021, introduction; 14.15 at epsilon 4."""
    rare = [
        mechanism.noise.variances(np.zeros(1), 1)[0] for mechanism in (BLH(4.0, 100), OLH(4.0, 100))
    ]
    assert rare[0] / rare[1] == pytest.approx(14.15, abs=0.005)


def test_recorded_bytes_give_a_known_report():
    """The draws of OLH; the hash 0x481902e0 of 5 lies in the lower half, and the only lie is 1."""
    blh = BLH(1.0, 1000)
    for keep, reported in ((b"\x00" * 8, 0), (b"\xff" * 8, 1)):
        recorded = RecordedRng(b"\x78\x56\x34\x12" + keep + b"\xff\xff\xff\xbf")
        report = blh.privatize(np.array([5]), recorded)
        assert recorded.consumed == 16
        assert blh.pack(report) == b"\x78\x56\x34\x12" + bytes([reported, 0])


def test_a_third_bucket_is_refused():
    with pytest.raises(CodecError):
        BLH(1.0, 1000).unpack(b"\0\0\0\0\2\0")


def test_a_threshold_that_spends_more_than_stated_is_refused():
    with pytest.raises(ParameterError, match="more than the stated epsilon"):
        BLH(1.0, 1000, keep=BLH(1.0, 1000).keep + 1)
