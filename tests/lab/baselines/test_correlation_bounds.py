"""What correlated attributes tell of each other: closed forms, exact enumeration, groups and
allocations.
"""

from itertools import product
from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from sottovoce.errors import NoDataError, ParameterError
from sottovoce.lab.baselines.attribute_groups import (
    Grouping,
    allocate,
    best_grouping,
    vote_variance,
    weakly_tied_groups,
)
from sottovoce.lab.baselines.correlation_bounds import (
    Ties,
    audit,
    cautious_agreements,
    pair_tables,
    strongest,
)
from sottovoce.maths import exact


def matrix(count, pairs):
    rates = np.eye(count)
    for (one, other), rate in pairs.items():
        rates[one, other] = rates[other, one] = rate
    return rates.tolist()


def equal(count, rate):
    return Ties.of_agreements(matrix(count, {(i, j): rate for i in range(count) for j in range(i)}))


def kept(spent):
    """The chance that a bit is told as it is."""
    return 1 / (1 + exp(-spent))


def logit(chance):
    return log(chance / (1 - chance))


@pytest.mark.parametrize(
    ("count", "rate", "epsilon", "chance"),
    [
        (2, 0.8, 1.0, 0.652468629987),
        (3, 0.8, 1.0, 0.612373661446),
        (8, 0.6, 2.0, 0.702910498849),
        (10, 0.55, 0.5, 0.565587628482),
        (4, 0.2, 1.0, 0.588729600058),
    ],
)
def test_the_chance_of_keeping_a_bit_is_the_known_one(count, rate, epsilon, chance):
    ties = equal(count, rate)
    assert kept(ties.spent(epsilon)) == pytest.approx(chance, abs=1e-9)
    np.testing.assert_allclose(1 / (1 + np.exp(-ties.roots(epsilon))), chance, atol=1e-9)


def test_unequal_agreements_have_a_root_each_and_the_smallest_counts():
    ties = Ties.of_agreements(matrix(3, {(0, 1): 0.8, (0, 2): 0.6, (1, 2): 0.55}))
    roots = ties.roots(1.0)
    np.testing.assert_allclose(
        1 / (1 + np.exp(-roots)), [0.6364879058, 0.6440709271, 0.6851453707], atol=1e-9
    )
    assert ties.spent(1.0) == pytest.approx(min(roots), abs=1e-11)
    assert (
        ties.leaks(float(np.mean(roots))).max() > 1.0
    )  # the broken twin: the mean of the roots leaks more


def test_without_ties_all_of_epsilon_is_spent_and_with_full_ones_an_equal_part():
    for epsilon in (0.1, 1.0, 5.0):
        assert equal(5, 0.5).spent(epsilon) == epsilon
        assert equal(1, 0.5).spent(epsilon) == epsilon
        for rate in (0.0, 1.0):
            assert equal(4, rate).spent(epsilon) == pytest.approx(epsilon / 4, abs=1e-11)


def test_what_may_be_spent_falls_with_ties_and_grows_with_epsilon():
    for epsilon in (0.5, 2.0):
        spent = [equal(4, rate).spent(epsilon) for rate in (0.5, 0.6, 0.7, 0.85, 1.0)]
        assert spent == sorted(spent, reverse=True)
        assert len(set(spent)) == 5
    assert equal(4, 0.7).spent(0.5) < equal(4, 0.7).spent(0.6) < equal(4, 0.7).spent(3.0)


@given(st.floats(0.5, 1.0), st.integers(2, 6), st.floats(0.05, 5.0))
@settings(max_examples=25, deadline=None)
def test_attributes_that_differ_leak_as_those_that_agree(rate, count, spent):
    np.testing.assert_allclose(
        equal(count, rate).leaks(spent), equal(count, 1 - rate).leaks(spent), rtol=1e-9
    )


def folded(keep, rates):
    """Equation 4.3: the belief in a bit after its own report and then each of the others, by Bayes'
    rule.
    """
    belief = keep
    for rate in rates:
        same = rate * keep + (1 - rate) * (1 - keep)
        belief = belief * same / (belief * same + (1 - belief) * (1 - same))
    return logit(belief)


