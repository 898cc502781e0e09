"""Routes: how messages travel, one contract whatever is on the way."""

import pytest

import sottovoce as sv
from client.serving import Collecting, serving
from client.shuffling import LABELS, Chain, ShuffledCollecting
from sottovoce.client.device import Device, Flushed
from sottovoce.client.ledger import DiskLedger
from sottovoce.client.outbox import Report
from sottovoce.client.route import DirectRoute, Route, ShuffledRoute
from sottovoce.client.transport import CollectorApi, Receipt, RefusedReport, ShufflerApi
from sottovoce.errors import BudgetError, UnavailableError
from sottovoce.tasks.collection import Collection

PETS = sv.Task("pets", sv.Histogram(["cat", "dog", "fish"]), epsilon=1.0)
ENROLLED = sv.Task("enrolled", PETS.plan, 1.0, collection=Collection(enrolment=True))


class Relay(Route):
    """A route by way of somebody else, who keeps what comes in."""

    def __init__(self):
        self.carried = []
        self.receipt = Receipt(1, 0)
        self.is_open = True

    @property
    def url(self):
        return "https://relay.example"

    def send(self, report):
        if not self.is_open:
            raise UnavailableError("closed")
        self.carried.append((report.name, report.message, report.token))
        return self.receipt


@pytest.fixture
def collecting():
    return Collecting(PETS, ENROLLED)


@pytest.fixture
def url(collecting):
    with serving(collecting) as address:
        yield address


@pytest.fixture
def ledger(tmp_path):
    return DiskLedger(tmp_path / "ledger")


def report(url, **settings):
    stated = {"name": "pets", "token": None, "message": b"message", "fingerprint": b""} | settings
    return Report("digest", 3, url=url, due=0.0, attempts=0, state="waiting", reason="", **stated)


@pytest.mark.parametrize("token", [None, "mine"])
def test_the_direct_route_posts_one_message_to_the_collector(url, collecting, token):
    route = DirectRoute(CollectorApi(url + "/"))
    assert route.url == url
    assert route.send(report(url, token=token)) == Receipt(1, 0)
    assert route.send(report(url, token=token)) == Receipt(0, 1)
    assert collecting.messages == [b"message"]
    assert [body.get("tokens") for body in collecting.bodies] == [token and [token]] * 2


def test_the_shuffled_route_posts_one_sealed_message_to_the_first_hop(url, collecting):
    """The task is named by its whole fingerprint, and no token goes beside the message."""
    route = ShuffledRoute(ShufflerApi(url + "/"))
    assert route.url == url
    sealed = report(url, fingerprint=bytes(32), token="mine")
    assert route.send(sealed) == Receipt(1, 0)
    assert route.send(sealed) == Receipt(0, 1)
    assert collecting.bodies == [{"reports": ["bWVzc2FnZQ=="]}] * 2
    assert collecting.requests[0][:2] == ("POST", f"/v1/tasks/{'A' * 43}/rounds/3/messages")


def test_a_message_that_was_erased_is_not_sent(url, collecting):
    for route in (DirectRoute(CollectorApi(url)), ShuffledRoute(ShufflerApi(url))):
        with pytest.raises(BudgetError, match="erased"):
            route.send(report(url, message=None))
    assert collecting.requests == []


def test_a_device_fetches_from_the_collector_and_sends_by_its_route(url, ledger, collecting):
    relay = Relay()
    device = Device(url, ledger, token="mine", delay=0.0, route=relay)
    messages = [device.answer("pets", "dog"), device.answer("enrolled", "dog")]
    assert device.flush() == Flushed(2, 0, 0)
    assert relay.carried == [("pets", messages[0], None), ("enrolled", messages[1], "mine")]
    assert collecting.bodies == []


def test_a_message_leaves_by_the_route_it_was_made_for(url, ledger, collecting):
    relay = Relay()
    relayed = Device(url, ledger, delay=0.0, route=relay)
    relayed.answer("pets", "dog")
    assert Device(url, ledger).flush(force=True) == Flushed(0, 0, 0)
    assert collecting.bodies == []
    assert relayed.flush() == Flushed(1, 0, 0)


def test_a_sealed_message_leaves_by_the_route_it_was_made_for(ledger):
    chain = Chain(("https://mix.example.org",))
    task = chain.task("mixed")
    with serving(ShuffledCollecting(chain, task)) as url:
        relay = Relay()
        relay.is_open = False
        relayed = Device(url, ledger, delay=0.0, route=relay)
        message = relayed.answer("mixed", LABELS[0])
        assert Device(url, ledger).waiting() == []
        assert Device(url, ledger).flush(force=True) == Flushed(0, 0, 0)
        relay.is_open = True
        assert relayed.flush(force=True) == Flushed(1, 0, 0)
    assert relay.carried == [("mixed", message, None)]


def test_a_route_that_is_closed_or_refuses_is_treated_as_a_collector_is(url, ledger):
    relay = Relay()
    device = Device(url, ledger, delay=0.0, route=relay)
    device.answer("pets", "dog")
    relay.is_open = False
    assert device.flush() == Flushed(0, 0, waiting=1)
    relay.is_open = True
    relay.receipt = Receipt(0, 0, (RefusedReport(0, "too-late", retry=False),))
    assert device.flush(force=True) == Flushed(0, refused=1, waiting=0)
    assert ledger.queue()[0].reason == "too-late"
