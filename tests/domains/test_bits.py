"""Values of a fixed number of bits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

import sottovoce as sv
from sottovoce.domains.bits import MAX_BITS, Bits
from sottovoce.errors import DomainError, ParameterError
from sottovoce.lab.seeded import SeededRng
from sottovoce.plans.heavy_hitters.heavy_hitters import HeavyHitters
from sottovoce.wire import codec

EDGES = [2, 31, 32, 33, 62, 63, 64, 65, 96, 97, MAX_BITS]


def numbers_of(indices):
    """The numbers that integers or rows of 32-bit words stand for, low word first."""
    if indices.ndim == 1:
        return indices.tolist()
    return [sum(word << 32 * place for place, word in enumerate(row)) for row in indices.tolist()]


@pytest.mark.parametrize("bits", EDGES)
def test_the_ends_of_the_range_are_values_and_their_neighbours_are_not(bits):
    domain = Bits(bits)
    assert domain.size == 1 << bits
    assert numbers_of(domain.indices([0, domain.size - 1])) == [0, domain.size - 1]
    for outside in (-1, domain.size, domain.size + 1, -domain.size):
        with pytest.raises(DomainError):
            domain.indices([0, outside])


@pytest.mark.parametrize(
    ("bits", "shape"), [(63, (2,)), (64, (2, 2)), (65, (2, 3)), (96, (2, 3)), (97, (2, 4))]
)
def test_integers_up_to_63_bits_and_rows_of_words_beyond(bits, shape):
    found = Bits(bits).indices([1, 2])
    assert found.shape == shape
    assert found.dtype == (np.int64 if bits <= 63 else np.uint32)
    assert Bits(bits).indices([]).shape == (0, *shape[1:])


@given(some.integers(2, MAX_BITS), some.data())
def test_indices_are_the_numbers_themselves(bits, data):
    held = data.draw(some.lists(some.integers(0, (1 << bits) - 1), max_size=5))
    assert numbers_of(Bits(bits).indices(held)) == held
    assert numbers_of(Bits(bits).indices(iter(held))) == held


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u4", "i8", "u8", ">i8", ">u4"])
@pytest.mark.parametrize("bits", [7, 63, 64, 65, 160])
def test_arrays_of_any_kind_of_integer_are_read(bits, dtype):
    held = np.array([0, 1, 100, 127], dtype)
    assert numbers_of(Bits(bits).indices(held)) == held.tolist()
    assert numbers_of(Bits(bits).indices(list(held))) == held.tolist()


def test_the_whole_range_of_unsigned_arrays_is_read():
    held = np.array([0, 1 << 63, (1 << 64) - 1], np.uint64)
    for bits in (64, 65, 128):
        assert numbers_of(Bits(bits).indices(held)) == held.tolist()
    with pytest.raises(DomainError):
        Bits(63).indices(held)


@pytest.mark.parametrize("bits", [2, 63, 64, 65])
@pytest.mark.parametrize(
    "held",
    [
        [True],
        [np.True_],
        [1.0],
        [np.float64(1)],
        ["1"],
        [None],
        [[1]],
        [b"\x01"],
        np.array([True]),
        np.array([1.0]),
    ],
    ids=repr,
)
def test_only_whole_numbers_are_values(bits, held):
    for wrong in (held, np.array([[1]]), np.array([-1])):
        with pytest.raises(DomainError):
            Bits(bits).indices(wrong)


@pytest.mark.parametrize(
    "held", [[987_654_321], [-987_654_321], np.array([987_654_321]), ["987654321"]]
)
def test_a_refusal_never_names_the_value(held):
    with pytest.raises(DomainError) as refused:
        Bits(16).indices(held)
    assert "987" not in str(refused.value)
    assert refused.value.__context__ is None


@pytest.mark.parametrize("bits", [1, 0, -5, MAX_BITS + 1, True, 8.0, "8", None])
def test_impossible_lengths_are_refused(bits):
    with pytest.raises(ParameterError):
        Bits(bits)


@pytest.mark.parametrize("bits", EDGES)
def test_a_domain_survives_its_document(bits):
    task = sv.Task("ids", HeavyHitters(Bits(bits), 2), epsilon=1.0)
    read = codec.task(codec.parse(codec.canonical(codec.document(task))))
    assert read.plan.domain == Bits(bits)
    assert codec.notice(codec.document(task)).domain == Bits(bits)


def test_labels_are_hexadecimal_and_as_long_as_any():
    assert Bits(48).label(255) == "0x0000000000ff"
    assert Bits(6).label(63) == "0x3f"
    assert int(Bits(480).label((1 << 480) - 1), 16) == (1 << 480) - 1


@pytest.mark.parametrize("bits", EDGES)
def test_a_rehearsed_value_is_a_value_and_any_bit_may_be_set(bits):
    rng, domain, seen = SeededRng(bits), Bits(bits), 0
    for _ in range(60):
        made = domain.random_value(rng)
        assert made.shape == domain.indices([0]).shape
        (number,) = numbers_of(made)
        assert 0 <= number < domain.size
        seen |= number
    assert seen == domain.size - 1


def test_every_prefix_is_possible():
    assert all(
        Bits(8).possible(prefix, length) for length in range(9) for prefix in range(1 << length)
    )


def test_a_value_is_finished_when_all_its_bits_are_known():
    assert Bits(8).endings == {8: 1.0}
    assert Bits(8).finished([0, 3], 2, 8).tolist() == [True] * 8
    assert not Bits(8).finished([0, 3], 2, 7).any()
