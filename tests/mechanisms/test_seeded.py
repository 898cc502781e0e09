"""Given seeds: the same guarantee and law as drawn ones, and nothing but the seed is fixed."""

from fractions import Fraction

import numpy as np
import pytest

from accounting import every_draw, laws
from sottovoce.core.rng import Rng
from sottovoce.errors import DomainError
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths import exact
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.bloom import Bloom
from sottovoce.mechanisms.olh import OLH
from sottovoce.mechanisms.rmp import RMP
from sottovoce.mechanisms.seeded import SeededMechanism

DRAWS = [0, 1, 5, 1 << 32, 0x0123456789ABCDEF, (1 << 64) - 1]
SEEDED = [*laws.HASHED, RMP(1.0, 5, rows=11), Bloom(2.0, 5, bits=4, hashes=1, cohorts=3)]
SEEDLESS = laws.LISTED


def one_draw(draw):
    return np.array([draw], np.uint64)


def law_under(mechanism, value, draw):
    """Return the exact law of the packed report of a value under a given seed."""

    def play(rng):
        return mechanism.pack(mechanism.privatize_seeded(np.array([value]), one_draw(draw), rng))

    return every_draw.law(play)


@pytest.mark.parametrize("mechanism", SEEDED, ids=laws.name)
def test_every_fixed_seed_keeps_epsilon_exactly(mechanism):
    """All reports of all pairs of values are compared, in fractions."""
    reached = Fraction(0)
    for draw in DRAWS:
        by_value = [law_under(mechanism, value, draw) for value in range(mechanism.size)]
        assert all(sum(law.values()) == 1 for law in by_value)
        reports = set().union(*by_value)
        for report in reports:
            chances = [law.get(report, Fraction(0)) for law in by_value]
            reached = max(reached, max(chances) / min(chances))
    assert reached <= mechanism.worst_ratio
    assert exact.log(reached) <= exact.stated(mechanism.epsilon)
    if mechanism.kind != "bloom":  # which may have no pair of values with disjoint filters
        assert reached == mechanism.worst_ratio


class Peeking(AffineResponse):
    """A broken twin: its seed depends on the value."""

    def respond(self, values, seeds, rng):
        return super().respond(values, seeds ^ values.astype(np.uint64), rng)


def test_a_seed_that_depends_on_the_value_is_caught():
    by_value = [law_under(Peeking(1.0, 4, 2), value, 7) for value in (0, 1)]
    assert not set(by_value[0]) & set(by_value[1]), "one report tells the values apart"


@pytest.mark.parametrize("mechanism", SEEDED, ids=laws.name)
def test_the_law_under_a_seed_is_that_of_reports_which_drew_it(mechanism):
    """P[report | seed drawn] = P[report | seed given], for every seed among the drawn ones."""

    def play(rng):
        return mechanism.pack(mechanism.privatize(np.array([1]), rng))

    drawn = every_draw.law(play)
    seeds = {mechanism.seeds_of(mechanism.unpack(report)).tolist()[0] for report in drawn}
    assert len(seeds) > 1
    for seed in seeds:
        with_seed = {
            report: chance
            for report, chance in drawn.items()
            if mechanism.seeds_of(mechanism.unpack(report)).tolist() == [seed]
        }
        total = sum(with_seed.values())
        given = law_under(mechanism, 1, seed)
        assert {report: chance / total for report, chance in with_seed.items()} == given


@pytest.mark.parametrize("mechanism", SEEDED, ids=laws.name)
def test_fakes_under_a_seed_are_draws_from_the_blanket(mechanism):
    for draw in DRAWS:
        drawn = every_draw.law(
            lambda rng, draw=draw: mechanism.pack(
                mechanism.draw_blanket_seeded(one_draw(draw), rng)
            )
        )
        reports = mechanism.unpack(b"".join(drawn))
        assert mechanism.carries_seeds(reports, np.full(len(reports), draw, np.uint64)).all()
        if mechanism.kind != "bloom":
            assert set(drawn.values()) == {Fraction(1, mechanism.buckets)}


@pytest.mark.parametrize("mechanism", SEEDED, ids=laws.name)
def test_reports_carry_the_seed_that_was_given(mechanism):
    draws = np.arange(200, dtype=np.uint64) << np.uint64(3)
    values = np.arange(200) % mechanism.size
    reports = mechanism.privatize_seeded(values, draws, SeededRng(1))
    assert mechanism.carries_seeds(reports, draws).all()
    unpacked = mechanism.unpack(mechanism.pack(reports))
    assert mechanism.carries_seeds(unpacked, draws).all()
    others = mechanism.carries_seeds(reports, draws + np.uint64(1))
    assert not others.any()  # d and d + 1 are different seeds, however many there are
    assert mechanism.has_seed


@pytest.mark.parametrize("mechanism", SEEDLESS, ids=laws.name)
def test_without_a_seed_nothing_changes(mechanism):
    draws = np.arange(50, dtype=np.uint64)
    values = np.arange(50) % mechanism.size
    seeded = mechanism.privatize_seeded(values, draws, SeededRng(2))
    assert mechanism.pack(seeded) == mechanism.pack(mechanism.privatize(values, SeededRng(2)))
    fakes = mechanism.draw_blanket_seeded(draws, SeededRng(3))
    assert mechanism.pack(fakes) == mechanism.pack(mechanism.draw_blanket(50, SeededRng(3)))
    assert mechanism.carries_seeds(seeded, draws).all()
    assert not mechanism.has_seed


def test_a_kind_has_a_seed_if_and_only_if_it_says_so():
    found = {each.kind for each in Mechanism.kinds.classes() if each.has_seed}
    assert found == {"affine", "affine_prefix", "blh", "bloom", "olh", "rmp"}
    assert all(issubclass(Mechanism.kinds[kind], SeededMechanism) for kind in found)


class CountingRng(Rng):
    """The operating system's bytes, counted."""

    def __init__(self):
        self.source = SeededRng(9)
        self.counts = []

    def bytes(self, count):
        self.counts.append(count)
        return self.source.bytes(count)


@pytest.mark.parametrize("mechanism", SEEDED, ids=laws.name)
def test_the_random_bytes_drawn_do_not_depend_on_the_value(mechanism):
    counts = set()
    for value in range(mechanism.size):
        rng = CountingRng()
        mechanism.privatize_seeded(np.array([value]), one_draw(77), rng)
        counts.add(tuple(rng.counts))
    assert len(counts) == 1


def test_values_outside_are_refused_under_a_given_seed_too():
    for mechanism in SEEDED:
        with pytest.raises(DomainError):
            mechanism.privatize_seeded(np.array([mechanism.size]), one_draw(0), SeededRng(1))


@pytest.mark.parametrize(
    ("mechanism", "count"),
    [
        (AffineResponse(1.0, 8), 1 << 64),
        (OLH(1.0, 8), 1 << 32),
        (RMP(1.0, 8), 1 << 32),
        (RMP(1.0, 8, rows=1 << 32), 1 << 32),
        (RMP(1.0, 8, rows=11), 11),
        (Bloom(1.0, 8, cohorts=3), 3),
    ],
)
def test_a_seed_is_the_draw_modulo_their_number(mechanism, count):
    assert mechanism.seed_count == count
    seeds = mechanism.seeds_from(np.array(DRAWS, np.uint64))
    assert seeds.tolist() == [draw % count for draw in DRAWS]
