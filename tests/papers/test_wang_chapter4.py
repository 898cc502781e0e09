"""Wang 2021, chapter 4: what prefix extension can see at all (Table 4.1)."""

from math import exp, floor, sqrt
from statistics import NormalDist

import pytest

from sottovoce.plans.heavy_hitters.prefixes import sensitivity

# Rows: epsilon, bits, then users 10^4 .. 10^7; columns: groups 1 .. 4, as printed.
TABLE = {
    (1, 32): "0.119629 0.137374 0.144731 0.154686 0.037832 0.043285 0.045536 0.048738 "
    "0.011960 0.013674 0.014388 0.015396 0.003781 0.004322 0.004546 0.004866",
    (1, 48): "0.149492 0.163341 0.168102 0.178922 0.047267 0.051595 0.052936 0.056182 "
    "0.014937 0.016314 0.016738 0.017751 0.004723 0.005158 0.005294 0.005610",
    (1, 64): "0.174594 0.186712 0.192771 0.199696 0.055144 0.058866 0.060857 0.062761 "
    "0.017426 0.018599 0.019218 0.019845 0.005510 0.005881 0.006077 0.006271",
    (1, 128): "0.250765 0.258555 0.261585 0.267211 0.079250 0.081804 0.082799 0.084400 "
    "0.025056 0.025844 0.026164 0.026683 0.007923 0.008173 0.008272 0.008437",
    (2, 32): "0.053054 0.060933 0.064084 0.068286 0.016788 0.019178 0.020202 0.021646 "
    "0.005302 0.006063 0.006376 0.006825 0.001677 0.001916 0.002016 0.002158",
    (2, 48): "0.066447 0.072487 0.074325 0.078790 0.020964 0.022907 0.023511 0.024903 "
    "0.006623 0.007235 0.007424 0.007865 0.002094 0.002287 0.002347 0.002488",
    (2, 64): "0.077477 0.082466 0.085355 0.088244 0.024456 0.026111 0.026977 0.027844 "
    "0.007728 0.008248 0.008527 0.008800 0.002443 0.002608 0.002694 0.002781",
    (2, 128): "0.111353 0.115030 0.116080 0.118706 0.035144 0.036247 0.036746 0.037508 "
    "0.011111 0.011463 0.011599 0.011835 0.003513 0.003624 0.003668 0.003741",
}  # fmt: skip
CELLS = [
    (epsilon, bits, 10 ** (4 + place // 4), 1 + place % 4, float(printed))
    for (epsilon, bits), row in TABLE.items()
    for place, printed in enumerate(row.split())
]


def candidates(bits, groups, prefixes):
    """Values in the last round: all of them with one group, else the extensions of the prefixes
    that were kept.
    """
    return 1 << bits if groups == 1 else prefixes << ((bits - 4) // groups)


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
