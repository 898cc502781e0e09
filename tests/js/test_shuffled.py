"""Shuffled tasks in JavaScript: the same documents, promises, refusals and bytes as in Python."""

import pytest

import sottovoce as sv
from client.serving import serving
from client.shuffling import (
    LABELS,
    PLAN,
    Chain,
    FirstHop,
    ShuffledCollecting,
    base64url,
    blind_collection,
    issuer,
)
from sottovoce.accounting import amplification
from sottovoce.accounting.blanket import Blanket
from sottovoce.client.accepts import changed_field, meaning_of
from sottovoce.client.client import Client
from sottovoce.client.ledger import DiskLedger
from sottovoce.client.sealing import Sealing
from sottovoce.client.spending import spending
from sottovoce.client.transport import RoundKeys
from sottovoce.errors import ParameterError, SottovoceError
from sottovoce.mechanisms.grr import GRR
from sottovoce.tasks.budget import ConditionalSpend, Spend
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.question import Question
from sottovoce.tasks.round import Round
from sottovoce.wire import codec, statement, tokens
from sottovoce.wire.round_keys import SignedKey
from sottovoce.wire.shuffled_message import MessageFormat, seal_context
from sottovoce.wire.tokens import Token

CHAIN = Chain(("https://mix-a.example.org", "https://mix-b.example.org"))
TASK = CHAIN.task(collection=Collection(seconds=3600))
ENROLLED = CHAIN.task("enrolled", blind_collection())
KEY = "A" * 43


def text_of(task):
    return codec.canonical(codec.document(task))


def keys_of(task, number=0):
    """Return the keys of a round with all signatures, as JavaScript is given them."""
    return CHAIN.given_as_hex(task, number)


# --- documents and promises ---


def shuffled(plan, epsilon, **changes):
    """Return a task that promises what any shuffle keeps."""
    stated = {"central": epsilon, "against_users": epsilon, "users": 1000, "fakes": 50}
    return sv.Task("task", plan, epsilon, shuffle=CHAIN.shuffle(**(stated | changes)))


PLANS = {
    kind: (sv.Histogram(LABELS, mechanism=kind), 2.0)
    for kind in ("grr", "affine", "olh", "blh", "rmp", "subset", "oue", "sue", "the", "hadamard")
} | {
    "bloom": (sv.Histogram(LABELS, mechanism="bloom"), 2.0),
    "a choice": (sv.Marginals({"a": ["x", "y", "z"], "b": range(5), "c": ["p", "q"]}), 3.0),
    "numbers": (sv.Mean(0.0, 1.0), 2.0),
}


@pytest.mark.parametrize("plan", PLANS)
def test_both_languages_compute_the_same_promises(worker, plan):
    takes_fakes = plan not in ("bloom", "numbers")
    task = shuffled(*PLANS[plan], fakes=50 if takes_fakes else 0)
    blanket = task.opening.ask.blanket
    shuffle = task.shuffle
    given = worker.run("promises", text_of(task))
    assert given["share"] == pytest.approx(blanket.share, rel=1e-12)
    assert given["overlap"] == pytest.approx(blanket.overlap, rel=1e-12)
    assert given["epsilonLocal"] == blanket.epsilon_local
    if blanket.overlap > 0.25:  # devices use the generic bound, because the sums take long
        blanket = Blanket.generic(blanket.epsilon_local)
    for name, users in (("central", shuffle.users), ("againstUsers", 1)):
        batch = blanket.batch(users, shuffle.fakes)
        expected = amplification.epsilon(blanket, batch, shuffle.delta)
        assert given[name] == pytest.approx(expected, rel=1e-9)


def overstating(**changes):
    document = codec.document(TASK)
    document["shuffle"] |= changes
    return codec.canonical(document)


SEARCH = sv.TopItems([str(number) for number in range(64)], 4)
FINDING = sv.Task(
    "items",
    SEARCH,
    4.0,
    shuffle=CHAIN.shuffle(fakes=0, against_users=4.0, central=0.18),
)


def promising(central):
    document = codec.document(FINDING)
    document["shuffle"]["central"] = central
    return codec.canonical(document)


