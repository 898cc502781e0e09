"""The ledger: nothing is charged twice, lost, refilled or half written, whoever shares its file or
dies over it.
"""

import signal
import subprocess
import sys
import textwrap
from math import inf, nan

import pytest

import sottovoce as sv
from client.clock import Clock
from sottovoce.client.client import Client
from sottovoce.client.device import Device
from sottovoce.client.ledger import MESSAGE_DAYS, DiskLedger, tag_of
from sottovoce.client.outbox import Posting
from sottovoce.errors import BudgetError, ParameterError
from sottovoce.tasks.budget import ConditionalSpend, Spend, SpendingWindow

TASK = sv.Task("pets", sv.Histogram(["cat", "dog", "fish"]), epsilon=1.0)


def charge(ledger, task, epsilon=1.0, **more):
    ledger.answer(Spend(task, epsilon, **more), lambda: b"message of " + task.encode())


def refused(ledger, task, epsilon=1.0, **more):
    spent = ledger.spent
    with pytest.raises(BudgetError):
        charge(ledger, task, epsilon, **more)
    return ledger.spent == spent and ledger.message(task, more.get("round")) is None


def test_a_window_bounds_the_number_of_charges():
    clock = Clock()
    ledger = DiskLedger(":memory:", windows=[SpendingWindow(60, 5.0, 2)], clock=clock)
    charge(ledger, "a", 0.1)
    clock.time += 30
    charge(ledger, "b", 0.1)
    assert refused(ledger, "c", 0.1)
    clock.time += 29.5
    assert refused(ledger, "c", 0.1)
    clock.time += 0.5
    charge(ledger, "c", 0.1)
    assert refused(ledger, "d", 0.1)


def test_a_window_bounds_the_sum_of_charges_in_decimals():
    ledger = DiskLedger(":memory:", windows=[SpendingWindow(60, 0.3, 9)], clock=Clock())
    for task in "abc":
        charge(ledger, task, 0.1)
    assert refused(ledger, "d", 1e-30)


def test_every_window_and_the_cap_hold_at_once():
    clock = Clock()
    ledger = DiskLedger(
        ":memory:",
        cap=3.0,
        windows=[SpendingWindow(10, 1.0, 9), SpendingWindow(100, 2.0, 9)],
        clock=clock,
    )
    charge(ledger, "a")
    assert refused(ledger, "b")
    clock.time += 10
    charge(ledger, "b")
    clock.time += 10
    assert refused(ledger, "c")
    clock.time += 90
    charge(ledger, "c")
    clock.time += 1000
    assert refused(ledger, "d")


def test_a_clock_set_back_refills_nothing():
    clock = Clock(1000.0)
    ledger = DiskLedger(":memory:", windows=[SpendingWindow(60, 1.0, 1)], clock=clock)
    charge(ledger, "a")
    for time in (0.0, -1e9, 939.0, 1059.0):
        clock.time = time
        assert refused(ledger, "b")
    clock.time = 1060.0
    charge(ledger, "b")
    clock.time = 5.0
    assert refused(ledger, "c")


def test_windows_are_added_and_never_taken_away(tmp_path):
    clock = Clock()
    DiskLedger(tmp_path / "ledger", windows=[SpendingWindow(60, 1.0, 1)], clock=clock).close()
    ledger = DiskLedger(tmp_path / "ledger", windows=[SpendingWindow(90, 5.0, 3)], clock=clock)
    assert ledger.windows == (SpendingWindow(60, 1.0, 1), SpendingWindow(90, 5.0, 3))
    assert (
        DiskLedger(tmp_path / "ledger", windows=[SpendingWindow(60.0, 1, 1)], clock=clock).windows
        == ledger.windows
    )


@pytest.mark.parametrize("cap", [-1.0, nan, inf])
def test_an_impossible_cap_is_refused(cap):
    with pytest.raises(ParameterError):
        DiskLedger(":memory:", cap=cap)


def test_epsilons_add_exactly_however_small():
    ledger = DiskLedger(":memory:", cap=1.0)
    charge(ledger, "a", 1.0)
    assert refused(ledger, "b", 1e-300)


