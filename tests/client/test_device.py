"""A device from fetching to delivery, over a network that fails in the ways networks do."""

import signal
import socket
import subprocess
import sys
import textwrap
from math import inf, nan
from time import monotonic

import pytest

import sottovoce as sv
from client.clock import Clock
from client.serving import Collecting, free_port, serving
from client.values import Untouchable
from sottovoce.client.client import Client
from sottovoce.client.device import MAX_RETRY_AFTER, MAX_WAIT, Device, Flushed
from sottovoce.client.ledger import DiskLedger
from sottovoce.client.outbox import MAX_WAITING, Posting
from sottovoce.core import coin
from sottovoce.encodings.holds import Holds
from sottovoce.encodings.sample import Sample
from sottovoce.errors import (
    AccessError,
    BudgetError,
    MismatchError,
    ParameterError,
    StateError,
    UnavailableError,
)
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.oue import OUE
from sottovoce.plans.frequencies.tracking import Tracking
from sottovoce.plans.itemsets.set_questions import ask_which
from sottovoce.tasks.budget import Spend, SpendingWindow
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.question import Question
from sottovoce.tasks.round import Round
from sottovoce.wire import codec

PETS = sv.Task("pets", sv.Histogram(["cat", "dog", "fish"]), epsilon=1.0)
OPEN = sv.Task("open", PETS.plan, 1.0, collection=Collection())
ENROLLED = sv.Task("enrolled", PETS.plan, 1.0, collection=Collection(enrolment=True))
WHERE = sv.Task("where", Tracking(["home", "office"], 9), 2.0, distinct=2)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def ledger(tmp_path, clock):
    return DiskLedger(tmp_path / "ledger", clock=clock)


@pytest.fixture
def collecting():
    return Collecting(PETS, OPEN, ENROLLED, WHERE)


@pytest.fixture
def url(collecting):
    with serving(collecting) as address:
        yield address


def test_an_answer_arrives_and_is_done(url, ledger, collecting):
    device = Device(url, ledger, delay=0.0)
    message = device.answer("pets", "dog")
    assert device.flush() == Flushed(sent=1, refused=0, waiting=0)
    assert collecting.messages == [message]
    assert device.flush() == Flushed(0, 0, 0)
    assert sv.answer(PETS, collecting.messages).estimate.users == 1
    (report,) = ledger.queue()
    assert (report.name, report.state, report.message) == ("pets", "sent", message)


def test_a_collector_that_was_down_gets_the_same_bytes_once(ledger, clock):
    port, collecting = free_port(), Collecting(PETS)
    device = Device(f"http://127.0.0.1:{port}", ledger, delay=0.0)
    message = device.answer(codec.document(PETS), "dog")
    for _ in range(3):
        assert device.flush() == Flushed(0, 0, waiting=1)
        clock.time += 1000
    with serving(collecting, port):
        assert device.flush() == Flushed(1, 0, 0)
    assert collecting.messages == [message]
    assert ledger.spent == 1.0


def test_an_acknowledgement_that_got_lost_is_made_up_for_by_the_same_bytes(
    url, ledger, clock, collecting
):
    """The collector has the report, the device does not know: it sends again and hears of a
    duplicate.
    """
    device = Device(url, ledger, delay=0.0)
    device.answer("pets", "dog")
    proper, collecting.post = collecting.post, lambda body: (proper(body), (503, {}, b""))[1]
    assert device.flush().waiting == 1
    collecting.post = proper
    clock.time += 1000
    assert device.flush() == Flushed(1, 0, 0)
    assert len(collecting.messages) == 1
    assert collecting.bodies[0] == collecting.bodies[1]


def test_a_busy_collector_is_left_alone_for_as_long_as_it_says(url, ledger, clock, collecting):
    device = Device(url, ledger, delay=0.0)
    device.answer("pets", "dog")
    device.answer("where", "home")
    collecting.scripted = [(429, {"Retry-After": "500"}, b"")]
    asked = len(collecting.requests)
    assert device.flush() == Flushed(0, 0, waiting=2)
    assert len(collecting.requests) == asked + 1, "one refusal is enough for all"
    waiting = next(report for report in ledger.queue() if report.attempts)
    assert 1500.0 <= waiting.due <= 1530.0
    clock.time = 1499.0
    assert device.flush() == Flushed(1, 0, waiting=1)
    clock.time = 1530.0
    assert device.flush() == Flushed(1, 0, 0)


