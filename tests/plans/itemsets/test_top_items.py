"""The search for frequent items: its rounds, what each asks of whom, and its answer."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.client.client import Client
from sottovoce.encodings.sample import Sample
from sottovoce.encodings.size import Size
from sottovoce.engine.memory import MemoryCollected, batches_of
from sottovoce.errors import BudgetError, MismatchError, NoDataError, ParameterError
from sottovoce.lab import crowd
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths import exact
from sottovoce.maths.ragged import Baskets
from sottovoce.plans.itemsets import set_questions
from sottovoce.plans.itemsets.top_items import TopItems
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round
from sottovoce.wire import codec

LABELS = [f"item {number:02}" for number in range(30)]


def people(users, items=30, seed=1):
    """Two to four items each, low numbers more often."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, users)
    return Baskets.of(sizes, np.minimum(rng.geometric(0.25, sizes.sum()) - 1, items - 1))


def played(task, baskets, seed=1):
    """All that is collected, its messages, and the answer: everybody belongs to the round of their
    coin.
    """
    rng = SeededRng(seed)
    coins = rng.longs(len(baskets)).copy()
    collected, sent = MemoryCollected(task), []
    while isinstance(asked := task.plan.step(collected), Round):
        group = np.array([asked.asks(int(coin)) for coin in coins])
        sent.append(crowd.messages(task, baskets[group], asked, rng))
        collected = collected.after(asked, batches_of(task, asked, sent[-1]))
    return collected, sent, asked


@pytest.fixture(scope="module", params=[False, True], ids=["ours", "paper"])
def search(request):
    task = sv.Task("top", TopItems(LABELS, 5, paper=request.param), epsilon=2.0)
    return task, *played(task, people(6000))


def test_half_a_tenth_and_the_rest_are_asked(search):
    collected = search[1]
    shares = [(asked.low / exact.UNIT, asked.high / exact.UNIT) for asked in collected.rounds]
    assert [bound for share in shares for bound in share] == pytest.approx(
        [0, 0.5, 0.5, 0.6, 0.6, 1]
    )
    assert all(
        one.high == other.low
        for one, other in zip(collected.rounds[:-1], collected.rounds[1:], strict=True)
    )
    assert sum(collected.users(number) for number in range(3)) == 6000


def test_first_all_items_are_narrowed_down_to_twice_as_many_as_are_sought(search):
    task, collected, _, _ = search
    prune, size, estimate = (asked.ask.encoding for asked in collected.rounds)
    assert prune == Sample(30, 1)
    assert len(size.among) == 10
    assert estimate.among == size.among == task.plan.search.candidates(collected)
    votes = set_questions.estimate_sampled(collected, 0, collected.users(0)).votes
    assert {item for (item,) in size.among} == set(np.argsort(-votes)[:10].tolist())


def test_then_sizes_from_none_to_all_candidates_are_asked(search):
    task, collected, _, _ = search
    asked = collected.rounds[1].ask
    assert isinstance(asked.encoding, Size)
    assert asked.mechanism.size == 11
    assert (asked.mechanism.kind == "olh") == task.plan.paper


def test_then_one_candidate_is_asked_padded_as_the_sizes_say(search):
    task, collected, _, answer = search
    reached = set_questions.estimate_padding(collected, 1, paper=task.plan.paper)
    asked = collected.rounds[2].ask
    assert asked == set_questions.ask_which(
        2.0, 30, reached.length, asked.encoding.among, paper=task.plan.paper
    )
    assert answer.details["padded_to"] == reached.length == asked.encoding.length
    assert answer.details["correction"] == reached.correction
    assert answer.details["sizes_seen"]
    assert answer.mechanism == asked.mechanism.kind


def test_everybody_pays_the_whole_epsilon_once(search):
    assert {asked.epsilon for asked in search[1].rounds} == {2.0}


def test_the_answer_is_the_largest_of_the_last_round_scaled_to_everybody(search):
    task, collected, _, answer = search
    estimate = set_questions.correct_for_padding(
        set_questions.estimate_sampled(collected, 2, 6000),
        set_questions.estimate_padding(collected, 1, paper=task.plan.paper),
    )
    best = np.argsort(-estimate.totals)[:5]
    assert answer.labels == tuple(
        LABELS[collected.rounds[2].ask.encoding.among[place][0]] for place in best
    )
    assert answer.estimate.totals == pytest.approx(estimate.totals[best])
    assert (answer.estimate.population, answer.estimate.users) == (6000, collected.users(2))
    assert answer.estimate.tested == 10
    assert answer.about["candidates"] == 10


def test_a_step_taken_again_is_the_same_step(search):
    task, collected, _, answer = search
    for number in range(3):
        so_far = MemoryCollected(task, collected.rounds[:number], collected.batches)
        again = task.plan.step(so_far)
        assert again == task.plan.step(so_far) == collected.rounds[number]
        assert codec.canonical(codec.document(again)) == codec.canonical(
            codec.document(collected.rounds[number])
        )
        assert codec.round_(codec.parse(codec.canonical(codec.document(again)))) == again
    assert task.plan.step(collected).to_dict() == answer.to_dict()


def test_messages_give_the_answer_that_their_reports_give(search):
    task, _, sent, answer = search
    read = sv.answer(task, [message for messages in sent for message in messages])
    assert read.labels == answer.labels
    assert read.estimate.totals.tolist() == answer.estimate.totals.tolist()


