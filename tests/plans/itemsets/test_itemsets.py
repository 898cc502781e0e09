"""The search for frequent sets of items: likely candidates, five rounds, one answer."""

from itertools import combinations
from math import log2, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce.core.tally import Tally
from sottovoce.encodings.sample import Sample
from sottovoce.encodings.size import Size
from sottovoce.engine.memory import MemoryCollected, batches_of
from sottovoce.errors import ParameterError
from sottovoce.lab import crowd
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths import exact
from sottovoce.maths.ragged import Baskets
from sottovoce.plans.itemsets import set_questions
from sottovoce.plans.itemsets.itemsets import Itemsets, likely_sets
from sottovoce.tasks.question import Address
from sottovoce.tasks.round import Round
from sottovoce.wire import codec


def guesses(items, counts, most):
    """Every set of allowed size that may be likely, and its product of guessed shares."""
    shares = {
        item: max(0.0, 0.9 * count / max(counts)) for item, count in zip(items, counts, strict=True)
    }
    sizes = [size for size in range(2, len(items) + 1) if size < log2(most / 2)]
    every = {
        tuple(sorted(one)): prod(shares[item] for item in one)
        for size in sizes
        for one in combinations(items, size)
    }
    return {chosen: likely for chosen, likely in every.items() if likely > 0}


def test_guesses_are_the_published_ones():
    """Counts 100, 80, 50: .648, .405 and .324, in this order."""
    expected = guesses([0, 1, 2], [100, 80, 50], 16)
    assert expected == pytest.approx({(0, 1): 0.648, (0, 2): 0.405, (1, 2): 0.324})
    assert likely_sets([0, 1, 2], [100, 80, 50], 16) == ((0, 1), (0, 2), (1, 2))


def test_sets_have_fewer_items_than_the_logarithm_of_how_many_are_sought():
    """Four sought sets leave no size; eight only pairs; nine allow sets of three."""
    items, counts = list(range(6)), [100, 99, 98, 97, 96, 95]
    assert likely_sets(items, counts, 8) == ()
    assert {len(one) for one in likely_sets(items, counts, 16)} == {2}
    assert {len(one) for one in likely_sets(items, counts, 18)} == {2, 3}
    assert {len(one) for one in likely_sets(items, counts, 64)} == {2, 3, 4}


@given(
    st.lists(st.floats(-50, 1000), min_size=2, max_size=9, unique=True).filter(
        lambda counts: max(counts) > 0
    ),
    st.integers(5, 40),
    st.randoms(use_true_random=False),
)
def test_the_search_finds_what_listing_all_sets_finds(counts, sought, random):
    counts = sorted(counts, reverse=True)
    items = random.sample(range(50), len(counts))
    expected = guesses(items, counts, 2 * sought)
    found = likely_sets(items, counts, 2 * sought)
    assert len(found) == len(set(found)) == min(len(expected), 2 * sought)
    likelihoods = [expected[one] for one in found]
    assert likelihoods == pytest.approx(
        sorted(expected.values(), reverse=True)[: 2 * sought], rel=1e-12, abs=0
    )
    assert all(one == tuple(sorted(one)) for one in found)


def test_of_equally_likely_sets_those_of_earlier_items_are_taken():
    assert likely_sets([4, 2, 7, 1], [10, 10, 10, 10], 10)[:2] == ((2, 4), (4, 7))


def test_items_that_seem_to_be_held_by_nobody_make_no_set():
    assert likely_sets([0, 1, 2], [10.0, 0.0, -3.0], 16) == ()
    assert likely_sets([0, 1], [-1.0, -2.0], 16) == ()


