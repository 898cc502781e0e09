"""Wang 2021, chapter 4: what prefix extension can see at all (Table 4.1)."""

from math import exp, floor, sqrt
from statistics import NormalDist

import pytest

from sottovoce.lab.experiments.figures.wang_chapter4 import CELLS_4_1 as CELLS
from sottovoce.lab.experiments.figures.wang_chapter4 import TABLE_4_1 as TABLE
from sottovoce.lab.experiments.figures.wang_chapter4 import last_candidates as candidates
from sottovoce.plans.heavy_hitters.prefixes import sensitivity


@pytest.mark.parametrize(("epsilon", "bits", "users", "groups", "printed"), CELLS)
def test_table_4_1_is_reproduced(epsilon, bits, users, groups, printed):
    """With 2^8 prefixes (the text says 16) and a whole number of supporters, as the printed digits
    tell.
    """
    share, q = users / groups, 1 / (exp(epsilon) + 1)
    tail = -NormalDist().inv_cdf(1 / candidates(bits, groups, 256))
    supporters = floor(share * q - tail * sqrt(share * q * (1 - q)))
    assert (share * q - supporters) / (share * (0.5 - q)) == pytest.approx(printed, abs=1.01e-6)
    one_supporter = 1 / (share * (0.5 - q))  # which the table rounds away, besides its digits
    ours = sensitivity(epsilon, candidates(bits, groups, 256), share)
    assert ours == pytest.approx(printed, abs=one_supporter + 1.01e-6)


@pytest.mark.parametrize("users", [10**4, 10**5, 10**6, 10**7])
@pytest.mark.parametrize(("epsilon", "bits"), TABLE)
def test_with_the_candidates_of_the_text_one_group_is_best_or_nearly(epsilon, bits, users):
    found = [
        sensitivity(epsilon, candidates(bits, groups, 16), users / groups)
        for groups in (1, 2, 3, 4)
    ]
    assert found[0] <= 1.01 * min(found)


def test_it_is_not_always_best():
    """At 48 bits, epsilon 1 and 10^6 users three groups see a little further than one."""
    found = [sensitivity(1, candidates(48, groups, 16), 10**6 / groups) for groups in (1, 2, 3, 4)]
    assert found == pytest.approx([0.014935, 0.015042, 0.014875, 0.015386], abs=1e-6)
