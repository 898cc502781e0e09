"""A choice: a public coin picks a member, by weight, for the price of the most expensive one."""

from fractions import Fraction

import numpy as np
import pytest

from accounting import every_draw
from sottovoce.accounting.blanket import Blanket
from sottovoce.errors import ParameterError
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths import exact
from sottovoce.mechanisms.grr import GRR
from sottovoce.tasks.bundle import Bundle
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.question import Address, Question
from tasks.toys import NARROW, WIDE, Remainders, Sizes


def test_a_choice_costs_what_its_dearest_member_costs_and_is_as_wide_as_its_widest():
    choice = Choice((NARROW, WIDE))
    assert choice.epsilon == choice.epsilon_once == 1.0
    assert choice.width == WIDE.width == 3
    assert choice.member_count == 2
    assert choice.has_coin
    assert list(choice.representatives()) == [NARROW, WIDE]


def test_a_family_is_looked_at_through_its_representatives():
    alike = Choice(Remainders(0.5, 1_000_000))
    assert alike.epsilon == 0.5
    assert alike.shared_mechanism == GRR(0.5, 4)
    assert len(list(alike.representatives())) == 1
    unlike = Choice(Sizes(300))
    assert unlike.width == 2
    assert unlike.shared_mechanism is None
    assert len(list(unlike.representatives())) == 300


def test_choices_follow_their_weights():
    """Multiply-high of a 64-bit coin: weights 1, 2 and 5 of eight."""
    choice = Choice((NARROW,) * 3, (1, 2, 5))
    step = exact.UNIT // 8
    coins = np.array([eighth * step for eighth in range(8)], np.uint64)
    assert choice.pick(coins).tolist() == [0, 1, 1, 2, 2, 2, 2, 2]
    assert choice.pick(coins[1:] - np.uint64(1)).tolist() == [0, 1, 1, 2, 2, 2, 2]
    assert choice.pick(np.array([exact.UNIT - 1], np.uint64)).tolist() == [2]