def test_the_leak_is_the_published_recursion_in_closed_form():
    rates = (0.7, 0.8, 0.6)
    ties = Ties.of_agreements(
        matrix(4, {(0, place + 1): rate for place, rate in enumerate(rates)} | {(1, 2): 0.5})
    )
    leak = ties.leaks(logit(0.75))[0]
    assert leak == pytest.approx(2.323787300645, abs=1e-12)
    assert leak == pytest.approx(folded(0.75, rates), abs=1e-12)


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_no_leak_exceeds_epsilon_and_one_step_more_would(seed):
    """Whatever the ties: the rounded root is on the safe side, and not needlessly far from it."""
    dice = np.random.default_rng(seed)
    count, epsilon = int(dice.integers(2, 6)), float(dice.uniform(0.05, 5))
    rates = {(i, j): float(dice.uniform()) for i in range(count) for j in range(i)}
    ties = Ties.of_agreements(matrix(count, rates))
    spent = ties.spent(epsilon)
    assert ties.leaks(spent).max() <= epsilon + 1e-13
    assert ties.leaks(spent + 2e-12).max() > epsilon
    assert len(str(exact.stated(spent)).partition(".")[2]) <= 12


def star(rate):
    """A fair bit, and two that equal it at a rate, independently of each other."""
    joint = np.zeros((2, 2, 2))
    for first, second, third in product(range(2), repeat=3):
        chances = [rate if other == first else 1 - rate for other in (second, third)]
        joint[first, second, third] = 0.5 * chances[0] * chances[1]
    return joint


def test_the_audit_of_a_star_finds_what_the_closed_form_says():
    """Where the assumption holds the leak is exact for the middle, and the whole record leaks
    more.
    """
    spent = equal(3, 0.8).roots(1.0)
    found = audit(star(0.8), spent)
    assert found.attributes[0] == pytest.approx(1.0, abs=1e-9)
    assert found.attributes[1:] == pytest.approx((0.8824, 0.8824), abs=5e-5)
    assert found.record == pytest.approx(1.3719, abs=5e-5)
    assert found.record == pytest.approx(sum(spent), abs=1e-12)


def test_the_audit_shows_a_joint_distribution_that_breaks_the_claim():
    """All pairs agree at 0.8, as stated; what is claimed to be 1 is 1.2207."""
    joint = np.zeros((2, 2, 2))
    joint[0, 0, 0], joint[1, 0, 0], joint[1, 0, 1], joint[1, 1, 0], joint[1, 1, 1] = (
        0.05,
        0.1,
        0.1,
        0.1,
        0.65,
    )
    for one, other in ((0, 1), (0, 2), (1, 2)):
        pair = joint.sum(axis=3 - one - other)
        assert pair[0, 0] + pair[1, 1] == pytest.approx(0.8)
    found = audit(joint, [equal(3, 0.8).spent(1.0)] * 3)
    assert max(found.attributes) == pytest.approx(1.2207, abs=5e-5)


def worst_joint(rate, epsilon, ones):
    """The largest log-ratio about the first of three bits over all joints with these agreements and
    P(bit = 1).
    """
    keep = kept(equal(3, rate).spent(epsilon))
    cells = np.array(list(product((0, 1), repeat=3)))
    seen = np.where(cells == 1, keep, 1 - keep).prod(axis=1)  # the chance of the output 111
    held = cells[:, 0] == 1
    pairs = [(cells[:, i] == cells[:, j]).astype(float) for i, j in ((0, 1), (0, 2), (1, 2))]
    rows = [np.ones(8), *pairs, held.astype(float)]
    sums = [1.0, rate, rate, rate, ones]
    if ones == 0.5:
        rows += [cells[:, place].astype(float) for place in (1, 2)]
        sums += [0.5, 0.5]
    # Given P(bit = 1) the ratio is linear-fractional: maximise above with what is below fixed to
    # one.
    below = np.where(held, 0, seen) / (1 - ones)
    equations = np.column_stack([np.array(rows), -np.array(sums)])
    equations = np.vstack([equations, np.append(below, 0.0)])
    found = linprog(
        -np.append(np.where(held, seen, 0) / ones, 0.0),
        A_eq=equations,
        b_eq=[*([0.0] * len(rows)), 1.0],
    )
    return log(-found.fun) if found.status == 0 else 0.0


