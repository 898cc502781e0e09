"""The arithmetic of adaptive sampling."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sottovoce.errors import ParameterError
from sottovoce.plans.itemsets.adaptive_sampling import (
    ItemReports,
    distance,
    opening_users,
    round_users,
)


@pytest.mark.parametrize(
    ("users", "items", "expected"),
    [
        (10_000, 100, (10_000, 5890, 3589, 2658, 1984)),
        (10_000, 26, (4547, 1661, 970, 709, 525)),
        (50_000, 300, (50_000, 22_690, 13_310, 9715, 7169)),
        (495_000, 300, (94_214, 30_394, 17_073, 12_260, 8937)),
    ],
)
def test_the_even_start_is_the_one_that_leaves_the_most(users, items, expected):
    found = tuple(opening_users(users, items, epsilon) for epsilon in (0.5, 1.0, 1.5, 2.0, 3.0))
    assert found == expected


@pytest.mark.parametrize(
    ("users", "items", "epsilon"), [(10_000, 100, 1.0), (5000, 10, 0.3), (800, 1, 1.0)]
)
def test_no_other_start_leaves_more(users, items, epsilon):
    """The whole objective on a grid of all whole numbers."""
    starts = np.arange(1, users + 1)
    rate = np.tanh(epsilon / 2) ** 2 / (2 * items)
    worth = (users - starts) * (1 - items * np.exp(-rate * starts))
    assert abs(opening_users(users, items, epsilon) - starts[np.argmax(worth)]) <= 1


def test_the_even_start_shrinks_as_epsilon_grows():
    found = [opening_users(10_000, 100, epsilon) for epsilon in np.arange(0.1, 4.0, 0.1)]
    assert found[0] == 10_000
    inner = [users for users in found if users < 10_000]
    assert inner == sorted(set(inner), reverse=True)


def test_too_few_users_for_the_items_are_refused():
    with pytest.raises(ParameterError, match="prune"):
        opening_users(99, 100, 1.0)


@pytest.mark.parametrize(
    ("deviation", "gap", "square"),
    [(0.43, 0.07, 0.006718459454), (0.5, 0.01, 1.790868732e-4), (0.3, 0.0, 0.0)],
)
def test_the_distance_solves_bernsteins_inequality(deviation, gap, square):
    found = float(distance(np.array([deviation]), np.array([gap]))[0])
    assert found**2 == pytest.approx(square, rel=1e-9)
    assert 3 * found**2 + np.sqrt(2) * deviation * found == pytest.approx(gap, abs=1e-15)


def test_the_printed_root_does_not_solve_it():
    """H^2 = gap/3 + sigma sqrt(sigma^2 + 6 gap)/9 + sigma^2/9 gives .416 back, not .07."""
    deviation, gap = 0.43, 0.07
    printed = np.sqrt(gap / 3 + deviation * np.sqrt(deviation**2 + 6 * gap) / 9 + deviation**2 / 9)
    assert 3 * printed**2 + np.sqrt(2) * deviation * printed == pytest.approx(0.416, abs=1e-3)


@pytest.mark.parametrize(
    ("deviation", "gap", "times", "weight"),
    [(0.5, 0.01, 100, 2.94675216), (0.0, 0.05, 50, 1.30379463), (0.4, 0.0, 70, 3.0)],
)
def test_weights_are_the_checked_ones(deviation, gap, times, weight):
    found = 3 * np.exp(-times * distance(np.array([deviation]), np.array([gap])) ** 2)
    assert float(found[0]) == pytest.approx(weight, rel=1e-8)


def asked(rates, times=100, sought=2):
    ones = np.round(np.array(rates) * times).astype(np.int64)
    return ItemReports(np.full(len(rates), times), ones, sought)


def test_the_boundary_is_measured_to_the_other_side():
    """Top items look down to the third, the rest up to the second."""
    assert asked([0.9, 0.2, 0.6, 0.5]).gaps == pytest.approx([0.4, 0.4, 0.1, 0.1])


def test_equal_rates_are_told_apart_by_their_order():
    assert asked([0.5, 0.5, 0.5]).top.tolist() == [True, True, False]
    assert asked([0.5, 0.5, 0.5]).shares() == pytest.approx([1 / 3] * 3)


def test_questions_go_to_the_boundary():
    shares = asked([0.9, 0.1, 0.52, 0.5, 0.05]).shares()
    assert shares.sum() == pytest.approx(1)
    assert set(np.argsort(-shares)[:2].tolist()) == {2, 3}


def test_thousands_of_reports_do_not_underflow():
    shares = asked([0.9, 0.8, 0.5, 0.1], times=10**7).shares()
    assert np.isfinite(shares).all()
    assert shares.sum() == pytest.approx(1)


def test_an_item_nobody_was_asked_about_weighs_as_much_as_any_can():
    known = ItemReports(np.array([100, 0, 100, 100]), np.array([80, 0, 30, 20]), 1)
    for even in (False, True):
        assert (
            known.weights(even=even)[1]
            == known.weights(even=even).max()
            == pytest.approx(np.log(3))
        )
    assert known.shares().sum() == pytest.approx(1)
    assert not known.top[1]


def test_a_million_reports_leave_shares_that_sum_to_one():
    known = asked(np.linspace(0.9, 0.1, 50), times=10**6, sought=10)
    assert known.shares().sum() == pytest.approx(1, abs=1e-12)


@given(
    st.lists(st.tuples(st.integers(1, 300), st.floats(0, 1)), min_size=3, max_size=12),
    st.randoms(use_true_random=False),
    st.booleans(),
)
def test_items_in_another_order_get_their_shares_in_that_order(items, shuffler, even):
    """Where no two rates are equal; and no gap is negative."""
    times = np.array([count for count, _ in items])
    ones = np.array([round(count * rate) for count, rate in items])
    assume(len(set((ones / times).tolist())) == len(items))
    order = list(range(len(items)))
    shuffler.shuffle(order)
    straight, mixed = ItemReports(times, ones, 2), ItemReports(times[order], ones[order], 2)
    assert (straight.gaps >= 0).all()
    assert mixed.shares(even=even) == pytest.approx(
        straight.shares(even=even)[order], rel=1e-12, abs=1e-300
    )


class ReversedBoundary(ItemReports):
    """The printed case: the top looks up to its own last item, the rest down to its own first."""

    @property
    def gaps(self):
        last, first = self.rates[self.order[self.sought - 1]], self.rates[self.order[self.sought]]
        return np.abs(self.rates - np.where(self.top, last, first))


def test_the_printed_boundary_would_call_the_last_of_the_top_undecided_for_ever():
    """However clear the gap, the k-th and the next item would be at no distance from it, and take
    half of all users.
    """
    clear = asked([0.9, 0.8, 0.2, 0.1], times=2000)
    twin = ReversedBoundary(clear.times, clear.ones, 2)
    assert (twin.gaps == 0).sum() == 2
    assert twin.shares().max() == pytest.approx(0.5, abs=1e-3)
    assert (clear.gaps >= 0.6 - 1e-12).all()


def test_even_weights_of_the_top_stay_in_their_range():
    """All of the top are asked about evenly: their weights lie in [1.82, 3]."""
    known = ItemReports(np.array([100, 140, 90, 400, 300]), np.array([70, 90, 55, 120, 60]), 3)
    weights = np.exp(known.weights(even=True))[known.top]
    assert ((weights > 1.81) & (weights <= 3)).all()


def test_rounds_use_everybody_and_none_is_nearly_empty():
    rng = np.random.default_rng(5)
    rates, left, rounds, sizes = np.linspace(0.7, 0.3, 20), 8000, 5, []
    times = np.full(20, 100)
    ones = rng.binomial(times, rates)
    for rest in range(rounds, 0, -1):
        known = ItemReports(times, ones, 5)
        sizes.append(round_users(known, known.shares(), left, rest))
        more = rng.multinomial(sizes[-1], known.shares())
        times, ones, left = times + more, ones + rng.binomial(more, rates), left - sizes[-1]
    assert left == 0
    assert min(sizes) > 8000 / rounds / 4, sizes


def test_errors_of_two_forms_would_empty_the_round():
    """The printed objective takes the first error from weights up to 3 instead of 2: its minimum is
    at nobody.
    """
    known = asked(np.linspace(0.6, 0.4, 12), times=60, sought=4)
    whole = 2 * 3000 / 4
    tried = np.arange(0, whole + 1)
    errors = np.array([known.doubt(known.shares(), more)[0] for more in tried])
    printed = tried * np.exp(known.weights()).sum() + (whole - tried) * errors
    assert tried[np.argmin(printed)] <= 1
    assert round_users(known, known.shares(), 3000, 4) > 100


def linear_state(epsilon):
    """One hundred items of which 1, 2, ...

    100 percent of people have each, after the even start of ten thousand.
    """
    lie = 1 / (np.exp(epsilon) + 1)
    rates = lie + np.arange(1, 101) / 100 * (1 - 2 * lie)
    times = np.full(100, opening_users(10_000, 100, epsilon) // 100)
    return times, rates


def printed_round_users(known, shares, left, rounds_left):
    """The published objective with Bernstein's weights, up to 3, before and Hoeffding's, up to 2,
    after.
    """
    if rounds_left == 1:
        return left
    whole = 2 * left / rounds_left
    tried = np.linspace(0, whole, 2000)
    errors = np.array([known.doubt(shares, more)[0] for more in tried])
    best = tried[np.argmin(tried * np.exp(known.weights()).sum() + (whole - tried) * errors)]
    return max(1, min(round(best), left // rounds_left))


def sizes(times, rates, sized, rounds):
    rng = np.random.default_rng(45)
    ones, left, found = rng.binomial(times, rates), 10_000 - int(times.sum()), []
    for rest in range(rounds, 0, -1):
        known = ItemReports(times, ones, 30)
        found.append(sized(known, known.shares(), left, rest))
        more = rng.multinomial(found[-1], known.shares())
        times, ones, left = times + more, ones + rng.binomial(more, rates), left - found[-1]
    return found


def test_rounds_grow_gently_and_the_printed_ones_collapse():
    """Linear frequencies, epsilon 1, five rounds: none below 100 and none smaller than the one
    before.
    """
    found = sizes(*linear_state(1.0), round_users, 5)
    assert min(found) >= 100
    assert found == sorted(found)
    assert sizes(*linear_state(1.0), printed_round_users, 5)[:4] == [1, 1, 1, 1]


def test_fewer_users_than_rounds_still_make_rounds_of_one():
    known = asked([0.6, 0.5, 0.4])
    assert round_users(known, known.shares(), 3, 5) == 1


def test_the_size_of_a_round_is_the_best_of_all_sizes():
    known = asked(np.linspace(0.8, 0.2, 12), times=60, sought=4)
    shares, left, rounds = known.shares(), 3000, 4
    tried = np.arange(0, 2 * left / rounds + 1)
    whole = 2 * left / rounds
    errors = np.array([known.doubt(shares, more)[0] for more in tried])
    best = tried[np.argmin(tried * errors[0] + (whole - tried) * errors)]
    assert abs(round_users(known, shares, left, rounds) - min(best, left // rounds)) <= 1


@pytest.mark.parametrize(
    ("times", "ones", "sought"),
    [([1, 1], [0, 1], 2), ([1, 1], [0, 1], 0), ([-1, 1], [-1, 1], 1), ([1, 1], [2, 1], 1)],
)
def test_what_cannot_have_been_asked_is_refused(times, ones, sought):
    with pytest.raises(ParameterError):
        ItemReports(np.array(times), np.array(ones), sought)


def test_a_round_needs_users():
    with pytest.raises(ParameterError):
        round_users(asked([0.6, 0.5, 0.4]), np.full(3, 1 / 3), 0, 1)
