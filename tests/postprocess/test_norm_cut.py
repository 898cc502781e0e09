"""Norm-Cut: golden shares, ties, and the edges where the published rule keeps nothing."""

import numpy as np
import pytest

from postprocess.vectors import ABOVE, BELOW, TIED, TOP, estimate
from sottovoce.postprocess.norm_cut import norm_cut, rule_for


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (ABOVE, [0.5, 0.3, 0.2, 0, 0, 0, 0]),
        (BELOW, [0.45, 0.25, 0.1, 0]),
        (TOP, [1, 0, 0]),
        (TIED, [0.4, 0.35, 0, 0, 0]),
        ([0.1] * 10, [0.1] * 10),
        ([1.2, 1.2, 0.5], [0.5, 0.5, 0]),
        ([0.6, 0.6], [0, 0]),
        ([-0.5, -0.1], [0, 0]),
    ],
    ids=[
        "exactly one",
        "below one",
        "top above one",
        "tie",
        "rounding",
        "tied tops",
        "tie kept out",
        "none positive",
    ],
)
def test_golden_shares(raw, expected):
    assert norm_cut(raw) == pytest.approx(expected, abs=1e-12)
    assert norm_cut(np.stack([raw, np.zeros(len(raw))]))[0] == pytest.approx(expected, abs=1e-12)


def test_what_was_special_is_said():
    rule = rule_for(estimate(TOP))
    said = [rule.step(np.array(raw)) for raw in ([1.2, 0.1], [-0.1, 0.0], [0.6, 0.3])]
    assert said == ["norm-cut (top above 1)", "norm-cut (nothing kept)", "norm-cut"]