def test_waits_grow_to_an_hour_and_never_end(ledger, clock):
    device = Device(f"http://127.0.0.1:{free_port()}", ledger, delay=0.0)
    device.answer(codec.document(PETS), "dog")
    for attempt in range(30):
        assert device.flush() == Flushed(0, 0, 1)
        (report,) = device.waiting()
        assert (report.attempts, report.reason) == (attempt + 1, "unreachable")
        longest = min(60 * 2**attempt, MAX_WAIT)
        assert longest / 2 <= report.due - clock.time <= longest
        assert device.flush() == Flushed(0, 0, 1)
        assert device.waiting() == [report], "what is not due is not tried"
        clock.time = report.due


def test_a_collector_may_ask_for_a_day_and_no_more(url, ledger, clock, collecting):
    device = Device(url, ledger, delay=0.0)
    device.answer("pets", "dog")
    collecting.scripted = [(503, {"Retry-After": "999999999"}, b"")]
    device.flush()
    (report,) = device.waiting()
    assert report.reason == "busy"
    assert MAX_RETRY_AFTER <= report.due - clock.time <= MAX_RETRY_AFTER + 30


def test_what_waits_and_why_survives_a_restart(tmp_path, clock):
    address = f"http://127.0.0.1:{free_port()}"
    with DiskLedger(tmp_path / "l", clock=clock) as ledger:
        device = Device(address, ledger, delay=0.0)
        device.answer(codec.document(PETS), "dog")
        device.flush()
        before = device.waiting()
    with DiskLedger(tmp_path / "l", clock=clock) as ledger:
        assert Device(address, ledger).waiting() == before
        assert before[0].attempts == 1


def test_force_sends_what_is_not_due(url, ledger):
    device = Device(url, ledger, delay=1e6)
    device.answer("pets", "dog")
    assert device.flush() == Flushed(0, 0, 1)
    assert device.flush(force=True) == Flushed(1, 0, 0)


def test_messages_wait_a_random_while(url, tmp_path, clock):
    waits = []
    for number in range(20):
        ledger = DiskLedger(tmp_path / f"{number}", clock=clock)
        Device(url, ledger, delay=3600.0).answer("pets", "dog")
        waits.append(ledger.queue()[0].due - clock.time)
    assert all(0 <= wait <= 3600 for wait in waits)
    assert len(set(waits)) == 20
    assert max(waits) - min(waits) > 360


def test_a_message_waits_up_to_a_minute_unless_the_application_says_otherwise(url, tmp_path, clock):
    waits = []
    for number in range(20):
        ledger = DiskLedger(tmp_path / f"{number}", clock=clock)
        Device(url, ledger).answer("pets", "dog")
        waits.append(ledger.queue()[0].due - clock.time)
    assert all(0 <= wait <= 60 for wait in waits)
    assert max(waits) - min(waits) > 6


@pytest.mark.parametrize("delay", [-1.0, nan, inf])
def test_an_impossible_delay_is_refused(ledger, delay):
    with pytest.raises(ParameterError, match="`delay`"):
        Device("https://collector.example", ledger, delay=delay)


def test_a_clock_set_back_does_not_hold_messages_up(url, ledger, clock):
    device = Device(url, ledger, delay=10.0)
    device.answer("pets", "dog")
    clock.time = 5.0
    assert device.flush().sent == 1


def test_windows_refuse_before_anything_is_queued_and_a_clock_set_back_does_not_help(
    url, tmp_path, clock
):
    ledger = DiskLedger(tmp_path / "l", windows=[SpendingWindow(3600, 9.0, 1)], clock=clock)
    device = Device(url, ledger, delay=0.0)
    device.answer("pets", "dog")
    for time in (1000.0, 0.0, 4599.0):
        clock.time = time
        with pytest.raises(BudgetError, match="try again later"):
            device.answer("where", "home")
    assert len(ledger.queue()) == 1
    clock.time = 4600.0
    device.answer("where", "home")