@pytest.mark.parametrize(
    ("rate", "epsilon", "fair", "skewed", "rare", "record"),
    [
        (0.6, 1.0, 1.189, 1.694, 1.7233, 2.168),
        (0.7, 1.0, 1.084, 1.406, 1.4215, 1.683),
        (0.8, 1.0, 1.036, 1.221, 1.2288, 1.372),
        (0.9, 1.0, 1.012, 1.093, 1.0963, 1.157),
        (0.6, 2.0, 2.673, 3.727, 3.7809, 4.474),
        (0.8, 2.0, 2.130, 2.551, 2.5648, 2.795),
    ],
)
def test_worst_joint_distributions_exceed_the_claim_but_never_the_record(
    rate, epsilon, fair, skewed, rare, record
):
    """By linear programming, with fair bits, with one that is 1 for 95 in 100, and with one that is
    hardly ever 0.

    Agreements alone bound nothing but the record's local differential privacy.
    """
    assert worst_joint(rate, epsilon, 0.5) == pytest.approx(fair, abs=6e-4)
    assert worst_joint(rate, epsilon, 0.95) == pytest.approx(skewed, abs=6e-4)
    assert worst_joint(rate, epsilon, 0.99999) == pytest.approx(rare, abs=1e-4)
    assert 3 * equal(3, rate).spent(epsilon) == pytest.approx(record, abs=6e-4)
    assert epsilon < fair < skewed < rare < record


def test_two_skewed_bits_exceed_the_claim_without_any_assumption():
    joint = np.array([[0.001, 0.0], [0.2, 0.799]])  # they agree at 0.8
    assert max(audit(joint, [equal(2, 0.8).spent(1.0)] * 2).attributes) == pytest.approx(
        1.16, abs=5e-3
    )


@pytest.mark.parametrize("sizes", [(2, 2), (3, 3), (5, 5), (2, 5)])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_a_table_of_two_attributes_leaks_exactly_epsilon(sizes, epsilon):
    for seed in range(3):
        joint = (
            np.random.default_rng([seed, *sizes])
            .dirichlet(np.ones(sizes[0] * sizes[1]))
            .reshape(sizes)
        )
        ties = Ties.of_tables(sizes, [tuple(map(tuple, joint.tolist()))])
        assert max(audit(joint, [ties.roots(epsilon).min()] * 2).attributes) == pytest.approx(
            epsilon, abs=1e-9
        )
        assert max(audit(joint, [ties.spent(epsilon)] * 2).attributes) <= epsilon + 1e-13


def test_independent_bits_that_are_skewed_cost_nothing_by_their_table_but_by_their_agreement():
    """They agree at 0.82; a table has neither defect of a rate."""
    shares = np.array([0.9, 0.1])
    table = tuple(map(tuple, np.outer(shares, shares).tolist()))
    assert Ties.of_tables((2, 2), [table]).spent(1.0) == pytest.approx(1.0, abs=1e-11)
    assert equal(2, 0.82).spent(1.0) < 0.63


def test_a_table_of_fair_bits_says_the_same_as_their_agreement():
    table = ((0.4, 0.1), (0.1, 0.4))
    assert Ties.of_tables((2, 2), [table]).spent(1.0) == pytest.approx(
        equal(2, 0.8).spent(1.0), abs=1e-11
    )


def test_empty_cells_of_a_table_are_fine_but_empty_rows_are_refused():
    assert 0 < Ties.of_tables((2, 2), [((0.5, 0.0), (0.2, 0.3))]).spent(1.0) < 1
    with pytest.raises(ParameterError, match="every value of a joint table must occur"):
        Ties.of_tables((2, 2), [((0.0, 0.0), (0.5, 0.5))])
    seen = np.array([[1, 0], [1, 1], [1, 1]])
    assert pair_tables(seen, (2, 2)) == (((0.5, 0.5), (1.5, 2.5)),)
    Ties.of_tables((2, 2), pair_tables(seen, (2, 2)))


