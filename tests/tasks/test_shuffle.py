"""Shuffles of a task: what a document may promise."""

from dataclasses import replace

import pytest

from sottovoce.accounting import amplification
from sottovoce.accounting.blanket import Blanket
from sottovoce.errors import CodecError, ParameterError
from sottovoce.mechanisms.grr import GRR
from sottovoce.plans.frequencies.histogram import Histogram
from sottovoce.plans.frequencies.tracking import Tracking
from sottovoce.plans.itemsets.top_items import TopItems
from sottovoce.plans.tables.table import Table
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.question import Question
from sottovoce.tasks.round import Round
from sottovoce.tasks.shuffle import MAX_USERS, Hop, Shuffle
from sottovoce.tasks.task import Task
from sottovoce.wire import codec

KEY = "A" * 43
OTHER_KEY = "B" * 42 + "A"
HOP = Hop("https://mix-a.example.org", KEY)
DELTA = 1e-9
SHUFFLE = Shuffle((HOP,), OTHER_KEY, 100_000, 2_000, 0.5, 1.0, DELTA)
PLAN = Histogram([str(number) for number in range(16)], mechanism="grr")


def task(**changes):
    return Task("browser", PLAN, 6.0, shuffle=replace(SHUFFLE, **changes))


def test_a_shuffled_task_is_read_as_it_was_written():
    notice = codec.publish(task())
    assert notice.shuffle == SHUFFLE
    assert codec.digest_to_bytes(notice.digest) == notice.fingerprint[:16]
    assert codec.task(codec.document(task())) == task()


def test_a_task_without_a_shuffle_has_the_document_that_it_had_before():
    assert "shuffle" not in codec.document(Task("browser", PLAN, 6.0))
    assert "issuer" not in codec.document(Collection())


def test_a_device_refuses_promises_beyond_the_account():
    blanket = GRR(6.0, 16).blanket
    central = amplification.epsilon(blanket, blanket.batch(SHUFFLE.users, SHUFFLE.fakes), DELTA)
    against_users = amplification.epsilon(blanket, blanket.batch(1, SHUFFLE.fakes), DELTA)
    assert task(central=1.01 * central, against_users=1.01 * against_users).shuffle
    with pytest.raises(ParameterError, match="`central` of the shuffle promises"):
        task(central=0.99 * central)
    with pytest.raises(ParameterError, match="`against_users` of the shuffle promises"):
        task(against_users=0.99 * against_users)
    document = codec.document(task())
    document["shuffle"]["central"] = repr(0.99 * central)
    with pytest.raises(ParameterError, match="`central`"):
        codec.notice(document)


