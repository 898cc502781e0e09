"""A device from the document of a shuffled task to its first hop, over real sockets.

The collector and the hop are those of ``client.shuffling``.  Everything here goes by the interfaces
alone, so that other servers can take their place.
"""

import signal
import subprocess
import sys
import textwrap
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

import pytest

import sottovoce as sv
from client.clock import Clock
from client.serving import free_port, serving
from client.shuffling import (
    Chain,
    FirstHop,
    ShuffledCollecting,
    base64url,
    blind_collection,
    issuer,
)
from client.values import Untouchable
from sottovoce.client.device import DEFAULT_DELAY, Device, Flushed
from sottovoce.client.ledger import DiskLedger
from sottovoce.core import coin
from sottovoce.errors import (
    AccessError,
    BudgetError,
    MismatchError,
    ParameterError,
    SottovoceError,
    StateError,
)
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.round import Round
from sottovoce.wire import codec, tokens
from sottovoce.wire.tokens import Token

SECONDS = 3600


@dataclass
class World:
    """A collector with two shuffled tasks, its first hop and a relay, and where they listen."""

    chain: Chain
    collecting: ShuffledCollecting
    hop: FirstHop
    relay: FirstHop
    url: str
    relay_url: str
    plain: sv.Task  # anybody may answer
    enrolled: sv.Task  # with blind tokens

    def notice(self, name):
        return codec.publish(self.enrolled if name == "enrolled" else self.plain)


@contextmanager
def world():
    hop, relay = FirstHop(), FirstHop()
    with ExitStack() as stack:
        hop_url = stack.enter_context(serving(hop))
        relay_url = stack.enter_context(serving(relay))
        chain = Chain((hop_url, "https://mix-b.example.org"))
        plain = chain.task("browser", Collection(seconds=SECONDS))
        enrolled = chain.task("enrolled", blind_collection(seconds=SECONDS))
        collecting = ShuffledCollecting(chain, plain, enrolled)
        url = stack.enter_context(serving(collecting))
        yield World(chain, collecting, hop, relay, url, relay_url, plain, enrolled)


@pytest.fixture
def made():
    with world() as running:
        yield running


@pytest.fixture
def clock():
    return Clock(1_000_000.0)


@pytest.fixture
def ledger(tmp_path, clock):
    with DiskLedger(tmp_path / "ledger", cap=20.0, clock=clock) as opened:
        yield opened


# --- the way of a message ---


def test_a_sealed_message_arrives_at_the_first_hop_and_nowhere_else(made, ledger):
    device = Device(made.url, ledger, delay=0.0)
    message = device.answer("browser", "7")
    assert [report.url for report in device.waiting()] == [made.chain.urls[0]]
    assert device.flush() == Flushed(1, 0, 0)
    fingerprint = base64url(made.notice("browser").fingerprint)
    assert made.hop.paths == [f"/v1/tasks/{fingerprint}/rounds/0/messages"]
    assert made.hop.messages == [message]
    assert made.collecting.bodies == []
    token, envelopes = made.chain.open(message, made.plain)
    assert token == b""
    assert envelopes[:1] == b"\2"
    assert len(envelopes) == 60 + made.plain.opening.width


def test_a_lost_acknowledgement_repeats_exactly_the_sealed_bytes(made, ledger, clock):
    device = Device(made.url, ledger, delay=0.0)
    message = device.answer("browser", "7")
    proper, made.hop.post = made.hop.post, lambda body: (proper(body), (503, {}, b""))[1]
    assert device.flush().waiting == 1
    made.hop.post = proper
    clock.time += 1000
    assert Device(made.url, ledger).flush() == Flushed(1, 0, 0)
    assert made.hop.messages == [message]
    assert made.hop.bodies[0] == made.hop.bodies[1]


def test_an_answer_is_not_sealed_twice(made, ledger):
    device = Device(made.url, ledger, token="mine", delay=0.0)
    for name in ("browser", "enrolled"):
        message = device.answer(name, "7")
        with pytest.raises(BudgetError, match="already answered"):
            device.answer(name, Untouchable())
        assert ledger.message(made.notice(name).digest) == message


