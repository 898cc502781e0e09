"""The common permutation: uniform, fixed by the seed, and nobody's choice."""

from collections import Counter
from itertools import permutations

import pytest

from lab.peos.statistics import chi_square_deviation
from sottovoce.errors import MismatchError, ParameterError
from sottovoce.lab.peos.permutation import (
    SeedStream,
    check_commitment,
    combined,
    commitment,
    permutation,
)

RUNS = 4800
GOLDEN_ORDER = [7, 5, 4, 1, 6, 2, 0, 3]
GOLDEN_COMMITMENT = "cf1104b610ac606f23d17d1157c96f321885abfba4b7c53254ce0ad5d4e35e23"


def seed_of(number):
    return number.to_bytes(32, "little")


def order_counts(make):
    counts = Counter(tuple(make(seed_of(number))) for number in range(RUNS))
    return [counts[order] for order in permutations(range(4))]


def test_all_orders_are_equally_likely():
    deviation = chi_square_deviation(order_counts(lambda seed: permutation(seed, 4).tolist()))
    assert deviation < 5, (deviation, 0)


def test_the_check_finds_a_biased_shuffle():
    """A broken twin: every position is swapped with any position, not only with earlier ones."""

    def naive(seed):
        order = list(range(4))
        for position, target in enumerate(SeedStream(seed).integers(4, 4).tolist()):
            order[position], order[target] = order[target], order[position]
        return order

    assert chi_square_deviation(order_counts(naive)) > 5


def test_golden_orders():
    """Orders that were written down once: what follows from a seed never changes."""
    assert permutation(bytes(32), 8).tolist() == GOLDEN_ORDER
    assert commitment(b"context", 1, bytes(32)).hex() == GOLDEN_COMMITMENT


@pytest.mark.parametrize("count", [0, 1, 2, 1000])
def test_an_order_holds_every_position_once(count):
    assert sorted(permutation(bytes(32), count).tolist()) == list(range(count))


def test_the_stream_does_not_depend_on_how_it_is_read():
    whole = SeedStream(bytes(32)).bytes(100_000)
    stream = SeedStream(bytes(32))
    assert b"".join(stream.bytes(count) for count in (1, 65_535, 34_464)) == whole


def test_one_honest_seed_is_enough_for_a_uniform_combination():
    seeds = [seed_of(5), seed_of(9), seed_of(1 << 200)]
    assert combined(seeds) == seed_of(5 ^ 9 ^ 1 << 200)


def test_a_changed_seed_does_not_fit_its_commitment():
    promised = commitment(b"batch", 2, seed_of(1))
    check_commitment(promised, b"batch", 2, seed_of(1))
    for context, party, seed in (
        (b"batch", 2, seed_of(2)),
        (b"batch", 1, seed_of(1)),
        (b"other", 2, seed_of(1)),
    ):
        with pytest.raises(MismatchError, match="revealed another seed"):
            check_commitment(promised, context, party, seed)


def test_a_short_seed_is_refused():
    with pytest.raises(ParameterError, match="`seed` must have exactly 32 bytes"):
        combined([b"short"])
