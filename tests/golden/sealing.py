"""The vectors of sealed messages, round keys and blind tokens.

``ciphers.py`` computes them.  The issuers' key is the one that RFC 9578 publishes.
"""

import hashlib
import json
from pathlib import Path

from golden import ciphers
from golden import reference as ref

HERE = Path(__file__).parent
ORDER = ciphers.ORDER
BITS = 2048
# Points of small order: the shared secret with any of them is zero (RFC 7748, section 6.1).
SMALL_ORDER = (
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
)


# seal.json


def seal():
    about = (
        "messages: task digest, round, private keys of the hops and of the collector, one "
        "ephemeral key per layer, message -> layers: what each of them receives, the first hop "
        "first. "
        "refused: what must not open under this key, and the error. weak_keys: public keys to "
        "refuse. statements: fields of a round key, the hop's long-term key -> signed bytes, "
        "signature. unsigned: statements and signatures to refuse, and the error."
    )
    return "seal.json", {
        "about": about,
        "version": 1,
        "messages": list(message_rows()),
        "refused": list(refused_rows()),
        "weak_keys": [{"public_key": key} for key in SMALL_ORDER],
        "statements": list(statement_rows()),
        "unsigned": list(unsigned_rows()),
    }


def message_rows():
    for hops, round_number, length in (
        (0, 0, 1),
        (0, 65535, 54),
        (1, 0, 54),
        (1, 258, 342),
        (2, 1, 54),
        (2, 65535, 342),
        (3, 7, 15),
        (8, 12, 16),
    ):
        yield message_row(f"seal {hops} {round_number} {length}", hops, round_number, length)


def message_row(label, hops, round_number, length):
    digest = ref.sha_stream(f"{label} digest", 32)
    message = ref.sha_stream(f"{label} message", length)
    private_keys = [ref.sha_stream(f"{label} private {hop}", 32) for hop in range(hops + 1)]
    ephemeral_keys = [ref.sha_stream(f"{label} ephemeral {hop}", 32) for hop in range(hops + 1)]
    layers = [message]
    for hop in reversed(range(hops + 1)):
        public_key = ciphers.x25519_public(private_keys[hop])
        info = info_of(digest, round_number, hop)
        layers.insert(0, ciphers.hpke_seal(ephemeral_keys[hop], public_key, info, layers[0]))
    return {
        "digest": digest.hex(),
        "round": round_number,
        "hops": hops,
        "message": message.hex(),
        "private_keys": [key.hex() for key in private_keys],
        "public_keys": [ciphers.x25519_public(key).hex() for key in private_keys],
        "ephemeral_keys": [key.hex() for key in ephemeral_keys],
        "layers": [layer.hex() for layer in layers[:-1]],
    }


def info_of(digest, round_number, hop, label=b"sottovoce/seal/v2"):
    return label + digest + round_number.to_bytes(2, "little") + bytes([hop])


def refused_rows():
    """One sealed message for the second of two hops, and what must not open in its place."""
    row = message_row("refused", 2, 258, 54)
    good = {
        "digest": row["digest"],
        "round": 258,
        "hops": 2,
        "message_bytes": 54,
        "hop": 1,
        "private_key": row["private_keys"][1],
        "sealed": row["layers"][1],
    }
    yield good | {"error": None, "comment": "this one opens"}
    mismatch = {"error": "MismatchError"}
    yield good | {"digest": flipped(row["digest"], 31), "comment": "another task"} | mismatch
    yield good | {"round": 257, "comment": "another round"} | mismatch
    yield good | {"round": 513, "comment": "the round in the other byte order"} | mismatch
    other = row["private_keys"][0]
    yield good | {"private_key": other, "comment": "the key of another hop"} | mismatch
    again = good | {"hops": 1, "hop": 0}  # where this length is right
    yield again | {"comment": "another hop of the same length"} | mismatch
    sealed = bytes.fromhex(good["sealed"])
    for position, comment in (
        (0, "the first byte of the encapsulated key"),
        (31, "the last byte of the encapsulated key"),
        (32, "the first byte of the ciphertext"),
        (len(sealed) - 17, "the last byte of the ciphertext"),
        (len(sealed) - 16, "the first byte of the tag"),
        (len(sealed) - 1, "the last byte of the tag"),
    ):
        bad = bytearray(sealed)
        bad[position] ^= 1
        yield good | {"sealed": bad.hex(), "comment": f"changed: {comment}"} | mismatch
    bad = bytearray(sealed)
    bad[31] ^= 0x80  # which X25519 itself ignores
    yield good | {"sealed": bad.hex(), "comment": "changed: the unused bit of the key"} | mismatch
    for point in SMALL_ORDER:
        bad = bytes.fromhex(point) + sealed[32:]
        yield good | {"sealed": bad.hex(), "comment": "a key of small order"} | mismatch
    yield from otherwise_sealed(row, good)
    for bad, comment in (
        (sealed[:-1], "one byte too short"),
        (sealed + b"\0", "one byte too long"),
        (b"", "nothing"),
        (sealed[:47], "no room for a layer"),
        (bytes.fromhex(row["layers"][0]), "with the layer of the first hop"),
        (bytes.fromhex(row["layers"][2]), "without the layer of this hop"),
    ):
        yield good | {"sealed": bad.hex(), "error": "CodecError", "comment": comment}


