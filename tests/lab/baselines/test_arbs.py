"""Adaptive top k in the laboratory: compiled loops against plain ones, and drawn counts against
genuine reports.
"""

import numpy as np
import pytest

from sottovoce.lab.baselines.arbs import (
    ItemPopulation,
    ask_in_turn,
    draw_pruned,
    draw_rounds,
    draw_uniform,
    estimated_frequencies,
    run_sequential,
)
from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.lab.seeded import SeededRng
from sottovoce.lab.simulate import simulate
from sottovoce.maths.ragged import Baskets
from sottovoce.plans.itemsets.adaptive_sampling import ItemReports, opening_users
from sottovoce.plans.itemsets.adaptive_top_items import AdaptiveTopItems
from sottovoce.plans.itemsets.set_questions import ask_which
from sottovoce.tasks.task import Task

SHARES = np.linspace(0.05, 0.8, 20)
SOUGHT, EPSILON, USERS = 5, 2.0, 2500
POPULATION = ItemPopulation(SHARES, USERS, SOUGHT, EPSILON)


def plainly(start, rates, uniforms, *, even=False):
    """One user after another in NumPy, all weights computed anew."""
    times, ones = start.times.copy(), start.ones.copy()
    for pick, say in uniforms:
        reached = np.cumsum(ItemReports(times, ones, start.sought).shares(even=even))
        item = min(int(np.searchsorted(reached, pick * reached[-1], side="right")), len(times) - 1)
        times[item] += 1
        ones[item] += say < rates[item]
    return times, ones


def only_the_asked(start, rates, uniforms):
    """A broken twin: after an answer only the weight of the item asked about is computed anew."""
    times, ones = start.times.copy(), start.ones.copy()
    weights = start.weights()
    for pick, say in uniforms:
        reached = np.cumsum(np.exp(weights))
        item = min(int(np.searchsorted(reached, pick * reached[-1], side="right")), len(times) - 1)
        times[item] += 1
        ones[item] += say < rates[item]
        weights[item] = ItemReports(times, ones, start.sought).weights()[item]
    return times, ones


def start_of(items, sought, seed):
    dice = np.random.default_rng(seed)
    rates, times = dice.random(items), dice.integers(0, 12, items)
    return ItemReports(times, dice.binomial(times, rates), sought), rates, dice.random((1200, 2))


@pytest.mark.parametrize("even", [False, True], ids=["arbs", "arbsf"])
@pytest.mark.parametrize(("items", "sought"), [(2, 1), (7, 6), (30, 10)])
def test_the_compiled_loop_is_the_plain_one(items, sought, even):
    """The same items asked about and the same answers, with ties and with items that nobody was
    asked about.
    """
    for seed in (1, 2):
        start, rates, uniforms = start_of(items, sought, seed)
        found = ask_in_turn(start, rates, uniforms, even=even)
        times, ones = plainly(start, rates, uniforms, even=even)
        assert found.times.tolist() == times.tolist()
        assert found.ones.tolist() == ones.tolist()


def test_updating_one_weight_is_another_scheme():
    start, rates, uniforms = start_of(30, 10, 1)
    found = ask_in_turn(start, rates, uniforms)
    assert found.times.tolist() != only_the_asked(start, rates, uniforms)[0].tolist()


def test_what_was_known_before_is_left_as_it_was():
    start, rates, uniforms = start_of(7, 3, 3)
    before = start.times.tolist(), start.ones.tolist()
    ask_in_turn(start, rates, uniforms)
    assert (start.times.tolist(), start.ones.tolist()) == before


def test_everybody_is_asked_once_in_turn_and_in_rounds():
    dice = np.random.default_rng(1)
    one_by_one = run_sequential(POPULATION, seed=1)
    rounds = draw_rounds(POPULATION, dice, rounds=4)
    assert one_by_one.times.sum() == rounds.last.times.sum() == USERS
    assert draw_uniform(POPULATION, dice).times.sum() == USERS
    assert len(rounds.sizes) == 4
    assert sum(rounds.sizes) == USERS - opening_users(USERS, 20, EPSILON)


def test_a_seed_fixes_a_run():
    first, again, other = (run_sequential(POPULATION, seed=seed) for seed in (4, 4, 5))
    assert first.times.tolist() == again.times.tolist() != other.times.tolist()


def test_too_few_users_to_adapt_are_asked_evenly():
    run = draw_rounds(
        ItemPopulation(np.linspace(0, 1, 100), 10_000, 30, 0.5), np.random.default_rng(2)
    )
    assert run.sizes == ()
    assert run.last.times.sum() == 10_000


def test_rates_and_estimates_are_inverse():
    rates = ItemPopulation(SHARES, USERS, SOUGHT, 1.3).rates
    known = ItemReports(np.full(20, 10**12), np.round(rates * 1e12).astype(np.int64), 3)
    assert estimated_frequencies(known, 1.3) == pytest.approx(SHARES, abs=1e-9)


