"""Sealed messages: they open layer by layer, for one task, one round and one hop, and once changed
not at all.  The bytes are pinned by the golden vectors (``seal.json``).
"""

import inspect
import subprocess
import sys

import pytest

from sottovoce.errors import CodecError, MismatchError, ParameterError
from sottovoce.wire import seal
from sottovoce.wire.round_keys import new_round_key

DIGEST = bytes(range(32))
CONTEXT = seal.SealContext(DIGEST, round=3, hops=2, message_bytes=54)
MESSAGE = b"m" * 54
PAIRS = [new_round_key() for _ in range(3)]
PUBLIC_KEYS = [pair.public_key for pair in PAIRS]


def test_every_hop_removes_one_layer_of_48_bytes():
    sealed = seal.seal(MESSAGE, PUBLIC_KEYS, CONTEXT)
    lengths = [len(sealed)]
    for hop, pair in enumerate(PAIRS):
        sealed = seal.open_layer(sealed, pair.private_key, CONTEXT, hop)
        lengths.append(len(sealed))
    assert sealed == MESSAGE
    assert lengths == [198, 150, 102, 54]
    assert lengths[:3] == [CONTEXT.sealed_bytes(hop) for hop in range(3)]


def test_a_message_without_hops_has_the_layer_of_the_collector():
    context = seal.SealContext(DIGEST, 0, 0, 54)
    sealed = seal.seal(MESSAGE, PUBLIC_KEYS[:1], context)
    assert len(sealed) == 54 + seal.LAYER_BYTES
    assert seal.open_layer(sealed, PAIRS[0].private_key, context, 0) == MESSAGE


def test_two_seals_of_one_message_have_nothing_in_common():
    first, second = (seal.seal(MESSAGE, PUBLIC_KEYS, CONTEXT) for _ in range(2))
    assert first[:32] != second[:32]
    assert sum(a == b for a, b in zip(first, second, strict=True)) < 20  # 198/256 expected


def test_no_layer_shows_what_is_under_it():
    """The onion of a known message contains no run of it, nor of the next layer."""
    sealed = seal.seal(MESSAGE, PUBLIC_KEYS, CONTEXT)
    inner = seal.open_layer(sealed, PAIRS[0].private_key, CONTEXT, 0)
    assert MESSAGE[:4] not in sealed
    assert inner[:8] not in sealed


@pytest.mark.parametrize(
    ("digest", "round_number", "hop", "pair"),
    [
        (DIGEST[::-1], 3, 0, PAIRS[0]),
        (DIGEST, 4, 0, PAIRS[0]),
        (DIGEST, 3, 0, PAIRS[1]),
    ],
    ids=["task", "round", "key"],
)
def test_another_task_round_or_key_does_not_open(digest, round_number, hop, pair):
    sealed = seal.seal(MESSAGE, PUBLIC_KEYS, CONTEXT)
    context = seal.SealContext(digest, round_number, 2, 54)
    with pytest.raises(MismatchError, match="another task, round, hop or key"):
        seal.open_layer(sealed, pair.private_key, context, hop)


def test_another_hop_does_not_open_even_with_the_same_key_and_length():
    pair = PAIRS[0]
    context = seal.SealContext(DIGEST, 3, 0, 102)
    sealed = seal.seal(bytes(102), [pair.public_key], context)
    longer = seal.SealContext(DIGEST, 3, 1, 102)
    with pytest.raises(MismatchError):
        seal.open_layer(sealed, pair.private_key, longer, 1)


def test_every_changed_bit_is_noticed():
    context = seal.SealContext(DIGEST, 3, 0, 5)
    opener = seal.LayerOpener(PAIRS[0].private_key, context, 0)
    sealed = seal.seal(b"hello", PUBLIC_KEYS[:1], context)
    assert opener.open(sealed) == b"hello"
    for bit in range(8 * len(sealed)):
        changed = bytearray(sealed)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(MismatchError):
            opener.open(bytes(changed))


