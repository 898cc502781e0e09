"""The chooser: least exact variance by default, the published rule by name."""

from math import exp, floor

import pytest

from sottovoce.errors import ParameterError
from sottovoce.plans.frequencies.choose_mechanism import choose

# Sizes at which GRR has the least variance, per epsilon: docs/affine-response.md.
DIRECT = {
    0.25: [(2, 3)],
    0.5: [(2, 3), (5, 5)],
    1.0: [(2, 6)],
    1.5: [(2, 7), (9, 10)],
    2.0: [(2, 13)],
    2.5: [(2, 23)],
    3.0: [(2, 30), (33, 40)],
    4.0: [(2, 97)],
    5.0: [(2, 225), (257, 287)],
}


@pytest.mark.parametrize("epsilon", DIRECT)
def test_grr_is_chosen_exactly_where_it_has_the_least_variance(epsilon):
    last = DIRECT[epsilon][-1][1]
    expected = {size for low, high in DIRECT[epsilon] for size in range(low, high + 1)}
    chosen = {size for size in range(2, last + 60) if choose(size, epsilon).mechanism.kind == "grr"}
    assert chosen == expected


@pytest.mark.parametrize(("epsilon", "edges"), [(6.0, (746, 747)), (8.0, (5641, 5642))])
def test_the_edges_at_large_epsilon(epsilon, edges):
    assert [choose(size, epsilon).mechanism.kind for size in edges] == ["grr", "affine"]


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
