"""PowerNS: golden shares."""

import pytest

from postprocess.vectors import ABOVE, SIGMA, USERS, estimate
from sottovoce.postprocess.apply import apply
from sottovoce.postprocess.power_ns import power_ns

GOLDEN = [0.4831095206, 0.2786625862, 0.1702453424, 0.0486014265, 0.0172861410, 0.0020949833, 0]


def test_golden_shares():
    assert power_ns(ABOVE, SIGMA, USERS) == pytest.approx(GOLDEN, abs=1e-7)


def test_it_is_power_then_norm_sub():
    steps = apply(apply(estimate(ABOVE), "power"), "norm-sub")
    assert steps.frequencies == pytest.approx(
        apply(estimate(ABOVE), "power-ns").frequencies, abs=1e-12
    )
    assert steps.steps == ("power", "norm-sub")
