"""The reference of sealing, round keys and blind tokens: slow, plain integers, standard library.

X25519, Ed25519, AES-128-GCM, HPKE and RSA-PSS as their standards write them, with every random
number as an argument.  It shares no line with the package, and it is good for nothing but vectors:
its time depends on its secrets.
"""

import hashlib
import hmac
from itertools import chain

P = 2**255 - 19


# X25519 (RFC 7748)


def x25519(scalar, point):
    """Return the product of a scalar and a point, 32 bytes each."""
    k = int.from_bytes(scalar, "little")
    k = k & ~(7 | 1 << 255) & (1 << 255) - 1 | 1 << 254
    u = int.from_bytes(point, "little") & (1 << 255) - 1
    x2, z2, x3, z3, swapped = 1, 0, u, 1, 0
    for position in reversed(range(255)):
        bit = k >> position & 1
        if bit != swapped:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swapped = bit
        a, b = x2 + z2, x2 - z2
        c, d = x3 + z3, x3 - z3
        da, cb = d * a, c * b
        x3, z3 = (da + cb) ** 2 % P, u * (da - cb) ** 2 % P
        aa, bb = a * a % P, b * b % P
        x2, z2 = aa * bb % P, (aa - bb) * (aa + 121665 * (aa - bb)) % P
    if swapped:
        x2, z2 = x3, z3
    return (x2 * pow(z2, P - 2, P) % P).to_bytes(32, "little")


def x25519_public(private_key):
    return x25519(private_key, (9).to_bytes(32, "little"))


# Ed25519 (RFC 8032), in affine coordinates

ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def edwards_add(left, right):
    (x1, y1), (x2, y2) = left, right
    product = D * x1 * x2 * y1 * y2
    x3 = (x1 * y2 + x2 * y1) * pow(1 + product, -1, P)
    y3 = (y1 * y2 + x1 * x2) * pow(1 - product, -1, P)
    return x3 % P, y3 % P


def edwards_multiply(scalar, point):
    result = (0, 1)
    while scalar:
        if scalar & 1:
            result = edwards_add(result, point)
        point = edwards_add(point, point)
        scalar >>= 1
    return result


def base_point():
    y = 4 * pow(5, P - 2, P) % P
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    return (P - x if x & 1 else x), y


BASE = base_point()


def compressed(point):
    x, y = point
    return (y | (x & 1) << 255).to_bytes(32, "little")


def ed25519_secret(private_key):
    hashed = hashlib.sha512(private_key).digest()
    scalar = int.from_bytes(hashed[:32], "little") & ~7 & (1 << 254) - 1 | 1 << 254
    return scalar, hashed[32:]


def ed25519_public(private_key):
    scalar, _ = ed25519_secret(private_key)
    return compressed(edwards_multiply(scalar, BASE))


def ed25519_sign(private_key, message):
    def number(*parts):
        return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little") % ORDER

    scalar, prefix = ed25519_secret(private_key)
    nonce = number(prefix, message)
    commitment = compressed(edwards_multiply(nonce, BASE))
    challenge = number(commitment, ed25519_public(private_key), message)
    response = (nonce + challenge * scalar) % ORDER
    return commitment + response.to_bytes(32, "little")


# AES-128-GCM (FIPS 197, SP 800-38D)


def times(a, b):
    """Multiply in GF(2^8) of AES."""
    product = 0
    while b:
        if b & 1:
            product ^= a
        a = a << 1 ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return product


def substitution():
    table = []
    for byte in range(256):
        inverse = next((other for other in range(256) if times(byte, other) == 1), 0)
        rotations = (inverse << turn | inverse >> 8 - turn for turn in range(5))
        value = 0x63
        for rotated in rotations:
            value ^= rotated & 0xFF
        table.append(value)
    return table


SBOX = substitution()


def round_keys(key):
    """Return the eleven keys of the rounds, 16 numbers each."""
    words = [list(key[start : start + 4]) for start in range(0, 16, 4)]
    constant = 1
    for index in range(4, 44):
        word = list(words[-1])
        if index % 4 == 0:
            word = [SBOX[byte] for byte in word[1:] + word[:1]]
            word[0] ^= constant
            constant = times(constant, 2)
        words.append([a ^ b for a, b in zip(words[-4], word, strict=True)])
    flat = list(chain.from_iterable(words))
    return [flat[start : start + 16] for start in range(0, len(flat), 16)]