@pytest.mark.parametrize(
    "rates",
    [
        [[1.0, 0.5]],
        [[1.0, 0.4], [0.6, 1.0]],
        [[0.9, 0.5], [0.5, 1.0]],
        [[1.0, 1.1], [1.1, 1.0]],
        [[1.0, np.nan]] * 2,
    ],
)
def test_agreements_that_are_none_are_refused(rates):
    with pytest.raises(ParameterError):
        Ties.of_agreements(rates)


def test_tables_that_do_not_fit_are_refused():
    fine = ((0.25, 0.25), (0.25, 0.25))
    with pytest.raises(ParameterError, match="every pair"):
        Ties.of_tables((2, 2, 2), [fine])
    for table in (((0.5, 0.5),), ((1.0, -0.1), (0.05, 0.05)), ((0.5, float("inf")), (0.1, 0.1))):
        with pytest.raises(ParameterError):
            Ties.of_tables((2, 2), [table])


def test_an_audit_refuses_what_it_cannot_list():
    with pytest.raises(ParameterError, match="at most 10"):
        audit(np.ones((2,) * 11), [0.1] * 11)
    with pytest.raises(ParameterError):
        audit(np.ones((2, 2)), [0.1])
    with pytest.raises(ParameterError):
        audit(np.array([[1.0, -0.1], [0.0, 0.0]]), [0.1, 0.1])


def test_the_audit_lists_ten_attributes_and_passes_over_values_that_nobody_has():
    joint = np.zeros((2,) * 10)
    joint[(0,) * 10], joint[(1,) * 9 + (0,)] = 0.5, 0.5
    found = audit(joint, [0.1] * 10)
    assert found.attributes[0] == pytest.approx(0.9, abs=1e-9)  # nine bits that are one
    assert found.attributes[9] == 0.0
    assert found.record == pytest.approx(1.0, abs=1e-9)


def missed(bound, runs, seed):
    """How often agreements from 150 people are weaker than the true ones in some pair, and those
    are one of three.
    """
    dice, times = np.random.default_rng(seed), 0
    for _ in range(runs):
        hidden = dice.random((150, 1)) < 0.5
        sample = ((dice.random((150, 3)) < sqrt(0.6) / 2 + 0.5) == hidden).astype(np.int64)
        rates = np.array(bound(sample))[np.triu_indices(3, 1)]
        times += bool((np.abs(rates - 0.5) < 0.3).any())
    return times


def test_agreements_from_a_sample_are_bounded_and_plain_rates_would_be_too_weak():
    runs, beta = 400, 0.05
    most = runs * beta + 5 * sqrt(runs * beta * (1 - beta))
    assert missed(lambda sample: cautious_agreements(sample, beta), runs, 1) <= most
    plain = missed(lambda sample: (sample[:, :, None] == sample[:, None]).mean(axis=0), runs, 1)
    assert plain > 0.5 * runs > most


def test_a_bound_has_the_known_reach_and_keeps_the_direction():
    sample = np.array([[0, 0, 1]] * 700 + [[1, 0, 0]] * 300)
    rates = np.array(cautious_agreements(sample))
    reach = sqrt(log(2 * 3 / 1e-3) / 2000)
    assert rates[0, 1] == pytest.approx(0.7 + reach)
    assert rates[0, 2] == 0.0  # never agree: already the strongest
    assert rates[1, 2] == pytest.approx(0.3 - reach)
    assert (np.diagonal(rates) == 1).all()
    Ties.of_agreements(rates.tolist())
    with pytest.raises(NoDataError):
        cautious_agreements(np.zeros((0, 2), np.int64))


def test_an_interval_of_agreements_counts_by_its_farther_end():
    assert strongest(0.5, 0.5) == 0.5
    assert strongest(0.1, 0.6) == pytest.approx(0.9)
    assert strongest(0.45, 0.8) == pytest.approx(0.8)
    with pytest.raises(ParameterError):
        strongest(0.6, 0.5)


COSTS = [2 * keep * (1 - keep) / (2 * keep - 1) ** 2 for keep in (0.6, 0.7, 0.85, 0.95)]


