"""The contract of mechanisms: refused settings, defaults, keys, fakes, and kinds without a wire."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import exp

import numpy as np
import pytest

from accounting import every_draw, laws
from sottovoce.core.tally import Tally
from sottovoce.errors import DomainError, MismatchError, NoDataError, ParameterError
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths import exact
from sottovoce.mechanisms.base import Mechanism, PureMechanism, threshold
from sottovoce.mechanisms.duchi import Duchi
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.olh import OLH
from sottovoce.mechanisms.oue import OUE
from sottovoce.mechanisms.rmp import RMP


@dataclass(frozen=True)
class Toy(GRR, kind="toy", wire=False):
    """A mechanism of the laboratory, for three or four values, with a setting of its own."""

    bonus: int = 0
    second: int = threshold()

    min_size = 3
    max_size = 4

    def prepare(self) -> None:
        super().prepare()
        self.set_default("bonus", 7)


def test_a_kind_without_a_wire_has_a_name_but_no_document():
    assert Toy.kind == "toy"
    with pytest.raises(ParameterError, match="unknown mechanism kind: 'toy'"):
        Mechanism.kinds["toy"]
    assert Mechanism.kinds["grr"] is GRR


def test_settings_that_are_left_out_are_filled_and_others_kept():
    assert Toy(1.0, 3).bonus == 7
    assert Toy(1.0, 3, bonus=2).bonus == 2
    assert Toy(1.0, 3).keep == GRR(1.0, 3).keep


def test_epsilon_becomes_a_float():
    assert type(GRR(1, 3).epsilon) is float
    assert GRR(1, 3) == GRR(1.0, 3)


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"epsilon": 0.0}, "`epsilon` must be a number above 0 and at most 20, not 0.0"),
        ({"epsilon": 21}, "`epsilon` must be a number above 0 and at most 20, not 21"),
        ({"epsilon": True}, "`epsilon` must be a number above 0 and at most 20, not True"),
        ({"size": 2}, "`size` must be a whole number from 3 to 4, not 2"),
        ({"size": 5}, "`size` must be a whole number from 3 to 4, not 5"),
        ({"size": 3.0}, "`size` must be a whole number from 3 to 4, not 3.0"),
        ({"keep": -1}, "`keep` must be a whole number from 0 to 2^64 - 1, not -1"),
        ({"second": 1 << 64}, "`second` must be a whole number from 0 to 2^64 - 1, not 2^64"),
    ],
)
def test_each_setting_is_refused_by_its_own_rule(settings, rule):
    with pytest.raises(ParameterError) as caught:
        Toy(**{"epsilon": 1.0, "size": 3, **settings})
    assert str(caught.value) == rule


def test_thresholds_that_prefer_other_values_are_refused():
    with pytest.raises(ParameterError, match="these thresholds estimate nothing"):
        GRR(1.0, 4, keep=exact.UNIT // 4)
    with pytest.raises(ParameterError, match="these thresholds spend more than the stated epsilon"):
        GRR(1.0, 4, keep=exact.UNIT // 2)


def test_a_key_lists_the_kind_and_all_settings():
    grr = GRR(1.0, 4)
    assert grr.key == f"grr(epsilon=1.0,size=4,keep={grr.keep})"


def test_a_tally_of_another_mechanism_and_an_empty_one_are_refused():
    grr = GRR(1.0, 4)
    counts = {"support": np.zeros(4, np.int64)}
    assert grr.check_tally(Tally(grr.key, 3, counts)).users == 3
    with pytest.raises(MismatchError):
        grr.check_tally(Tally(GRR(2.0, 4).key, 3, counts))
    with pytest.raises(NoDataError):
        grr.check_tally(Tally(grr.key, 0, counts))


@pytest.mark.parametrize("values", [[4], [-1], [1.0], ["1"], [[1]], [True]])
def test_values_that_are_no_indices_are_refused(values):
    with pytest.raises(DomainError):
        GRR(1.0, 4).check(np.array(values))


def test_a_report_reveals_less_of_a_drawn_element_only_with_direct_response():
    """Element y is drawn with probability 1/3 from one set and never from another."""
    grr = GRR(1.0, 5)
    p, q = Fraction(grr.keep, exact.UNIT), (1 - Fraction(grr.keep, exact.UNIT)) / 4
    drawn = p / 3 + q * 2 / 3
    assert grr.worst_ratio_of_sample(3) == drawn / q
    olh = OLH(1.0, 5)
    assert olh.worst_ratio_of_sample(3) == olh.worst_ratio


def test_most_mechanisms_send_what_they_remember_and_keep_tallies():
    oue = OUE(1.0, 4)
    reports = np.zeros((2, 1), np.uint8)
    assert oue.instantaneous(reports, None) is reports
    assert oue.epsilon_once is None
    assert oue.has_tally


def test_scores_of_pure_mechanisms_are_weighted_votes():
    grr = GRR(1.0, 4)
    reports = np.array([0, 3, 3, 1])
    coefficients = np.array([1.0, -2.0, 0.5, 4.0])
    expected = grr.votes(reports, np.arange(4)) @ coefficients
    assert grr.score(reports, coefficients) == pytest.approx(expected)
    some = np.array([1, 3])
    among = grr.votes(reports, some) @ coefficients[some]
    assert grr.score_among(reports, some, coefficients[some]) == pytest.approx(among)


def test_only_a_prefix_mechanism_searches_prefix_by_prefix():
    for search in (GRR(1.0, 4).estimate_blocks, GRR(1.0, 4).count_blocks):
        with pytest.raises(ParameterError, match="prefix by prefix"):
            search(np.array([0]), [0], 1)


def test_a_pure_mechanism_says_so_and_another_refuses():
    grr = GRR(1.0, 4)
    assert grr.pure() is grr
    with pytest.raises(ParameterError, match="needs a pure mechanism"):
        Mechanism.kinds["duchi"](epsilon=1.0, size=33).pure()


POOLED = RMP(1.0, 4, rows=8)


@pytest.mark.parametrize("mechanism", [*laws.MECHANISMS, POOLED], ids=laws.name)
def test_fakes_are_drawn_exactly_from_the_blanket(mechanism):
    """The law of a fake is proportional to ``base``, where P[m | x] = base(m) (E or 1).

    Of a mechanism with a seed it is so under every seed that is drawn, and the seeds are uniform.
    """
    drawn = every_draw.law(lambda rng: mechanism.pack(mechanism.draw_blanket(1, rng)))
    reports = mechanism.unpack(b"".join(drawn))
    chances = np.array([float(chance) for chance in drawn.values()])
    expected, coins = blanket_law(mechanism, reports)
    seeds = len(set(coins))
    assert chances == pytest.approx(expected / seeds, rel=1e-9)
    # Nothing that the blanket can draw is missing.
    assert expected.sum() == pytest.approx(seeds, rel=1e-9)


def blanket_law(mechanism, reports):
    """Return the blanket's probability of each report under its coin, and the coins."""
    supports = mechanism.support(reports, np.arange(mechanism.size))
    epsilon = mechanism.epsilon_once or mechanism.epsilon_realised
    bases = mechanism.likelihood(reports) / np.where(supports, exp(epsilon), 1.0)
    mass = 1 / (1 + mechanism.share * (exp(epsilon) - 1))
    # One base whatever the value: it is the least likelihood wherever some value is unsupported.
    assert bases == pytest.approx(np.repeat(bases[:, :1], mechanism.size, axis=1), rel=1e-9)
    coins = [0] * len(reports)
    if reports.dtype.names:
        coins = reports[reports.dtype.names[0]].tolist()
    return bases[:, 0] / mass, coins