def aes_encrypt(key, block):
    keys = round_keys(key)
    state = [a ^ b for a, b in zip(block, keys[0], strict=True)]
    for number, round_key in enumerate(keys[1:], 1):
        state = [SBOX[state[(index + 4 * (index % 4)) % 16]] for index in range(16)]
        if number < 10:
            state = mix_columns(state)
        state = [a ^ b for a, b in zip(state, round_key, strict=True)]
    return bytes(state)


def mix_columns(state):
    mixed = []
    for start in range(0, 16, 4):
        column = state[start : start + 4]
        for row in range(4):
            a, b, c, d = (column[(row + step) % 4] for step in range(4))
            mixed.append(times(a, 2) ^ times(b, 3) ^ c ^ d)
    return mixed


def ghash(subkey, data):
    total = 0
    for start in range(0, len(data), 16):
        total ^= int.from_bytes(data[start : start + 16], "big")
        product, shifted = 0, subkey
        for position in reversed(range(128)):
            if total >> position & 1:
                product ^= shifted
            shifted = shifted >> 1 ^ (0xE1 << 120 if shifted & 1 else 0)
        total = product
    return total


def padded(data):
    return data + bytes(-len(data) % 16)


def gcm_encrypt(key, nonce, message, associated=b""):
    """Return the ciphertext and the tag."""
    counters = range(2, 2 + -(-len(message) // 16))
    stream = b"".join(aes_encrypt(key, nonce + count.to_bytes(4, "big")) for count in counters)
    ciphertext = bytes(a ^ b for a, b in zip(message, stream, strict=False))
    lengths = (8 * len(associated)).to_bytes(8, "big") + (8 * len(ciphertext)).to_bytes(8, "big")
    subkey = int.from_bytes(aes_encrypt(key, bytes(16)), "big")
    hashed = ghash(subkey, padded(associated) + padded(ciphertext) + lengths)
    first = int.from_bytes(aes_encrypt(key, nonce + b"\0\0\0\1"), "big")
    return ciphertext + (hashed ^ first).to_bytes(16, "big")


# HPKE in base mode (RFC 9180): DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM

KEM = b"KEM\0\x20"
SUITE = b"HPKE\0\x20\0\x01\0\x01"


def extract(suite, salt, label, material):
    return hmac.digest(salt, b"HPKE-v1" + suite + label + material, "sha256")


def expand(suite, secret, label, info, length):
    labels = length.to_bytes(2, "big") + b"HPKE-v1" + suite + label
    return hmac.digest(secret, labels + info + b"\x01", "sha256")[:length]


def hpke_keys(agreed, kem_context, info):
    """Return key and nonce."""
    agreed_key = extract(KEM, b"", b"eae_prk", agreed)
    shared = expand(KEM, agreed_key, b"shared_secret", kem_context, 32)
    no_psk = extract(SUITE, b"", b"psk_id_hash", b"")
    context = b"\0" + no_psk + extract(SUITE, b"", b"info_hash", info)
    secret = extract(SUITE, shared, b"secret", b"")
    key = expand(SUITE, secret, b"key", context, 16)
    return key, expand(SUITE, secret, b"base_nonce", context, 12)


def hpke_seal(ephemeral_key, public_key, info, message, associated=b""):
    """Return the encapsulated key and the ciphertext."""
    encapsulated = x25519_public(ephemeral_key)
    agreed = x25519(ephemeral_key, public_key)
    key, nonce = hpke_keys(agreed, encapsulated + public_key, info)
    return encapsulated + gcm_encrypt(key, nonce, message, associated)


# RSASSA-PSS (RFC 8017) and its blind signatures (RFC 9474), with a hash of any name


def pss_encode(message, salt, bits, hash_name="sha384"):
    def hashed(data):
        return hashlib.new(hash_name, data).digest()

    size = -(-bits // 8)
    digest = hashed(bytes(8) + hashed(message) + salt)
    block = bytes(size - len(salt) - len(digest) - 2) + b"\x01" + salt
    mask = b"".join(hashed(digest + count.to_bytes(4, "big")) for count in range(size))[
        : len(block)
    ]
    masked = bytearray(a ^ b for a, b in zip(block, mask, strict=True))
    masked[0] &= 0xFF >> 8 * size - bits
    return int.from_bytes(bytes(masked) + digest + b"\xbc", "big")


def rsa_sign(number, p, q, e=65537):
    return pow(number, pow(e, -1, (p - 1) * (q - 1)), p * q)


def rsa_blind(encoded, factor, modulus, e=65537):
    return encoded * pow(factor, e, modulus) % modulus