def test_a_report_refused_for_good_is_dropped_and_one_to_retry_is_not(
    url, ledger, clock, collecting
):
    device = Device(url, ledger, delay=0.0)
    device.answer("pets", "dog")
    collecting.refusal = {"index": 0, "code": "not-now", "retry": True}
    assert device.flush() == Flushed(0, 0, 1)
    collecting.refusal = {"index": 0, "code": "too-late", "retry": False}
    clock.time += 1000
    assert device.flush() == Flushed(0, 1, 0)
    (report,) = ledger.queue()
    assert (report.state, report.reason, report.attempts) == ("refused", "too-late", 2)
    assert collecting.bodies[0] == collecting.bodies[1]


def test_a_strangers_page_loses_nothing(url, ledger, clock, collecting):
    """Between the device and the collector sits a hotel that answers everything itself."""
    device = Device(url, ledger, delay=0.0)
    device.answer("pets", "dog")
    for reply in (
        (200, {}, b"<html>log in</html>"),
        (302, {"Location": "http://hotel.example/"}, b""),
    ):
        collecting.scripted = [reply]
        assert device.flush() == Flushed(0, 0, 1)
        assert device.waiting()[0].reason == "unexpected"
        clock.time += 1000
    assert device.flush() == Flushed(1, 0, 0)


def test_every_message_travels_alone(url, ledger, collecting):
    device = Device(url, ledger, delay=0.0)
    for number in range(3):
        collecting.ask("where", Round(number, WHERE.opening.ask))
        device.answer("where", "home")
    assert device.flush() == Flushed(3, 0, 0)
    assert [len(body["reports"]) for body in collecting.bodies] == [1, 1, 1]
    assert ledger.spent == 2.0


def test_a_full_queue_refuses_before_charging(url, ledger):
    for number in range(MAX_WAITING):
        ledger.answer(Spend(f"{number}", 0.0), lambda: b"m", Posting("x", url))
    with pytest.raises(BudgetError, match="wait for the network"):
        Device(url, ledger).answer("pets", "dog")
    assert ledger.spent == 0


def test_only_enrolled_tasks_see_the_token(url, ledger, collecting):
    device = Device(url, ledger, token="a token", delay=0.0)
    for task in ("pets", "open", "enrolled"):
        device.answer(task, "dog")
    device.flush()
    assert [body.get("tokens") for body in collecting.bodies] == [None, None, ["a token"]]
    digest = codec.publish(ENROLLED).digest
    assert ledger.coin(digest) == coin.enrolled_bytes("a token", digest)


def test_an_enrolled_task_is_not_answered_without_a_token(url, ledger):
    with pytest.raises(AccessError, match="no token"):
        Device(url, ledger).answer("enrolled", "dog")
    assert ledger.spent == 0


def test_the_owner_is_asked_and_may_say_no(url, ledger):
    heard = []

    def consent(notice, text):
        heard.append((notice.name, text))
        return len(heard) > 1

    device = Device(url, ledger, consent=consent)
    with pytest.raises(BudgetError, match="has not agreed"):
        device.answer("pets", "dog")
    assert ledger.spent == 0
    assert ledger.queue() == []
    device.answer("pets", "dog")
    assert heard[0][0] == "pets"
    assert "epsilon 1" in heard[0][1]


def test_a_task_that_does_not_ask_now_costs_nothing(url, ledger, collecting):
    for state, asked in (("closing", True), ("sealed", True), ("finished", False), ("open", False)):
        collecting.state = state
        collecting.rounds["pets"] = codec.document(PETS.opening) if asked else None
        with pytest.raises(StateError):
            Device(url, ledger).answer("pets", "dog")
    assert ledger.spent == 0


def test_a_collector_that_lies_about_the_task_gets_no_answer(url, ledger, collecting):
    dearer = sv.Task("pets", PETS.plan, 5.0)
    digest = codec.publish(PETS).digest
    pinned = {"pets": sv.Accepts(digest=digest)}
    collecting.documents["pets"] = codec.document(dearer)
    with pytest.raises(MismatchError, match="another digest"):
        Device(url, ledger, accepts=pinned).answer("pets", "dog")
    with pytest.raises(MismatchError, match="another digest"):
        Device(url, ledger, accepts=pinned).answer(codec.document(dearer), "dog")
    body = codec.canonical(codec.document(dearer)).encode()
    collecting.scripted = [(200, {"ETag": f'"{digest}"'}, body)]
    with pytest.raises(MismatchError):
        Device(url, ledger).answer("pets", "dog")
    assert ledger.spent == 0