def otherwise_sealed(row, good):
    """Messages under the right key that were made in another way."""
    inner = bytes.fromhex(row["layers"][2])
    digest, key = bytes.fromhex(row["digest"]), bytes.fromhex(row["public_keys"][1])
    ephemeral = bytes.fromhex(row["ephemeral_keys"][1])
    right = info_of(digest, 258, 1)
    for info, associated, comment in (
        (info_of(digest, 258, 1, b"sottovoce/seal/v1"), b"", "another label"),
        (b"", b"", "no info"),
        (right + b"\0", b"", "a longer info"),
        (right, b"\0", "with associated data"),
    ):
        sealed = ciphers.hpke_seal(ephemeral, key, info, inner, associated)
        yield good | {"sealed": sealed.hex(), "error": "MismatchError", "comment": comment}


def statement_rows():
    for round_number, hop in ((0, 0), (1, 2), (258, 1), (65535, 8)):
        yield statement_row(round_number, hop)


def statement_row(round_number, hop):
    label = f"statement {round_number} {hop}"
    digest = ref.sha_stream(f"{label} digest", 32)
    signing_key = ref.sha_stream(f"{label} signing", 32)
    public_key = ciphers.x25519_public(ref.sha_stream(f"{label} private", 32))
    place = round_number.to_bytes(2, "little") + bytes([hop])
    signed = b"sottovoce/key/v1" + digest + place + public_key
    return {
        "digest": digest.hex(),
        "round": round_number,
        "hop": hop,
        "public_key": public_key.hex(),
        "signing_key": signing_key.hex(),
        "verifying_key": ciphers.ed25519_public(signing_key).hex(),
        "signed": signed.hex(),
        "signature": ciphers.ed25519_sign(signing_key, signed).hex(),
    }


def unsigned_rows():
    row = statement_row(258, 1)
    signing_key = bytes.fromhex(row.pop("signing_key"))
    signed = bytes.fromhex(row.pop("signed"))
    signature = bytes.fromhex(row["signature"])
    yield row | {"error": None, "comment": "this one is signed"}
    mismatch = {"error": "MismatchError"}
    yield row | {"digest": flipped(row["digest"], 0), "comment": "another task"} | mismatch
    yield row | {"round": 513, "comment": "the round in the other byte order"} | mismatch
    yield row | {"hop": 2, "comment": "another hop"} | mismatch
    yield row | {"public_key": flipped(row["public_key"], 31), "comment": "another key"} | mismatch
    stranger = statement_row(0, 0)["verifying_key"]
    yield row | {"verifying_key": stranger, "comment": "another hop's signature"} | mismatch
    for position in (0, 31, 32, 63):
        bad = flipped(signature.hex(), position)
        yield row | {"signature": bad, "comment": f"changed: byte {position}"} | mismatch
    response = int.from_bytes(signature[32:], "little") + ORDER
    bad = signature[:32] + response.to_bytes(32, "little")
    yield row | {"signature": bad.hex(), "comment": "response + order of the group"} | mismatch
    bare = ciphers.ed25519_sign(signing_key, bytes.fromhex(row["public_key"]))
    yield row | {"signature": bare.hex(), "comment": "the key alone is signed"} | mismatch
    bare = ciphers.ed25519_sign(signing_key, hashlib.sha256(signed).digest())
    yield row | {"signature": bare.hex(), "comment": "a hash is signed"} | mismatch
    for bad, comment in ((signature[:-1], "too short"), (signature + b"\0", "too long")):
        yield row | {"signature": bad.hex(), "error": "CodecError", "comment": comment}


