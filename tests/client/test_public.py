"""A device that answers for several tables: the same messages whatever it holds, and public values
as they are.
"""

from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import sottovoce as sv
from client.values import Untouchable
from plans.tables.plans import collecting
from sottovoce.client import client as device
from sottovoce.client.accepts import Accepts
from sottovoce.client.client import Client
from sottovoce.client.ledger import DiskLedger
from sottovoce.core import coin
from sottovoce.domains.buckets import Buckets
from sottovoce.errors import BudgetError, MismatchError
from sottovoce.lab.seeded import SeededRng
from sottovoce.plans.tables.joint import Joint
from sottovoce.plans.tables.table import Table
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.notice import Notice
from sottovoce.tasks.round import Round
from sottovoce.wire import codec, envelope

MOST = 3
TABLES = {
    "users": {"columns": {"age": range(18, 30), "state": ["NY", "WA"]}},
    "homes": {"columns": {"rooms": range(1, 9)}},
    "trades": {"columns": {"amount": range(1, 6)}, "most": MOST, "rows": 2},
}
SHOP = sv.Task("shop", Joint(TABLES), epsilon=1.0)
NOTICE = codec.publish(SHOP)
OPEN = sv.Task(
    "open",
    Table(
        {"age": range(18, 30)},
        public={
            "os": ["iOS", "Android", "zebra-system"],
            "height": Buckets(0.0, 2.5, 25),
            "born": range(1900, 2020),
        },
        name="users",
    ),
    epsilon=1.0,
)


def person(trades, age=20):
    listed = [{"amount": 1 + place % 5} for place in range(trades)]
    return {"users": {"age": age, "state": "NY"}, "homes": {"rooms": 3}, "trades": listed}


PUBLIC = ("users.os", "users.height", "users.born")


def client(task=NOTICE, token=None, **options):
    accepts = Accepts(public=PUBLIC)
    return Client(task, ":memory:", token, **{"accepts": accepts, **options})


def envelopes(message, task=SHOP):
    return envelope.read([message], task.opening.width)


def test_messages_have_one_shape_whatever_is_held():
    """AT-9: number, lengths and fields for nobody's, one and all records, and for more than
    count.
    """
    shapes = set()
    for trades in (0, 1, MOST, MOST + 4):
        message = client().answer(person(trades))
        (read,) = envelopes(message)
        assert read.slots.tolist() == [0, 1, 2, 3]
        assert len({one.tobytes() for one in read.subjects}) == 1
        assert len({one.tobytes() for one in read.ids}) == 4
        shapes.add((len(message), len(read), read.flags, read.payloads.shape, read.public))
    assert len(shapes) == 1


def test_a_device_that_only_reports_what_is_there_has_another_shape(monkeypatch):
    """What the check of shapes is for."""
    message = client().answer(person(0))
    all_of_them = Round.addresses
    monkeypatch.setattr(Round, "addresses", lambda self, coins: all_of_them(self, coins)[:2])
    assert len(client().answer(person(0))) != len(message)


def test_which_layers_are_asked_follows_from_the_coin_alone():
    """Enrolled alike, two devices with other records are asked the same; the coin is public."""
    seen = set()
    for trades, age in ((0, 18), (1, 20), (MOST, 29)):
        (read,) = envelopes(client(token="anna").answer(person(trades, age)))
        seen.add(tuple(read.members.tolist()))
    assert len(seen) == 1
    kept = coin.enrolled_bytes("anna", NOTICE.digest)
    stated = SHOP.opening.addresses(lambda slot: coin.choice_coin(kept, 0, slot))
    assert seen == {tuple(address.member for address in stated)}


@pytest.mark.parametrize("method", ["hio", "ehio"])
def test_layers_are_picked_as_likely_as_stated_and_independently_for_every_report(method):
    """AT-9 and Q11: 20,000 coins, enumerated; chi-squared."""
    tables = {name: one for name, one in TABLES.items() if name != "homes"}
    plan = collecting(Joint(tables), method)
    slots = [slot for factor in plan.layout(1.0).factors for slot in factor.slots]
    opening = sv.Task("t", plan, 1.0).opening
    digests = [coin.enrolled_bytes(str(number), "t") for number in range(20_000)]
    picked = np.array(
        [
            [
                at.member
                for at in opening.addresses(lambda slot, kept=kept: coin.choice_coin(kept, 0, slot))
            ]
            for kept in digests
        ]
    )
    for slot, members in zip(slots, picked.T, strict=True):
        stated = [slot.chance(member) * len(members) for member in range(len(slot.family))]
        assert stats.chisquare(np.bincount(members, minlength=len(stated)), stated).pvalue > 1e-4
    for one, other in ((0, 1), (1, 2), (0, 2)):
        both = np.zeros((picked[:, one].max() + 1, picked[:, other].max() + 1))
        np.add.at(both, (picked[:, one], picked[:, other]), 1)
        assert stats.chi2_contingency(both).pvalue > 1e-4