def test_a_round_of_another_task_is_not_answered(url, ledger, collecting):
    collecting.scripted = []
    good = collecting.get

    def lying(path, headers):
        return (
            good("/v1/tasks/where/round", headers)
            if path.endswith("/round")
            else good(path, headers)
        )

    collecting.get = lying
    with pytest.raises(MismatchError):
        Device(url, ledger).answer("pets", "dog")
    assert ledger.spent == 0


def test_a_value_outside_the_domain_is_sent_and_charged_as_any_other(url, ledger, collecting):
    said = []
    device = Device(url, ledger, delay=0.0, notify=said.append)
    message = device.answer("pets", "bird")
    assert device.flush() == Flushed(1, 0, 0)
    assert collecting.messages == [message]
    assert ledger.spent == 1.0
    assert said == ["a value must be one of the 3 categories of the task"]


def test_fetching_needs_the_network(ledger):
    with pytest.raises(UnavailableError):
        Device(f"http://127.0.0.1:{free_port()}", ledger).answer("pets", "dog")
    assert ledger.spent == 0


def test_opting_out_stops_everything_that_has_not_left(url, ledger, collecting):
    device = Device(url, ledger, delay=0.0)
    device.answer("pets", "dog")
    device.flush()
    device.answer("where", "home")
    device.opt_out()
    assert device.flush(force=True) == Flushed(0, 0, 0)
    assert len(collecting.messages) == 1
    for task in ("pets", "where", "enrolled"):
        with pytest.raises(BudgetError, match="opted out"):
            Device(url, ledger, token="t").answer(task, "dog")
    assert ledger.spent == 3.0


def test_two_processes_that_share_a_ledger_deliver_every_report_once(url, tmp_path, collecting):
    """Both answer and both flush: each task was charged once and counted once."""
    path = tmp_path / "shared"
    script = f"""
        import sottovoce as sv
        from sottovoce.client.device import Device
        from sottovoce.errors import BudgetError

        device = Device({url!r}, sv.Ledger({str(path)!r}))
        for task, value in (("pets", "dog"), ("where", "home")):
            try:
                device.answer(task, value)
            except BudgetError:
                pass
            device.flush(force=True)
        """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    processes = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait() for process in processes] == [0, 0]
    ledger = DiskLedger(path)
    assert ledger.spent == 3.0
    assert sorted(report.state for report in ledger.queue()) == ["sent", "sent"]
    assert sorted(collecting.messages) == sorted(report.message for report in ledger.queue())


@pytest.mark.parametrize("moment", ["before it is sent", "after it is sent"])
def test_a_kill_around_sending_neither_loses_nor_doubles_a_report(
    url, tmp_path, collecting, moment
):
    path = tmp_path / "killed"
    script = f"""
        import os, signal, sottovoce as sv
        from sottovoce.client.device import Device
        from sottovoce.client.route import DirectRoute
        from sottovoce.client.transport import CollectorApi

        class Dying(DirectRoute):
            def send(self, *arguments):
                if {moment == "before it is sent"}:
                    os.kill(os.getpid(), signal.SIGKILL)
                super().send(*arguments)
                os.kill(os.getpid(), signal.SIGKILL)

        route = Dying(CollectorApi({url!r}))
        device = Device({url!r}, sv.Ledger({str(path)!r}), delay=0.0, route=route)
        device.answer("pets", "dog")
        device.flush()
        """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False)
    assert done.returncode == -signal.SIGKILL
    ledger = DiskLedger(path)
    assert Device(url, ledger).flush() == Flushed(1, 0, 0)
    assert collecting.messages == [ledger.queue()[0].message]
    assert ledger.spent == 1.0


# --- what the application and the owner have agreed to ---