# key_set.json


def key_set():
    about = (
        "signed: task digest, canonical document of the round, public keys of the hops and of the "
        "collector, the hops' long-term keys -> SHA-256 of the round, what every hop signs, all "
        "signatures. refused: sets that a device must not seal for, with the signatures that it "
        "was given, and the error."
    )
    return "key_set.json", {
        "about": about,
        "version": 1,
        "signed": [set_row(f"set {hops} {number}", hops, number) for hops, number in SETS],
        "refused": list(refused_sets()),
    }


SETS = ((1, 0), (2, 0), (2, 258), (3, 65535), (8, 1))


def set_row(label, hops, number):
    digest = ref.sha_stream(f"{label} digest", 32)
    document = ref.canonical({"kind": "round", "number": number, "comment": f"{label} \u00e9"})
    round_hash = hashlib.sha256(document.encode()).digest()
    private_keys = [ref.sha_stream(f"{label} private {hop}", 32) for hop in range(hops + 1)]
    public_keys = [ciphers.x25519_public(key) for key in private_keys]
    signing_keys = [ref.sha_stream(f"{label} signing {hop}", 32) for hop in range(hops)]
    signed = [signed_set(digest, number, round_hash, hop, public_keys) for hop in range(hops)]
    signatures = [
        ciphers.ed25519_sign(key, content)
        for key, content in zip(signing_keys, signed, strict=True)
    ]
    return {
        "digest": digest.hex(),
        "round": number,
        "round_document": document,
        "round_hash": round_hash.hex(),
        "public_keys": [key.hex() for key in public_keys],
        "signing_keys": [key.hex() for key in signing_keys],
        "verifying_keys": [ciphers.ed25519_public(key).hex() for key in signing_keys],
        "signed": [content.hex() for content in signed],
        "signatures": [signature.hex() for signature in signatures],
    }


def signed_set(digest, number, round_hash, hop, public_keys, label=b"sottovoce/key-set/v1"):
    place = digest + number.to_bytes(2, "little") + round_hash + bytes([hop])
    return label + place + b"".join(public_keys)