def test_only_the_fakes_of_one_hop_count():
    second = Hop("https://mix-b.example.org", OTHER_KEY)
    assert task(hops=(HOP, second)).shuffle.total_fakes == 2 * SHUFFLE.fakes
    with pytest.raises(ParameterError, match="`against_users`"):
        task(hops=(HOP, second), fakes=SHUFFLE.fakes // 2, against_users=0.75)


def test_the_local_epsilon_can_always_be_promised():
    alone = replace(SHUFFLE, fakes=0, users=2, central=6.0, against_users=6.0)
    alone.check(GRR(6.0, 16).blanket)


def test_a_large_overlap_is_accounted_for_by_the_generic_bound():
    overlapping = Blanket(2.0, 0.5, 0.5)
    with pytest.raises(ParameterError, match="`central`"):
        replace(SHUFFLE, users=1000, central=0.6, against_users=2.0, fakes=0).check(overlapping)
    replace(SHUFFLE, users=1000, central=0.7, against_users=2.0, fakes=0).check(overlapping)


def test_what_the_generic_bound_gives_holds_for_every_mechanism():
    """A blanket that supports more than half of all values may promise less than its epsilon."""
    blanket, generic = Blanket(4.98, 0.522, 0.085), Blanket.generic(4.98)
    users, central = 682, 1.775
    own = amplification.delta(blanket, blanket.batch(users), central)
    assert amplification.delta(generic, generic.batch(users), central) < 0.3 < own
    shuffle = replace(SHUFFLE, users=users, fakes=0, central=central, against_users=5.0, delta=0.3)
    shuffle.check(blanket)
    with pytest.raises(ParameterError, match="`central`"):
        replace(shuffle, delta=0.2).check(blanket)


# --- later rounds, which the document does not state ---

SEARCH = TopItems([str(number) for number in range(64)], 4)
LOCAL = 4.0
OPENING_ONLY = 0.13  # what the opening round keeps, and later ones do not
EVERY_ROUND = 0.18


def search(central, **changes):
    shuffle = replace(SHUFFLE, fakes=0, against_users=LOCAL, central=central, **changes)
    return Task("items", SEARCH, LOCAL, shuffle=shuffle)


def test_a_promise_that_only_the_opening_keeps_is_refused():
    with pytest.raises(ParameterError, match="which later rounds of local epsilon 4 need not keep"):
        search(OPENING_ONLY)
    document = codec.document(search(EVERY_ROUND))
    assert codec.notice(document).rounds.count == 3
    document["shuffle"]["central"] = repr(OPENING_ONLY)
    with pytest.raises(ParameterError, match="later rounds"):
        codec.notice(document)


def test_every_round_that_the_plan_may_ask_keeps_the_promise():
    kept = search(EVERY_ROUND)
    notice = codec.publish(kept)
    asks = SEARCH.search.later_asks(LOCAL)
    assert len({ask.blanket for ask in asks}) > 2
    for number, ask in enumerate(asks):
        notice.check(Round(1 + number % 2, ask))


def test_an_account_of_the_opening_alone_would_let_a_round_break_its_promise():
    """A broken twin: the opening keeps the promise, and rounds that the plan asks do not."""
    shuffle = replace(SHUFFLE, fakes=0, against_users=LOCAL, central=OPENING_ONLY)
    shuffle.check(search(EVERY_ROUND).opening.ask.blanket)
    for ask in SEARCH.search.later_asks(LOCAL):
        with pytest.raises(ParameterError, match="`central`"):
            shuffle.check(ask.blanket)


def test_a_device_accounts_for_the_round_at_hand():
    """Even where a document names no later rounds, another question must keep the promise."""
    stated = codec.publish(task(fakes=0, against_users=6.0, central=0.56))
    weaker = Round(1, Question(GRR(6.0, 2)))
    with pytest.raises(ParameterError, match="`central` of the shuffle promises"):
        stated.check(weaker)


def test_what_would_tell_messages_apart_is_refused():
    with pytest.raises(ParameterError, match="`distinct`"):
        Task("mood", Tracking(["a", "b"], epochs=3), 2.0, distinct=2, shuffle=SHUFFLE)
    with pytest.raises(ParameterError, match="`enrolment`"):
        Task("browser", PLAN, 6.0, collection=Collection(enrolment=True), shuffle=SHUFFLE)
    public = Table({"age": range(4)}, public={"year": range(1990, 2000)})
    with pytest.raises(ParameterError, match="'public'"):
        Task("people", public, 6.0, shuffle=SHUFFLE)


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"hops": ()}, "`hops` must have"),
        ({"hops": (HOP, HOP)}, "`hops`"),
        ({"key": "short"}, "`key` must be base64url"),
        ({"users": 1}, "`users`"),
        ({"users": MAX_USERS + 1}, "`users`"),
        ({"fakes": -1}, "`fakes`"),
        ({"central": 0}, "`central`"),
        ({"against_users": 21}, "`against_users`"),
        ({"delta": 1}, "`delta`"),
    ],
)
def test_a_setting_is_refused_by_name(changes, rule):
    with pytest.raises(ParameterError, match=rule):
        replace(SHUFFLE, **changes)


@pytest.mark.parametrize(("url", "key"), [("http://mix.example.org", KEY), (HOP.url, KEY + "=")])
def test_a_hop_needs_a_protected_address_and_a_key(url, key):
    with pytest.raises(ParameterError):
        Hop(url, key)


def test_a_document_with_another_field_is_refused():
    document = codec.document(task())
    document["shuffle"]["cover"] = 3
    with pytest.raises(CodecError):
        codec.notice(document)