@pytest.mark.parametrize("count", [1, 3, 7, 1000, (1 << 32) - 1])
def test_without_weights_a_coin_is_scaled_to_the_members(count):
    choice = Choice(Remainders(1.0, count))
    coins = [0, 1, exact.UNIT // 3, exact.UNIT // 2, exact.UNIT - 1]
    expected = [coin * count // exact.UNIT for coin in coins]
    assert choice.pick(np.array(coins, np.uint64)).tolist() == expected


def test_a_person_answers_the_member_of_their_coin():
    choice = Choice((NARROW, Bundle((NARROW, WIDE))))
    assert choice.addresses(lambda slot: 0) == [Address()]
    upper = choice.addresses(lambda slot: exact.UNIT - 1)
    assert upper == [Address(member=1, slot=0), Address(member=1, slot=1)]
    assert [choice.slots_of(member) for member in (-1, 0, 1, 2)] == [0, 1, 2, 0]
    assert choice.slots == 2
    assert choice.bundled


def test_every_person_is_assigned_one_member_that_their_coin_picks():
    choice = Choice((NARROW, WIDE, NARROW), (1, 1, 2))
    people = np.arange(100, 300)
    assigned = choice.assigned(people, SeededRng(5))
    expected = choice.pick(SeededRng(5).longs(200))
    for address, chosen in assigned:
        assert chosen.tolist() == people[expected == address.member].tolist()
    assert sum(len(chosen) for _, chosen in assigned) == 200


def test_members_of_one_mechanism_are_privatised_together():
    """The same coins and the same draws as member by member."""
    choice = Choice(Remainders(1.0, 5))
    values = np.arange(50) % 7
    members, reports = choice.privatize_by_coin(values, SeededRng(8))
    rng = SeededRng(8)
    assert members.tolist() == choice.pick(rng.longs(50)).tolist()
    encoded = (values + members) % 4
    assert reports.tolist() == GRR(1.0, 4).privatize(encoded, rng).tolist()
    with pytest.raises(ParameterError, match="not all randomised by one mechanism"):
        Choice((NARROW,)).privatize_by_coin(values, rng)


def test_a_member_that_is_not_there_is_refused():
    choice = Choice((NARROW, WIDE))
    assert choice.at(1, 0) is WIDE
    for member in (-1, 2):
        with pytest.raises(ParameterError, match=f"this choice has no member {member}"):
            choice.at(member, 0)


@pytest.mark.parametrize(
    ("members", "weights", "rule"),
    [
        ((), (), "`members` must have from 1 to 4096 entries, not 0"),
        ((NARROW, WIDE), (1,), "`weights` must have exactly 2 entries, not 1"),
        ((NARROW,), (0,), "each entry of `weights` must be a whole number of at least 1, not 0"),
        (
            (NARROW,),
            (1.5,),
            "each entry of `weights` must be a whole number of at least 1, not 1.5",
        ),
        ((NARROW,), (1 << 32,), "`weights` of a choice must sum to less than 2^32"),
        (
            (Choice((NARROW,)),),
            (),
            "`members` of a choice must be questions, or bundles of questions",
        ),
        (
            (Bundle((Choice((NARROW,)),)),),
            (),
            "`members` of a choice must be questions, or bundles of questions",
        ),
    ],
)
def test_impossible_choices_are_refused(members, weights, rule):
    with pytest.raises(ParameterError) as caught:
        Choice(members, weights)
    assert str(caught.value) == rule


def test_a_family_of_too_many_members_is_refused():
    with pytest.raises(ParameterError, match=r"less than 2\^32"):
        Choice(Remainders(1.0, 1 << 32))


def test_members_are_questions_of_the_family():
    assert Choice(Sizes(5)).at(3, 0) == Question(GRR(1.0, 5))


def test_fakes_are_dealt_by_weight_times_mass_as_accounting_assumes():
    """P[fake in member j] = w_j g_j / sum w g, and every report is a draw of that member's blanket.

    A blanket of the mixture supports a value with the share that ``Blanket.mixture`` states.
    """
    sizes, weights = (2, 4, 8), (3, 2, 1)
    choice = Choice(tuple(Question(GRR(1.0, size)) for size in sizes), weights)
    blankets = [GRR(1.0, size).blanket for size in sizes]
    masses = [weight * blanket.mass for weight, blanket in zip(weights, blankets, strict=True)]
    shares = [choice.fake_share(member) for member in range(3)]
    assert shares == pytest.approx([mass / sum(masses) for mass in masses], rel=1e-12)
    assert sum(shares) == 1
    assert shares[0] < choice.coin_share(0) == 0.5
    supporting = sum(share / size for share, size in zip(shares, sizes, strict=True))
    assert supporting == pytest.approx(choice.blanket.share, rel=1e-12)


def test_fakes_of_equal_masses_are_dealt_by_the_coin_of_people():
    choice = Choice((NARROW, Question(GRR(1.0, 4), None, 1.0), NARROW), (1, 1, 2))
    assert [choice.fake_share(member) for member in range(3)] == [0.25, 0.25, 0.5]
    law = every_draw.law(lambda rng: tuple(choice.fake_reports(1, rng)))
    for member, chance in enumerate((1, 1, 2)):
        for value in range(4):
            report = (Address(member=member), bytes([value]))
            assert law[(report,)] == Fraction(chance, 16)


def test_fakes_that_cannot_be_drawn_are_dealt_by_the_coin_of_people():
    choice = Choice((NARROW, Bundle((NARROW, NARROW))), (1, 3))
    assert not choice.blanket.drawable
    assert [choice.fake_share(member) for member in range(2)] == [0.25, 0.75]


def test_dealing_counts_with_the_largest_epsilon_as_the_mixture_does():
    choice = Choice((Question(GRR(2.0, 4)), Question(GRR(1.0, 8))))
    parts = [(1, Blanket(2.0, 1 / 4)), (1, Blanket(2.0, 1 / 8))]
    expected = parts[0][1].mass / (parts[0][1].mass + parts[1][1].mass)
    assert choice.fake_share(0) == pytest.approx(expected, rel=1e-12)
    assert Blanket.mixture(parts).share == pytest.approx(choice.blanket.share, rel=1e-12)


def test_fakes_fall_where_their_shares_say():
    """5 sigma, 200,000 fakes; dealing them like people would be seen."""
    choice = Choice((Question(GRR(3.0, 2)), Question(GRR(3.0, 60))))
    drawn = choice.draw_fakes(np.arange(200_000), SeededRng(3))
    assert [part.address.member for part in drawn] == [0, 1]
    share = choice.fake_share(0)
    deviation = (len(drawn[0].fakes) - 200_000 * share) / (200_000 * share * (1 - share)) ** 0.5
    print("deviates by", deviation, "sigma")
    assert abs(deviation) < 5
    like_people = (len(drawn[0].fakes) - 100_000) / 50_000**0.5
    assert abs(like_people) > 5


def test_fakes_of_many_members_with_one_mechanism_are_drawn_together():
    choice = Choice(Remainders(0.5, 1_000_000))
    reports = choice.fake_reports(1_000, SeededRng(4))
    assert len(reports) == 1_000
    assert len({address.member for address, _ in reports}) > 900


def test_fakes_are_padded_to_the_width_of_the_choice():
    choice = Choice((NARROW, WIDE))
    reports = choice.fake_reports(100, SeededRng(5))
    assert {len(payload) for _, payload in reports} == {3}
    assert all(payload[1:] == b"\0\0" for address, payload in reports if address.member == 0)