def test_equal_and_different_charges_are_added_exactly_and_listed_with_their_conditions():
    ledger = DiskLedger(":memory:", cap=1.0)
    for number in range(7):
        charge(ledger, f"equal {number}", 0.1)
    shuffled = ConditionalSpend(0.01, 1e-9)
    charge(ledger, "shuffled", 0.2, conditional=shuffled)
    assert ledger.spent == 0.9
    assert [entry.conditional for entry in ledger.entries()] == [None] * 7 + [shuffled]
    assert refused(ledger, "too much", 0.11)
    charge(ledger, "just enough", 0.1)
    assert ledger.spent == 1.0


def test_a_message_that_cannot_be_made_costs_nothing():
    ledger = DiskLedger(":memory:")

    def fail():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ledger.answer(Spend("a", 1.0), fail)
    assert ledger.spent == 0
    charge(ledger, "a")


def test_a_longitudinal_charge_pays_for_every_round_once():
    ledger = DiskLedger(":memory:", cap=1.0)
    for number in (0, 1, 7):
        charge(ledger, "a", round=number, longitudinal=True)
        with pytest.raises(BudgetError, match="this round"):
            charge(ledger, "a", round=number, longitudinal=True)
    assert ledger.entries() == [Spend("a", 1.0)]


def test_a_task_that_is_not_longitudinal_is_answered_in_one_round_only():
    ledger = DiskLedger(":memory:")
    charge(ledger, "a", round=3)
    with pytest.raises(BudgetError, match="this task"):
        charge(ledger, "a", round=4)
    assert ledger.message("a") == ledger.message("a", 3) == b"message of a"
    assert ledger.message("a", 4) is None


def test_opting_out_keeps_what_was_sent_and_its_price():
    ledger = DiskLedger(":memory:")
    for task in ("sent", "waiting", "refused"):
        ledger.answer(Spend(task, 0.5), lambda: b"m", Posting(task, "here"))
    sent, _, unwanted = ledger.queue()
    ledger.outbox.settle(sent, "sent", 0.0)
    ledger.outbox.settle(unwanted, "refused", 0.0, "too-late")
    ledger.opt_out()
    assert [(one.task, one.state, one.reason, one.message) for one in ledger.queue()] == [
        ("sent", "sent", "", b"m"),
        ("refused", "refused", "too-late", None),
    ]
    assert ledger.spent == 1.5
    with pytest.raises(BudgetError, match="opted out"):
        charge(ledger, "new")


def test_a_tag_depends_on_secret_slot_and_index():
    tags = {
        tag_of(secret, slot, index)
        for secret in (b"a" * 32, b"b" * 32)
        for slot in (0, 1)
        for index in (0, 1, 256)
    }
    assert len(tags) == 12


def run(script, *arguments):
    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)])


@pytest.mark.parametrize("moment", ["before", "after the charge", "after the message", "after all"])
def test_a_kill_at_any_moment_neither_loses_nor_doubles_a_charge(tmp_path, moment):
    """Charge and message are one: a device dies with both on its disk or with neither."""
    script = """
        import os, signal, sys, sottovoce as sv
        from sottovoce.client.ledger import DiskLedger
        from sottovoce.client.outbox import Outbox, Posting

        path, moment = sys.argv[1:]

        def die(now):
            if now == moment:
                os.kill(os.getpid(), signal.SIGKILL)

        class Dying(DiskLedger):
            def answer(self, spend, make, posting=None):
                def dying():
                    die("after the charge")
                    return make()
                die("before")
                message = super().answer(spend, dying, posting)
                die("after all")
                return message

        class DyingOutbox(Outbox):
            def post(self, *arguments):
                die("after the message")
                super().post(*arguments)

        ledger = Dying(path)
        ledger.outbox.__class__ = DyingOutbox
        task = sv.Task("pets", sv.Histogram(["cat", "dog", "fish"]), epsilon=1.0)
        sv.Client(task, ledger).answer("dog", posting=Posting("pets", "here"))
        """
    path = tmp_path / "ledger"
    assert run(script, path, moment).wait() == -signal.SIGKILL
    client = Client(TASK, path)
    done = moment == "after all"
    assert client.ledger.spent == (1.0 if done else 0.0)
    assert len(client.ledger.queue()) == done
    message = client.resend() if done else client.answer("dog")
    assert client.ledger.spent == 1.0
    assert sv.answer(TASK, [message, client.resend()]).estimate.users == 1


