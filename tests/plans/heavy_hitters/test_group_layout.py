"""The layout of a search: weights with the least predicted loss, lengths within the budget."""

import numpy as np
import pytest

from sottovoce.domains.bits import Bits
from sottovoce.domains.strings import Strings
from sottovoce.errors import ParameterError
from sottovoce.plans.heavy_hitters.group_layout import (
    GroupLayout,
    best_weights,
    candidate_count,
    choose_layout,
    group_demands,
    predicted_loss,
)

DOMAINS = [Bits(2), Bits(24), Bits(48), Bits(160), Strings(1), Strings(6), Strings(20)]


def loss(domain, lengths, weights, kept=32):
    """The formula of the module, written out for any weights."""
    parts = np.array(weights) / sum(weights)
    shares = np.array(group_demands(lengths, kept)) / np.sqrt(parts)
    total = 0.0
    for bits, chance in domain.endings.items():
        known = next(group for group, length in enumerate(lengths) if length >= bits)
        total += chance * shares[: known + 1].max()
    return total


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
def test_no_other_weights_have_a_smaller_predicted_loss(domain):
    """Two hundred others, near and far; whole numbers and least parts cost at most one percent."""
    lengths = choose_layout(domain, 32, 1 << 22).lengths
    least = predicted_loss(domain, lengths, 32)
    weights = best_weights(domain, lengths, 32)
    assert least * (1 - 1e-9) <= loss(domain, lengths, weights) <= 1.01 * least
    dice = np.random.default_rng(1)
    for spread in (0.02, 0.1, 0.5, 2.0):
        for _ in range(50):
            others = np.array(weights) * np.exp(dice.normal(0, spread, len(weights)))
            assert loss(domain, lengths, others) >= least * (1 - 1e-9)


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
@pytest.mark.parametrize("budget", [1 << 16, 1 << 20, 1 << 22])
def test_candidates_stay_within_the_budget_and_the_last_prefix_is_the_value(domain, budget):
    layout = choose_layout(domain, 32, budget)
    assert layout.lengths[-1] == domain.bits
    assert candidate_count(layout.lengths, 32) <= budget
    assert min(layout.weights) >= 0.19 * 1000 / len(layout.weights)


def test_a_larger_budget_never_loses_more():
    losses = [
        predicted_loss(Strings(20), choose_layout(Strings(20), 32, 1 << bits).lengths, 32)
        for bits in (14, 16, 18, 20, 22)
    ]
    assert losses == sorted(losses, reverse=True)


def test_a_budget_that_cannot_work_is_refused():
    with pytest.raises(ParameterError, match="`queries`"):
        choose_layout(Bits(48), 32, 31)


@pytest.mark.parametrize(
    ("lengths", "weights", "rule"),
    [
        ((8, 8), (1, 1), "increase"),
        ((8, 16), (1,), "`weights`"),
        ((8, 16), (1, 0), "`weights`"),
        ((0, 16), (1, 1), "`lengths`"),
    ],
)
def test_an_impossible_layout_is_refused(lengths, weights, rule):
    with pytest.raises(ParameterError, match=rule):
        GroupLayout(lengths, weights)
