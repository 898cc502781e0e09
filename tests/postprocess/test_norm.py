"""Norm: golden shares, and nothing to do where reports are balanced."""

import numpy as np
import pytest

from postprocess.vectors import ABOVE, BELOW
from sottovoce.lab.checks import SeededRng
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.subset import SubsetSelection
from sottovoce.postprocess.norm import norm


def test_golden_shares():
    assert norm(ABOVE) == pytest.approx(ABOVE - 0.05 / 7, abs=1e-12)
    assert norm(BELOW) == pytest.approx([0.5125, 0.3125, 0.1625, 0.0125], abs=1e-12)


@pytest.mark.parametrize(
    "mechanism", [GRR(1.0, 12), SubsetSelection(1.0, 12)], ids=lambda mechanism: mechanism.kind
)
def test_balanced_reports_leave_nothing_to_do(mechanism):
    values = np.arange(500) % 12
    shares = mechanism.estimate(
        mechanism.tally(mechanism.privatize(values, SeededRng(3)))
    ).frequencies
    assert norm(shares) == pytest.approx(shares, abs=1e-12)
