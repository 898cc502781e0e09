"""The blind token of a device: neither lost nor doubled, and the source of its coins."""

import pytest

import sottovoce as sv
from client.shuffling import PLAN, Chain, blind_collection, issuer
from client.values import Untouchable
from sottovoce.client.blind_token import BlindToken
from sottovoce.client.client import Client
from sottovoce.client.ledger import DiskLedger
from sottovoce.core import coin
from sottovoce.errors import AccessError, BudgetError, MismatchError, ParameterError
from sottovoce.wire import codec, tokens
from sottovoce.wire.tokens import Token

CHAIN = Chain()
TASK = CHAIN.task(collection=blind_collection())
NOTICE = codec.publish(TASK)


@pytest.fixture
def ledger(tmp_path):
    with DiskLedger(tmp_path / "ledger") as opened:
        yield opened


def finished(ledger, notice=NOTICE):
    own = BlindToken(ledger, notice)
    own.finish(issuer().sign(own.blinded()))
    return own


def test_a_token_is_made_once_and_finished_once(ledger):
    own = BlindToken(ledger, NOTICE)
    assert own.is_needed
    assert own.is_missing
    blinded = own.blinded()
    assert own.blinded() == blinded
    signature = issuer().sign(blinded)
    own.finish(signature)
    own.finish(signature)  # another process was faster
    assert not own.is_missing
    tokens.verify(own.token(), issuer().public_key, NOTICE.fingerprint)
    with pytest.raises(BudgetError, match="has its blind token"):
        own.blinded()


def test_the_number_is_on_the_disk_before_it_leaves(tmp_path):
    """A crash after sending: the same number is sent again, and its signature is good."""
    path = tmp_path / "ledger"
    with DiskLedger(path) as before:
        blinded = BlindToken(before, NOTICE).blinded()
    signature = issuer().sign(blinded)
    with DiskLedger(path) as after:
        own = BlindToken(after, NOTICE)
        assert own.blinded() == blinded
        own.finish(signature)
        token = own.token()
    with DiskLedger(path) as later:
        assert BlindToken(later, NOTICE).token() == token


def test_the_factor_is_erased_with_the_last_use(tmp_path):
    path = tmp_path / "ledger"
    with DiskLedger(path) as ledger:
        own = BlindToken(ledger, NOTICE)
        blinded = own.blinded()
        factor = ledger.blind_token(NOTICE.digest).pending[-256:]
        own.finish(issuer().sign(blinded))
        signature = own.token().signature
    assert factor not in path.read_bytes()
    assert signature in path.read_bytes()


def test_a_signature_of_somebody_else_is_refused_and_nothing_is_lost(ledger):
    own = BlindToken(ledger, NOTICE)
    blinded = own.blinded()
    with pytest.raises(MismatchError):
        own.finish(blinded)
    assert own.blinded() == blinded
    assert own.is_missing


def test_the_coins_follow_from_the_token(ledger):
    own = finished(ledger)
    client = Client(TASK, ledger)
    expected = Token(own.token().nonce, own.token().signature).coin_bytes(NOTICE.fingerprint)
    assert client.coin == coin.round_coin(expected, NOTICE.digest)


def test_the_token_travels_under_the_last_layer_and_nowhere_else(ledger):
    own = finished(ledger)
    sealed = Client(TASK, ledger).answer("7", sealing=CHAIN.sealing(TASK))
    token, _ = CHAIN.open(sealed, TASK)
    assert token == own.token().to_bytes()
    assert own.token().signature not in sealed


def test_without_a_token_nothing_is_answered(ledger):
    with pytest.raises(AccessError, match="needs a blind token"):
        Client(TASK, ledger).answer(Untouchable(), sealing=CHAIN.sealing(TASK))
    assert ledger.entries() == []


def test_a_task_without_an_issuer_needs_none(ledger):
    own = BlindToken(ledger, codec.publish(sv.Task("pets", PLAN, 1.0)))
    assert not own.is_needed
    assert not own.is_missing
    with pytest.raises(ParameterError, match="no issuer"):
        own.blinded()
    with pytest.raises(ParameterError, match="waits for no blind signature"):
        own.finish(bytes(256))


def test_an_opt_out_erases_the_token(ledger):
    own = finished(ledger)
    ledger.opt_out(NOTICE.digest)
    assert ledger.blind_token(NOTICE.digest).token is None
    with pytest.raises(BudgetError, match="opted out"):
        own.blinded()


def direct(defence=""):
    """A task without a shuffler, of 1,000 values."""
    rules = blind_collection(defence=defence)
    return sv.Task("direct", sv.Histogram(range(1000), "affine"), 1.0, collection=rules)


@pytest.mark.parametrize("defence", ["", "seeds"])
def test_without_a_shuffler_a_message_begins_with_the_token(tmp_path, defence):
    """All messages have one length; the seed is that of the token, or drawn where it may be."""
    notice = codec.publish(direct(defence))
    lengths, fixed = set(), []
    for value in (0, 999, "outside"):
        with DiskLedger(tmp_path / str(value)) as ledger:
            token = finished(ledger, notice).token()
            client = Client(notice, ledger)
            message = client.answer(value)
            assert client.resend() == message
        assert message[:288] == token.to_bytes()
        lengths.add(len(message))
        expected = token.seed_draw(notice.fingerprint, 0)
        fixed.append(message[288 + 44 : 288 + 52] == expected.to_bytes(8, "little"))
    assert lengths == {288 + 44 + 10}
    assert fixed == [defence == "seeds"] * 3


def test_without_a_token_the_value_of_a_direct_task_is_not_looked_at(ledger):
    with pytest.raises(AccessError, match="needs a blind token"):
        Client(direct("seeds"), ledger).answer(Untouchable())
    assert ledger.entries() == []


def test_a_longitudinal_task_has_no_blind_tokens():
    with pytest.raises(ParameterError, match="`issuer` must be left out of a longitudinal task"):
        sv.Task("task", PLAN, 2.0, distinct=2, collection=blind_collection())
