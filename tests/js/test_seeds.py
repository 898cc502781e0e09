"""Tasks whose tokens fix hash seeds, in JavaScript: a device in Node and one in Chromium make
messages that the collector takes, straight or through hops.  The bytes are in ``seeds.json``.
"""

import pytest

import sottovoce as sv
from client.serving import serving
from client.shuffling import Chain, ShuffledCollecting, blind_collection, issuer
from collector.people import published
from sottovoce.collector.admission import admit, admit_opened
from sottovoce.collector.tickets import Ticket
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.wire import codec
from sottovoce.wire.tokens import Token

CHAIN = Chain()
PLAN = sv.Histogram(range(1000), "affine")
DIRECT = sv.Task("direct", PLAN, 1.0, collection=blind_collection(defence="seeds"))
SHUFFLED = CHAIN.task("mixed", blind_collection(defence="seeds"), PLAN, against_users=6.0)
IN_PAGE = """
async ([name, given]) => (await import("/clients/js/support/shuffled.js"))[name](given)
"""


def text_of(task):
    return codec.canonical(codec.document(task))


def answered(run, task, job, **given):
    """The answer of a new device that ``run`` runs; the issuer signs its number."""
    blinded, _ = run("beginToken", text_of(task))
    signature = issuer().sign(bytes.fromhex(blinded)).hex()
    return run(job, {"text": text_of(task), "value": 7, "signature": signature, **given})


def check_direct(run):
    answer = answered(run, DIRECT, "answerDirectly")
    message = bytes.fromhex(answer["message"])
    assert answer["message"] == answer["again"]
    assert message[:288].hex() == answer["token"]
    admitted = admit(published(DIRECT), [message], ())
    assert not admitted.codes
    [offer] = admitted.offers
    seed = Token.from_bytes(message[:288]).seed_draw(codec.publish(DIRECT).fingerprint, 0)
    assert offer.data[0].tobytes()[44:52] == seed.to_bytes(8, "little")


def check_shuffled(run):
    answer = answered(run, SHUFFLED, "answerWithToken", keys=CHAIN.given_as_hex(SHUFFLED))
    token, envelopes = CHAIN.open(bytes.fromhex(answer["message"]), SHUFFLED)
    held = published(SHUFFLED)
    tickets = [Ticket.of_blind_token(token, held)]
    assert not admit_opened(held, 0, [envelopes], tickets).codes


@pytest.mark.parametrize("check", [check_direct, check_shuffled])
def test_a_device_in_node_uses_the_seed_of_its_token(worker, check):
    assert isinstance(DIRECT.opening.ask.mechanism, AffineResponse)
    check(worker.run)


@pytest.mark.parametrize("check", [check_direct, check_shuffled])
def test_a_device_in_a_browser_uses_the_seed_of_its_token(tabs, check):
    page = tabs()
    check(lambda name, given: page.evaluate(IN_PAGE, [name, given]))


def test_a_device_buys_its_token_and_sends_to_the_collector(worker):
    collecting = ShuffledCollecting(CHAIN, DIRECT)
    with serving(collecting) as url:
        base = {"url": url, "value": 7, "clock": 1000, "name": "direct"}
        said = worker.run("answerShuffled", {**base, "token": "mine", "delay": 50})
        without = worker.run("answerShuffled", base)
    assert said["refused"] is None
    assert said["flushed"] == {"sent": 1, "refused": 0, "waiting": 0}
    assert without["refused"][0] == "AccessError"
    assert without["charges"] == []
    assert [asked["token"] for asked in collecting.asked_for_tokens] == ["mine"]
    [message] = collecting.messages
    assert not admit(published(DIRECT), [message], ()).codes
    assert all("mine" not in str(body) for body in collecting.bodies), "not beside the report"
