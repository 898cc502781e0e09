"""Wang 2021, chapter 3: the published table and figure of variances, from the mechanisms' own p and
q.
"""

from math import exp, log

import numpy as np
import pytest

from sottovoce.core.estimate import Estimate
from sottovoce.lab.baselines.she import SHE
from sottovoce.lab.experiments.figures.wang_chapter3 import COLUMNS, LARGE, TABLE_3_2
from sottovoce.maths.normal import upper_quantile
from sottovoce.mechanisms.blh import BLH
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.olh import OLH
from sottovoce.mechanisms.oue import OUE
from sottovoce.mechanisms.sue import SUE
from sottovoce.mechanisms.the import THE

GRID = np.linspace(0.1, 6, 60).tolist()
CELLS = [
    (name, epsilon, printed)
    for epsilon, row in TABLE_3_2.items()
    for name, printed in zip(COLUMNS, row, strict=True)
]
# The table takes e^eps + 1 buckets where a hash needs a whole number of them; at two decimals that
# shows in two cells.
WHOLE_BUCKETS = {("OLH", 0.5): 15.82, ("OLH", 1.0): 3.69}


def variance(mechanism):
    """The variance per user of a value that nobody holds."""
    return mechanism.noise.unheld


@pytest.mark.parametrize(("name", "epsilon", "printed"), CELLS)
def test_table_3_2(name, epsilon, printed):
    """All 36 variances at two decimals; whole buckets cost less than one percent."""
    made = variance(COLUMNS[name](epsilon))
    assert round(made, 2) == WHOLE_BUCKETS.get((name, epsilon), printed)
    if name == "OLH":
        ideal = variance(OUE(epsilon, LARGE))
        assert round(ideal, 2) == printed
        assert ideal <= made * (1 + 1e-12) < 1.01 * ideal


def test_table_3_2_has_thirty_six_cells():
    assert len(CELLS) == 36


@pytest.mark.parametrize("epsilon", GRID)
def test_figure_3_1_direct_encoding_is_best_for_few_values_only(epsilon):
    """DE beats OUE exactly where d < 3 e^eps + 2."""
    border = 3 * exp(epsilon) + 2
    for size in (2, 3, int(border), int(border) + 1, 2 * int(border), LARGE):
        assert (variance(GRR(epsilon, size)) < variance(OUE(epsilon, size))) == (size < border)


@pytest.mark.parametrize("epsilon", GRID)
def test_figure_3_1_optimised_unary_encoding_is_below_the_other_curves(epsilon):
    """OUE < SUE, THE < SHE, OUE < THE, OUE < BLH; only DE may be lower."""
    oue, sue, best, fixed, she, blh = (
        variance(one)
        for one in (
            OUE(epsilon, LARGE),
            SUE(epsilon, LARGE),
            THE(epsilon, LARGE),
            THE(epsilon, LARGE, theta=1.0),
            SHE(epsilon, LARGE),
            BLH(epsilon, LARGE),
        )
    )
    assert oue < min(sue, best, she, blh)
    assert best < fixed
    assert best < she


@pytest.mark.parametrize("buckets", [3, 4, 8, 56])
def test_figure_3_1_unary_encoding_and_hashing_coincide(buckets):
    """OUE = OLH wherever e^eps + 1 is a whole number."""
    epsilon = log(buckets - 1)
    assert OLH(epsilon, LARGE).buckets == buckets
    assert variance(OLH(epsilon, LARGE)) == pytest.approx(variance(OUE(epsilon, LARGE)), rel=1e-9)


def test_figure_3_1_binary_hashing_tends_to_one_per_user():
    """A hash bit of its own is half right by chance, whatever epsilon; the other curves go to
    zero.
    """
    curve = [variance(BLH(epsilon, LARGE)) for epsilon in (1.0, 4.0, 8.0, 20.0)]
    assert curve == sorted(curve, reverse=True)
    assert 1 < curve[-1] < 1 + 1e-8
    assert variance(OUE(20.0, LARGE)) < 1e-8


def test_summation_overtakes_binary_hashing_at_2_3242():
    """Section 3.4.1 says 2.5; the curves cross at 2.3242."""
    assert variance(SHE(2.324, LARGE)) > variance(BLH(2.324, LARGE))
    assert variance(SHE(2.3244, LARGE)) < variance(BLH(2.3244, LARGE))


def test_the_introduction_s_one_fourteenth_and_one_half():
    """At epsilon 4 BLH has 14.15 times the variance of OLH, and SUE 2.38 times that of OUE."""
    assert variance(BLH(4.0, LARGE)) / variance(OLH(4.0, LARGE)) == pytest.approx(14.15, abs=0.005)
    assert variance(SUE(4.0, LARGE)) / variance(OUE(4.0, LARGE)) == pytest.approx(2.38, abs=0.005)


@pytest.mark.parametrize(("kind", "least"), [(OLH, 3681), (BLH, 13849)])
def test_significance_threshold_of_the_click_stream(kind, least):
    """Section 3.5.2: 8,019,015 clicks on 41,270 pages, epsilon 4, alpha 0.05.

    The published figures are those of a normal law; exact tails ask for up to 0.2 % more.
    """
    assert upper_quantile(0.05 / 41_270) == pytest.approx(4.714499, abs=5e-7)
    estimate = Estimate(np.zeros(41_270), kind(4.0, 41_270).noise, 8_019_015, 4.0)
    normal = upper_quantile(0.05 / 41_270) * np.sqrt(8_019_015 * estimate.noise.unheld)
    assert round(normal) == least
    assert least < estimate.threshold(alpha=0.05) < 1.0025 * least
    few = Estimate(np.zeros(5), estimate.noise, 8_019_015, 4.0)
    assert few.threshold(tested=41_270) == estimate.threshold(alpha=0.05)
    assert not estimate.significant().any()
