"""Blind tokens: one signature gives one token for one task, the issuer cannot tell whose, and what
follows from a token is uniform.  The bytes are pinned by the golden vectors (``tokens.json``).
"""

import base64
import hashlib
import inspect
from bisect import bisect_left, bisect_right
from dataclasses import replace

import numpy as np
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa

from sottovoce.errors import CodecError, MismatchError, ParameterError
from sottovoce.wire import blind_rsa, tokens

DIGEST = bytes(range(32))
OTHER_TASK = DIGEST[::-1]
PEM = tokens.new_issuer_key()
ISSUER = tokens.Issuer(PEM)
KEY = ISSUER.public_key

# A key of fixed primes, for tests with a seed.
P = 2**1024 - 105
Q = 3 * 2**1022 + 1037


def issue(issuer=ISSUER, digest=DIGEST):
    pending = tokens.blind(issuer.public_key, digest)
    return tokens.finalize(pending, issuer.sign(pending.blinded))


def test_a_token_is_issued_and_passes():
    token = issue()
    tokens.verify(token, KEY, DIGEST)
    assert len(token.to_bytes()) == tokens.TOKEN_BYTES == 288
    assert tokens.Token.from_bytes(token.to_bytes()) == token


def test_a_token_is_good_for_one_task_and_one_issuer():
    token = issue()
    with pytest.raises(MismatchError, match="not signed for this task by the issuer"):
        tokens.verify(token, KEY, OTHER_TASK)
    with pytest.raises(MismatchError):
        tokens.verify(token, tokens.Issuer(tokens.new_issuer_key()).public_key, DIGEST)


def test_the_issuer_signs_without_seeing_the_token():
    """What it sees has nothing in common with the token, and is new for every request."""
    requests = [tokens.blind(KEY, DIGEST) for _ in range(3)]
    finished = [tokens.finalize(request, ISSUER.sign(request.blinded)) for request in requests]
    received = {request.blinded for request in requests}
    seen = received | {ISSUER.sign(blinded) for blinded in received}
    told = {token.signature for token in finished} | {token.nonce for token in finished}
    assert len(seen) == len(told) == 6
    assert not seen & told


def test_every_token_fits_every_request():
    """Blindness, exactly: for any request and any token there is one factor that connects them.

    The device of one request could have got the token of another, so who sees both learns nothing.
    """
    requests = [tokens.blind(KEY, DIGEST) for _ in range(2)]
    finished = [tokens.finalize(request, ISSUER.sign(request.blinded)) for request in requests]
    for request in requests:
        for token in finished:
            answer = int.from_bytes(ISSUER.sign(request.blinded))
            factor = answer * pow(int.from_bytes(token.signature), -1, KEY.modulus) % KEY.modulus
            encoded = pow(int.from_bytes(token.signature), 65537, KEY.modulus)
            assert blind_rsa.blind(encoded, factor, KEY.modulus, 65537) == int.from_bytes(
                request.blinded
            )


def test_a_request_can_be_repeated():
    pending = tokens.blind(KEY, DIGEST)
    fields = {name: getattr(pending, name) for name in ("key", "digest", "nonce", "salt", "factor")}
    stored = tokens.PendingToken(**fields)
    assert stored.blinded == pending.blinded
    answer = ISSUER.sign(pending.blinded)
    assert ISSUER.sign(stored.blinded) == answer
    assert tokens.finalize(stored, answer) == tokens.finalize(pending, answer)


def test_one_signature_gives_one_token():
    """The product of two signatures is none: the padding prevents it."""
    first, second = issue(), issue()
    numbers = [int.from_bytes(token.signature) for token in (first, second)]
    product = numbers[0] * numbers[1] % KEY.modulus
    with pytest.raises(MismatchError):
        tokens.verify(tokens.Token(first.nonce, product.to_bytes(256)), KEY, DIGEST)
    with pytest.raises(MismatchError):
        tokens.verify(tokens.Token(first.nonce, second.signature), KEY, DIGEST)


@pytest.mark.parametrize("data", [b"", bytes(255), bytes(257), bytes(256), b"\xff" * 256])
def test_what_is_no_number_below_the_modulus_is_not_signed(data):
    with pytest.raises(CodecError, match="a blinded token must"):
        ISSUER.sign(data)
    with pytest.raises(CodecError, match="a blind signature must"):
        tokens.finalize(tokens.blind(KEY, DIGEST), data)


