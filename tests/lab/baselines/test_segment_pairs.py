"""The segment pairs method: frequent segments, frequent pairs of them, whole values of such
pairs.
"""

from itertools import combinations

import numpy as np
import pytest

import sottovoce as sv
from lab.baselines.pieces import asking, envelopes, gathered, is_found, planted, spent
from sottovoce.domains.bits import Bits
from sottovoce.domains.categories import Categories
from sottovoce.domains.strings import Strings
from sottovoce.encodings.segment import Segment
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.lab import crowd
from sottovoce.lab.baselines import segment_pairs
from sottovoce.lab.baselines.candidates import rank_candidates
from sottovoce.lab.baselines.joining import PatternVotes, shares_of_pairs
from sottovoce.lab.baselines.segment_pairs import MAX_TOP, SegmentPairs
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.mechanisms.grr import GRR
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.question import Address

SHARES = {0xBEEF: 0.35, 0x1234: 0.25, 0x8001: 0.15}
PLANS = [
    SegmentPairs(Bits(16), 3, segments=segments, partitioned=partitioned)
    for segments in (2, 4)
    for partitioned in (False, True)
]


def names(plan):
    return f"{plan.domain}, {plan.segments}, {plan.partitioned}"


@pytest.fixture(scope="module")
def held():
    return planted(Bits(16), SHARES, 60_000)


def test_every_pair_of_segments_is_a_group_that_reports_three_things_for_a_third_of_epsilon_each():
    task = asking(SegmentPairs(Bits(64), 16, segments=4), 3.0)
    assert isinstance(task.opening.ask, Choice)
    assert task.declares == ("subject",)
    assert task.opening.epsilon == 3.0
    for pair, member in zip(combinations(range(4), 2), task.opening.ask.members, strict=True):
        whole, *two = member.parts
        assert (whole.mechanism, whole.encoding) == (AffinePrefix(1.0, 1 << 64), None)
        assert [one.encoding for one in two] == [Segment(64, 16 * segment, 16) for segment in pair]
        assert {one.mechanism for one in two} == {AffineResponse(1.0, 1 << 16)}
        for question in member.parts:
            question.check_domain(Bits(64))


def test_partitioned_a_tenth_tests_with_all_of_epsilon_and_the_rest_reports_two_halves():
    asked = asking(SegmentPairs(Bits(64), 16, segments=8, partitioned=True), 3.0).opening
    whole, *pairs = asked.ask.members
    assert whole.mechanism == AffinePrefix(3.0, 1 << 64)
    assert len(pairs) == 28
    assert all(
        [part.mechanism for part in pair.parts] == [AffineResponse(1.5, 256)] * 2 for pair in pairs
    )
    assert asked.ask.weights[0] * 10 == sum(asked.ask.weights)
    assert len(set(asked.ask.weights[1:])) == 1


def test_segments_of_one_bit_are_answered_directly():
    asked = asking(SegmentPairs(Bits(4), 2, segments=4), 3.0).opening
    assert asked.ask.members[0].parts[1].mechanism == GRR(1.0, 2)


@pytest.mark.parametrize("partitioned", [False, True])
@pytest.mark.parametrize("segments", [2, 3, 6])
def test_all_that_a_user_sends_reveals_exactly_epsilon(segments, partitioned):
    """Over all pairs of 64 values, the three reports added up."""
    plan = SegmentPairs(Bits(6), 4, segments=segments, partitioned=partitioned)
    assert spent(asking(plan, 1.3).opening.ask, plan.domain).max() == pytest.approx(1.3, abs=1e-9)


class Greedy(SegmentPairs, kind="greedy_spm", wire=False):
    """A broken twin: the three reports cost a half each."""

    def ask(self, epsilon):
        return super().ask(1.5 * epsilon)


def test_a_plan_that_spends_three_halves_is_refused_its_task():
    assert spent(Greedy(Bits(6), 4, segments=2).ask(1.3), Bits(6)).max() == pytest.approx(
        1.95, abs=1e-9
    )
    with pytest.raises(ParameterError, match="spends more"):
        asking(Greedy(Bits(6), 4, segments=2), 1.3)


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 0.7, 1.1, 2.3, 20.0])
def test_thirds_never_come_to_more_than_the_whole(epsilon):
    for partitioned in (False, True):
        task = asking(SegmentPairs(Bits(16), 3, partitioned=partitioned), epsilon)
        assert task.opening.epsilon <= epsilon