def test_a_fake_that_is_a_randomised_value_is_not_a_draw_from_the_blanket_of_hashing():
    """A broken twin: the report of a random value supports some values more often than others."""
    mechanism = OLH(1.0, 3, 3)

    def draw(rng):
        return mechanism.pack(mechanism.privatize(rng.integers(3, 1), rng))

    drawn = every_draw.law(draw)
    expected, coins = blanket_law(mechanism, mechanism.unpack(b"".join(drawn)))
    chances = np.array([float(chance) for chance in drawn.values()])
    assert np.abs(chances - expected / len(set(coins))).max() > 0.005


def test_fakes_of_an_unknown_blanket_are_reports_of_uniform_values():
    mechanism = Duchi(1.0, 5)
    drawn = every_draw.law(lambda rng: mechanism.pack(mechanism.draw_blanket(1, rng)))
    reports = mechanism.unpack(b"".join(drawn))
    chances = [float(chance) for chance in drawn.values()]
    assert chances == pytest.approx(mechanism.likelihood(reports).mean(axis=1), rel=1e-9)


def test_a_mechanism_that_states_its_share_must_draw_its_blanket():
    @dataclass(frozen=True)
    class Undrawn(GRR, kind="undrawn", wire=False):
        draw_blanket = PureMechanism.draw_blanket

    with pytest.raises(NotImplementedError, match="must draw its blanket"):
        Undrawn(1.0, 3).draw_blanket(1, SeededRng(1))


@pytest.mark.parametrize("family", Mechanism.kinds.classes(), ids=lambda family: family.kind)
def test_every_kind_draws_fakes_that_can_be_read(family):
    mechanism = family(epsilon=1.0, size=16)
    packed = mechanism.pack(mechanism.draw_blanket(500, SeededRng(1)))
    assert len(packed) == 500 * mechanism.width
    assert len(mechanism.unpack(packed)) == 500


# --- what attackers draw ---

SMALL = dict.fromkeys(("grr", "oue", "sue", "the", "subset", "hadamard"), 4)
HASHING = ("affine", "affine_prefix", "olh", "blh", "rmp")