def test_the_answer_of_a_dishonest_issuer_is_refused():
    pending = tokens.blind(KEY, DIGEST)
    answer = ISSUER.sign(pending.blinded)
    number = int.from_bytes(answer)
    for wrong in (number + 1, KEY.modulus - number, 1):
        with pytest.raises(MismatchError):
            tokens.finalize(pending, wrong.to_bytes(256))


def test_bytes_of_another_length_are_no_token():
    for length in (0, 287, 289):
        with pytest.raises(CodecError, match="288 bytes"):
            tokens.Token.from_bytes(bytes(length))


def pem_of(key):
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


@pytest.mark.parametrize(
    ("pem", "rule"),
    [
        (b"", "`pem` must be a private key in PEM without a password"),
        (PEM.replace(b"A", b"B"), "`pem` must be a private key in PEM without a password"),
        (pem_of(ed25519.Ed25519PrivateKey.generate()), "`pem` must be a private key of RSA"),
        (
            pem_of(rsa.generate_private_key(65537, 3072)),
            "`pem` must be a key of 2048 bits, not 3072",
        ),
        (pem_of(rsa.generate_private_key(3, 2048)), "`pem` must be a key with exponent 65537"),
    ],
    ids=["nothing", "changed", "Ed25519", "3072 bits", "exponent 3"],
)
def test_an_unfit_private_key_is_refused_and_not_shown(pem, rule):
    with pytest.raises(ParameterError) as caught:
        tokens.Issuer(pem)
    assert str(caught.value) == rule


def test_numbers_that_do_not_belong_together_are_refused():
    """One changed digit of the private exponent: the key still parses."""
    numbers = rsa.generate_private_key(65537, 2048).private_numbers()
    good = numbers.private_key().private_bytes(
        serialization.Encoding.DER,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    exponent = numbers.d.to_bytes(256)
    assert exponent in good
    changed = good.replace(exponent, (numbers.d ^ 4).to_bytes(256))
    with pytest.raises(ParameterError):
        tokens.Issuer(as_pem(changed))
    tokens.Issuer(as_pem(good))


def as_pem(der):
    body = base64.encodebytes(der)
    return b"-----BEGIN PRIVATE KEY-----\n" + body + b"-----END PRIVATE KEY-----\n"


def test_the_public_key_is_the_one_of_the_standard():
    """The library reads it as a key of RSASSA-PSS."""
    assert len(KEY.data) == tokens.ISSUER_KEY_BYTES
    loaded = serialization.load_der_public_key(KEY.data)
    assert loaded.public_numbers() == KEY.loaded.public_numbers()
    assert KEY.key_id == hashlib.sha256(KEY.data).digest()


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda data: data + b"\0", "`data` must have exactly"),
        (lambda data: b"\x31" + data[1:], "`data` must be an RSASSA-PSS key"),
        (lambda data: data[:-1] + b"\3", "`data` must be an RSASSA-PSS key"),
        (lambda data: data[:-261] + b"\1" + data[-260:], "a modulus of exactly 2048 bits"),
        (lambda data: data[:-6] + b"\0" + data[-5:], "an odd modulus"),
    ],
)
def test_another_public_key_is_refused(change, rule):
    with pytest.raises(ParameterError, match=rule):
        tokens.IssuerPublicKey(change(KEY.data))


@pytest.mark.parametrize(
    ("name", "value"),
    [("digest", bytes(16)), ("nonce", b""), ("salt", bytes(32)), ("factor", 3), ("key", b"")],
)
def test_a_setting_that_is_not_allowed_is_named(name, value):
    with pytest.raises(ParameterError, match=f"`{name}` must"):
        replace(tokens.blind(KEY, DIGEST), **{name: value})


def test_what_is_secret_is_not_shown():
    pending = tokens.blind(KEY, DIGEST)
    assert repr(pending.factor) not in repr(pending)
    assert "factor" not in repr(pending)
    assert "PRIVATE" not in repr(ISSUER)
    assert str(KEY.modulus) not in repr(ISSUER)