def test_messages_and_a_simulation_agree(search):
    """Other noise and other groups, the same answer within five standard errors."""
    task, _, _, answer = search
    simulated = sv.simulate(task, people(6000), seed=9)
    assert set(simulated.about) == set(answer.about)
    assert simulated.labels[0] == answer.labels[0] == LABELS[0]
    assert simulated.details["padded_to"] == answer.details["padded_to"]
    common = [label for label in answer.labels if label in simulated.labels]
    rows = [({row["value"]: row for row in one.rows()}) for one in (answer, simulated)]
    for label in common:
        one, other = (found[label] for found in rows)
        assert abs(one["estimate"] - other["estimate"]) < 5 * np.hypot(one["error"], other["error"])


def test_few_items_are_not_narrowed_down():
    """Ten items for the top five: a tenth say sizes, all others are asked for an item."""
    task = sv.Task("top", TopItems(range(10), 5), epsilon=2.0)
    collected, _, answer = played(task, people(3000, items=10))
    sizes, items = collected.rounds
    assert sizes.ask.encoding == Size(10, tuple((item,) for item in range(10)))
    assert items.ask.encoding.candidates == 10
    assert (sizes.low, items.high) == (0, exact.UNIT)
    assert sizes.high == items.low == exact.UNIT // 10
    assert answer.about["candidates"] == 10
    assert len(answer.labels) == 5


def test_one_item_more_is_narrowed_down():
    assert TopItems(range(11), 5).search.pruned
    assert not TopItems(range(10), 5).search.pruned


def test_sizes_that_nobody_could_make_out_are_admitted():
    """Everybody's set is empty: nothing stands out, nothing is corrected, and the answer says
    so.
    """
    nothing = Baskets.of([0] * 2000, [])
    answer = sv.simulate(sv.Task("top", TopItems(range(100), 3), epsilon=0.5), nothing, seed=1)
    assert answer.details["sizes_seen"] is False
    assert (answer.details["padded_to"], answer.details["correction"]) == (1, 1.0)
    assert not answer.estimate.significant().any()


def test_clear_winners_are_found_and_their_counts_are_right():
    """Sets of at most four: the estimate is unbiased but for what the padding cuts, which is given
    back.
    """
    held = people(60_000)
    answer = sv.simulate(sv.Task("top", TopItems(range(30), 4), epsilon=4.0), held, seed=2)
    truth = held.counts(30)
    assert answer.labels == ("0", "1", "2", "3")
    assert (np.abs(answer.estimate.totals - truth[:4]) < 5 * answer.estimate.errors).all()
    unscaled = answer.estimate.votes  # of the last group alone
    assert (np.abs(unscaled - truth[:4]) > 5 * answer.estimate.errors).all()


def test_every_device_answers_one_round_once():
    """Real devices with ledgers and coins: each is asked in exactly one round, and cannot answer
    twice.
    """
    task = sv.Task("top", TopItems(range(30), 3), epsilon=2.0)
    held = people(150)
    devices = [Client(task, ":memory:") for _ in range(len(held))]
    sent = [[] for _ in devices]
    collected = MemoryCollected(task)
    while isinstance(asked := task.plan.step(collected), Round):
        for place, device in enumerate(devices):
            if asked.asks(device.coin):
                sent[place].append(
                    device.answer(held[place : place + 1].items.tolist(), asked=asked)
                )
                with pytest.raises(BudgetError):
                    device.answer([1], asked=asked)
            else:
                with pytest.raises(MismatchError, match="other users"):
                    device.answer([1], asked=asked)
        arrived = [
            one[-1] for place, one in enumerate(sent) if one and asked.asks(devices[place].coin)
        ]
        collected = collected.after(asked, batches_of(task, asked, arrived))
    assert [len(one) for one in sent] == [1] * len(devices)
    assert sum(len(collected.batches[Address(number)].reports) for number in range(3)) == len(
        devices
    )
    read = sv.answer(task, [message for one in sent for message in one])
    assert read.to_dict() == {**asked.to_dict(), "name": "top"}


def test_all_sets_make_reports_of_one_length():
    """The empty set too: silence would give it away."""
    task = sv.Task("top", TopItems(range(30), 3), epsilon=2.0)
    for asked in played(task, people(2000))[0].rounds:
        made = crowd.messages(task, [[], [3], list(range(30))], asked)
        assert len({len(message) for message in made}) == 1


def test_a_round_without_reports_is_an_error():
    with pytest.raises(NoDataError):
        sv.answer(sv.Task("top", TopItems(range(30), 3), epsilon=2.0), [])


@pytest.mark.parametrize("top", [0, -1, 31, 2.0, True])
def test_an_impossible_number_of_items_is_refused(top):
    with pytest.raises(ParameterError):
        TopItems(range(30), top)


def test_all_items_may_be_sought():
    answer = sv.simulate(
        sv.Task("all", TopItems(range(4), 4), epsilon=4.0), people(2000, items=4), seed=1
    )
    assert set(answer.labels) == {"0", "1", "2", "3"}


@pytest.mark.parametrize("plan", [TopItems(LABELS, 5), TopItems(range(3, 99), 2, paper=True)])
def test_the_document_restores_the_plan(plan):
    task = sv.Task("top", plan, epsilon=1.0)
    assert codec.task(codec.parse(codec.canonical(codec.document(task)))) == task