@pytest.mark.parametrize("change", [-198, -1, 1, 48, -48])
def test_a_message_of_another_length_is_malformed(change):
    sealed = seal.seal(MESSAGE, PUBLIC_KEYS, CONTEXT)
    changed = (sealed + bytes(48))[: 198 + change]
    with pytest.raises(CodecError, match="must have 198 bytes at this hop"):
        seal.open_layer(changed, PAIRS[0].private_key, CONTEXT, 0)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("digest", {"digest": bytes(16)}),
        ("digest", {"digest": "text"}),
        ("round", {"round": -1}),
        ("round", {"round": 1 << 16}),
        ("hops", {"hops": 9}),
        ("hops", {"hops": True}),
        ("message_bytes", {"message_bytes": 0}),
    ],
)
def test_a_setting_that_is_not_allowed_is_named(name, change):
    given = {"digest": DIGEST, "round": 3, "hops": 2, "message_bytes": 54} | change
    with pytest.raises(ParameterError, match=f"`{name}` must"):
        seal.SealContext(**given)


@pytest.mark.parametrize("hop", [-1, 3])
def test_a_hop_that_the_chain_does_not_have_is_refused(hop):
    with pytest.raises(ParameterError, match="`hop` must be a whole number from 0 to 2"):
        CONTEXT.info(hop)
    with pytest.raises(ParameterError, match="`hop` must"):
        seal.open_layer(bytes(198), PAIRS[0].private_key, CONTEXT, hop)


@pytest.mark.parametrize(
    ("message", "keys", "rule"),
    [
        (MESSAGE + b"m", PUBLIC_KEYS, "`message` must have exactly 54 bytes, not 55"),
        (MESSAGE, PUBLIC_KEYS[:2], "`keys` must have exactly 3 entries, not 2"),
        (MESSAGE, [*PUBLIC_KEYS[:2], bytes(31)], "`keys[2]` must have exactly 32 bytes, not 31"),
        (MESSAGE, [*PUBLIC_KEYS[:2], bytes(32)], "each entry of `keys` must be a point"),
    ],
)
def test_what_cannot_be_sealed_is_refused(message, keys, rule):
    with pytest.raises(ParameterError) as caught:
        seal.seal(message, keys, CONTEXT)
    assert rule in str(caught.value)
    assert "mmm" not in str(caught.value)


def test_a_private_key_is_never_shown():
    key = PAIRS[0].private_key
    opener = seal.LayerOpener(key, CONTEXT, 0)
    shown = repr(opener) + repr(PAIRS[0])
    assert key.hex() not in shown
    assert repr(key)[2:-1] not in shown


def test_nothing_takes_randomness_as_an_argument():
    sealing = list(inspect.signature(seal.seal).parameters)
    assert sealing == ["message", "keys", "context", "first_hop"]
    opening = list(inspect.signature(seal.open_layer).parameters)
    assert opening == ["sealed", "private_key", "context", "hop"]


def test_importing_the_modules_loads_no_cryptography():
    script = (
        "import sys\n"
        "from sottovoce.wire import blind_rsa, round_keys, seal, tokens\n"
        "seal.SealContext(bytes(32), 0, 0, 1).info(0)\n"
        "assert not {'cryptography', 'gmpy2'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_hop_seals_its_fakes_for_those_behind_it():
    """A fake of hop 0 begins with the layer of hop 1, so that hop 1 takes it for any message."""
    context = seal.SealContext(bytes(32), 0, hops=2, message_bytes=7)
    pairs = [new_round_key() for _ in range(3)]
    behind = [pair.public_key for pair in pairs[1:]]
    sealed = seal.seal(b"message", behind, context, first_hop=1)
    assert len(sealed) == context.sealed_bytes(1)
    inner = seal.open_layer(sealed, pairs[1].private_key, context, 1)
    assert seal.open_layer(inner, pairs[2].private_key, context, 2) == b"message"
    with pytest.raises(ParameterError, match="`keys`"):
        seal.seal(b"message", behind, context)