def test_codes_of_the_hop_are_followed(made, ledger, clock):
    device = Device(made.url, ledger, delay=0.0)
    device.answer("browser", "7")
    made.hop.refusal = {"index": 0, "code": "too-early", "retry": True}
    assert device.flush() == Flushed(0, 0, 1)
    made.hop.refusal = {"index": 0, "code": "too-late", "retry": False}
    clock.time += 1000
    assert device.flush() == Flushed(0, 1, 0)
    assert ledger.queue()[0].reason == "too-late"


def test_a_hop_that_is_down_holds_nothing_else_up(made, ledger):
    unreachable = Chain((f"http://127.0.0.1:{free_port()}",))
    down = unreachable.task("down")
    direct = sv.Task("direct", made.plain.plan, 1.0)
    collecting = ShuffledCollecting(unreachable, down, direct)
    with serving(collecting) as url:
        device = Device(url, ledger, delay=0.0)
        device.answer("down", "7")
        device.answer("direct", "7")
        assert device.flush() == Flushed(1, 0, waiting=1)
    (report,) = device.waiting()
    assert (report.name, report.reason) == ("down", "unreachable")


def test_a_relay_takes_the_place_of_the_first_hop(made, ledger):
    device = Device(made.url, ledger, delay=0.0, relay=made.relay_url + "/")
    message = device.answer("browser", "7")
    assert Device(made.url, ledger).flush() == Flushed(1, 0, 0), (
        "it leaves by the way it was made for"
    )
    fingerprint = base64url(made.notice("browser").fingerprint)
    assert made.relay.paths == [f"/v1/tasks/{fingerprint}/rounds/0/messages"]
    assert made.relay.messages == [message]
    assert made.hop.requests == []


@pytest.mark.parametrize(
    "relay", ["http://relay.example", "relay.example", "https://u@relay.example"]
)
def test_a_relay_needs_a_protected_address(ledger, relay):
    with pytest.raises(ParameterError, match="`relay`"):
        Device("https://collector.example", ledger, relay=relay)


def test_a_document_that_the_application_has_still_needs_the_keys(made, ledger):
    device = Device(made.url, ledger, delay=0.0)
    message = device.answer(codec.document(made.plain), "7")
    assert made.chain.open(message, made.plain)
    assert [path for _, path, _ in made.collecting.requests] == ["/v1/tasks/browser/rounds/0/keys"]


# --- keys ---

STRANGER = Chain(("https://mix-a.example.org", "https://mix-b.example.org"))
WRONG_KEYS = {
    "missing": lambda keys: keys[:-1],
    "none": lambda keys: (),
    "of a stranger": lambda keys: STRANGER.signed(bytes(32), 0),
    "with a wrong signature": lambda keys: (replace(keys[0], signature=bytes(64)), *keys[1:]),
    "of another hop": lambda keys: (keys[0], replace(keys[0], hop=1), keys[2]),
}


@pytest.mark.parametrize("wrong", WRONG_KEYS)
def test_wrong_keys_get_no_answer_and_cost_nothing(made, ledger, wrong):
    made.collecting.keys = WRONG_KEYS[wrong]
    with pytest.raises(SottovoceError):
        Device(made.url, ledger).answer("browser", Untouchable())
    assert ledger.entries() == []
    assert ledger.queue() == []


def test_keys_of_another_round_or_task_get_no_answer(made, ledger):
    fingerprint = made.notice("browser").fingerprint
    for other in ((fingerprint, 1), (made.notice("enrolled").fingerprint, 0)):
        made.collecting.keys = lambda keys, other=other: made.chain.signed(*other)
        with pytest.raises(MismatchError, match="not signed for this task, round and hop"):
            Device(made.url, ledger).answer("browser", Untouchable())
    assert ledger.entries() == []


def test_keys_that_are_not_there_yet_cost_nothing(made, ledger):
    made.collecting.are_keys_ready = False
    with pytest.raises(StateError):
        Device(made.url, ledger).answer("browser", Untouchable())
    assert ledger.entries() == []


def test_a_witness_must_show_the_same_keys(made, ledger):
    """Otherwise a collector could give every device a key of its own, and know it by that."""
    mirror = ShuffledCollecting(made.chain, made.plain, made.enrolled)
    with serving(mirror) as mirror_url:
        device = Device(made.url, ledger, delay=0.0, witnesses=[mirror_url])
        other = Chain(made.chain.urls)
        other.signing_keys = made.chain.signing_keys
        mirror.chain = other
        with pytest.raises(MismatchError, match="a witness shows other keys"):
            device.answer("browser", Untouchable())
        mirror.chain = made.chain
        device.answer("browser", "7")