def refused_sets():
    """One set of two hops and a collector, and what must not pass in its place."""
    row = set_row("refused set", 2, 258)
    signing_keys = [bytes.fromhex(key) for key in row.pop("signing_keys")]
    row.pop("signed")
    row.pop("round_document")
    digest, round_hash = bytes.fromhex(row["digest"]), bytes.fromhex(row["round_hash"])
    keys = [bytes.fromhex(key) for key in row["public_keys"]]
    other_key = ciphers.x25519_public(ref.sha_stream("refused set other", 32))
    yield row | {"error": None, "comment": "this one is signed by all"}

    def signed_by_all(
        public_keys, number=258, document=round_hash, task=digest, label=b"sottovoce/key-set/v1"
    ):
        return [
            ciphers.ed25519_sign(
                key, signed_set(task, number, document, hop, public_keys, label)
            ).hex()
            for hop, key in enumerate(signing_keys)
        ]

    good = row["signatures"]
    mismatch = {"error": "MismatchError"}
    for place, comment in ((2, "the collector's"), (1, "the last hop's"), (0, "the first hop's")):
        other = [*row["public_keys"]]
        other[place] = other_key.hex()
        yield row | {"public_keys": other, "comment": f"another key: {comment}"} | mismatch
    other = [*keys[:2], other_key]
    mixed = [good[0], signed_by_all(other)[1]]
    texts = [key.hex() for key in other]
    given = {"public_keys": texts, "signatures": mixed}
    yield row | given | {"comment": "another set, signed by the last hop only"} | mismatch
    given = {"public_keys": texts, "signatures": mixed[::-1]}
    yield row | given | {"comment": "another set, signatures swapped"} | mismatch
    swapped = [row["public_keys"][place] for place in (1, 0, 2)]
    yield row | {"public_keys": swapped, "comment": "keys in another order"} | mismatch
    rotated = [row["public_keys"][place] for place in (2, 0, 1)]
    yield row | {"public_keys": rotated, "comment": "the collector's key first"} | mismatch
    yield row | {"signatures": good[::-1], "comment": "signatures in another order"} | mismatch
    yield row | {"signatures": [good[0]] * 2, "comment": "one hop for both"} | mismatch
    both = [
        ciphers.ed25519_sign(signing_keys[1], signed_set(digest, 258, round_hash, hop, keys)).hex()
        for hop in range(2)
    ]
    yield row | {"signatures": both, "comment": "the last hop signs for the first"} | mismatch
    old = signed_by_all(keys, number=257)
    yield row | {"signatures": old, "comment": "signatures of an old round"} | mismatch
    yield row | {"round": 513, "comment": "the round in the other byte order"} | mismatch
    asked = signed_by_all(keys, document=hashlib.sha256(b"{}").digest())
    yield row | {"signatures": asked, "comment": "another question was signed"} | mismatch
    task = signed_by_all(keys, task=bytes(32))
    yield row | {"signatures": task, "comment": "signatures of another task"} | mismatch
    for label in (b"sottovoce/key-set/v2", b"sottovoce/key/v1", b""):
        wrong = signed_by_all(keys, label=label)
        yield row | {"signatures": wrong, "comment": f"the label {label.decode()!r}"} | mismatch
    singles = [
        ciphers.ed25519_sign(
            key, b"sottovoce/key/v1" + digest + (258).to_bytes(2, "little") + bytes([hop]) + own
        ).hex()
        for hop, (key, own) in enumerate(zip(signing_keys, keys, strict=False))
    ]
    yield row | {"signatures": singles, "comment": "signatures on single keys"} | mismatch
    changed = [flipped(good[0], 63), good[1]]
    yield row | {"signatures": changed, "comment": "a changed signature"} | mismatch
    short = [good[0][:-2], good[1]]
    yield row | {"signatures": short, "error": "CodecError", "comment": "a short signature"}
    setting = {"error": "ParameterError"}
    yield row | {"signatures": good[:1], "comment": "the last hop has not signed"} | setting
    yield row | {"signatures": good[1:], "comment": "the first hop has not signed"} | setting
    yield row | {"signatures": [], "comment": "nobody has signed"} | setting
    more = [*good, good[0]]
    yield row | {"signatures": more, "comment": "a signature too many"} | setting
    for places, comment in (((0, 1, 0), "first hop and collector"), ((0, 0, 2), "both hops")):
        repeated = [keys[place] for place in places]
        given = {
            "public_keys": [key.hex() for key in repeated],
            "signatures": signed_by_all(repeated),
        }
        yield row | given | {"comment": f"one key in two places: {comment}"} | setting


def flipped(text, position):
    """Return bytes in hex with one bit changed."""
    data = bytearray.fromhex(text)
    data[position] ^= 1
    return data.hex()


# tokens.json


def tokens():
    about = (
        "issued: issuer's key and primes, task digest, nonce, salt, factor -> what the issuer "
        "receives, its answer, the token, and what follows from it: the draw behind the hash seed "
        "of a slot, and coin bytes. "
        "derived: any signature, task digest and slot -> draw and coin bytes. refused: tokens that "
        "must not pass, and the error. answers: blind signatures that a device must refuse, and "
        "the error. keys: issuers' keys, accepted or not."
    )
    return "tokens.json", {
        "about": about,
        "version": 1,
        "issued": [issued_row(f"token {number}") for number in range(6)],
        "derived": [derived_row(number) for number in range(24)],
        "refused": list(refused_tokens()),
        "answers": list(answer_rows()),
        "keys": list(key_rows()),
    }


def issuer_primes():
    row = json.loads((HERE / "rfc.json").read_text("ascii"))["tokens"][0]
    return int(row["p"], 16), int(row["q"], 16)


