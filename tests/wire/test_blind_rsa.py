"""The arithmetic of blind signatures: what is signed is uniform, the result is RSASSA-PSS, and a
faulty signature is not released.  Published vectors are in ``rfc.json`` of the golden vectors.
"""

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from math import gcd

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers
from cryptography.hazmat.primitives.hashes import SHA384

from sottovoce.errors import ParameterError, UnavailableError
from sottovoce.wire import blind_rsa

P = 2**512 - 569
Q = 3 * 2**510 + 761
N = P * Q
E = 65537
D = pow(E, -1, (P - 1) * (Q - 1))
KEY = blind_rsa.RsaNumbers(N, E, P, Q, D % (P - 1), D % (Q - 1), pow(Q, -1, P))
BLINDS = blind_rsa.SigningBlinds(factor=12345, first_multiple=2**64 - 1, second_multiple=7)
SALT = bytes(range(48))


def verify(signature, message):
    """Check a signature with the library, as anybody would."""
    padding = PSS(MGF1(SHA384()), 48)
    key = RSAPublicNumbers(E, N).public_key()
    key.verify(signature.to_bytes(128), message, padding, SHA384())


def test_the_result_is_an_ordinary_signature():
    encoded = blind_rsa.encode(b"message", SALT, N.bit_length())
    blinded = blind_rsa.blind(encoded, 6789, N, E)
    signature = blind_rsa.unblind(blind_rsa.sign(blinded, KEY, BLINDS), 6789, N)
    assert signature == pow(encoded, D, N)
    verify(signature, b"message")
    with pytest.raises(InvalidSignature):
        verify(signature, b"another")


@pytest.mark.parametrize("bits", [1021, 1022, 1023, 1024, 1025])
def test_what_is_encoded_fits_below_every_modulus(bits):
    """The encoding has one bit less than the modulus, in as many bytes as that takes."""
    assert 0 < blind_rsa.encode(b"message", SALT, bits) < 1 << (bits - 1)


def test_a_modulus_without_room_for_hash_and_salt_is_refused():
    """RFC 8017, section 9.1.1: the encoding has at least 8 * 48 + 8 * 48 + 9 bits."""
    assert blind_rsa.encode(b"message", SALT, 778) < 1 << 777
    with pytest.raises(ParameterError, match="`modulus_bits` must be a whole number of at least 7"):
        blind_rsa.encode(b"message", SALT, 777)


def spread(modulus, exponent, encoded):
    """Count the numbers that the signer may see for one encoded message, over all factors."""
    factors = [factor for factor in range(1, modulus) if gcd(factor, modulus) == 1]
    return Counter(blind_rsa.blind(encoded, factor, modulus, exponent) for factor in factors)


@pytest.mark.parametrize("encoded", [1, 2, 100, 186])
def test_the_signer_sees_every_number_equally_often(encoded):
    """Exactly, on a small modulus: whatever is encoded, each of the 160 units occurs once."""
    counts = spread(11 * 17, 3, encoded)
    assert len(counts) == 160
    assert set(counts.values()) == {1}


def test_an_exponent_without_inverse_would_show_something():
    """The broken twin: with exponent 5, which divides 11 - 1, messages are told apart."""
    seen = {encoded: set(spread(11 * 17, 5, encoded)) for encoded in (1, 2)}
    assert not seen[1] & seen[2]


def test_a_number_that_shares_a_factor_with_the_modulus_is_refused():
    for encoded, factor in ((P, 2), (2, Q), (0, 2)):
        with pytest.raises(ParameterError, match="`modulus` must be a product of two large primes"):
            blind_rsa.blind(encoded, factor, N, E)


@pytest.mark.parametrize(
    "blinds",
    [
        BLINDS,
        blind_rsa.SigningBlinds(factor=1, first_multiple=0, second_multiple=0),
        blind_rsa.SigningBlinds(factor=N - 1, first_multiple=1, second_multiple=2**64 - 1),
    ],
)
def test_the_blinds_of_the_signer_do_not_change_the_signature(blinds):
    for number in (1, 2, 3**600, N - 1):
        assert blind_rsa.sign(number, KEY, blinds) == pow(number, D, N)


@pytest.mark.parametrize(
    "fault",
    [
        {"first_exponent": KEY.first_exponent ^ 2},
        {"second_exponent": KEY.second_exponent ^ 2},
        {"coefficient": KEY.coefficient ^ 2},
        {"first_prime": P + 2},
    ],
)
def test_a_faulty_signature_is_not_released(fault):
    """It would give the key away: gcd(signature^e - number, n) is a prime."""
    with pytest.raises(UnavailableError, match="not released"):
        blind_rsa.sign(3**600, replace(KEY, **fault), BLINDS)


def test_a_released_fault_would_factor_the_modulus():
    """The broken twin: the attack of Boneh, DeMillo and Lipton on what the check withholds."""
    number = 3**600
    first = pow(number, KEY.first_exponent ^ 2, P)
    second = pow(number, KEY.second_exponent, Q)
    faulty = second + Q * ((first - second) * KEY.coefficient % P)
    assert gcd(pow(faulty, E, N) - number, N) == Q


def test_secret_numbers_are_not_shown():
    shown = repr(KEY) + repr(BLINDS)
    assert str(P) not in shown
    assert str(KEY.first_exponent) not in shown
    assert "12345" not in shown


def test_signing_works_without_gmpy2():
    script = (
        "import sys\n"
        "sys.modules['gmpy2'] = None\n"
        "from sottovoce.wire import blind_rsa\n"
        f"numbers = ({N}, {E}, {P}, {Q}, {D % (P - 1)}, {D % (Q - 1)}, {pow(Q, -1, P)})\n"
        "blinds = blind_rsa.SigningBlinds(12345, 5, 7)\n"
        "print(blind_rsa.sign(3**600, blind_rsa.RsaNumbers(*numbers), blinds))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) == pow(3**600, D, N)
