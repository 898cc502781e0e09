"""Sealed messages and blind tokens between the two languages, in both directions."""

import pytest

from sottovoce.errors import MismatchError
from sottovoce.wire import round_keys, seal, tokens

DIGEST = bytes(range(32))
CONTEXT = seal.SealContext(DIGEST, round=258, hops=2, message_bytes=54)
GIVEN = {"digest": DIGEST.hex(), "round": 258, "hops": 2, "messageBytes": 54}
MESSAGES = [bytes([number]) * 54 for number in range(5)]


def hexes(items):
    return [item.hex() for item in items]


@pytest.fixture(scope="module")
def keys():
    return [round_keys.new_round_key() for _ in range(3)]


def test_a_browser_seals_and_python_opens(worker, keys):
    public_keys = hexes(pair.public_key for pair in keys)
    given = {"messages": hexes(MESSAGES), "keys": public_keys, "context": GIVEN}
    sealed = [bytes.fromhex(text) for text in worker.run("sealMessages", given)]
    assert {len(message) for message in sealed} == {CONTEXT.sealed_bytes(0)}
    for hop, pair in enumerate(keys):
        opener = seal.LayerOpener(pair.private_key, CONTEXT, hop)
        sealed = [opener.open(message) for message in sealed]
    assert sealed == MESSAGES


def test_python_seals_and_a_browser_opens(worker, keys):
    public_keys = [pair.public_key for pair in keys]
    sealed = hexes(seal.seal(message, public_keys, CONTEXT) for message in MESSAGES)
    for hop, pair in enumerate(keys):
        given = {"messages": sealed, "key": pair.private_key.hex(), "context": GIVEN, "hop": hop}
        sealed = worker.run("openMessages", given)
    assert sealed == hexes(MESSAGES)


def test_a_browser_gets_tokens_of_an_issuer_in_python(worker):
    issuer = tokens.Issuer(tokens.new_issuer_key())
    given = {"key": issuer.public_key.data.hex(), "digest": DIGEST.hex(), "count": 4}
    blinded = worker.run("blindTokens", given)
    answers = [issuer.sign(bytes.fromhex(text)).hex() for text in blinded]
    finished = worker.run("finalizeTokens", answers)
    assert len({text for text, _ in finished}) == 4
    for text, seed in finished:
        token = tokens.Token.from_bytes(bytes.fromhex(text))
        tokens.verify(token, issuer.public_key, DIGEST)
        assert token.seed_draw(DIGEST, 0) == int(seed)
        with pytest.raises(MismatchError):
            tokens.verify(token, issuer.public_key, DIGEST[::-1])