def small(kind, size=4, epsilon=1.0):
    options = {"bits": 4, "cohorts": 2} if kind == "bloom" else {}
    options = {"cells": 6} if kind in ("piecewise", "hybrid") else options
    return Mechanism.kinds[kind](epsilon=epsilon, size=size, **options)


def counted_outcomes(mechanism, reports):
    """Return how often every possible report occurs."""
    listed = [mechanism.pack(outcome[None]) for outcome in mechanism.outcomes()]
    packed = [mechanism.pack(report[None]) for report in reports]
    assert set(packed) <= set(listed)
    return np.array([packed.count(outcome) for outcome in listed])


@pytest.mark.parametrize(
    "kind", [*sorted(SMALL), "bloom", "duchi", "piecewise", "hybrid", "square_wave"]
)
def test_uniform_reports_are_uniform_over_all_reports(kind):
    """Chi-squared of 4,000 reports against the uniform law, 5 sigma of its normal limit."""
    mechanism = small(kind)
    counts = counted_outcomes(mechanism, mechanism.draw_uniform(4000, SeededRng(1)))
    expected = 4000 / len(counts)
    statistic = ((counts - expected) ** 2 / expected).sum()
    degrees = len(counts) - 1
    print(kind, "chi-squared", statistic, "degrees", degrees)
    assert statistic < degrees + 5 * np.sqrt(2 * degrees)
    if kind == "oue":  # the twin: the blanket of unary encoding is not uniform
        blanket = counted_outcomes(mechanism, mechanism.draw_blanket(4000, SeededRng(1)))
        assert ((blanket - expected) ** 2 / expected).sum() > degrees + 5 * np.sqrt(2 * degrees)


@pytest.mark.parametrize("kind", HASHING)
def test_uniform_reports_of_hashing_have_uniform_buckets(kind):
    mechanism = Mechanism.kinds[kind](epsilon=2.0, size=64)
    reports = mechanism.draw_uniform(4000, SeededRng(1))
    counts = np.bincount(reports[reports.dtype.names[1]], minlength=mechanism.buckets)
    expected = 4000 / mechanism.buckets
    print(kind, counts)
    assert len(counts) == mechanism.buckets
    assert (abs(counts - expected) < 5 * np.sqrt(expected)).all()


@pytest.mark.parametrize("kind", [*sorted(SMALL), *HASHING])
def test_each_report_is_asked_about_its_own_value(kind):
    mechanism = Mechanism.kinds[kind](epsilon=1.0, size=8)
    values = np.arange(400) % 8
    reports = mechanism.privatize(values, SeededRng(1))
    supports = mechanism.support(reports, np.arange(8))[np.arange(400), values]
    assert (mechanism.supports_own(reports, values) == supports).all()
    plain = PureMechanism.supports_own(mechanism, reports, values)
    assert (plain == supports).all()


@pytest.mark.parametrize("kind", sorted(SMALL))
def test_a_crafted_report_supports_as_many_wanted_values_as_any_report_does(kind):
    """Brute force over all reports, for every pair and triple of wanted values."""
    mechanism = small(kind, 5)
    possible = mechanism.support(mechanism.outcomes(), np.arange(5))
    for wanted in [*combinations(range(5), 2), *combinations(range(5), 3)]:
        most = possible[:, wanted].sum(axis=1).max()
        rows = np.tile(wanted, (20, 1))
        reports = mechanism.unpack(mechanism.pack(mechanism.draw_supporting(rows, 1, SeededRng(1))))
        supported = mechanism.support(reports, np.array(wanted)).sum(axis=1)
        assert (supported == most).all()


@pytest.mark.parametrize("kind", HASHING)
def test_more_tries_support_more_wanted_values_and_each_row_has_its_own(kind):
    mechanism = Mechanism.kinds[kind](epsilon=1.0, size=64)
    wanted = np.stack([np.arange(6), np.arange(50, 56)]).repeat(150, axis=0)
    reached = []
    for tries in (1, 30):
        reports = mechanism.draw_supporting(wanted, tries, SeededRng(1))
        accepted = mechanism.unpack(mechanism.pack(reports))
        supported = mechanism.support(accepted, np.arange(64))
        reached.append(np.take_along_axis(supported, wanted, axis=1).sum(axis=1))
    print(kind, [each.mean() for each in reached])
    assert reached[1].mean() > reached[0].mean() + 1
    assert (reached[1] >= 3).all()


def test_without_a_better_idea_the_best_of_the_tries_is_sent():
    """The contract's own search, on subset selection: it never does worse with more tries."""
    mechanism = small("subset", 6)
    wanted = np.tile([0, 1], (200, 1))
    means = [
        PureMechanism.draw_supporting(mechanism, wanted, tries, SeededRng(1)) for tries in (1, 20)
    ]
    supported = [mechanism.support(each, np.array([0, 1])).sum(axis=1).mean() for each in means]
    print(supported)
    assert supported[1] > supported[0] + 0.5