def test_a_document_that_promises_too_much_gets_no_answer(made, ledger):
    document = codec.document(made.plain)
    document["shuffle"]["central"] = "0.3"
    made.collecting.documents["browser"] = document
    with pytest.raises(ParameterError, match="`central` of the shuffle promises"):
        Device(made.url, ledger).answer("browser", Untouchable())
    assert ledger.entries() == []


# --- tokens ---


def test_a_token_is_obtained_once_and_sent_under_the_last_layer(made, ledger):
    device = Device(made.url, ledger, token="mine", delay=0.0)
    message = device.answer("enrolled", "7")
    device.flush()
    (asked,) = made.collecting.asked_for_tokens
    assert asked["token"] == "mine"
    token, _ = made.chain.open(message, made.enrolled)
    notice = made.notice("enrolled")
    tokens.verify(Token.from_bytes(token), issuer().public_key, notice.fingerprint)
    assert "mine" not in str(made.hop.bodies)
    expected = Token.from_bytes(token).coin_bytes(notice.fingerprint)
    assert ledger.coin(notice.digest) == expected


def test_no_request_tells_the_coin_and_none_depends_on_it(made, tmp_path):
    """A device that the round does not ask fetches the same as one that it asks."""
    notice = made.notice("enrolled")
    half = Round(0, notice.opening.ask, high=1 << 63)
    made.collecting.documents["enrolled"]["opening"] = codec.document(half)
    half_task = codec.notice(made.collecting.documents["enrolled"])
    made.collecting.ask("enrolled", half)
    seen = {}
    for number in range(8):
        made.collecting.requests.clear()
        made.collecting.asked_for_tokens.clear()
        with DiskLedger(tmp_path / str(number)) as ledger:
            device = Device(made.url, ledger, token=f"device {number}", delay=0.0)
            try:
                device.answer("enrolled", "7")
                was_asked = True
            except MismatchError:
                was_asked = False
            device.flush(force=True)
            device_bytes = ledger.coin(half_task.digest)
        coins = (
            device_bytes,
            coin.round_coin(device_bytes, half_task.digest).to_bytes(8, "little"),
        )
        for secret in coins:
            sent = str(made.collecting.asked_for_tokens) + str(made.hop.bodies)
            assert base64url(secret) not in sent
            assert secret.hex() not in sent
        assert was_asked == half.asks(coin.round_coin(device_bytes, half_task.digest))
        paths = [(method, path) for method, path, _ in made.collecting.requests]
        assert seen.setdefault(was_asked, paths) == paths
    assert seen[True] == seen[False], "a coin decides nothing that the collector can see"


def test_without_an_enrolment_token_nothing_is_asked_of_the_issuer(made, ledger):
    with pytest.raises(AccessError, match="no token"):
        Device(made.url, ledger).answer("enrolled", Untouchable())
    assert made.collecting.asked_for_tokens == []
    assert ledger.entries() == []


def test_a_token_that_somebody_has_spent_gets_no_answer(made, tmp_path):
    for path in ("first", "second"):
        with DiskLedger(tmp_path / path) as ledger:
            device = Device(made.url, ledger, token="mine", delay=0.0)
            if path == "first":
                device.answer("enrolled", "7")
                continue
            with pytest.raises(AccessError, match="spent"):
                device.answer("enrolled", Untouchable())
            assert ledger.entries() == []


def test_the_owner_is_asked_before_the_issuer_hears_of_the_device(made, ledger):
    heard = []

    def consent(notice, text):
        heard.append(text)
        return False

    device = Device(made.url, ledger, token="mine", consent=consent)
    with pytest.raises(BudgetError, match="has not agreed"):
        device.answer("enrolled", Untouchable())
    assert made.collecting.asked_for_tokens == []
    assert "before the collector sees them" in heard[0]
    assert "1.65 (epsilon 0.5)" in heard[0]


