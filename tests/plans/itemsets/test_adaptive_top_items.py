"""The plan of adaptive top k: its rounds, its answer, its warning, and that nobody answers
twice.
"""

import json
from itertools import pairwise

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.engine.memory import MemoryCollected, ReportBatch, batches_of, drive
from sottovoce.errors import BudgetError, MismatchError, NoDataError, ParameterError
from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.lab.simulate import simulate
from sottovoce.maths import exact
from sottovoce.maths.ragged import Baskets
from sottovoce.plans.itemsets.adaptive_rounds import WEIGHT_SCALE, whole_weights
from sottovoce.plans.itemsets.adaptive_sampling import ItemReports, opening_users, round_users
from sottovoce.plans.itemsets.adaptive_top_items import AdaptiveTopItems
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.plan import Plan
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round
from sottovoce.tasks.task import Task
from sottovoce.wire import codec

SHARES = np.linspace(0.05, 0.8, 20)


def people(shares, users, seed):
    """Sets of people who have items independently."""
    held = np.random.default_rng(seed).random((users, len(shares))) < shares
    return Baskets.of(held.sum(axis=1), np.nonzero(held)[1])


class Watched(Plan, kind="watched"):
    """A plan that keeps what it has been shown."""

    def __init__(self, plan):
        self.plan, self.domain, self.seen = plan, plan.domain, []

    def step(self, collected):
        self.seen.append(collected)
        return self.plan.step(collected)


def rounds_of(task, values, seed=0):
    """The rounds of a whole collection, and its answer."""
    watched = Watched(task.plan)
    answer = simulate(Task(task.name, watched, task.epsilon), values, seed=seed)
    return watched.seen[-1].rounds, answer


def test_a_task_survives_its_document():
    plan = AdaptiveTopItems(
        ["a", "b", "c"], 500, 2, rounds=3, even=True, holdout=20, basket=1.5, share=0.2
    )
    task = Task("things", plan, 1.5)
    assert codec.task(codec.parse(codec.canonical(codec.document(task)))) == task


def test_the_opening_asks_evenly_about_every_item():
    task = Task("things", AdaptiveTopItems(range(100), 10_000, 30), 2.0)
    asked = task.opening
    assert isinstance(asked.ask, Choice)
    assert (len(asked.ask.members), asked.ask.weights, asked.low) == (100, (), 0)
    assert abs(asked.high / exact.UNIT - 2658 / 10_000) < 1e-12


def test_with_too_few_users_to_adapt_everybody_is_asked_evenly():
    task = Task("things", AdaptiveTopItems(range(100), 10_000, 30), 0.5)
    assert opening_users(10_000, 100, 0.5) == 10_000
    assert (task.opening.low, task.opening.high) == (0, exact.UNIT)
    answer = simulate(task, people(np.linspace(0, 1, 100), 2000, 1), seed=1)
    assert answer.estimate.steps == ("selected from the same reports",)
    assert answer.details["adaptive_rounds"] == 0


@pytest.mark.parametrize("holdout", [0, 25])
@pytest.mark.parametrize(("items", "top"), [(20, 4), (45, 4)], ids=["all items", "pruned"])
def test_the_parts_of_all_rounds_are_disjoint_and_leave_nobody_out(items, top, holdout):
    plan = AdaptiveTopItems(range(items), 8000, top, rounds=3, holdout=holdout)
    rounds, answer = rounds_of(
        Task("things", plan, 2.0), people(np.linspace(0.02, 0.7, items), 8000, 2)
    )
    assert [one.number for one in rounds] == list(range(len(rounds)))
    assert (rounds[0].low, rounds[-1].high) == (0, exact.UNIT)
    assert all(one.high == other.low for one, other in pairwise(rounds))
    assert len(rounds) == (items > 10 * top) + 1 + 3 + bool(holdout)
    assert sum(answer.details["users_per_round"]) == answer.estimate.users == 8000
    if holdout:
        assert rounds[-1].low == exact.UNIT * 75 // 100


def test_many_items_are_pruned_by_half_of_the_users_to_ten_times_as_many_as_are_sought():
    shares = np.linspace(0, 0.4, 60) ** 2
    plan = AdaptiveTopItems(range(60), 20_000, 5, rounds=2)
    rounds, answer = rounds_of(Task("things", plan, 2.0), people(shares, 20_000, 3), seed=1)
    assert rounds[0].high == exact.UNIT // 2
    assert rounds[0].question(Address(0)).encoding.length == 1
    assert all(len(one.ask.members) == 50 for one in rounds[1:])
    assert len({one.ask.members.among for one in rounds[1:]}) == 1
    assert set(answer.labels) <= {str(item) for item in rounds[1].ask.members.among}