CHANGED_DOCUMENTS = {
    "a search that promises what all its rounds keep": promising("0.18"),
    "a search that promises what only its opening keeps": promising("0.13"),
    "a search that promises nothing": promising("4.0"),
    "too small a central epsilon": overstating(central="0.3"),
    "too small an epsilon against users": overstating(against_users="0.5"),
    "too few users": overstating(users=20_000),
    "too few fakes": overstating(fakes=100),
    "too small a delta": overstating(delta="1e-30"),
    "no hops": overstating(hops=[]),
    "an address in clear": overstating(
        hops=[{"kind": "hop", "url": "http://mix.example.org", "key": KEY}]
    ),
    "a short key": overstating(key="A" * 42),
    "a key that is not canonical": overstating(key="A" * 42 + "B"),
    "an unknown field": overstating(cover=3),
    "a delta of one": overstating(delta="1.0"),
    "a decimal that is not the shortest": overstating(central="0.50"),
    "one user": overstating(users=1, central="6.0"),
    "as it is": text_of(TASK),
    "larger promises": overstating(central="0.6", against_users="2.0"),
    "with an issuer": text_of(ENROLLED),
    "with enrolment": text_of(TASK).replace('"enrolment":false', '"enrolment":true'),
    "a short issuer": text_of(ENROLLED).replace('"issuer":"', '"issuer":"A'),
}


ACCEPTED_DOCUMENTS = (
    "a search that promises what all its rounds keep",
    "a search that promises nothing",
    "as it is",
    "larger promises",
    "with an issuer",
)


@pytest.mark.parametrize("change", CHANGED_DOCUMENTS)
def test_both_languages_refuse_the_same_documents(worker, change):
    text = CHANGED_DOCUMENTS[change]
    try:
        codec.notice(codec.parse(text))
        expected = None
    except SottovoceError as error:
        expected = type(error).__name__
    refused = worker.run("refusedTask", text)
    assert (refused and refused[0]) == expected
    assert (expected is None) == (change in ACCEPTED_DOCUMENTS)


def test_the_statement_is_the_same(worker):
    for task in (TASK, ENROLLED, CHAIN.task(hops=CHAIN.shuffle().hops[:1]), shuffled(PLAN, 3.0)):
        ledger = DiskLedger(":memory:")
        charge = {"task": "old", "name": "old", "epsilon": "6.0", "time": 0}
        conditional = {"epsilon": "0.5", "delta": "1e-09"}
        ledger.answer(Spend("old", 6.0, conditional=ConditionalSpend(0.5, 1e-9)), lambda: b"m")
        facts = statement.statement(codec.publish(task)) | {"device": spending(ledger)}
        given = {"text": text_of(task), "charges": [{**charge, "conditional": conditional}]}
        assert worker.run("explainTask", given) == statement.explain(facts)


MEANINGS = {
    "not shuffled": sv.Task("browser", PLAN, 6.0),
    "one hop": CHAIN.task(hops=CHAIN.shuffle().hops[:1]),
    "another order": CHAIN.task(hops=CHAIN.shuffle().hops[::-1]),
    "more for the collector": CHAIN.task(central=0.6),
    "less for the collector": CHAIN.task(central=0.49),
    "more for others": CHAIN.task(against_users=1.1),
    "a larger delta": CHAIN.task(delta=1e-8),
    "more users": CHAIN.task(users=200_000),
    "another key of the collector": CHAIN.task(key=KEY),
    "tokens": CHAIN.task(collection=blind_collection()),
    "as it was": CHAIN.task(),
}


@pytest.mark.parametrize("before", ["as it was", "tokens", "not shuffled"])
def test_both_languages_remember_the_same_of_a_shuffle(worker, before):
    old = MEANINGS[before]
    for change, now in MEANINGS.items():
        meanings = [meaning_of(codec.publish(task)) for task in (old, now)]
        field = changed_field(*meanings, frozenset())
        given = {"before": text_of(old), "now": text_of(now)}
        refused = worker.run("refusedChange", given)
        assert bool(refused) == (field is not None), (before, change)
        assert refused is None or "`shuffle` has changed" in refused[1]


# --- sealed messages ---


def opened(message, task):
    """Return the token and the one envelope of a message that JavaScript sealed."""
    token, envelopes = CHAIN.open(bytes.fromhex(message), task)
    notice = codec.publish(task)
    assert envelopes[:1] == b"\2"
    assert envelopes[12:44] == notice.fingerprint
    assert len(envelopes) == 60 + notice.opening.width
    return token, envelopes