MOMENTS = {
    "before the number leaves": "CollectorApi.blind_signature = die",
    "after the issuer has signed": """
proper = CollectorApi.blind_signature
def signed(*arguments):
    proper(*arguments)
    die()
CollectorApi.blind_signature = signed""",
    "after the token is kept": "Sealing.check = die",
    "while the message is sealed": "Client._indices = die",
    "before the message leaves": "ShufflerApi.send = die",
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_kill_between_token_and_delivery_neither_loses_nor_doubles_anything(
    made, tmp_path, moment
):
    path = tmp_path / "killed"
    script = f"""
import os, signal, sottovoce as sv
from sottovoce.client.client import Client
from sottovoce.client.device import Device
from sottovoce.client.sealing import Sealing
from sottovoce.client.transport import CollectorApi, ShufflerApi

def die(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)

{MOMENTS[moment]}
device = Device({made.url!r}, sv.Ledger({str(path)!r}), token="mine", delay=0.0)
device.answer("enrolled", "7")
device.flush()
"""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False)
    assert done.returncode == -signal.SIGKILL
    with DiskLedger(path) as ledger:
        device = Device(made.url, ledger, token="mine", delay=0.0)
        if not ledger.entries():
            device.answer("enrolled", "7")
        assert device.flush() == Flushed(1, 0, 0)
        assert ledger.spent == 6.0
        assert made.hop.messages == [ledger.queue()[0].message]
    numbers = {asked["blinded"] for asked in made.collecting.asked_for_tokens}
    assert len(numbers) == 1, "the issuer saw one number, however often"
    token, _ = made.chain.open(made.hop.messages[0], made.enrolled)
    tokens.verify(Token.from_bytes(token), issuer().public_key, made.notice("enrolled").fingerprint)


# --- when it leaves, and what the owner sees ---


def waits(made, tmp_path, clock, **settings):
    found = []
    for number in range(8):
        with DiskLedger(tmp_path / str(number), clock=clock) as ledger:
            Device(made.url, ledger, **settings).answer("browser", "7")
            found.append(ledger.queue()[0].due - clock.time)
    return found


def test_a_message_leaves_at_any_time_until_the_round_closes(made, tmp_path, clock):
    made.collecting.opened = int(clock.time) - 600
    found = waits(made, tmp_path, clock)
    assert all(0 <= wait <= SECONDS - 600 for wait in found)
    assert max(found) > DEFAULT_DELAY
    assert max(found) - min(found) > SECONDS / 30


def test_without_a_time_of_opening_the_delay_is_that_of_the_device(made, tmp_path, clock):
    assert max(waits(made, tmp_path, clock)) <= DEFAULT_DELAY


def test_an_application_may_say_how_long_messages_wait(made, tmp_path, clock):
    made.collecting.opened = int(clock.time)
    assert max(waits(made, tmp_path, clock, delay=5.0)) <= 5.0


@pytest.mark.parametrize(("ago", "longest"), [(SECONDS + 50, 0.0), (-9 * SECONDS, SECONDS)])
def test_a_wrong_clock_never_waits_longer_than_a_round(made, tmp_path, clock, ago, longest):
    made.collecting.opened = int(clock.time) - ago
    assert max(waits(made, tmp_path, clock)) <= longest


def test_the_owner_sees_both_accounts(made, ledger):
    device = Device(made.url, ledger, delay=0.0)
    device.answer("browser", "7")
    text = device.explain(device.notice("browser"))
    assert "This device has spent 6 of 20 so far." in text
    assert "collectors have learned at most epsilon 0.5 of it" in text
    (entry,) = ledger.entries()
    assert (entry.epsilon, entry.conditional.epsilon, entry.conditional.delta) == (6.0, 0.5, 1e-9)


def test_a_rehearsal_is_sealed_as_any_other_answer_and_costs_nothing(made, ledger):
    rehearsal = made.chain.task("rehearsal", Collection(sandbox=True))
    with serving(ShuffledCollecting(made.chain, rehearsal)) as url:
        message = Device(url, ledger, delay=0.0).answer("rehearsal", Untouchable())
    assert made.chain.open(message, rehearsal)
    assert (ledger.spent, ledger.entries()[0].conditional) == (0.0, None)


def test_an_opt_out_erases_what_has_not_left(made, ledger):
    device = Device(made.url, ledger, token="mine", delay=0.0)
    device.answer("enrolled", "7")
    device.opt_out()
    assert device.flush(force=True) == Flushed(0, 0, 0)
    assert made.hop.requests == []
    assert ledger.blind_token(made.notice("enrolled").digest).token is None