def test_later_rounds_ask_most_about_the_boundary():
    rounds, _ = rounds_of(
        Task("things", AdaptiveTopItems(range(20), 8000, 5, rounds=4), 3.0), people(SHARES, 8000, 4)
    )
    weights = np.array(rounds[-1].ask.weights)
    assert 12 <= weights.argmax() <= 17  # items 14 and 15 stand on either side
    assert weights[:8].max() < weights.max() / 20


def test_weights_are_whole_positive_and_fit_a_choice():
    shares = np.array([1 - 1e-12, 1e-12, 0.0])
    assert whole_weights(shares) == (WEIGHT_SCALE, 1, 1)
    assert sum(whole_weights(np.full(100_000, 1e-5))) < 1 << 32


def test_a_step_is_a_function_of_what_was_collected():
    task, held = (
        Task("things", AdaptiveTopItems(range(20), 3000, 5, rounds=3), 2.0),
        people(SHARES, 3000, 5),
    )
    first, second = rounds_of(task, held, seed=9), rounds_of(task, held, seed=9)
    assert first[0] == second[0]
    assert first[1].to_json() == second[1].to_json()
    json.loads(first[1].to_json())


def test_the_sums_of_erased_reports_are_enough():
    plan = Watched(AdaptiveTopItems(range(45), 4000, 4, rounds=2, holdout=10))
    answer = simulate(Task("things", plan, 2.0), people(np.linspace(0.1, 0.5, 45), 4000, 6), seed=3)
    full = plan.seen[-1]
    erased = MemoryCollected(full.task)
    for asked in full.rounds:
        places = [address for address in full.batches if address.round == asked.number]
        erased = erased.after_erasing(asked, {address: full.tally(address) for address in places})
    assert plan.plan.step(erased).estimate.totals.tolist() == answer.estimate.totals.tolist()


def test_rounds_survive_their_documents():
    rounds, _ = rounds_of(
        Task("things", AdaptiveTopItems(range(45), 4000, 4, rounds=2), 2.0),
        people(np.full(45, 0.2), 4000, 6),
    )
    assert all(codec.round_(codec.document(one)) == one for one in rounds)


def counted(task, shares, users, dice):
    """Drive a plan over counts of reports that a crowd of so many would give."""
    coins = dice.random(users)

    def gather(asked):
        people = np.count_nonzero(
            (coins >= asked.low / exact.UNIT) & (coins < asked.high / exact.UNIT)
        )
        weights = np.array(asked.ask.weights or (1,) * len(asked.ask.members))
        times, response = (
            dice.multinomial(people, weights / weights.sum()),
            asked.question(Address(asked.number)),
        )
        items = asked.ask.members.among or range(len(shares))
        batches = {}
        for member, item in enumerate(items):
            ones = dice.binomial(
                times[member],
                1 - response.mechanism.p + shares[item] * (2 * response.mechanism.p - 1),
            )
            if times[member]:
                reports = np.repeat([1, 0], [ones, times[member] - ones])
                batches[Address(asked.number, member)] = ReportBatch(reports)
        return batches

    return drive(task, gather)


@pytest.mark.parametrize("times", [10, 30, 90])
def test_sizes_follow_those_who_really_came(times):
    """A third as many as expected, as many, three times as many: the next round is sized for all
    that are left.
    """
    task = Task("things", AdaptiveTopItems(range(20), 6000, 5, rounds=4), 2.0)
    ones = np.round(times * np.linspace(0.2, 0.7, 20)).astype(np.int64)
    batches = {
        Address(0, item): ReportBatch(np.repeat([1, 0], [one, times - one]))
        for item, one in enumerate(ones.tolist())
    }
    asked = task.plan.step(MemoryCollected(task).after(task.opening, batches))
    everybody = 20 * times * exact.UNIT // task.opening.high
    known, left = (
        ItemReports(np.full(20, times), ones, 5),
        everybody * (exact.UNIT - task.opening.high) // exact.UNIT,
    )
    assert everybody == pytest.approx(20 * times * 6000 / opening_users(6000, 20, 2.0), abs=2)
    users = round_users(known, known.shares(), left, 4)
    assert asked.high - asked.low == exact.UNIT * users // everybody
    assert asked.ask.weights == whole_weights(known.shares())


