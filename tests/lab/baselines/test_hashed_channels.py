"""The multiple channel method: one value for each channel, spelled piece by piece."""

from dataclasses import dataclass

import numpy as np
import pytest

import sottovoce as sv
from lab.baselines.pieces import asking, envelopes, is_found, planted, spent
from sottovoce.client.client import Client
from sottovoce.domains.bits import Bits
from sottovoce.domains.categories import Categories
from sottovoce.domains.strings import Strings
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.lab import crowd
from sottovoce.lab.baselines.channel_bits import ChannelBits
from sottovoce.lab.baselines.channel_segment import ChannelSegment, channel_of
from sottovoce.lab.baselines.hashed_channels import MAX_TOP, HashedChannels
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths import exact
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.tasks.bundle import Bundle

SHARES = {0xBEEF: 0.35, 0x1234: 0.25, 0xC0DE: 0.15}  # in three of five channels
PLANS = [
    HashedChannels(Bits(16), 3, block=block, partitioned=partitioned)
    for block in (1, 5, 8)
    for partitioned in (False, True)
]


def names(plan):
    return f"{plan.domain}, {plan.channels}, {plan.block}, {plan.partitioned}"


@pytest.fixture(scope="module")
def held():
    return planted(Bits(16), SHARES, 40_000)


def test_everybody_reports_the_whole_value_and_one_piece_for_half_of_epsilon_each():
    asked = asking(HashedChannels(Bits(64), 16), 3.0).opening
    whole, pieces = asked.ask.parts
    assert isinstance(asked.ask, Bundle)
    assert whole.mechanism == AffinePrefix(1.5, 1 << 64)
    assert [one.encoding for one in pieces.members] == [
        ChannelSegment(64, 64, start, 8) for start in range(0, 64, 8)
    ]
    assert {one.mechanism for one in pieces.members} == {AffineResponse(1.5, 64 << 8)}
    assert asked.epsilon == 3.0


def test_partitioned_a_tenth_reports_the_whole_value_and_nobody_splits_epsilon():
    asked = asking(HashedChannels(Bits(20), 16, partitioned=True), 3.0).opening
    whole, *pieces = asked.ask.members
    assert whole.mechanism == AffinePrefix(3.0, 1 << 20)
    assert [(one.encoding.start, one.encoding.length) for one in pieces] == [
        (0, 8),
        (8, 8),
        (16, 4),
    ]
    assert asked.ask.weights[0] * 10 == sum(asked.ask.weights)
    assert len(set(asked.ask.weights[1:])) == 1


def test_single_bits_are_the_published_vectors():
    asked = asking(HashedChannels(Bits(16), 16, block=1), 2.0).opening
    _, pieces = asked.ask.parts
    assert {one.mechanism for one in pieces.members} == {ChannelBits(1.0, 128)}
    assert len(pieces.members) == 16


@pytest.mark.parametrize(("top", "channels"), [(1, 2), (4, 8), (16, 64), (30, 164)])
def test_there_are_top_to_the_power_of_one_and_a_half_channels(top, channels):
    assert HashedChannels(Bits(64), top).channels == channels


@pytest.mark.parametrize("partitioned", [False, True])
@pytest.mark.parametrize("block", [1, 3])
def test_all_that_a_user_sends_reveals_exactly_epsilon(block, partitioned):
    """Over all pairs of 64 values, parts added up."""
    plan = HashedChannels(Bits(6), channels=3, block=block, partitioned=partitioned)
    assert spent(asking(plan, 1.3).opening.ask, plan.domain).max() == pytest.approx(1.3, abs=1e-9)


class Greedy(HashedChannels, kind="greedy_hash", wire=False):
    """A broken twin: both reports of one user with the whole epsilon."""

    def ask(self, epsilon):
        return super().ask(2 * epsilon)


def test_a_plan_that_forgets_to_split_is_refused_its_task():
    assert spent(Greedy(Bits(6), channels=3).ask(1.3), Bits(6)).max() == pytest.approx(
        2.6, abs=1e-9
    )
    with pytest.raises(ParameterError, match="spends more"):
        asking(Greedy(Bits(6), channels=3), 1.3)


