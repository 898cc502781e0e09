"""The chooser: least exact variance by default, the published rule by name."""

from math import exp, floor

import pytest

from sottovoce.errors import ParameterError
from sottovoce.mechanisms.affine import AffineResponse, average_variance
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.subset import SubsetSelection
from sottovoce.plans.frequencies.choose_mechanism import choose

# The last size at which GRR is chosen, per epsilon, and the only later range.  Up to 80 values
# subset selection follows, and affine response beyond.
DIRECT = {
    0.5: [(2, 3)],
    1.0: [(2, 5)],
    2.0: [(2, 12)],
    3.0: [(2, 30)],
    4.0: [(2, 97)],
    5.0: [(2, 225), (257, 287)],
}


@pytest.mark.parametrize("epsilon", [0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 8.0, 12.0])
@pytest.mark.parametrize("size", [2, 3, 5, 8, 20, 64, 80, 81, 300, 5000])
def test_no_mechanism_with_a_short_report_has_less_variance(epsilon, size):
    """The broken twin is the choice between GRR and affine response alone."""
    chosen = choose(size, epsilon).mechanism
    assert chosen.width <= 10
    kinds = [GRR, AffineResponse, SubsetSelection] if size > 2 else [GRR]
    others = [kind(epsilon, size) for kind in kinds]
    short = [other for other in others if other.width <= 10]
    least = min(average_variance(other.p, other.q, size) for other in short)
    own = average_variance(chosen.p, chosen.q, size)
    assert own == pytest.approx(least, rel=1e-8)


def test_without_subset_selection_small_domains_lose_a_tenth_to_a_quarter():
    losses = []
    for size in (5, 10, 20):
        without = [GRR(0.5, size), AffineResponse(0.5, size)]
        twin = min(average_variance(other.p, other.q, size) for other in without)
        best = choose(size, 0.5).mechanism
        losses.append(twin / average_variance(best.p, best.q, size) - 1)
    assert losses == pytest.approx([0.21, 0.15, 0.10], abs=0.01)


@pytest.mark.parametrize("epsilon", DIRECT)
def test_grr_is_chosen_exactly_where_it_has_the_least_variance(epsilon):
    last = DIRECT[epsilon][-1][1]
    expected = {size for low, high in DIRECT[epsilon] for size in range(low, high + 1)}
    chosen = {size for size in range(2, last + 60) if choose(size, epsilon).mechanism.kind == "grr"}
    assert chosen == expected


@pytest.mark.parametrize(("epsilon", "edges"), [(6.0, (746, 747)), (8.0, (5641, 5642))])
def test_the_edges_at_large_epsilon(epsilon, edges):
    assert [choose(size, epsilon).mechanism.kind for size in edges] == ["grr", "affine"]


@pytest.mark.parametrize(("size", "epsilon"), [(100_000, 9.5), (200_000, 10.0), (10**6, 11.0)])
def test_large_epsilons_have_more_buckets(size, epsilon):
    """The broken twin is the rule of older documents, which stops at 2^12 buckets."""
    best, earlier = (
        choose(size, epsilon, rule).mechanism for rule in ("least variance", "grr or affine")
    )
    assert best.kind == "affine"
    assert best.buckets > 1 << 12
    assert best.width == 10
    gain = average_variance(earlier.p, earlier.q, size) / average_variance(best.p, best.q, size)
    assert gain > 1.3


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_the_published_rule_switches_at_three_odds_plus_two(epsilon):
    """Wang 2021, section 3.4.1."""
    last = floor(3 * exp(epsilon) + 2)
    kinds = [choose(size, epsilon, "published").mechanism.kind for size in (last, last + 1)]
    assert kinds == ["grr", "affine"]
    assert choose(last + 1, epsilon, "unary").mechanism.kind == "oue"


def test_every_choice_has_a_reason_and_an_unknown_rule_is_refused():
    assert "variance" in choose(1000, 1.0).reason
    assert choose(2, 1.0).mechanism.kind == "grr"
    with pytest.raises(ParameterError):
        choose(10, 1.0, "guess")