def test_the_last_round_takes_all_that_are_left_however_many_came():
    task, dice = (
        Task("things", AdaptiveTopItems(range(20), 6000, 5, rounds=4), 2.0),
        np.random.default_rng(7),
    )
    for users in (2000, 18_000):
        counts = counted(task, SHARES, users, dice).details["users_per_round"]
        assert len(counts) == 5
        assert sum(counts) == users
        assert counts[-1] == max(counts)


def test_an_item_that_nobody_was_asked_about_first_is_asked_about_next():
    """The coins of a small crowd may miss an item."""
    task = Task("things", AdaptiveTopItems(range(5), 400, 2, rounds=2), 3.0)
    opening = task.opening
    batches = {
        Address(0, member): ReportBatch(np.repeat([1, 0], [30 - 5 * member, 5 * member]))
        for member in (0, 1, 2, 4)
    }
    asked = task.plan.step(MemoryCollected(task).after(opening, batches))
    assert isinstance(asked, Round)
    assert asked.ask.weights[3] == max(asked.ask.weights)


def test_nobody_asked_about_the_top_is_too_little_data():
    task = Task("things", AdaptiveTopItems(range(3), 10, 2, rounds=1), 0.1)
    collected = MemoryCollected(task).after(
        task.opening, {Address(0, 1): ReportBatch(np.array([1]))}
    )
    assert task.opening.high == exact.UNIT
    with pytest.raises(NoDataError, match="ask more users"):
        task.plan.step(collected)


def test_the_answer_is_the_published_estimate_with_its_variance():
    """Equation 5.13, and f (1 - f) / t / (p - q)^2 times the squared population, where the rate is
    a possible one.
    """
    task = Task("things", AdaptiveTopItems(["a", "b", "c"], 300, 2, rounds=1), 0.2)
    counts = {"a": (60, 100), "b": (0, 100), "c": (57, 95)}
    batches = {
        Address(0, member): ReportBatch(np.repeat([1, 0], [ones, times - ones]))
        for member, (ones, times) in enumerate(counts.values())
    }
    answer = task.plan.step(MemoryCollected(task).after(task.opening, batches))
    p = np.exp(0.2) / (np.exp(0.2) + 1)
    assert answer.labels == ("a", "c")
    assert answer.estimate.totals == pytest.approx([295 * (0.6 - 1 + p) / (2 * p - 1)] * 2)
    stated = (295 / (2 * p - 1)) ** 2 * p * (1 - p) / np.array([100, 95])
    assert answer.estimate.variance == pytest.approx(stated)
    assert answer.estimate.tested == 3


def winners(holdout, seed):
    """(runs, 3): by how many standard errors the counts of the top differ from the truth, when all
    are alike.
    """
    task = Task("things", AdaptiveTopItems(range(12), 3000, 3, rounds=1, holdout=holdout), 2.0)
    dice = np.random.default_rng(seed)
    answers = [counted(task, np.full(12, 0.3), 3000, dice).estimate for _ in range(60)]
    return np.array([(one.totals - 0.3 * one.users) / one.errors for one in answers])


def test_counts_of_a_holdout_are_unbiased_and_err_as_stated():
    scores = winners(50, 11)
    bias = scores.mean() * np.sqrt(scores.size)
    ratio = (scores**2).mean()
    print(
        "bias",
        bias,
        "sigmas; variance ratio",
        ratio,
        "expected 1 within",
        FIVE_SIGMA * np.sqrt(2 / scores.size),
    )
    assert abs(bias) < FIVE_SIGMA
    assert abs(ratio - 1) < FIVE_SIGMA * np.sqrt(2 / scores.size)


def test_counts_of_winners_are_biased_and_say_so():
    scores = winners(0, 12)
    assert scores.mean() * np.sqrt(scores.size) > 2 * FIVE_SIGMA
    task = Task("things", AdaptiveTopItems(range(20), 3000, 3, rounds=2), 2.0)
    held = Task("things", AdaptiveTopItems(range(20), 3000, 3, rounds=2, holdout=30), 2.0)
    assert simulate(task, people(SHARES, 3000, 8), seed=1).estimate.steps == (
        "selected adaptively",
    )
    assert simulate(held, people(SHARES, 3000, 8), seed=1).estimate.steps == ("held out",)


def test_the_answer_tells_how_sure_it_is():
    task = Task("things", AdaptiveTopItems(range(20), 20_000, 2, rounds=3), 3.0)
    clear = simulate(task, people(np.r_[np.full(18, 0.1), 0.8, 0.9], 20_000, 9), seed=2)
    toss = simulate(task, people(np.full(20, 0.5), 20_000, 9), seed=2)
    assert set(clear.labels) == {"18", "19"}
    assert clear.details["doubt"] < 1e-6 < 1 < toss.details["doubt"]
    assert max(clear.details["p_values"]) < 1e-6
    assert len(toss.details["p_values"]) == 2