def genuine(runs, seed):
    """(runs, 2): hits, and the share of all questions that went to the four items nearest to the
    boundary.
    """
    plan = AdaptiveTopItems(range(20), USERS, SOUGHT, rounds=3)
    task, dice, found = Task("things", plan, EPSILON), np.random.default_rng(seed), []
    for run in range(runs):
        held = dice.random((USERS, 20)) < SHARES
        people = Baskets.of(held.sum(axis=1), np.nonzero(held)[1])
        answer = simulate(task, people, seed=1000 * seed + run)
        times = 1 / answer.estimate.variance  # of the top, up to the rates
        last = np.array([label in ("15", "16") for label in answer.labels])
        found.append(
            [
                sum(int(label) >= 15 for label in answer.labels) / SOUGHT,
                times[last].sum() / times.sum(),
            ]
        )
    return np.array(found)


def fast(runs, seed, scheme):
    """The same of drawn runs."""
    dice, found = np.random.default_rng(seed), []
    for _ in range(runs):
        known = scheme(dice)
        top, rates = (
            np.flatnonzero(known.top),
            known.rates.clip(1 / (np.exp(EPSILON) + 1), 1 - 1 / (np.exp(EPSILON) + 1)),
        )
        times = (known.times / (rates * (1 - rates)))[top]
        last = (top == 15) | (top == 16)
        found.append([(top >= 15).sum() / SOUGHT, times[last].sum() / times.sum()])
    return np.array(found)


def departures(one, other):
    """By how many sigmas the means of two samples differ, column by column."""
    error = np.sqrt(one.var(axis=0, ddof=1) / len(one) + other.var(axis=0, ddof=1) / len(other))
    found = (one.mean(axis=0) - other.mean(axis=0)) / error
    print(one.mean(axis=0), other.mean(axis=0), "sigmas", found)
    return np.abs(found)


def test_drawn_counts_do_as_well_as_genuine_reports():
    """Hit rate and precision of the last of the top, and even sampling, which does neither, is told
    apart.
    """
    reports = genuine(40, 3)
    drawn = fast(600, 4, lambda dice: draw_rounds(POPULATION, dice, rounds=3).last)
    assert departures(reports, drawn).max() < FIVE_SIGMA
    even = fast(600, 5, lambda dice: draw_uniform(POPULATION, dice))
    assert departures(reports, even).max() > FIVE_SIGMA


def test_drawn_pruning_keeps_what_genuine_pruning_keeps():
    """Mean recall of the most frequent ten of 60 items after half of 4,000 users have each named
    one.
    """
    shares, dice, genuinely = np.linspace(0, 1, 60) ** 3 * 0.8, np.random.default_rng(6), []
    for run in range(40):
        held = dice.random((4000, 60)) < shares
        people, question = Baskets.of(held.sum(axis=1), np.nonzero(held)[1]), ask_which(1.0, 60, 1)
        mechanism = question.mechanism
        votes = mechanism.estimate(
            mechanism.tally(question.privatize(people, SeededRng(run)))
        ).votes[:60]
        genuinely.append([(np.argsort(-votes)[:20] >= 50).mean() * 2])
    drawn = [[(draw_pruned(shares, 4000, 20, 1.0, dice) >= 50).mean() * 2] for _ in range(600)]
    blind = [[(draw_pruned(shares, 400, 20, 1.0, dice) >= 50).mean() * 2] for _ in range(600)]
    assert departures(np.array(genuinely), np.array(drawn)).max() < FIVE_SIGMA
    assert departures(np.array(genuinely), np.array(blind)).max() > FIVE_SIGMA


def test_even_sampling_is_unbiased_and_errs_as_stated_and_adapting_is_not():
    """Two thousand runs: every item within 4.5 sigmas, and the ratio of variances within 4.5
    sqrt(2/2000).
    """
    dice = np.random.default_rng(7)
    even = [draw_uniform(POPULATION, dice) for _ in range(2000)]
    scores = np.array([standardised(known) for known in even])
    assert np.abs(scores.mean(axis=0)).max() * np.sqrt(2000) < 4.5
    assert np.abs((scores**2).mean(axis=0) - 1).max() < 4.5 * np.sqrt(2 / 2000)
    adapted = [draw_rounds(POPULATION, dice, rounds=4).last for _ in range(500)]
    errors = np.array([estimated_frequencies(known, EPSILON) - SHARES for known in adapted]).mean(
        axis=1
    )
    assert errors.mean() / (errors.std() / np.sqrt(500)) < -4.5


def standardised(known):
    rates = POPULATION.rates
    sigma = np.sqrt(rates * (1 - rates) / known.times) / np.tanh(EPSILON / 2)
    return (estimated_frequencies(known, EPSILON) - SHARES) / sigma