def test_the_owner_agrees_to_what_was_shown(url, ledger, collecting):
    device = Device(url, ledger, delay=0.0)
    device.answer("pets", "dog")
    more = sv.Task("pets", sv.Histogram(["cat", "dog", "fish", "newt"]), epsilon=1.0)
    collecting.documents["pets"] = codec.document(more)
    collecting.ask("pets", more.opening)
    with pytest.raises(MismatchError, match="`domain` has changed; call agree"):
        device.answer("pets", "dog")
    notice = device.notice("pets")
    assert "one of 4 possible answers" in device.explain(notice)
    dearer = sv.Task("pets", more.plan, epsilon=2.0)
    collecting.documents["pets"] = codec.document(dearer)
    collecting.ask("pets", dearer.opening)
    device.agree(notice)
    with pytest.raises(MismatchError, match="`epsilon` has changed"):
        device.answer("pets", "dog")
    assert ledger.spent == 1.0
    device.agree(device.notice("pets"))
    device.answer("pets", "dog")
    assert ledger.spent == 3.0


def test_the_owner_is_asked_in_the_language_of_the_device(url, ledger):
    shown = []
    consent = lambda notice, text: shown.append(text) or True  # noqa: E731
    device = Device(url, ledger, delay=0.0, consent=consent, language="fr")
    device.answer("pets", "dog")
    assert "Cet appareil a d\u00e9pens\u00e9 0 sur 10" in shown[0]
    assert device.explain(device.notice("pets")).startswith("Votre appareil n\u2019envoie rien")
    with pytest.raises(ParameterError, match="`language` must be one of en, de, es, fr, it, pt"):
        Device(url, ledger, language="French")


def test_looking_remembers_nothing(url, ledger):
    device = Device(url, ledger)
    device.explain(device.notice("pets"))
    assert ledger.meaning(url, "pets") is None


def test_each_collector_has_its_own_memory(url, ledger):
    other = Collecting(sv.Task("pets", sv.Histogram(["a", "b"]), epsilon=1.0))
    Device(url, ledger).answer("pets", "dog")
    with serving(other) as elsewhere:
        Device(elsewhere, ledger).answer("pets", "a")
    assert ledger.spent == 2.0


def test_a_task_that_was_not_agreed_to_is_refused_before_the_owner_is_asked(url, ledger):
    asked = []

    def consent(notice, text):
        asked.append(notice)
        return True

    accepts = {"pets": sv.Accepts(epsilon=0.5)}
    with pytest.raises(MismatchError, match=r"accepts at most 0\.5"):
        Device(url, ledger, consent=consent, accepts=accepts).answer("pets", Untouchable())
    assert asked == []


# --- tracking ---


def test_a_round_of_its_own_is_not_answered(url, ledger, collecting):
    """Another number, another share, another width, another mechanism."""
    ask = PETS.opening.ask
    wide = Question(OUE(1.0, 3))
    for asked in (Round(7, ask), Round(0, ask, high=5), Round(0, wide), Round(1, wide)):
        collecting.ask("pets", asked)
        with pytest.raises(MismatchError):
            Device(url, ledger).answer("pets", Untouchable())
    assert ledger.entries() == []


LADDER = sv.Task("foods", sv.TopItems([f"item {number}" for number in range(40)], 2), 1.0)


def test_a_later_round_stays_within_what_the_task_states(ledger):
    """Three rounds, reports of ten bytes, asked for by sampling or by size."""
    candidates = ((0,), (1,), (2,), (3,))
    good = ask_which(1.0, 40, 2, candidates)
    hidden = Question(OUE(1.0, 6), Sample(40, 2, candidates))
    held = Question(GRR(1.0, 2), Holds(40, 3))
    other = (Round(3, good), Round(1, hidden), Round(1, held), Round(65_535, good))
    for asked in other:
        with pytest.raises(MismatchError, match="the task"):
            Client(LADDER, ledger).answer(Untouchable(), asked=asked)
    assert ledger.entries() == []
    Client(LADDER, ledger).answer(["item 3"], asked=Round(2, good))


def test_witnesses_show_the_same_round_or_nothing_is_answered(url, ledger, collecting):
    witness = Collecting(PETS, WHERE)
    with serving(witness) as mirror:
        device = Device(url, ledger, delay=0.0, witnesses=[mirror])
        collecting.ask("where", Round(3, WHERE.opening.ask))
        with pytest.raises(MismatchError, match="a witness shows another round"):
            device.answer("where", Untouchable())
        witness.ask("where", Round(3, WHERE.opening.ask))
        device.answer("where", "home")
        witness.documents["pets"] = codec.document(sv.Task("pets", PETS.plan, 2.0))
        with pytest.raises(MismatchError, match="another task"):
            device.answer("pets", Untouchable())
    with pytest.raises(UnavailableError):
        device.answer("pets", Untouchable())
    assert ledger.spent == 2.0