@pytest.mark.parametrize(
    "settings",
    [
        {"top": 0}, {"top": 20}, {"top": True}, {"rounds": 0}, {"rounds": 1.5},
        {"holdout": 91}, {"holdout": -1},
        {"basket": -1.0}, {"basket": 21.0}, {"basket": float("nan")}, {"share": 1.1}, {"users": 19},
        {"users": 300, "holdout": 20},
    ],
)  # fmt: skip
def test_impossible_settings_are_refused(settings):
    with pytest.raises(ParameterError):
        AdaptiveTopItems(range(20), **{"users": 1000, "top": 4, **settings})


def test_seeking_everything_is_referred_to_a_survey():
    with pytest.raises(ParameterError, match="`top`"):
        AdaptiveTopItems(range(5), 1000, 5)


def test_half_of_the_users_must_suffice_for_what_pruning_leaves():
    with pytest.raises(ParameterError, match="`users` must be at least as many"):
        AdaptiveTopItems(range(1000), 190, 10)
    assert AdaptiveTopItems(range(1000), 200, 10).division.pruning == 100


def test_a_warning_states_what_pruning_would_need():
    """Sets of 100: an item that half of the people have is named by 50 of 10,000, against an error
    of 192.
    """
    plan = AdaptiveTopItems(range(1000), 20_000, 10, basket=100.0, share=0.5)
    (concern,) = plan.concerns(1.0)
    assert all(
        figure in concern
        for figure in ("1,000 items", "about 50 of 10,000", "error of 192", "needs 438")
    )
    assert Task("things", plan, 1.0).concerns == (concern,)
    assert not AdaptiveTopItems(range(1000), 20_000, 10, basket=5.0, share=0.5).concerns(1.0)


def test_without_knowledge_of_the_sets_only_the_hopeless_is_warned_of():
    """At best one in ten users names the last of ten."""
    assert not AdaptiveTopItems(range(1000), 20_000, 10).concerns(1.0)
    assert AdaptiveTopItems(range(1000), 1000, 10).concerns(1.0)
    assert not AdaptiveTopItems(range(100), 1000, 10).concerns(0.1)  # nothing is pruned


def campaign(task, users, seed, published=lambda asked: asked, rounds=99):
    """Put the rounds of a plan to the same devices, with dropouts and retries.

    Returns what arrived, how often a ledger refused a second answer, and how many answered.
    """
    dice, refused, arrived = np.random.default_rng(seed), 0, []
    devices = [sv.Client(task, ":memory:", token=f"device {number}") for number in range(users)]
    values = [np.flatnonzero(dice.random(6) < 0.5).tolist() for _ in devices]
    collected, asked = MemoryCollected(task), task.opening
    while isinstance(asked, Round) and asked.number < rounds:
        reached = [
            pair for pair in zip(devices, values, strict=True) if dice.random() < 0.8
        ]  # the others never answer
        messages = []
        for device, value in reached:
            try:
                messages.append(device.answer(value, asked=published(asked)))
            except MismatchError:
                continue
            except BudgetError:
                refused += 1
                continue
            messages += [device.resend()] * int(dice.integers(3))
            with pytest.raises(BudgetError):
                device.answer([], asked=published(asked))
        collected = collected.after(asked, batches_of(task, asked, messages))
        arrived, asked = arrived + messages, task.plan.step(collected)
    assert all(device.ledger.spent <= task.epsilon for device in devices)
    return arrived, refused, sum(device.ledger.spent > 0 for device in devices)


def test_with_dropouts_and_retries_nobody_answers_twice():
    task = Task("things", AdaptiveTopItems(range(6), 300, 2, rounds=2, holdout=20), 1.0)
    messages, refused, answered = campaign(task, 300, 21)
    assert refused == 0
    assert len(set(messages)) == answered < len(messages)
    assert sv.answer(task, messages).estimate.users == answered


def test_rounds_that_overlap_are_caught_by_the_ledgers():
    """A broken twin that puts every later round to everybody: nobody is charged twice even then."""
    task = Task("things", AdaptiveTopItems(range(6), 300, 2, rounds=2, holdout=20), 1.0)

    def everybody(asked):
        return Round(asked.number, asked.ask) if asked.number else asked

    _, refused, _ = campaign(task, 300, 21, everybody, rounds=2)
    assert refused > 20
