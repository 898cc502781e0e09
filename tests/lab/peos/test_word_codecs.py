"""Lifting: every report comes back, and fakes cannot be told from reports."""

import numpy as np
import pytest

from lab.peos.statistics import chi_square_deviation
from sottovoce.errors import ParameterError
from sottovoce.lab.peos.word_codecs import word_codec
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.olh import OLH

DRAWS = 100_000


@pytest.mark.parametrize("size", [2, 3, 10, 915, 1 << 16, 1 << 32])
def test_every_value_comes_back(size):
    codec = word_codec(GRR(1.0, size))
    values = np.unique(np.linspace(0, size - 1, min(size, 2000)).astype(np.int64))
    assert (codec.read(codec.lift(values, SeededRng(1))) == values).all()


@pytest.mark.parametrize("buckets", [2, 3, 16, 1000, 1 << 20])
def test_every_seed_and_bucket_comes_back(buckets):
    codec = word_codec(OLH(1.0, 100, buckets))
    reports = np.empty(2000, codec.mechanism.layout)
    reports["seed"] = SeededRng(1).words(2000)
    reports["bucket"] = np.linspace(0, buckets - 1, 2000).astype(int)
    assert (codec.read(codec.lift(reports, SeededRng(2))) == reports).all()


def test_golden_words():
    """Words that were written down once: how a word is read never changes."""
    direct = word_codec(GRR(1.0, 10))
    words = np.array([0, 9, 10, (1 << 64) - 1], np.uint64)
    assert direct.read(words).tolist() == [0, 9, 0, 5]
    hashed = word_codec(OLH(1.0, 100, 10))
    words = np.array([7 << 32 | 13, (1 << 64) - 1], np.uint64)
    assert hashed.read(words).tolist() == [(7, 3), ((1 << 32) - 1, 5)]


@pytest.mark.parametrize("mechanism", [GRR(1.0, 7), OLH(1.0, 100, 7)], ids=["grr", "olh"])
def test_uniform_words_are_uniform_reports(mechanism):
    reports = word_codec(mechanism).read(SeededRng(3).longs(10 * DRAWS))
    cells = reports["bucket"] if mechanism.kind == "olh" else reports
    deviation = chi_square_deviation(np.bincount(cells, minlength=7))
    assert deviation < 5, (deviation, 0)


@pytest.mark.parametrize(("size", "shift"), [(7, 60), (3 << 30, 60)])
def test_the_lifts_of_one_value_are_uniform(size, shift):
    """The highest four bits of a word, which a value says next to nothing about."""
    words = word_codec(GRR(1.0, size)).lift(np.full(DRAWS, 5), SeededRng(4))
    deviation = chi_square_deviation(np.bincount(words >> np.uint64(shift), minlength=16))
    assert deviation < 5, (deviation, 0)


def test_the_lifts_of_one_bucket_are_uniform():
    codec = word_codec(OLH(1.0, 100, 7))
    reports = np.zeros(DRAWS, codec.mechanism.layout)
    reports["bucket"] = 5
    words = codec.lift(reports, SeededRng(5)) & np.uint64((1 << 32) - 1)
    deviation = chi_square_deviation(np.bincount(words >> np.uint64(28), minlength=16))
    assert deviation < 5, (deviation, 0)


def test_reports_that_are_not_lifted_stand_out():
    """A broken twin: the value itself as a word.  The check above sees it at once."""
    words = np.full(DRAWS, 5, np.uint64)
    assert chi_square_deviation(np.bincount(words >> np.uint64(60), minlength=16)) > 1000


def test_the_largest_lifts_stay_below_the_word():
    """Values below 2^64 mod d have one lift more; the extremes of both kinds are words."""

    class Extreme(SeededRng):
        def integers(self, limit, count):
            return np.full(count, limit - 1)

    words = word_codec(GRR(1.0, 10)).lift(np.arange(10), Extreme(1))
    # 2^64 = 6 mod 10: the values 0 to 5 end with the last word, the others ten before.
    last = (1 << 64) - 6
    assert words.tolist() == [*range(last, last + 6), *range(last - 4, last)]


def test_other_mechanisms_have_no_words():
    with pytest.raises(ParameterError, match="`mechanism` must be one of grr, olh"):
        word_codec(AffineResponse(1.0, 100))