def seeds_of(trades, people, monkeypatch):
    """The public seeds of so many devices with so many records, (people, slots)."""
    numbers = count(1000 * trades)
    monkeypatch.setattr(device, "SystemRng", lambda: SeededRng(next(numbers)))
    task = sv.Task("shop", collecting(Joint(TABLES), published=True), epsilon=1.0)
    notice, found = codec.publish(task), []
    for number in range(people):
        (read,) = envelopes(client(notice, f"{trades} {number}").answer(person(trades)), task)
        found.append(np.ascontiguousarray(read.payloads[:, :4]).view("<u4")[:, 0])
    return np.array(found)


def test_seeds_are_uniform_and_do_not_depend_on_what_is_held(monkeypatch):
    """AT-9: four reports of 250 devices without and with all records; other seeds for every report
    of a device.
    """
    none, full = (seeds_of(trades, 250, monkeypatch) for trades in (0, MOST))
    counts = np.array([np.bincount((seeds >> 28).ravel(), minlength=16) for seeds in (none, full)])
    assert stats.chisquare(counts.sum(axis=0)).pvalue > 1e-4
    assert stats.chi2_contingency(counts).pvalue > 1e-4
    for seeds in (none, full):
        assert all(len(set(row)) == 4 for row in seeds.tolist())
        between = np.corrcoef(seeds.T.astype(float))[np.triu_indices(4, 1)]
        assert np.abs(between).max() < 5 / np.sqrt(len(seeds))


def test_a_report_costs_its_part_of_all_records_whatever_will_be_asked():
    """AT-10: one, one and two records are four parts; no question is known when they are made."""
    for part in SHOP.opening.ask.parts:
        assert part.epsilon == 0.25
        assert {one.epsilon for one in part.members.mechanisms} == {0.25}
    assert SHOP.opening.epsilon == NOTICE.epsilon == 1.0


def test_a_second_collection_needs_a_budget_of_its_own(tmp_path):
    """AT-10: charged once, refused under a cap of one, and a retry resends the very bytes."""
    ledger = DiskLedger(tmp_path / "ledger", cap=1.0)
    first = Client(SHOP, ledger)
    message = first.answer(person(2))
    assert ledger.spent == 1.0
    with pytest.raises(BudgetError):
        Client(sv.Task("once more", Joint(TABLES), epsilon=1.0), ledger).answer(person(2))
    with pytest.raises(BudgetError, match="already answered"):
        first.answer(person(0))
    assert [first.resend(), Client(SHOP, ledger).resend()] == [message] * 2
    assert (ledger.spent, len(ledger.entries())) == (1.0, 1)


def open_person(**changes):
    return {"age": 20, "os": "iOS", "height": 1.75, "born": 1990, **changes}


def test_public_values_travel_beside_every_report_and_nothing_else_does():
    message = client(OPEN).answer(open_person())
    (read,) = envelopes(message, OPEN)
    text = b'{"users.born":1990,"users.height":"1.75","users.os":"iOS"}'
    assert read.public == (text,) * len(read)
    assert read.flags == envelope.SUBJECT | envelope.PUBLIC
    assert len(message) == len(read) * (
        envelope.VERSION_1.header_bytes + 16 + len(text) + OPEN.opening.width
    )
    OPEN.plan.domain.check_public(read.public[0])


def test_without_public_columns_nothing_is_public():
    (read,) = envelopes(client().answer(person(1)))
    assert (read.public, read.flags) == ((), envelope.SUBJECT | envelope.SLOT)
    assert SHOP.declares == ("subject",)
    assert OPEN.declares == ("subject", "public")