def test_nothing_takes_randomness_as_an_argument():
    assert list(inspect.signature(tokens.blind).parameters) == ["key", "digest"]
    assert list(inspect.signature(ISSUER.sign).parameters) == ["blinded"]


def fixed_numbers():
    """Return the private key of the fixed primes."""
    exponent = pow(65537, -1, (P - 1) * (Q - 1))
    exponents = (exponent % (P - 1), exponent % (Q - 1))
    return blind_rsa.RsaNumbers(P * Q, 65537, P, Q, *exponents, pow(Q, -1, P))


def simulated_tokens(count):
    """Yield genuine signatures of a fixed issuer on nonces and salts that a seed determines."""
    rng = np.random.default_rng(2025)
    modulus = P * Q
    numbers = fixed_numbers()
    blinds = blind_rsa.SigningBlinds(factor=1, first_multiple=0, second_multiple=0)
    for _ in range(count):
        nonce, salt = rng.bytes(32), rng.bytes(48)
        content = tokens.token_input(nonce, tokens.challenge_digest(DIGEST), bytes(32))
        encoded = blind_rsa.encode(content, salt, modulus.bit_length())
        signature = blind_rsa.sign(encoded, numbers, blinds)
        yield tokens.Token(nonce, signature.to_bytes(256))


def chi_square(words):
    """Return the statistic of 16 digits of 4 bits: 16 times 15 degrees of freedom."""
    words = np.array(words, np.uint64)
    digits = (words[:, None] >> np.arange(0, 64, 4, dtype=np.uint64)) & np.uint64(15)
    counts = np.stack([np.bincount(column, minlength=16) for column in digits.T.astype(int)])
    expected = len(words) / 16
    return ((counts - expected) ** 2 / expected).sum()


def test_seeds_and_coins_of_many_tokens_are_uniform():
    """2,000 tokens: each statistic within 5 sigma of 240, sigma^2 = 2 * 240.

    The broken twin takes the first bytes of the signature as they are.  The modulus is near
    3/4 of 2^2048, so a quarter of the first digits never occurs.
    """
    finished = list(simulated_tokens(2000))
    window = 5 * (2 * 240) ** 0.5
    seeds = chi_square([token.seed_draw(DIGEST, 0) for token in finished])
    coins = chi_square([int.from_bytes(token.coin_bytes(DIGEST)[:8]) for token in finished])
    twin = chi_square([int.from_bytes(token.signature[:8]) for token in finished])
    print(f"seeds {seeds:.1f}, coins {coins:.1f}, twin {twin:.1f}; 240 +- {window:.1f}")
    assert abs(seeds - 240) < window
    assert abs(coins - 240) < window
    assert twin > 240 + window


def test_seed_and_coin_depend_on_task_and_signature_alone():
    token = tokens.Token(bytes(32), bytes(range(256)))
    for other in (tokens.Token(bytes(32), bytes(256)), None):
        signed, digest = (other, DIGEST) if other else (token, OTHER_TASK)
        assert signed.seed_draw(digest, 0) != token.seed_draw(DIGEST, 0)
        assert signed.coin_bytes(digest) != token.coin_bytes(DIGEST)
    renamed = replace(token, nonce=b"n" * 32)
    assert renamed.seed_draw(DIGEST, 0) == token.seed_draw(DIGEST, 0)
    assert token.seed_draw(DIGEST, 0).to_bytes(8, "little") != token.coin_bytes(DIGEST)[:8]
    with pytest.raises(ParameterError, match="`digest` must"):
        token.seed_draw(bytes(16), 0)


def test_every_slot_has_a_seed_of_its_own():
    token = tokens.Token(bytes(32), bytes(range(256)))
    assert len({token.seed_draw(DIGEST, slot) for slot in range(4096)}) == 4096


def test_a_signature_has_one_way_to_be_written():
    """A second one would give a second seed: signature + modulus is refused, though it is equal."""
    modulus = KEY.modulus
    token = issue()
    number = int.from_bytes(token.signature) + modulus
    while number.bit_length() > 2048:  # with probability modulus / 2^2048, try another token
        token = issue()
        number = int.from_bytes(token.signature) + modulus
    again = replace(token, signature=number.to_bytes(256))
    assert pow(number, 65537, modulus) == pow(int.from_bytes(token.signature), 65537, modulus)
    with pytest.raises(MismatchError):
        tokens.verify(again, KEY, DIGEST)