@pytest.mark.parametrize("parts", [2, 3])
def test_parts_of_epsilon_never_add_up_to_more(parts):
    for epsilon in [
        *np.random.default_rng(1).uniform(0.01, 10, 500).tolist(),
        0.1,
        0.3,
        0.7,
        1.1,
        20.0,
    ]:
        share = exact.part(epsilon, parts)
        assert exact.stated(share) * parts <= exact.stated(epsilon)
        assert share == pytest.approx(epsilon / parts, rel=1e-15)


@pytest.mark.parametrize("plan", PLANS, ids=names)
def test_planted_values_are_found_in_a_simulation(plan, held):
    answer = sv.simulate(asking(plan), held, seed=3)
    is_found(answer, plan.domain, SHARES, held)
    assert answer.estimate.population == len(held)
    assert answer.estimate.users == pytest.approx(
        len(held) / (10 if plan.partitioned else 1), rel=0.1
    )
    tried = answer.details["candidates"]
    assert tried == answer.estimate.tested <= plan.channels
    assert answer.details["positions"] == -(-16 // plan.block)


@dataclass(frozen=True, init=False)
class Crossed(HashedChannels, kind="crossed_hash", wire=False):
    """A broken twin: the second half of every value comes from another channel."""

    def spelled(self, collected):
        spelled = super().spelled(collected)
        return [
            value & 0xFF00 | other & 0xFF
            for value, other in zip(spelled, spelled[1:] + spelled[:1], strict=True)
        ]


def test_pieces_of_different_channels_do_not_make_a_value(held):
    with pytest.raises(AssertionError):
        is_found(sv.simulate(asking(Crossed(Bits(16), 3)), held, seed=3), Bits(16), SHARES, held)


def test_the_less_frequent_of_two_values_in_one_channel_is_lost():
    """What the method cannot do, whatever epsilon is."""
    plan = HashedChannels(Bits(16), 2, channels=2, block=8)
    channels = channel_of(np.arange(1, 200), 16, 2)
    first, second = (np.flatnonzero(channels == 0)[:2] + 1).tolist()
    held = [first] * 6000 + [second] * 3000
    answer = sv.simulate(asking(plan, 10.0), held, seed=1)
    assert answer.labels[0] == plan.domain.label(first)
    assert plan.domain.label(second) not in answer.labels


@pytest.mark.parametrize("plan", PLANS[2:4], ids=names)
def test_planted_values_are_found_in_messages_in_any_order(plan, held):
    task = asking(plan)
    messages = crowd.messages(task, held[:20_000], rng=SeededRng(2))
    answer = sv.answer(task, messages)
    is_found(answer, plan.domain, SHARES, held[:20_000])
    assert sv.answer(task, envelopes(messages)).to_dict() == answer.to_dict()


def test_texts_of_eighty_bits_are_found():
    words = {"sottovoce": 0.4, "crème": 0.3, "π": 0.2}
    held = [word for word, share in words.items() for _ in range(round(30_000 * share))]
    held += [f"{number:x}" for number in range(30_000 - len(held))]
    answer = sv.simulate(asking(HashedChannels(Strings(10), 3)), held, seed=5)
    assert answer.labels == tuple(words)
    assert answer.details["candidates"] <= 5


def test_without_reports_of_a_piece_there_is_no_answer():
    with pytest.raises(NoDataError):
        sv.simulate(asking(HashedChannels(Bits(16), 3, block=1)), [1] * 10, seed=1)


@pytest.mark.parametrize(
    "settings",
    [
        {"top": 0},
        {"top": MAX_TOP + 1},
        {"top": True},
        {"top": 2.0},
        {"channels": 1},
        {"channels": -1},
        {"channels": (1 << 16) + 1},
        {"channels": 8.0},
        {"block": 0},
        {"block": -8},
        {"block": 65},
        {"block": 8.0},
        {"block": True},
        {"block": 23},
    ],
    ids=str,
)
def test_impossible_settings_are_refused(settings):
    with pytest.raises(ParameterError):
        HashedChannels(Bits(64), **settings)


@pytest.mark.parametrize("domain", [Categories(("a", "b")), 64, None])
def test_other_domains_are_refused(domain):
    with pytest.raises(ParameterError):
        HashedChannels(domain)


def test_no_device_answers_it():
    with pytest.raises(ParameterError, match="unknown encoding kind"):
        Client(asking(HashedChannels(Bits(16), 3)), ":memory:")