def test_a_device_in_javascript_seals_and_python_opens(worker):
    given = {"text": text_of(TASK), "keys": keys_of(TASK), "value": "7"}
    answers = [worker.run("sealAnswer", given) for _ in range(3)]
    for answer in answers:
        assert answer["message"] == answer["again"]
        opened(answer["message"], TASK)
    assert len({answer["message"] for answer in answers}) == 3


def test_a_device_in_a_browser_seals_and_python_opens(tabs):
    page = tabs()
    given = {"text": text_of(TASK), "keys": keys_of(TASK), "value": "7"}
    answer = page.evaluate(
        'async (given) => (await import("/clients/js/support/shuffled.js")).sealAnswer(given)',
        given,
    )
    assert answer["message"] == answer["again"]
    opened(answer["message"], TASK)


def test_a_device_in_python_seals_and_javascript_opens(worker):
    sealing = CHAIN.sealing(TASK)
    message = Client(TASK, ":memory:").answer("7", sealing=sealing)
    notice = codec.publish(TASK)
    context = seal_context(notice, notice.opening, notice.fingerprint)
    given = {
        "messages": [message.hex()],
        "privateKeys": [pair.private_key.hex() for pair in CHAIN.pairs(notice.fingerprint, 0)],
        "context": {
            "digest": notice.fingerprint.hex(),
            "round": 0,
            "hops": 2,
            "messageBytes": context.message_bytes,
        },
    }
    (plain,) = worker.run("openAll", given)
    token, envelopes = CHAIN.open(message, TASK)
    message_format = MessageFormat.of(notice, notice.opening)
    assert message_format.split(bytes.fromhex(plain)) == (token, envelopes)


def test_keys_that_are_not_signed_for_this_round_are_refused(worker):
    proper = keys_of(TASK)
    keys, signatures = proper["keys"], proper["setSignatures"]
    later = keys_of(TASK, 1)
    zero = bytes(64).hex()
    wrong = {
        "of another round": later,
        "of another task": keys_of(ENROLLED),
        "of another hop": proper | {"keys": [keys[1], keys[0], keys[2]]},
        "with a wrong signature": proper | {"keys": [[keys[0][0], zero], *keys[1:]]},
        "one too few": proper | {"keys": keys[:2]},
        "none": proper | {"keys": []},
        "another set is signed": proper | {"setSignatures": later["setSignatures"]},
        "one hop has not signed": proper | {"setSignatures": signatures[:1]},
        "nobody has signed": proper | {"setSignatures": []},
        "hops in another order": proper | {"setSignatures": signatures[::-1]},
        "signed key by key": proper | {"setSignatures": [mark for _, mark in keys[:2]]},
    }
    for name, given in wrong.items():
        assert worker.run("refusedKeys", {"text": text_of(TASK), "keys": given}), name
        with pytest.raises(SottovoceError):
            python_sealing(given)
    assert worker.run("refusedKeys", {"text": text_of(TASK), "keys": proper}) is None


def python_sealing(given):
    keys = tuple(
        SignedKey(hop, bytes.fromhex(key), bytes.fromhex(mark))
        for hop, (key, mark) in enumerate(given["keys"])
    )
    signatures = tuple(bytes.fromhex(signature) for signature in given["setSignatures"])
    notice = codec.publish(TASK)
    return Sealing(notice, notice.opening, RoundKeys(keys, signatures))


def test_a_token_is_kept_before_it_leaves_and_its_coin_is_that_of_python(worker):
    text = text_of(ENROLLED)
    first, again = worker.run("beginToken", text)
    assert first == again
    signature = issuer().sign(bytes.fromhex(first)).hex()
    given = {"text": text, "keys": keys_of(ENROLLED), "value": "7", "signature": signature}
    answer = worker.run("answerWithToken", given)
    assert not answer["isPending"], "the factor is erased"
    fingerprint = codec.publish(ENROLLED).fingerprint
    token, _ = opened(answer["message"], ENROLLED)
    assert token.hex() == answer["token"]
    tokens.verify(Token.from_bytes(token), issuer().public_key, fingerprint)
    assert answer["coin"] == Token.from_bytes(token).coin_bytes(fingerprint).hex()


