"""What all unary encodings share."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.core.packing import unpack_bits
from sottovoce.core.rng import KeyedRng
from sottovoce.errors import CodecError, ParameterError
from sottovoce.lab.checks import RecordedRng, ScriptedRng, draws_do_not_depend_on_the_value
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths import exact
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.oue import OUE
from sottovoce.mechanisms.unary import MAX_BLOCK_WORDS
from sottovoce.wire import codec


def test_scripted_draws_give_known_reports():
    """Four flips for each user in turn, then one draw each for the held bit, which replaces its
    flip.
    """
    flips = [True, False, False, True, False, True, True, False]
    rng = ScriptedRng(bernoulli=[*flips, True, False])
    reports = OUE(epsilon=1.0, size=4).privatize(np.array([2, 1]), rng)
    assert reports.tolist() == [[0b1101], [0b0100]]


def test_a_recorded_stream_gives_the_bytes_of_a_plain_loop():
    """The stream is KeyedRng(b"sixteen byte key", b"golden"); the loop is the specification, the
    hex its result.
    """
    oue = OUE(epsilon=1.0, size=20)
    stream = bytes(KeyedRng(b"sixteen byte key", b"golden").bytes(21 * 8))
    words = [int.from_bytes(stream[8 * place : 8 * place + 8], "little") for place in range(21)]
    bits = [word < oue.flip for word in words[:20]]
    bits[13] = words[20] < oue.keep
    expected = sum(bit << place for place, bit in enumerate(bits)).to_bytes(3, "little")
    recorded = RecordedRng(stream)
    packed = oue.pack(oue.privatize(np.array([13]), recorded))
    assert packed == expected == bytes.fromhex("05a800")
    assert recorded.consumed == len(stream)


def test_a_block_draws_its_flips_before_its_keeps():
    """Three users of half a block each: two share the first block, the third has the next."""
    size = 1 << 19  # of the 2^20 words of a block, which are frozen
    oue, words = OUE(epsilon=1.0, size=size), SeededRng(9).longs(3 * size + 3)
    bits = unpack_bits(oue.privatize(np.array([5, 6, 7]), RecordedRng(words.tobytes())), size)
    flips = np.concatenate([words[: 2 * size], words[2 * size + 2 : -1]]).reshape(
        3, size
    ) < np.uint64(oue.flip)
    flips[[0, 1, 2], [5, 6, 7]] = words[[2 * size, 2 * size + 1, -1]] < np.uint64(oue.keep)
    np.testing.assert_array_equal(bits, flips)


def test_a_device_that_draws_more_for_some_values_is_caught():
    class Chatty(OUE):
        def privatize(self, values, rng):
            rng.longs(int(values[0]))
            return super().privatize(values, rng)

    with pytest.raises(AssertionError):
        draws_do_not_depend_on_the_value(Chatty(epsilon=1.0, size=4))


@settings(deadline=None)  # the first example imports Numba
@given(size=st.integers(2, 40), seed=st.integers(0, 1000))
def test_support_count_and_tally_see_the_same_bits(size, seed):
    oue = OUE(epsilon=1.0, size=size)
    reports = oue.privatize(np.arange(30) % size, SeededRng(seed))
    everything, some = np.arange(size), np.arange(size)[::-3]
    np.testing.assert_array_equal(oue.support(reports, everything), unpack_bits(reports, size))
    np.testing.assert_array_equal(oue.count(reports, some), oue.support(reports, some).sum(axis=0))
    np.testing.assert_array_equal(oue.tally(reports)["support"], oue.count(reports, everything))
    assert oue.unpack(oue.pack(reports)).tolist() == reports.tolist()


@pytest.mark.parametrize(
    "data", [b"\x20", b"\x80", b"\x1f\xe0"], ids=["next bit", "last bit", "second report"]
)
def test_a_report_with_a_padding_bit_is_refused(data):
    oue = OUE(epsilon=1.0, size=5)
    oue.unpack(b"\x1f")
    with pytest.raises(CodecError, match="padding"):
        oue.unpack(data)


def test_a_report_of_the_wrong_length_is_refused():
    with pytest.raises(CodecError, match="3 bytes each"):
        OUE(epsilon=1.0, size=20).unpack(b"\0\0\0\0")


@pytest.mark.parametrize(
    ("keep", "flip"),
    [
        (1, exact.UNIT - 1),
        (1 << 62, 1 << 62),
        (1 << 62, 3 << 62),
        (exact.UNIT, 1 << 63),
        (1 << 63, -1),
        (-1, -2),
    ],
)
def test_thresholds_that_are_not_a_keep_above_a_flip_are_refused(keep, flip):
    """Held bits set less often tell as much as held bits set more often: a ratio below one hides
    it.
    """
    with pytest.raises(ParameterError):
        OUE(epsilon=1.0, size=4, keep=keep, flip=flip)


def test_a_document_with_lavish_thresholds_is_refused():
    content = codec.document(OUE(epsilon=1.0, size=4))
    with pytest.raises(ParameterError, match="more than the stated epsilon"):
        codec.mechanism(content | {"flip": str(int(content["flip"]) - 1)})


def test_an_epsilon_too_small_for_the_thresholds_is_refused():
    with pytest.raises(ParameterError):
        OUE(epsilon=1e-20, size=4)


def test_a_report_longer_than_a_block_is_refused():
    OUE(epsilon=1.0, size=MAX_BLOCK_WORDS)
    with pytest.raises(ParameterError, match="`size` must be a whole number from 2 to 1048576"):
        OUE(epsilon=1.0, size=MAX_BLOCK_WORDS + 1)


def test_more_reports_than_can_be_listed_are_refused():
    assert len(OUE(epsilon=1.0, size=16).outcomes()) == 1 << 16
    with pytest.raises(ParameterError, match="too many to list"):
        OUE(epsilon=1.0, size=17).outcomes()


def test_no_task_can_name_the_shared_part():
    with pytest.raises(ParameterError, match="unknown mechanism kind"):
        Mechanism.kinds["unary"]


# --- whether reports can be honest ---


@pytest.mark.parametrize("kind", ["oue", "sue", "the"])
def test_the_law_of_weights_is_exact(kind):
    """The p-value of one report with all ones is that of the exact law of its weight."""
    mechanism = Mechanism.kinds[kind](epsilon=1.0, size=6)
    reports = mechanism.outcomes()
    weights = np.bitwise_count(reports).sum(axis=1)
    chances = mechanism.likelihood(reports)
    law = np.bincount(weights, chances[:, 3], minlength=7)
    for value in range(6):  # no value changes it
        np.testing.assert_allclose(np.bincount(weights, chances[:, value], minlength=7), law)
    repeated = np.repeat(reports[-1:], 9, axis=0)
    test = mechanism.plausibility(mechanism.evidence(repeated))[0]
    comparisons = 2 * (7 + 4 + 2)
    assert test.p_value == pytest.approx(comparisons * law[6] ** 9, rel=1e-6)


def test_rows_of_equal_weight_are_implausible():
    mechanism = Mechanism.kinds["oue"](epsilon=1.0, size=64)
    honest = mechanism.privatize(np.arange(4000) % 64, SeededRng(1))
    assert not mechanism.plausibility(mechanism.evidence(honest))[0].alarm
    usual = np.median(np.bitwise_count(honest).sum(axis=1))
    chosen = honest[np.bitwise_count(honest).sum(axis=1) == usual][:200]
    padded = np.concatenate([honest, chosen, chosen])
    assert mechanism.plausibility(mechanism.evidence(padded))[0].alarm


def test_fakes_of_shufflers_are_part_of_the_law_of_weights():
    mechanism = Mechanism.kinds["sue"](epsilon=3.0, size=8)
    people = mechanism.privatize(np.zeros(3000, np.int64), SeededRng(1))
    fakes = mechanism.draw_blanket(3000, SeededRng(2))
    evidence = mechanism.evidence(np.concatenate([people, fakes]))
    assert not mechanism.plausibility(evidence, fakes=3000)[0].alarm
    assert mechanism.plausibility(evidence)[0].alarm  # the twin that forgets them