def test_processes_that_share_a_ledger_share_its_cap(tmp_path):
    """Six processes try five tasks each under a cap for seven; all see the same seven."""
    script = """
        import sys, sottovoce as sv
        from sottovoce.errors import BudgetError

        ledger = sv.Ledger(sys.argv[1])
        for number in range(5):
            task = sv.Task(f"{sys.argv[2]} {number}", sv.Histogram(["a", "b"]), epsilon=1.0)
            try:
                sv.Client(task, ledger).answer("a")
            except BudgetError as refused:
                assert "only 0 is left" in str(refused)
        """
    path = tmp_path / "ledger"
    DiskLedger(path, cap=7.0).close()
    processes = [run(script, path, number) for number in range(6)]
    assert [process.wait() for process in processes] == [0] * 6
    ledger = DiskLedger(path)
    assert ledger.spent == 7.0
    assert all(ledger.message(entry.task) for entry in ledger.entries())


def test_processes_that_race_for_one_task_get_one_message(tmp_path):
    script = """
        import sys, sottovoce as sv
        from sottovoce.errors import BudgetError

        task = sv.Task("pets", sv.Histogram(["cat", "dog", "fish"]), epsilon=1.0)
        client = sv.Client(task, sys.argv[1])
        try:
            message = client.answer("cat")
        except BudgetError:
            message = client.resend()
        assert message == client.resend()
        """
    processes = [run(script, tmp_path / "ledger") for _ in range(6)]
    assert [process.wait() for process in processes] == [0] * 6
    assert DiskLedger(tmp_path / "ledger").spent == 1.0


def test_a_meaning_is_kept_by_collector_and_name():
    ledger = DiskLedger(":memory:")
    assert ledger.meaning("here", "pets") is None
    ledger.agree("here", "pets", "one")
    ledger.agree("there", "pets", "two")
    ledger.agree("here", "pets", "three")
    assert (ledger.meaning("here", "pets"), ledger.meaning("there", "pets")) == ("three", "two")
    assert ledger.meaning("here", "browser") is None


def test_an_answer_that_fails_leaves_no_meaning():
    ledger = DiskLedger(":memory:")

    def fail():
        ledger.agree("", "pets", "meaning")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ledger.answer(Spend("a", 1.0), fail)
    assert ledger.meaning("", "pets") is None


def test_a_message_that_arrived_is_erased_after_thirty_days_and_never_made_again(tmp_path):
    clock = Clock()
    with DiskLedger(tmp_path / "ledger", clock=clock) as ledger:
        client = Client(TASK, ledger)
        message = client.answer("dog", posting=Posting("pets", "here"))
        ledger.outbox.settle(ledger.queue()[0], "sent", clock())
    clock.time += MESSAGE_DAYS * 86_400 - 1
    with DiskLedger(tmp_path / "ledger", clock=clock) as ledger:
        assert Client(TASK, ledger).resend() == message
    clock.time += 1
    with DiskLedger(tmp_path / "ledger", clock=clock) as ledger:
        client = Client(TASK, ledger)
        with pytest.raises(BudgetError, match="arrived more than 30 days ago"):
            client.resend()
        with pytest.raises(BudgetError, match="already answered"):
            client.answer("dog")
    assert message[28:] not in (tmp_path / "ledger").read_bytes()


def test_a_ledger_that_stays_open_erases_messages_too():
    clock = Clock()
    ledger = DiskLedger(":memory:", clock=clock)
    Client(TASK, ledger).answer("dog", posting=Posting("pets", "here"))
    ledger.outbox.settle(ledger.queue()[0], "sent", clock())
    clock.time += MESSAGE_DAYS * 86_400
    Device("http://127.0.0.1:1", ledger).flush()
    assert [report.message for report in ledger.queue()] == [None]


def test_a_message_that_waits_is_kept_however_long(tmp_path):
    clock = Clock()
    with DiskLedger(tmp_path / "ledger", clock=clock) as ledger:
        message = Client(TASK, ledger).answer("dog", posting=Posting("pets", "here"))
    clock.time += 400 * 86_400
    with DiskLedger(tmp_path / "ledger", clock=clock) as ledger:
        assert Client(TASK, ledger).resend() == message


def test_a_ledger_closes_itself_at_the_end_of_its_block(tmp_path):
    with DiskLedger(tmp_path / "ledger") as ledger:
        charge(ledger, "a")
    with pytest.raises(BudgetError):
        charge(ledger, "b")