def der(tag, *parts):
    content = b"".join(parts)
    if len(content) < 128:
        return bytes([tag, len(content)]) + content
    size = len(content).to_bytes(-(-len(content).bit_length() // 8), "big")
    return bytes([tag, 0x80 | len(size)]) + size + content


def der_integer(number):
    return der(2, number.to_bytes(number.bit_length() // 8 + 1, "big"))


SHA384 = der(0x30, bytes.fromhex("0609608648016503040202"))
SHA256 = der(0x30, bytes.fromhex("0609608648016503040201"))
PSS = bytes.fromhex("06092a864886f70d01010a")
MGF1 = bytes.fromhex("06092a864886f70d010108")
RSA = der(0x30, bytes.fromhex("06092a864886f70d010101"), b"\5\0")


def public_key(modulus, e=65537, hash_name=SHA384, salt=48):
    """Return the SubjectPublicKeyInfo of a key of RSASSA-PSS (RFC 9578, section 6.5)."""
    mask = der(0x30, MGF1, hash_name)
    options = der(0xA0, hash_name), der(0xA1, mask), der(0xA2, der_integer(salt))
    return key_info(der(0x30, PSS, der(0x30, *options)), modulus, e)


def key_info(algorithm, modulus, e=65537):
    numbers = der(0x30, der_integer(modulus), der_integer(e))
    return der(0x30, algorithm, der(3, b"\0", numbers))


def token_input(key, digest, nonce, token_type=2):
    kind = token_type.to_bytes(2, "big")
    challenge = kind + b"\0\x09sottovoce" + b"\x20" + digest + b"\0\0"
    hashes = hashlib.sha256(challenge).digest() + hashlib.sha256(key).digest()
    return kind + nonce + hashes


def number_bytes(number):
    return number.to_bytes(256, "big")


def seed_draw(digest, signature, slot):
    """Return the 64 bits behind the hash seed of a slot."""
    place = slot.to_bytes(4, "little")
    drawn = hashlib.sha256(b"sottovoce/seed/v1" + digest + signature + place).digest()[:8]
    return int.from_bytes(drawn, "little")


def coin_bytes(digest, signature):
    return hashlib.sha256(b"sottovoce/coin/v1" + digest + signature).digest()[:16]


def derived(digest, signature, slot=0):
    return {
        "slot": slot,
        "seed_draw": str(seed_draw(digest, signature, slot)),
        "coin_bytes": coin_bytes(digest, signature).hex(),
    }


def issued_row(label):
    p, q = issuer_primes()
    modulus = p * q
    key = public_key(modulus)
    digest, nonce, salt = (
        ref.sha_stream(f"{label} {name}", length)
        for name, length in (("digest", 32), ("nonce", 32), ("salt", 48))
    )
    factor = int.from_bytes(ref.sha_stream(f"{label} factor", 256), "big") % modulus
    encoded = ciphers.pss_encode(token_input(key, digest, nonce), salt, BITS - 1)
    blinded = ciphers.rsa_blind(encoded, factor, modulus)
    answer = ciphers.rsa_sign(blinded, p, q)
    signature = number_bytes(answer * pow(factor, -1, modulus) % modulus)
    return {
        "key": key.hex(),
        "p": f"{p:x}",
        "q": f"{q:x}",
        "digest": digest.hex(),
        "nonce": nonce.hex(),
        "salt": salt.hex(),
        "factor": number_bytes(factor).hex(),
        "blinded": number_bytes(blinded).hex(),
        "blind_signature": number_bytes(answer).hex(),
        "token": (nonce + signature).hex(),
        **derived(digest, signature),
    }


def derived_row(number):
    digest = ref.sha_stream(f"derived digest {number // 2}", 32)
    signature = ref.sha_stream(f"derived signature {number // 3}", 256)
    slot = (0, 1, 2, 255, 256, 4095)[number % 6]
    given = {"digest": digest.hex(), "signature": signature.hex()}
    return given | derived(digest, signature, slot)


def refused_tokens():
    row = small_token()
    key, digest = bytes.fromhex(row["key"]), bytes.fromhex(row["digest"])
    token = bytes.fromhex(row["token"])
    nonce, signature = token[:32], token[32:]
    good = {"key": row["key"], "digest": row["digest"], "token": row["token"]}
    yield good | {"error": None, "comment": "this one is signed"}
    mismatch = {"error": "MismatchError"}
    yield good | {"digest": flipped(row["digest"], 31), "comment": "another task"} | mismatch
    p, q = issuer_primes()
    other = public_key(p * q - 2)
    yield good | {"key": other.hex(), "comment": "another issuer"} | mismatch
    for position in (0, 31, 32, 287):
        bad = flipped(row["token"], position)
        yield good | {"token": bad, "comment": f"changed: byte {position}"} | mismatch
    number = int.from_bytes(signature, "big")
    for bad, comment in (
        (number + p * q, "signature + modulus, a second name of the same number"),
        (p * q - number, "minus the signature"),
        (0, "signature 0"),
        (1, "signature 1"),
        (p * q - 1, "signature modulus - 1"),
        (p * q, "signature modulus"),
    ):
        yield good | {"token": (nonce + number_bytes(bad)).hex(), "comment": comment} | mismatch
    content = token_input(key, digest, nonce)
    old = token_input(key, digest, nonce, 1)
    for encoded, comment in (
        (ciphers.pss_encode(content, b"", BITS - 1), "no salt"),
        (ciphers.pss_encode(content, bytes(32), BITS - 1), "a salt of 32 bytes"),
        (ciphers.pss_encode(content, bytes(32), BITS - 1, "sha256"), "SHA-256"),
        (ciphers.pss_encode(old, bytes(48), BITS - 1), "another type of token"),
        (ciphers.pss_encode(nonce, bytes(48), BITS - 1), "the nonce alone"),
    ):
        bad = nonce + number_bytes(ciphers.rsa_sign(encoded, p, q))
        yield good | {"token": bad.hex(), "comment": f"signed otherwise: {comment}"} | mismatch
    for bad, comment in ((token[:-1], "too short"), (token + b"\0", "too long"), (b"", "nothing")):
        yield good | {"token": bad.hex(), "error": "CodecError", "comment": comment}


def small_token():
    """Return the first row whose signature leaves room for the modulus to be added."""
    p, q = issuer_primes()
    number = 0
    while True:
        row = issued_row(f"small token {number}")
        if int(row["token"][64:], 16) + p * q < 1 << BITS:
            return row
        number += 1


def answer_rows():
    row = issued_row("token 0")
    fields = ("key", "digest", "nonce", "salt", "factor")
    pending = {name: row[name] for name in fields}
    answer = row["blind_signature"]
    yield pending | {"blind_signature": answer, "error": None, "comment": "this one is right"}
    modulus = int.from_bytes(bytes.fromhex(row["key"])[-261:-5], "big")
    other = issued_row("token 1")["blind_signature"]
    for bad, error, comment in (
        (other, "MismatchError", "somebody else's"),
        (flipped(answer, 255), "MismatchError", "changed"),
        (number_bytes(modulus - int(answer, 16)).hex(), "MismatchError", "minus the right one"),
        (number_bytes(0).hex(), "CodecError", "0"),
        (number_bytes(modulus).hex(), "CodecError", "the modulus"),
        (answer[2:], "CodecError", "too short"),
        (answer + "00", "CodecError", "too long"),
    ):
        yield pending | {"blind_signature": bad, "error": error, "comment": comment}


def key_rows():
    p, q = issuer_primes()
    modulus = p * q
    good = public_key(modulus)
    yield {"key": good.hex(), "accepted": True}
    for bad, comment in (
        (key_info(RSA, modulus), "of plain RSA"),
        (public_key(modulus, 3), "exponent 3"),
        (public_key(modulus, 65539), "exponent 65539"),
        (public_key(modulus, hash_name=SHA256), "SHA-256"),
        (public_key(modulus, salt=32), "a salt of 32 bytes"),
        (public_key(p), "1024 bits"),
        (public_key(modulus * modulus), "4096 bits"),
        (public_key(modulus + 1), "an even modulus"),
        (good[:-261] + b"\x7f" + good[-260:], "2047 bits"),
        (good[:-1], "too short"),
        (good + b"\0", "too long"),
        (b"", "nothing"),
    ):
        yield {"key": bad.hex(), "accepted": False, "comment": comment}