@given(
    st.integers(18, 29),
    st.sampled_from(["iOS", "Android", "zebra-system"]),
    st.floats(0, 2.5),
    st.integers(1900, 2019),
)
@settings(max_examples=40)
def test_a_collector_accepts_what_a_device_writes_and_it_does_not_depend_on_private_values(
    age, system, height, born
):
    public = {"os": system, "height": height, "born": born}
    found = []
    for private in (age, 18 + (age + 5) % 12):
        (read,) = envelopes(client(OPEN).answer({"age": private, **public}), OPEN)
        OPEN.plan.domain.check_public(read.public[0])
        found.append((read.public, read.payloads.shape))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "changes",
    [
        {"os": "quagga"},
        {"os": None},
        {"height": 2.6},
        {"height": "1.75"},
        {"born": 1899},
        {"more": "quagga"},
    ],
)
def test_an_impossible_public_value_is_replaced_by_a_random_one_and_never_named(changes):
    said = []
    own = client(OPEN, notify=said.append)
    (read,) = envelopes(own.answer(open_person(**changes)), OPEN)
    OPEN.plan.domain.check_public(read.public[0])
    assert b"quagga" not in read.public[0]
    assert own.ledger.spent == 1.0
    assert len(said) == 1
    assert "quagga" not in said[0]


UNDECLARED = [(OPEN, ["subject"]), (SHOP, ["subject", "public"])]


def redeclared(task, declares, **changes):
    """The document of a task that declares something else; no honest collector writes it."""
    return codec.parse(codec.canonical({**codec.document(task), "declares": declares, **changes}))


@pytest.mark.parametrize(("task", "declares"), UNDECLARED)
@pytest.mark.parametrize("sandbox", [False, True])
def test_a_public_part_that_is_not_declared_or_missing_is_refused_and_costs_nothing(
    task, declares, sandbox
):
    """A person was told what is sent as it is: neither more nor less leaves, in a rehearsal too."""
    changes = {"collection": codec.document(Collection(sandbox=True))} if sandbox else {}
    value = open_person() if task is OPEN else person(1)
    own = client(redeclared(task, declares, **changes))
    with pytest.raises(MismatchError, match="public part"):
        own.answer(value)
    assert (own.ledger.spent, own.ledger.entries()) == (0, [])
    with pytest.raises(BudgetError, match="has not answered"):
        own.resend()
    client(redeclared(task, list(task.declares), **changes)).answer(
        value
    )  # the same task, declared rightly


def test_a_device_that_does_not_compare_them_would_send_what_nobody_declared(monkeypatch):
    """What the check of declarations is for."""
    monkeypatch.setattr(Notice, "check_public", lambda self: None)
    (read,) = envelopes(client(redeclared(OPEN, ["subject"])).answer(open_person()), OPEN)
    assert b"iOS" in read.public[0]


def test_what_is_public_does_not_tell_that_a_private_value_was_outside():
    (read,) = envelopes(client(OPEN).answer(open_person(age=3)), OPEN)
    assert read.public[0] == b'{"users.born":1990,"users.height":"1.75","users.os":"iOS"}'


def test_columns_leave_in_clear_only_if_the_application_says_so():
    """Whatever the document says, with a digest, on first use, or after an agreement."""
    digest = codec.publish(OPEN).digest
    for accepts in (None, Accepts(), Accepts(digest=digest), Accepts(public=PUBLIC[:2])):
        own = client(OPEN, accepts=accepts)
        own.agree()
        with pytest.raises(MismatchError, match="in clear, and the application does not accept"):
            own.answer(Untouchable())
        assert own.ledger.entries() == []


def test_a_column_that_was_moved_to_the_public_ones_is_refused_before_the_value_is_looked_at():
    ledger = DiskLedger(":memory:")
    plain = sv.Task("users", Table({"age": range(18, 30), "os": ["a", "b"]}, name="users"), 1.0)
    Client(plain, ledger).answer({"age": 20, "os": "a"})
    moved = Table({"age": range(18, 30)}, public={"os": ["a", "b"]}, name="users")
    own = Client(sv.Task("users", moved, 1.0), ledger)
    with pytest.raises(MismatchError, match=r"sends the column 'users\.os' in clear"):
        own.answer(Untouchable())
    assert ledger.spent == 1.0


def test_a_rehearsal_shows_no_public_value_of_its_person():
    """After the same checks, something that anybody could have sent."""
    task = sv.Task("rehearsal", OPEN.plan, 1.0, collection=Collection(sandbox=True))
    notice, texts = codec.publish(task), set()
    for _ in range(40):
        own = client(notice)
        (read,) = envelopes(own.answer(open_person()), task)
        task.plan.domain.check_public(read.public[0])
        texts.add(read.public[0])
        assert own.ledger.spent == 0
    assert len(texts) > 20  # of 3 x 25 x 120, each as likely: fewer has a chance below 1e-40
    client(notice).answer(Untouchable())