@pytest.mark.parametrize("plan", PLANS, ids=names)
def test_planted_values_are_found_in_a_simulation(plan, held):
    answer = sv.simulate(asking(plan, 6.0), held, seed=3)
    is_found(answer, plan.domain, SHARES, held)
    assert answer.estimate.population == len(held)
    assert answer.estimate.users == pytest.approx(
        len(held) / (10 if plan.partitioned else 1), rel=0.1
    )
    assert answer.estimate.tested == answer.details["candidates"] >= 3
    assert not answer.details["candidates_left_out"]


def test_segments_joined_to_those_of_strangers_are_caught(held, monkeypatch):
    """A broken twin: every second segment is taken for the next user's."""

    def with_strangers(first, second):
        strangers = PatternVotes(np.roll(second.subjects, 1), second.votes)
        return shares_of_pairs(first, strangers)

    monkeypatch.setattr(segment_pairs, "shares_of_pairs", with_strangers)
    with pytest.raises(AssertionError):
        is_found(sv.simulate(asking(PLANS[2], 6.0), held, seed=3), Bits(16), SHARES, held)


@pytest.mark.parametrize("plan", PLANS[2:], ids=names)
def test_the_order_of_messages_and_of_their_envelopes_does_not_matter(plan, held):
    """Reports meet by their subject; nothing else says whose they are."""
    task, some = asking(plan, 6.0), held[:30_000]
    messages = crowd.messages(task, some, rng=SeededRng(2))
    answer = sv.answer(task, messages)
    is_found(answer, plan.domain, SHARES, some)
    assert sv.answer(task, envelopes(messages)).to_dict() == answer.to_dict()
    assert sv.answer(task, messages[::-1]).to_dict() == answer.to_dict()


def test_segments_are_counted_by_everybody_who_reports_them(held):
    """Three of six groups report each segment: its most frequent patterns are those of the planted
    values.
    """
    plan = SegmentPairs(Bits(16), 3)
    found = gathered(asking(plan, 6.0), held[:20_000])
    assert [plan.frequent_patterns(found, segment).tolist() for segment in range(4)] == [
        sorted(value >> shift & 15 for value in SHARES) for shift in (12, 8, 4, 0)
    ]
    reporters = [
        len(found.scores(plan.addresses(pair)[0], np.eye(16)[0])[0]) for pair in plan.pairs
    ]
    assert sum(reporters) == 20_000


def test_the_last_test_uses_every_users_report_of_the_whole_value(held):
    """Six groups together err like one of all users: exactly the sums of their supports."""
    plan, some = SegmentPairs(Bits(16), 3), held[:20_000]
    found = gathered(asking(plan, 6.0), some)
    numbers = np.array(list(SHARES))
    mechanism = AffinePrefix(2.0, 1 << 16)
    supports = sum(
        mechanism.count(found.batches[Address(0, member)].reports, numbers) for member in range(6)
    )
    ranked = rank_candidates(
        found, [Address(0, member) for member in range(6)], plan.domain, list(SHARES), 3
    )
    assert ranked.labels == tuple(plan.domain.label(value) for value in SHARES)
    expected = mechanism.estimate_counts(supports, len(some))
    np.testing.assert_allclose(ranked.estimate.totals, expected.totals)
    np.testing.assert_allclose(ranked.estimate.variance, expected.variance)


def test_texts_of_eighty_bits_are_found():
    words = {"sottovoce": 0.4, "crème": 0.3, "π": 0.2}
    held = [word for word, share in words.items() for _ in range(round(60_000 * share))]
    held += [f"{number:x}" for number in range(60_000 - len(held))]
    answer = sv.simulate(asking(SegmentPairs(Strings(10), 3, segments=5), 6.0), held, seed=5)
    assert answer.labels == tuple(words)


def test_without_reports_of_a_pair_there_is_no_answer():
    with pytest.raises(NoDataError):
        sv.simulate(asking(SegmentPairs(Bits(16), 3)), [1] * 4, seed=1)


@pytest.mark.parametrize(
    "settings",
    [
        {"top": 0},
        {"top": MAX_TOP + 1},
        {"top": True},
        {"top": 2.0},
        {"segments": 1},
        {"segments": 0},
        {"segments": 3},
        {"segments": 64},
        {"segments": 4.0},
        {"segments": 2},
    ],
    ids=str,
)
def test_impossible_settings_are_refused(settings):
    with pytest.raises(ParameterError):
        SegmentPairs(Bits(64), **settings)


@pytest.mark.parametrize("domain", [Categories(("a", "b")), 64, None])
def test_other_domains_are_refused(domain):
    with pytest.raises(ParameterError):
        SegmentPairs(domain)