def people(users, seed=1):
    """Ten items held apart from each other, the first two often together, the first three
    sometimes.
    """
    rng = np.random.default_rng(seed)
    held = rng.random((users, 24)) < np.concatenate([[0.3, 0.25, 0.15], np.full(21, 0.02)])
    held[: users * 2 // 5, :2] = True
    held[: users // 5, :3] = True
    return Baskets.of(held.sum(axis=1), np.nonzero(held)[1])


def played(task, baskets, seed=1):
    """All that is collected, its messages, and the answer."""
    rng = SeededRng(seed)
    coins = rng.longs(len(baskets)).copy()
    collected, sent = MemoryCollected(task), []
    while isinstance(asked := task.plan.step(collected), Round):
        group = np.array([asked.asks(int(coin)) for coin in coins])
        sent += crowd.messages(task, baskets[group], asked, rng)
        collected = collected.after(asked, batches_of(task, asked, sent[-int(group.sum()) :]))
    return collected, sent, asked


NAMES = [f"item {number:02}" for number in range(24)]


@pytest.fixture(scope="module", params=[False, True], ids=["ours", "paper"])
def search(request):
    task = sv.Task("sets", Itemsets(NAMES, 9, paper=request.param), epsilon=4.0)
    return task, *played(task, people(8000))


def test_five_rounds_ask_everybody_once(search):
    collected = search[1]
    bounds = [asked.low / exact.UNIT for asked in collected.rounds] + [
        collected.rounds[-1].high / exact.UNIT
    ]
    assert bounds == pytest.approx([0, 0.25, 0.3, 0.5, 0.6, 1.0])
    assert all(
        one.high == other.low
        for one, other in zip(collected.rounds[:-1], collected.rounds[1:], strict=True)
    )
    assert sum(collected.users(number) for number in range(5)) == 8000
    assert {asked.epsilon for asked in collected.rounds} == {4.0}


def test_the_second_half_is_asked_about_likely_sets(search):
    _, collected, _, _ = search
    sizes, sets = (asked.ask.encoding for asked in collected.rounds[3:])
    assert isinstance(sizes, Size)
    assert isinstance(sets, Sample)
    assert sizes.among == sets.among
    assert len(sets.among) == 18
    assert {len(one) for one in sets.among} == {2, 3}
    assert collected.rounds[3].ask.mechanism.size == 19
    assert (
        sets.length
        == set_questions.estimate_padding(collected, 3, paper=search[0].plan.paper).length
    )


def test_the_answer_ranks_single_items_and_sets_together(search):
    task, collected, _, answer = search
    paper = task.plan.paper
    first = task.plan.search.estimate(collected, 8000)
    singles = sorted(
        zip(first.totals, task.plan.search.candidates(collected), strict=True), reverse=True
    )[:9]
    second = set_questions.correct_for_padding(
        set_questions.estimate_sampled(collected, 4, 8000),
        set_questions.estimate_padding(collected, 3, paper=paper),
    )
    sets = list(zip(second.totals, collected.rounds[4].ask.encoding.among, strict=True))
    best = sorted([*singles, *sets], reverse=True)[:9]
    assert answer.labels == tuple(" + ".join(NAMES[item] for item in chosen) for _, chosen in best)
    assert answer.estimate.totals == pytest.approx([total for total, _ in best])
    assert answer.estimate.tested == 18 + 18  # the pruned items, and the sets
    errors = dict(zip(first.totals, first.errors, strict=True)) | dict(
        zip(second.totals, second.errors, strict=True)
    )
    assert answer.estimate.errors == pytest.approx([errors[total] for total, _ in best])


def test_sets_held_together_are_found_with_their_counts(search):
    held, answer = people(8000), search[3]
    rows = {row["value"]: row for row in answer.rows()}
    for chosen in ((0,), (1,), (0, 1), (0, 1, 2)):
        truth = int((held.holding([chosen]).sizes == 1).sum())
        row = rows[" + ".join(NAMES[item] for item in chosen)]
        assert abs(row["estimate"] - truth) < 5 * row["error"], (chosen, truth, row)


def test_the_estimates_before_any_correction_are_kept(search):
    answer = search[3]
    raw = answer.raw.estimate
    assert all(step.startswith("times 1.") for step in answer.estimate.steps)
    assert answer.estimate.steps
    assert raw.steps == ()
    assert ((raw.totals <= answer.estimate.totals) & (raw.errors <= answer.estimate.errors)).all()


def test_a_step_taken_again_is_the_same_step(search):
    task, collected, _, answer = search
    for number in range(5):
        again = task.plan.step(MemoryCollected(task, collected.rounds[:number], collected.batches))
        assert again == collected.rounds[number]
        assert codec.round_(codec.parse(codec.canonical(codec.document(again)))) == again
    assert task.plan.step(collected).to_dict() == answer.to_dict()


def test_messages_give_the_answer_that_their_reports_give(search):
    task, _, sent, answer = search
    read = sv.answer(task, sent)
    assert read.labels == answer.labels
    assert read.estimate.totals.tolist() == answer.estimate.totals.tolist()
    simulated = sv.simulate(task, people(8000), seed=4)
    assert set(simulated.about) == set(answer.about)
    assert "item 00 + item 01" in simulated.labels


def test_few_items_leave_out_the_first_round():
    task = sv.Task("sets", Itemsets(range(10), 5), epsilon=4.0)
    assert task.plan.search.stages == (5, 45)
    answer = sv.simulate(task, people(8000).holding([(item,) for item in range(10)]), seed=1)
    assert "0 + 1" in answer.labels


def test_where_no_set_is_likely_the_single_items_are_the_answer():
    """Only one item stands out of nothing: there is no pair to ask about, and the search ends after
    its first half.
    """
    task = sv.Task("sets", Itemsets(range(5), 5), epsilon=1.0)
    collected = MemoryCollected(task)
    for counts in ([300, 20, 20, 20, 20, 20], None):
        asked = task.plan.step(collected)
        mechanism = asked.ask.mechanism
        counts = np.array(counts or [500] + [100] * (mechanism.size - 1))
        tally = Tally(mechanism.key, int(counts.sum()), {"support": counts})
        collected = collected.after_erasing(asked, {Address(asked.number): tally})
    answer = task.plan.step(collected)
    assert not isinstance(answer, Round)
    assert answer.labels[0] == "0"
    assert all("+" not in label for label in answer.labels)
    assert answer.details["candidates"] == 5


def test_empty_sets_never_stop_the_search():
    """Whatever the noise pretends, there is an answer."""
    nothing = Baskets.of([0] * 300, [])
    task = sv.Task("sets", Itemsets(range(5), 5), epsilon=1.0)
    answers = [sv.simulate(task, nothing, seed=seed) for seed in range(30)]
    assert {len(answer.labels) for answer in answers} == {5}
    assert any(answer.details["candidates"] == 5 for answer in answers)  # no set was likely
    assert any(answer.details["candidates"] > 5 for answer in answers)


def test_so_few_items_that_no_set_could_be_sought_are_refused():
    with pytest.raises(ParameterError, match="`domain` must have at least 5 items, not 3"):
        Itemsets(range(3))


@pytest.mark.parametrize("top", [0, 4, 25, 5.0])
def test_an_impossible_number_of_sets_is_refused(top):
    with pytest.raises(ParameterError):
        Itemsets(range(24), top)


def test_the_document_restores_the_plan():
    task = sv.Task("sets", Itemsets(NAMES, 5, paper=True), epsilon=1.0)
    assert codec.task(codec.parse(codec.canonical(codec.document(task)))) == task
