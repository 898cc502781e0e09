"""What every homomorphic scheme promises, small moduli and full size."""

import numpy as np
import pytest
from gmpy2 import jacobi

from lab.peos.keys import FULL_SIZE, full_size_key, small_key
from sottovoce.core.rng import SystemRng
from sottovoce.errors import CodecError
from sottovoce.lab.peos.encryption.base import numbers_of
from sottovoce.lab.peos.encryption.schemes import SCHEMES

WORDS = np.array([0, 1, 2, 255, 256, 1 << 32, (1 << 63), (1 << 64) - 2, (1 << 64) - 1], np.uint64)
RNG = SystemRng()

both_schemes = pytest.mark.parametrize("scheme", SCHEMES)
every_key = pytest.mark.parametrize(
    "key",
    [
        pytest.param(make(scheme), id=f"{make.__name__}-{scheme}")
        for make in (small_key, full_size_key)
        for scheme in SCHEMES
    ],
)


@every_key
def test_words_are_decrypted(key):
    assert (key.decrypt_all(key.public.encrypt_all(WORDS, RNG)) == WORDS).all()
    singles = [key.public.encrypt(word, RNG) for word in WORDS.tolist()]
    assert (key.decrypt_all(singles) == WORDS).all()


@every_key
def test_sums_wrap_around_at_two_to_the_64(key):
    first = key.public.encrypt_all(WORDS, RNG)
    second = key.public.encrypt_all(WORDS[::-1], RNG)
    sums = [key.public.add(*pair) for pair in zip(first, second, strict=True)]
    assert (key.decrypt_all(sums) == WORDS + WORDS[::-1]).all()
    assert (key.decrypt_all(key.public.add_words(first, WORDS, RNG)) == 2 * WORDS).all()


@every_key
def test_every_operation_that_hands_a_ciphertext_on_is_fresh(key):
    words = np.full(4, 7, np.uint64)
    ciphertexts = key.public.encrypt_all(words, RNG)
    again = key.public.rerandomise(ciphertexts, RNG)
    added = key.public.add_words(ciphertexts, np.zeros(4, np.uint64), RNG)
    assert len({*ciphertexts, *again, *added}) == 12
    assert (key.decrypt_all(again) == words).all()


@both_schemes
def test_the_jacobi_symbol_of_a_ciphertext_says_nothing(scheme):
    public = small_key(scheme).public
    ciphertexts = public.encrypt_all(RNG.longs(100), RNG)
    assert {jacobi(number, public.modulus) for number in ciphertexts} == {1}


@every_key
def test_packed_ciphertexts_have_one_width(key):
    ciphertexts = key.public.encrypt_all(WORDS, RNG)
    packed = key.public.pack(ciphertexts)
    assert len(packed) == len(WORDS) * key.public.width
    assert key.public.unpack(packed) == ciphertexts


def test_a_full_size_ciphertext_has_384_bytes():
    assert {full_size_key(scheme).public.width for scheme in SCHEMES} == {384}


@both_schemes
def test_numbers_that_no_encryption_makes_are_refused(scheme):
    key = small_key(scheme)
    modulus = key.public.modulus
    for number in (0, modulus, key.first_prime, 3 * key.second_prime):
        with pytest.raises(CodecError, match="a ciphertext must"):
            key.decrypt(number)
    fitting = key.first_prime.to_bytes(key.public.width, "little")
    with pytest.raises(CodecError, match="no factor in common"):
        key.public.unpack(fitting)
    with pytest.raises(CodecError, match=f"{key.public.width} bytes each"):
        key.public.unpack(fitting[:-1])


@both_schemes
def test_the_golden_ciphertexts_are_decrypted(scheme):
    """Bytes that were written once: how keys and ciphertexts are packed never changes."""
    key = full_size_key(scheme)
    golden = FULL_SIZE[scheme]
    packed = bytes.fromhex(golden["ciphertexts"])
    words = [int(word, 16) for word in golden["words"]]
    assert key.decrypt_all(key.public.unpack(packed)).tolist() == words
    assert key.public.fingerprint.hex() == golden["fingerprint"]


def test_a_document_of_another_shape_is_refused():
    with pytest.raises(CodecError, match="must have exactly: scheme, modulus"):
        numbers_of({"scheme": "dgk"}, ("modulus",))
    with pytest.raises(CodecError, match="hexadecimal"):
        numbers_of({"scheme": "dgk", "modulus": "tea"}, ("modulus",))