def seeds_of_drawn_signatures(count, seed):
    """Return the seeds of tokens whose signatures are drawn instead of signed.

    A signature is uniform below the modulus, whoever signed it, because what is encoded is hashed
    first.  Here it is uniform over all 256 bytes; the seed is a hash of it either way.
    """
    generator = np.random.default_rng(seed)
    for _ in range(count):
        signature = generator.bytes(256)
        yield tokens.Token(bytes(32), signature).seed_draw(DIGEST, 0)


def partly_chosen(words):
    """A broken twin: one seed in a hundred is a small number, as if a device had chosen it."""
    return [place if place % 100 == 0 else word for place, word in enumerate(words)]


@pytest.mark.parametrize("count", [20_000, pytest.param(1_000_000, marks=pytest.mark.papers)])
def test_seeds_are_uniform_over_many_tokens(count):
    """16 digits of 4 bits: 5 sigma around 240 degrees of freedom, sigma^2 = 480."""
    window = 5 * (2 * 240) ** 0.5
    words = list(seeds_of_drawn_signatures(count, 11))
    statistic, twin = chi_square(words), chi_square(partly_chosen(words))
    print(f"{count:,} seeds: {statistic:.1f}, twin {twin:.1f}; 240 +- {window:.1f}")
    assert abs(statistic - 240) < window
    assert twin > 240 + window


def transcript(count, rng, factor_of):
    """Return what the issuer saw and what was spent later, of the same people in one order.

    The key is that of fixed primes.  ``factor_of`` gives the blinding factor of a person.
    """
    modulus = P * Q
    numbers = fixed_numbers()
    seen, spent = [], []
    for _ in range(count):
        content = tokens.token_input(rng.bytes(32), tokens.challenge_digest(DIGEST), bytes(32))
        encoded = blind_rsa.encode(content, rng.bytes(48), modulus.bit_length())
        factor = factor_of(rng, modulus)
        blinded = blind_rsa.blind(encoded, factor, modulus, 65537)
        blind_signature = blind_rsa.sign(blinded, numbers, blind_rsa.SigningBlinds(1, 0, 0))
        seen.append(blind_signature)
        spent.append(blind_rsa.unblind(blind_signature, factor, modulus))
    return seen, spent


def linking_score(seen, spent):
    """Return how much a request and a token look like those of one person.

    For every pair exactly one factor r would link them: r = blind signature / signature.  All that
    an issuer can look at is a function of r.  The score is high for small factors: 1 most of all.
    """
    modulus = P * Q
    factor = seen * pow(spent, -1, modulus) % modulus
    return -min(factor, modulus - factor)


def area_under_curve(own, others):
    """Return how likely the score of a true pair exceeds that of a false one; ties count half."""
    own, others = sorted(own), sorted(others)
    won = sum(bisect_left(others, score) + bisect_right(others, score) for score in own)
    return won / (2 * len(own) * len(others))


@pytest.mark.parametrize("people", [250, pytest.param(4_000, marks=pytest.mark.papers)])
def test_the_issuer_cannot_link_requests_and_tokens(people):
    """An area of 0.5 within 5 sigma, sigma^2 = (2 n + 1) / (12 n^2) for n true and n false pairs.

    The broken twin blinds by 1: the issuer sees the signature itself.
    """
    rng = np.random.default_rng(3)

    def uniform(rng, modulus):
        return int.from_bytes(rng.bytes(264)) % (modulus - 1) + 1

    sigma = ((2 * people + 1) / (12 * people**2)) ** 0.5
    areas = {}
    for name, factor_of in (("uniform", uniform), ("twin", lambda rng, modulus: 1)):
        seen, spent = transcript(people, rng, factor_of)
        own = [linking_score(*pair) for pair in zip(seen, spent, strict=True)]
        others = [linking_score(seen[place - 1], spent[place]) for place in range(people)]
        areas[name] = area_under_curve(own, others)
    print(f"{people} people: {areas}; 0.5 +- {5 * sigma:.4f}")
    assert abs(areas["uniform"] - 0.5) < 5 * sigma
    assert areas["twin"] > 0.5 + 5 * sigma
