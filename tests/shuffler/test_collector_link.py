"""What a hop asks of the collector, and what it does not believe."""

import pytest

from shuffler.receiver import text_of
from sottovoce.errors import CodecError, MismatchError
from sottovoce.shuffler.collector_link import CollectorLink
from sottovoce.shuffler.outgoing import RefusedRequestError
from sottovoce.wire.round_keys import KeyStatement, SignedKey, new_round_key


@pytest.fixture
def link(hop):
    return CollectorLink(hop.tasks()[0])


def test_the_current_round_is_canonical_text(link, receiver):
    state, document = link.current_round()
    assert state == "open"
    assert document.startswith('{"ask":')
    receiver.state = "finished"
    assert link.current_round() == ("finished", None)


def test_round_keys_are_believed_only_with_their_signatures(link, receiver):
    assert list(link.round_keys(0)) == receiver.round_keys()
    key, signature = receiver.keys[0][1]
    receiver.keys[0][1] = (new_round_key().public_key, signature)
    with pytest.raises(MismatchError, match="not signed"):
        link.round_keys(0)
    receiver.keys[0] = {0: receiver.keys[0][0]}
    with pytest.raises(RefusedRequestError, match="not-ready"):
        link.round_keys(0)
    assert key


def test_a_second_key_for_a_round_is_refused(hop, link, receiver):
    other = KeyStatement(receiver.notice.fingerprint, 0, 0, new_round_key().public_key)
    signed = SignedKey(0, other.public_key, other.sign(hop.signing.private_key))
    with pytest.raises(RefusedRequestError, match="conflict"):
        link.send_key(0, signed)


def test_a_signature_on_other_keys_is_refused(link):
    with pytest.raises(RefusedRequestError, match="conflict"):
        link.send_set_signature(0, bytes(64))


def test_answers_that_are_no_keys_are_refused(link, receiver, monkeypatch):
    for keys in (None, [], [{}, {}], [{"public_key": "é"}, {}], [{"public_key": 5}, {}]):
        answer = {"digest": receiver.notice.digest, "round": 0, "keys": keys}
        monkeypatch.setattr(receiver, "get_keys", lambda number, answer=answer: (200, answer))
        with pytest.raises(CodecError):
            link.round_keys(0)
    assert text_of(b"") == ""
