"""LDPMiner and the ladder to set-value item mining: every rung on a population whose truth is
known.
"""

import numpy as np
import pytest

from sottovoce.encodings.sample import Sample
from sottovoce.encodings.size import Size
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines import ldpminer
from sottovoce.lab.baselines.ldpminer import (
    PROTOCOLS,
    Miner,
    ask_adaptively,
    ask_by_blh,
    ask_by_olh,
    ask_by_sue,
    ask_sizes,
    partition,
)
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths.ragged import Baskets

USERS, ITEMS, TOP = 20_000, 40, 3


def people():
    """Two items each: the first three items are frequent, the others rare."""
    rng = np.random.default_rng(3)
    first = rng.choice(3, USERS, p=[0.5, 0.3, 0.2])
    return Baskets.of(
        np.full(USERS, 2), np.stack([first, rng.integers(3, ITEMS, USERS)], axis=1).ravel()
    )


PEOPLE = people()
TRUTH = PEOPLE.counts(ITEMS)


@pytest.mark.parametrize("number", PROTOCOLS)
def test_every_rung_finds_what_is_clear(number):
    found = Miner(ITEMS, TOP, 6.0).mine(number, PEOPLE, SeededRng(number))
    assert list(found) == [(0,), (1,), (2,)]
    assert list(found.values()) == sorted(found.values(), reverse=True)


def test_the_original_finds_what_is_clear():
    assert list(Miner(ITEMS, TOP, 8.0).original(PEOPLE, SeededRng(1))) == [(0,), (1,), (2,)]


def distance(estimates):
    """How far the mean of several collections is from the truth for the first item, in standard
    errors.
    """
    return abs(np.mean(estimates) - TRUTH[0]) / (
        np.std(estimates, ddof=1) / np.sqrt(len(estimates))
    )


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_counts_of_a_rung_are_right_on_average(number):
    """All sets fit the padding; counts of the second group alone, not scaled to everybody, are
    caught.
    """
    estimates = [
        Miner(ITEMS, TOP, 6.0).mine(number, PEOPLE, SeededRng(seed))[0,] for seed in range(20)
    ]
    assert distance(estimates) < 5, distance(estimates)
    assert distance(np.array(estimates) * PROTOCOLS[number].groups[2] / 100) > 5


def test_the_last_rung_is_the_one_before_it_corrected():
    """The same draws, all counts times one factor: 8 % of the people have two of the candidates,
    padded to one.
    """
    before, after = (Miner(ITEMS, TOP, 6.0).mine(number, PEOPLE, SeededRng(4)) for number in (5, 6))
    factors = [after[chosen] / before[chosen] for chosen in before]
    assert factors == pytest.approx([factors[0]] * 3)
    assert factors[0] == pytest.approx(1 + 3 / 37, abs=0.03)


def test_the_original_spends_half_on_each_phase_of_everybody(monkeypatch):
    asked = []
    plain = ldpminer.sampled_counts
    monkeypatch.setattr(
        ldpminer,
        "sampled_counts",
        lambda held, question, rng: asked.append((held, question)) or plain(held, question, rng),
    )
    estimates = [Miner(ITEMS, TOP, 8.0).original(PEOPLE, SeededRng(seed))[0,] for seed in range(10)]
    assert distance(estimates) < 5
    (first, rough), (second, fine) = asked[:2]
    assert first is second is PEOPLE
    assert (rough.epsilon, fine.epsilon) == (4.0, 4.0)
    assert (rough.mechanism.kind, fine.mechanism.kind) == ("blh", "sue")
    assert rough.encoding == Sample(ITEMS, 2)  # nine of ten sets have two items
    assert (fine.encoding.length, fine.encoding.candidates) == (2 * TOP, 2 * TOP)


@pytest.mark.parametrize("number", PROTOCOLS)
def test_the_rungs_ask_what_they_are_named_after(number, monkeypatch):
    asked = []
    plain = ldpminer.sampled_counts
    monkeypatch.setattr(
        ldpminer,
        "sampled_counts",
        lambda held, question, rng: asked.append((held, question)) or plain(held, question, rng),
    )
    Miner(ITEMS, TOP, 4.0).mine(number, PEOPLE, SeededRng(1))
    kinds = [question.mechanism.kind for _, question in asked]
    lengths = [question.encoding.length for _, question in asked]
    assert kinds == {1: ["blh", "sue"], 2: ["olh", "olh"], 3: ["olh", "olh"]}.get(
        number, ["olh", "grr"]
    )
    assert lengths[0] == (2 if number < 3 else 1)
    assert lengths[1] == (
        2 * TOP if number < 5 else 1
    )  # of the six candidates nine people of ten have one
    assert {question.epsilon for _, question in asked} == {4.0}
    shares = [len(held) / USERS for held, _ in asked]
    assert shares == {1: [0.4, 0.5], 2: [0.4, 0.5], 3: [0.5, 0.5], 4: [0.5, 0.5]}.get(
        number, [0.5, 0.4]
    )


def test_groups_share_nobody():
    numbered = Baskets.of(np.ones(1000, np.int64), np.arange(1000))
    groups = partition(numbered, (50, 10, 40), SeededRng(1))
    assert [len(group) for group in groups] == [500, 100, 400]
    assert sorted(np.concatenate([group.items for group in groups]).tolist()) == list(range(1000))
    assert groups[0].items.tolist() != list(range(500))


def test_only_direct_response_is_amplified():
    encoding = Sample(20, 5)
    for ask in (ask_by_olh, ask_by_blh, ask_by_sue):
        assert ask(1.0, encoding).mechanism.epsilon == ask(1.0, encoding).epsilon == 1.0
    assert (
        ask_adaptively(1.0, encoding).epsilon
        == 1.0
        < ask_adaptively(1.0, encoding).mechanism.epsilon
    )


def test_sizes_are_made_out():
    reached = ask_sizes(PEOPLE, Size(ITEMS), 4.0, SeededRng(1))
    assert (reached.length, reached.correction, reached.confident) == (2, 1.0, True)


def test_sets_of_items_are_found_by_the_baseline_where_everything_is_clear():
    """Half of the people hold 0 and 1 together, and a budget beyond reason."""
    held = Baskets.of(np.tile([2, 1], USERS // 2), np.tile([0, 1, 2], USERS // 2))
    found = Miner(ITEMS, 5, 12.0).itemsets(held, SeededRng(2))
    assert {(0,), (1,), (2,), (0, 1)} <= set(found)
    assert found[0, 1] == pytest.approx(USERS / 2, rel=0.1)


def test_where_no_set_is_likely_the_baseline_returns_items():
    nothing = Baskets.of([0] * 2000, [])
    found = [Miner(5, 5, 1.0).itemsets(nothing, SeededRng(seed)) for seed in range(20)]
    assert {len(one) for one in found} == {5}
    assert any(all(len(chosen) == 1 for chosen in one) for one in found)


@pytest.mark.parametrize("number", [0, 7, -1])
def test_the_ladder_has_six_rungs(number):
    with pytest.raises(ParameterError):
        Miner(ITEMS, TOP, 1.0).mine(number, PEOPLE, SeededRng(1))