def test_one_witness_is_a_list_of_one(ledger):
    with pytest.raises(ParameterError, match="`witnesses` must be a list"):
        Device("https://collector.example", ledger, witnesses="https://mirror.example")


@pytest.mark.parametrize("url", ["http://collector.example", "ftp://collector.example"])
def test_messages_travel_protected(ledger, url):
    with pytest.raises(ParameterError, match="`url` must begin with https://"):
        Device(url, ledger)
    with pytest.raises(ParameterError, match="`url` must begin with https://"):
        Device("https://collector.example", ledger, witnesses=[url])


@pytest.mark.parametrize("timeout", [0, -1.0, float("nan"), float("inf")])
def test_an_impossible_timeout_is_refused(ledger, timeout):
    with pytest.raises(ParameterError, match="`timeout`"):
        Device("https://collector.example", ledger, timeout=timeout)


def test_one_deadline_holds_for_every_exchange(ledger):
    """Collector, witness and outbox: a server that accepts and says nothing is left in time."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        device = Device(address, ledger, delay=0.0, timeout=0.2)
        begun = monotonic()
        with pytest.raises(UnavailableError):
            device.notice("pets")
        device.answer(codec.document(PETS), "dog")
        assert device.flush() == Flushed(0, 0, waiting=1)
        with serving(Collecting(WHERE)) as url:
            watched = Device(url, ledger, witnesses=[address], timeout=0.2)
            with pytest.raises(UnavailableError):
                watched.answer("where", Untouchable())
        assert monotonic() - begun < 10  # of the 30 seconds that each would wait otherwise


# --- outages ---

HOUR = 3600.0
DAY = 24 * HOUR


class Outage(Collecting):
    """A collector that is up and down as a function of the clock."""

    def __init__(self, clock, is_up, *tasks):
        super().__init__(*tasks)
        self.clock = clock
        self.is_up = is_up

    def post(self, body):
        return super().post(body) if self.is_up(self.clock()) else (503, {}, b"")


OUTAGES = {
    "an hour": lambda now: now >= HOUR,
    "two hours": lambda now: now >= 2 * HOUR,
    "a day": lambda now: now >= DAY,
    "a week": lambda now: now >= 7 * DAY,
    "three quarters of the time": lambda now: now % 2000 < 500,
}


@pytest.mark.parametrize("outage", OUTAGES)
def test_nothing_is_lost_in_an_outage(tmp_path, outage):
    """Devices that flush until nothing waits: the collector gets all reports, each once."""
    clock = Clock(0.0)
    collecting = Outage(clock, OUTAGES[outage], PETS)
    with serving(collecting) as address:
        sent = []
        for number in range(3):
            with DiskLedger(tmp_path / str(number), clock=clock) as ledger:
                sent.append(Device(address, ledger).answer(codec.document(PETS), "dog"))
        end = 7 * DAY + 3 * HOUR
        ledgers = [DiskLedger(tmp_path / str(number), clock=clock) for number in range(3)]
        devices = [Device(address, ledger) for ledger in ledgers]
        while clock.time < end and any(device.waiting() for device in devices):
            due = min(report.due for device in devices for report in device.waiting())
            clock.time = max(clock.time + 60, due)
            for device in devices:
                device.flush()
        for ledger in ledgers:
            ledger.close()
    assert sorted(collecting.messages) == sorted(sent)
    assert len(sent) == 3


def test_a_collector_that_is_not_there_for_a_week_gets_the_report_when_it_is_back(ledger, clock):
    port = free_port()
    device = Device(f"http://127.0.0.1:{port}", ledger, delay=0.0)
    message = device.answer(codec.document(PETS), "dog")
    end = clock.time + 7 * DAY
    while clock.time < end:
        assert device.flush() == Flushed(0, 0, 1)
        clock.time = device.waiting()[0].due
    collecting = Collecting(PETS)
    with serving(collecting, port):
        assert device.flush() == Flushed(1, 0, 0)
    assert collecting.messages == [message]
