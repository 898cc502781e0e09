"""The issuer: one signature per enrolment token and task, repeatable, and limited for hops."""

import pytest

from collector.people import counting, text
from collector.shuffled import Chain, fingerprint_of, shuffled_for
from sottovoce.collector import access, issuing, key_files
from sottovoce.core.base64url import text_of
from sottovoce.errors import ParameterError
from sottovoce.web.problems import RequestError
from sottovoce.wire import tokens
from sottovoce.wire.fake_tokens import FakeTokenRequest

DAY = 86_400


@pytest.fixture
def issuer(collector):
    return key_files.make_issuer(collector.folder)


@pytest.fixture
def chain():
    return Chain.of(2)


@pytest.fixture
def task(collector, chain, issuer):
    known = text_of(issuer.public_key.data)
    task = shuffled_for(collector, chain, issuer=known, fakes=3)
    collector.create(text(task), toml=False)
    return task


def buy(collector, issuer, task, token, pending):
    published, now = collector.find(task.name), collector.now
    request = (token, pending.blinded)
    return issuing.sign_for_device(collector.store, issuer, published, request, now)


def test_an_enrolment_token_buys_one_token_and_the_request_can_be_repeated(collector, issuer, task):
    (token,) = access.issue(collector.store, access.ENROLMENT, collector.now)
    pending = tokens.blind(issuer.public_key, fingerprint_of(task))
    signature = buy(collector, issuer, task, token, pending)
    assert buy(collector, issuer, task, token, pending) == signature
    tokens.verify(tokens.finalize(pending, signature), issuer.public_key, fingerprint_of(task))
    other = tokens.blind(issuer.public_key, fingerprint_of(task))
    with pytest.raises(RequestError, match="bought a signature on another number") as refused:
        buy(collector, issuer, task, token, other)
    assert refused.value.code == "token-refused"


def test_a_token_buys_one_signature_in_every_task(collector, chain, issuer, task):
    second = shuffled_for(collector, chain, name="second", issuer=task.collection.issuer, fakes=3)
    collector.create(text(second), toml=False)
    (token,) = access.issue(collector.store, access.ENROLMENT, collector.now)
    for each in (task, second):
        pending = tokens.blind(issuer.public_key, fingerprint_of(each))
        tokens.finalize(pending, buy(collector, issuer, each, token, pending))


@pytest.mark.parametrize("scope", [None, access.ANALYST, access.SESSION])
def test_strangers_buy_nothing(collector, issuer, task, scope):
    token = access.issue(collector.store, scope, collector.now)[0] if scope else "x" * 43
    pending = tokens.blind(issuer.public_key, fingerprint_of(task))
    with pytest.raises(RequestError, match="unknown, expired or revoked"):
        buy(collector, issuer, task, token, pending)


def test_an_expired_token_buys_nothing(collector, issuer, task, clock):
    batch = access.TokenBatch(1, DAY)
    (token,) = access.issue(collector.store, access.ENROLMENT, collector.now, batch=batch)
    clock.pass_(DAY + 1)
    pending = tokens.blind(issuer.public_key, fingerprint_of(task))
    with pytest.raises(RequestError, match="expired"):
        buy(collector, issuer, task, token, pending)


def test_a_number_that_cannot_be_signed_spends_nothing(collector, issuer, task):
    (token,) = access.issue(collector.store, access.ENROLMENT, collector.now)
    published = collector.find(task.name)
    for number in (bytes(256), b"\xff" * 256):
        with pytest.raises(ParameterError, match="`blinded` must be a number above 0"):
            issuing.sign_for_device(
                collector.store, issuer, published, (token, number), collector.now
            )
    pending = tokens.blind(issuer.public_key, fingerprint_of(task))
    tokens.finalize(pending, buy(collector, issuer, task, token, pending))


def test_a_task_without_an_issuer_gives_no_tokens(collector, issuer):
    collector.create(text(counting()), toml=False)
    with pytest.raises(RequestError, match="no blind tokens"):
        issuing.sign_for_device(
            collector.store, issuer, collector.find("count"), ("token", bytes(256)), 0
        )


def test_a_hop_gets_as_many_tokens_as_it_adds_fakes(collector, chain, issuer, task):
    pending = [tokens.blind(issuer.public_key, fingerprint_of(task)) for _ in range(5)]
    numbers = [each.blinded for each in pending]

    def ask(blinded, hop=0, by=0):
        request = FakeTokenRequest(fingerprint_of(task), 0, hop, tuple(blinded))
        signature = request.sign(chain.signing[by].private_key)
        published = collector.find(task.name)
        return issuing.sign_for_hop(collector.store, issuer, published, request, signature)

    first = ask(numbers[:2])
    assert ask(numbers[:2]) == first, "the same again is the same"
    for each, signature in zip(pending, ask(numbers[:3]), strict=False):
        tokens.finalize(each, signature)
    with pytest.raises(RequestError, match="at most 3 tokens") as refused:
        ask(numbers[2:4])
    assert refused.value.code == "token-refused"
    assert ask(numbers[:3])[:2] == first, "a refusal spends nothing"
    assert len(ask(numbers[3:], hop=1, by=1)) == 2, "the other hop has its own"
    with pytest.raises(RequestError) as refused:
        ask(numbers[:1], hop=0, by=1)
    assert refused.value.code == "bad-signature"
    with pytest.raises(RequestError, match="no such hop"):
        ask(numbers[:1], hop=2)


def test_nothing_that_is_kept_links_a_person_with_a_blind_token(collector, issuer, task, tmp_path):
    (token,) = access.issue(collector.store, access.ENROLMENT, collector.now)
    pending = tokens.blind(issuer.public_key, fingerprint_of(task))
    signature = buy(collector, issuer, task, token, pending)
    finished = tokens.finalize(pending, signature)
    collector.store.close()
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("collector.db*"))
    for secret in (token.encode(), pending.blinded, signature, finished.nonce, pending.factor):
        assert secret not in kept
