"""The listed sum of the privacy blanket, against exact fractions."""

from fractions import Fraction
from math import log

import pytest

from sottovoce.accounting.blanket import Blanket
from sottovoce.lab.truth import shuffled
from sottovoce.lab.truth.blanket_sums import SummedBlanket
from sottovoce.lab.truth.shuffled import RationalBlanket


@pytest.mark.parametrize(
    "rational",
    [
        RationalBlanket(Fraction(7), Fraction(1, 4), Fraction(0)),
        RationalBlanket(Fraction(3), Fraction(1, 2), Fraction(0)),
        RationalBlanket(Fraction(20), Fraction(1, 8), Fraction(1, 9)),
        RationalBlanket(Fraction(4), Fraction(3, 4), Fraction(2, 3)),
    ],
)
@pytest.mark.parametrize(("users", "fakes"), [(1, 0), (9, 3), (6, 0)])
def test_small_batches_are_the_fractions(rational, users, fakes):
    blanket = Blanket(log(rational.odds), float(rational.share), float(rational.overlap))
    for central_odds in (Fraction(1), Fraction(11, 10), Fraction(3, 2)):
        expected = float(shuffled.blanket_delta(rational, users, fakes, central_odds))
        found = SummedBlanket(blanket, users, fakes).delta(log(central_odds))
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-15)