def test_users_are_allocated_by_the_root_of_the_cost():
    given_ = allocate(COSTS, 100_000)
    assert given_ == (56344, 26352, 11734, 5570)
    assert sum(cost / one for cost, one in zip(COSTS, given_, strict=True)) == pytest.approx(
        3.7800e-4, abs=5e-9
    )


def test_the_cube_root_that_is_printed_and_an_even_allocation_are_worse():
    roots = np.array(COSTS) ** (1 / 3)
    printed = sum(np.array(COSTS) / (100_000 * roots / roots.sum()))
    assert printed == pytest.approx(3.9856e-4, abs=5e-9)
    assert sum(COSTS) / 25_000 == pytest.approx(6.1051e-4, abs=5e-9)


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=12), st.integers(0, 1000))
def test_an_allocation_adds_up_and_leaves_no_group_out(costs, more):
    given_ = allocate(costs, len(costs) + more)
    assert sum(given_) == len(costs) + more
    assert min(given_) >= 1


def test_an_allocation_needs_a_user_for_every_group():
    with pytest.raises(ParameterError):
        allocate((1.0, 1.0), 1)


def test_groups_keep_apart_what_hangs_together():
    ties = Ties.of_agreements(
        matrix(4, {(0, 1): 0.9, (2, 3): 0.9} | {(i, j): 0.5 for i in (0, 1) for j in (2, 3)})
    )
    assert weakly_tied_groups(ties, 2) == ((0, 2), (1, 3))
    assert weakly_tied_groups(ties, 4) == ((0, 1, 2, 3),)
    assert weakly_tied_groups(ties, 1) == ((0,), (1,), (2,), (3,))
    assert [len(group) for group in weakly_tied_groups(equal(7, 0.6), 3)] == [3, 3, 1]
    with pytest.raises(ParameterError):
        weakly_tied_groups(ties, 5)


def test_the_noise_of_a_vote_is_that_of_direct_response():
    keep = kept(1.0)
    assert vote_variance(2, 1.0) == pytest.approx(
        keep * (1 - keep) / (2 * keep - 1) ** 2, rel=1e-12
    )
    assert vote_variance(5, 2.0) == pytest.approx((5 - 2 + exp(2)) / (exp(2) - 1) ** 2, rel=1e-12)


def test_a_group_spends_what_its_own_ties_allow_not_those_of_the_cluster():
    made = Grouping.greedy(equal(6, 0.7), (2,) * 6, 1.0, 2)
    assert made.spent == (equal(2, 0.7).spent(1.0),) * 3
    assert made.spent[0] > equal(6, 0.7).spent(1.0)


@pytest.mark.parametrize(
    ("rate", "size"), [(0.55, 8), (0.6, 4), (0.65, 2), (0.7, 2), (0.75, 1), (0.9, 1)]
)
def test_small_epsilon_wants_groups_of_one_minus_r_over_r(rate, size):
    """With r = |2 P - 1| the noise grows as (1 + (g - 1) r)^2 / g; of the powers of two the nearest
    wins.
    """
    ties = equal(16, rate)
    totals = {
        one: Grouping.greedy(ties, (2,) * 16, 0.1, one).noise_total(10_000)
        for one in (1, 2, 4, 8, 16)
    }
    r = abs(2 * rate - 1)
    formula = {one: (1 + (one - 1) * r) ** 2 / one for one in totals}
    assert min(totals, key=totals.get) == min(formula, key=formula.get) == size


def test_forgetting_who_was_drawn_makes_small_groups_look_better_than_they_are():
    """At a large epsilon the noise alone wants groups of one; the whole error wants everybody asked
    everything.
    """
    ties, users = equal(8, 0.65), 10_000
    chosen = best_grouping(ties, (2,) * 8, 6.0, users)
    made = [Grouping.greedy(ties, (2,) * 8, 6.0, size) for size in range(1, 9)]
    by_noise = min(made, key=lambda one: one.noise_total(users))
    assert len(by_noise.groups) > len(chosen.groups) == 1
    assert chosen.total(users) < by_noise.total(users)