# --- a device over HTTP ---


@pytest.fixture
def served():
    hop, relay = FirstHop(), FirstHop()
    with serving(hop) as hop_url, serving(relay) as relay_url:
        chain = Chain((hop_url, "https://mix-b.example.org"))
        plain = chain.task("browser", Collection(seconds=3600))
        enrolled = chain.task("enrolled", blind_collection())
        collecting = ShuffledCollecting(chain, plain, enrolled)
        with serving(collecting) as url:
            yield chain, collecting, hop, relay, url, relay_url, plain, enrolled


def test_a_device_posts_to_the_first_hop_or_to_a_relay(worker, served):
    chain, collecting, hop, relay, url, relay_url, plain, enrolled = served
    base = {"url": url, "value": "7", "clock": 1000, "delay": 50, "token": "mine"}
    for server, task, more in ((hop, enrolled, {}), (relay, plain, {"relay": relay_url})):
        said = worker.run("answerShuffled", {**base, "name": task.name, **more})
        assert said["refused"] is None
        assert said["flushed"] == {"sent": 1, "refused": 0, "waiting": 0}
        assert said["charges"][0]["conditional"] == {"epsilon": "0.5", "delta": "1e-09"}
        notice = codec.publish(task)
        expected = f"/v1/tasks/{base64url(notice.fingerprint)}/rounds/0/messages"
        assert server.paths[-1] == expected
        token, _ = chain.open(server.messages[-1], task)
        if task is enrolled:
            tokens.verify(Token.from_bytes(token), issuer().public_key, notice.fingerprint)
    assert len(collecting.asked_for_tokens) == 1
    assert collecting.bodies == []


def test_a_message_waits_as_long_as_the_round_is_open(worker, served):
    _, collecting, _, _, url, _, _, _ = served
    collecting.opened = 400
    given = {"url": url, "name": "browser", "value": "7", "clock": 1000}
    waits = [worker.run("answerShuffled", given)["waits"][0] for _ in range(4)]
    assert all(0 <= wait <= 3000 for wait in waits)
    assert max(waits) > 60
    collecting.opened = None
    assert worker.run("answerShuffled", given)["waits"][0] <= 60


def test_a_round_that_breaks_the_promise_is_refused(worker):
    """The document keeps it; a round of the same number that asks otherwise does not."""
    FINDING.shuffle.check(FINDING.opening.ask.blanket)
    plain = CHAIN.task(fakes=0, against_users=6.0, central=0.56)
    proper = plain.opening
    weaker = Round(0, Question(GRR(6.0, 2)))
    for asked, expected in ((proper, None), (weaker, "ParameterError")):
        given = {"text": text_of(plain), "round": codec.document(asked)}
        refused = worker.run("refusedRound", given)
        assert (refused and refused[0]) == expected
        if expected:
            assert "`central` of the shuffle promises" in refused[1]
    notice = codec.publish(plain)
    with pytest.raises(ParameterError, match="`central` of the shuffle promises"):
        notice.check(weaker)
    for ask in SEARCH.search.later_asks(4.0):
        given = {"text": text_of(FINDING), "round": codec.document(Round(1, ask))}
        assert worker.run("refusedRound", given) is None


def test_wrong_keys_missing_tokens_and_a_busy_collector_cost_nothing(worker, served):
    chain, collecting, hop, _, url, _, _, _ = served
    given = {"url": url, "name": "browser", "value": "7", "clock": 1000}
    refusals = []
    collecting.keys = lambda keys: keys[::-1]
    refusals.append(worker.run("answerShuffled", given))
    collecting.keys = lambda keys: chain.signed(bytes(32), 0)
    refusals.append(worker.run("answerShuffled", given))
    collecting.keys = lambda keys: keys
    refusals.append(worker.run("answerShuffled", {**given, "name": "enrolled"}))
    collecting.are_keys_ready = False
    refusals.append(worker.run("answerShuffled", given))
    names = [said["refused"][0] for said in refusals]
    assert names == ["CodecError", "MismatchError", "AccessError", "StateError"]
    assert all(said["charges"] == [] for said in refusals)
    assert hop.requests == []
