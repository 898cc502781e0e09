"""Mixing: everything that opens is there once, in an order that says nothing."""

import hashlib
import tracemalloc
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

from sottovoce.core.rng import Rng
from sottovoce.lab.seeded import SeededRng
from sottovoce.shuffler.mixing import MixLimits, MixSource, mix, random_order
from sottovoce.shuffler.opening import LayerKey, Opening
from sottovoce.wire.round_keys import new_round_key
from sottovoce.wire.seal import SealContext, seal

CONTEXT = SealContext(b"d" * 32, 0, 1, 20)
BATCHES, SIZE = 2_000, 8
LEAST_P = 1e-4


class Batch:
    """Sealed messages with their contents, in the order in which an inbox gives them."""

    def __init__(self, count):
        self.keys = [new_round_key(), new_round_key()]
        public_keys = [keys.public_key for keys in self.keys]
        made = [seal(bytes([n % 256]) * 20, public_keys, CONTEXT) for n in range(count)]
        self.sealed = sorted(made, key=lambda message: hashlib.sha256(message).digest())
        self.key = LayerKey(self.keys[0].private_key, CONTEXT, 0)
        self.opened = Opening(self.key).open(self.sealed)

    def source(self, fakes=()):
        def pages():
            for start in range(0, len(self.sealed), 3):
                yield self.sealed[start : start + 3]

        return MixSource(
            pages,
            len(self.sealed),
            CONTEXT.sealed_bytes(1),
            self.key,
            len(fakes),
            lambda start, count: list(fakes[start : start + count]),
        )


def read(path):
    data, width = path.read_bytes(), CONTEXT.sealed_bytes(1)
    return [data[start : start + width] for start in range(0, len(data), width)]


@pytest.mark.parametrize("mix_bytes", [1 << 30, 500])
def test_messages_and_fakes_are_all_there_once(tmp_path, mix_bytes):
    batch = Batch(40)
    fakes = [bytes([200 + n]) * CONTEXT.sealed_bytes(1) for n in range(9)]
    source, limits = batch.source(fakes), MixLimits(mix_bytes, 2)
    assert (limits.pass_count(source) > 1) == (mix_bytes == 500)
    result = mix(source, tmp_path / "batch", limits, SeededRng(1))
    assert Counter(read(tmp_path / "batch")) == Counter(batch.opened + fakes)
    assert result.batch.hash == hashlib.sha256((tmp_path / "batch").read_bytes()).digest()
    assert (result.batch.messages, result.batch.dropped) == (49, 0)


def test_what_does_not_open_is_dropped_and_named_by_its_hash(tmp_path):
    batch, other = Batch(5), Batch(1)
    broken = bytes(len(batch.sealed[0]))
    batch.sealed = [batch.sealed[0], other.sealed[0], *batch.sealed[1:], broken, b"short"]
    result = mix(batch.source(), tmp_path / "batch", MixLimits(), SeededRng(1))
    assert Counter(read(tmp_path / "batch")) == Counter(batch.opened)
    expected = [hashlib.sha256(each).digest() for each in (other.sealed[0], broken, b"short")]
    assert sorted(result.unreadable) == sorted(expected)
    assert (result.batch.messages, result.batch.dropped) == (5, 3)


def test_an_inbox_that_changes_is_not_mixed(tmp_path):
    source = replace(Batch(4).source(), message_count=5)
    with pytest.raises(RuntimeError, match="changed"):
        mix(source, tmp_path / "batch", MixLimits(), SeededRng(1))


def peak_of(count, tmp_path, mix_bytes):
    """Return the most bytes that mixing so many messages holds at once."""
    batch = Batch(1)
    batch.sealed *= count
    source = batch.source()
    tracemalloc.start()
    mix(source, tmp_path / "batch", MixLimits(mix_bytes, 1), SeededRng(1))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


COUNTS = (1_000, 4_000)


@pytest.mark.parametrize("mix_bytes", [60_000, 200_000])
def test_the_memory_for_mixing_is_that_of_the_setting(tmp_path, mix_bytes):
    """A tenth is for pages, and for passes that are not quite even."""
    peaks = [peak_of(count, tmp_path, mix_bytes) for count in COUNTS]
    print(peaks)
    assert max(peaks) < 1.1 * mix_bytes


def test_the_memory_for_one_pass_grows_with_the_messages(tmp_path):
    """The broken twin of the check above: a setting that bounds nothing."""
    peaks = [peak_of(count, tmp_path, 1 << 30) for count in COUNTS]
    print(peaks)
    assert peaks[1] > 3 * peaks[0]


class Constant(Rng):
    """A broken source: keys that are all equal keep the order of the inbox."""

    def bytes(self, count):
        return bytes(count)


def positions(rng, tmp_path, mix_bytes, batches=BATCHES):
    """Return how often each message of an inbox came out at each position of the batch file."""
    batch = Batch(SIZE)
    counts = np.zeros((SIZE, SIZE))
    for _ in range(batches):
        mix(batch.source(), tmp_path / "batch", MixLimits(mix_bytes, 1), rng)
        for position, message in enumerate(read(tmp_path / "batch")):
            counts[batch.opened.index(message), position] += 1
    return counts


def uniformity(counts):
    """Return the p-value of "every message is equally often at every position".

    Rows and columns add up to the number of batches, so that the sum of squares has (SIZE - 1)^2
    degrees of freedom, scaled by SIZE / (SIZE - 1) for the covariance within one permutation.
    """
    expected = counts.sum() / SIZE**2
    statistic = ((counts - expected) ** 2).sum() / expected * (SIZE - 1) / SIZE
    print(f"statistic {statistic:.1f}, expected {(SIZE - 1) ** 2}")
    return float(chi2.sf(statistic, (SIZE - 1) ** 2))


@pytest.mark.parametrize("mix_bytes", [1 << 30, 500])
def test_the_position_of_nobody_can_be_told(tmp_path, mix_bytes):
    assert uniformity(positions(SeededRng(7), tmp_path, mix_bytes)) > LEAST_P


def test_a_hop_that_keeps_an_order_is_found_out(tmp_path):
    """A broken twin, which ten batches betray."""
    assert uniformity(positions(Constant(), tmp_path, 1 << 30, 10)) < LEAST_P


def test_an_order_has_every_number_once():
    assert sorted(random_order(1000, SeededRng(3))) == list(range(1000))
    assert random_order(1000, SeededRng(3)) != list(range(1000))
    assert random_order(0, SeededRng(3)) == []
