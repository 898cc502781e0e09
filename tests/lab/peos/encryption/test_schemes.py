"""Keys by the name of their scheme, and back from their documents."""

import pytest

from lab.peos.keys import small_key
from sottovoce.core.rng import SystemRng
from sottovoce.errors import ParameterError
from sottovoce.lab.peos.encryption.schemes import (
    SCHEMES,
    new_private_key,
    read_private_key,
    read_public_key,
)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_keys_are_read_from_their_documents(scheme):
    key = small_key(scheme)
    assert read_private_key(key.document()) == key
    public = read_public_key(key.public.document())
    assert public == key.public
    assert public.fingerprint == key.public.fingerprint


def test_fingerprints_of_different_keys_differ():
    assert small_key("dgk").public.fingerprint != small_key("joye_libert").public.fingerprint


def test_a_new_key_has_3072_bits_unless_a_test_asks_for_less():
    assert new_private_key("dgk", SystemRng()).public.modulus.bit_length() == 3072


def test_an_unknown_scheme_is_refused():
    with pytest.raises(ParameterError, match="`scheme` must be one of dgk, joye_libert"):
        new_private_key("rot13", SystemRng())
    with pytest.raises(ParameterError, match="`scheme`"):
        read_public_key({})
