"""Ids in order, against sets of bytes; also ids that somebody has chosen to be in the way."""

import numpy as np
import pytest

from sottovoce.collector.store.sorted_ids import SortedIds, merged, write

RNG = np.random.default_rng(5)


def drawn(count):
    """Ids as honest devices draw them."""
    return [RNG.bytes(16) for _ in range(count)]


def alike(count):
    """Ids of which many share their first half, and many their second."""
    return [
        bytes(RNG.integers(0, 3, 16, np.uint8) * (RNG.integers(0, 9, 16) > 6)) for _ in range(count)
    ]


def nearly_equal(count):
    """Different ids with one first half."""
    return [b"the same" + int(number).to_bytes(8, "big") for number in RNG.permutation(count)]


KINDS = [drawn, alike, nearly_equal]


def sorted_ids(ids):
    return SortedIds.of(np.frombuffer(b"".join(ids), np.uint8))


def as_list(ids):
    blob = ids.to_bytes()
    return [blob[start : start + 16] for start in range(0, len(blob), 16)]


@pytest.mark.parametrize("kind", KINDS)
def test_ids_have_the_order_of_their_bytes(kind):
    ids = kind(500)
    assert as_list(sorted_ids(ids)) == sorted(ids)
    assert as_list(SortedIds.from_bytes(b"".join(sorted(ids)))) == sorted(ids)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 2, 50, 700])
def test_ids_are_found_among_others(kind, count):
    ids = kind(2 * count)
    here, asked = set(ids[:count]), sorted(ids[count // 2 : count + count // 2] or ids)
    found = sorted_ids(asked).among(sorted_ids(here))
    assert found.tolist() == [name in here for name in asked]


def test_the_least_and_the_greatest_id_are_found():
    ends = [bytes(16), b"\xff" * 16]
    for here in ([ends[0]], [ends[1]], ends):
        found = sorted_ids(ends).among(sorted_ids(here))
        assert found.tolist() == [name in here for name in ends]


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_is_noticed(kind):
    ids = sorted(set(kind(100)))
    assert not sorted_ids(ids).has_copies()
    assert sorted_ids([*ids, ids[7]]).has_copies()


@pytest.mark.parametrize("at_once", [1, 7, 1000])
@pytest.mark.parametrize("kind", KINDS)
def test_merged_parts_are_in_order_whatever_their_ids_are(kind, at_once, tmp_path):
    parts = [kind(count) for count in (1, 300, 40, 90)]
    everything = sorted(name for part in parts for name in part)
    pieces = list(merged([sorted_ids(part) for part in parts], at_once))
    assert [name for piece in pieces for name in as_list(piece)] == everything
    if kind is drawn:
        assert max(map(len, pieces)) <= at_once * len(parts)
    path = tmp_path / "run"
    write(path, len(everything), iter(pieces))
    assert path.stat().st_size == 16 * len(everything)
    assert as_list(SortedIds.mapped(path)) == everything


def test_nothing_is_merged_from_nothing():
    assert list(merged([], 5)) == []


def test_chosen_ids_keep_their_order():
    ids = sorted_ids(drawn(20))
    which = np.arange(20) % 3 == 0
    assert as_list(ids.chosen(which)) == as_list(ids)[::3]
