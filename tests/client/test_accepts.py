"""What an application agrees that a task asks, and what a device remembers of the first time."""

from dataclasses import replace

import pytest

import sottovoce as sv
from client.shuffling import Chain, blind_collection
from client.values import Untouchable
from sottovoce.client.accepts import REMEMBERED, changed_field, meaning_of
from sottovoce.client.client import Client
from sottovoce.client.ledger import DiskLedger
from sottovoce.domains.integers import Integers
from sottovoce.domains.numbers import Numbers
from sottovoce.errors import BudgetError, MismatchError, ParameterError
from sottovoce.tasks.collection import Collection
from sottovoce.wire import codec

LABELS = ["cat", "dog", "fish"]
PETS = sv.Task("pets", sv.Histogram(LABELS), epsilon=1.0)


def pets(labels=LABELS, epsilon=1.0, **more):
    return sv.Task("pets", sv.Histogram(labels), epsilon, **more)


def refusal(task, accepts=None, ledger=":memory:"):
    """Return why a task is not answered; its value is never looked at."""
    client = Client(task, ledger, accepts=accepts)
    spent = client.ledger.spent
    with pytest.raises(MismatchError) as refused:
        client.answer(Untouchable())
    assert client.ledger.spent == spent
    return str(refused.value)


@pytest.mark.parametrize(
    ("accepts", "reason"),
    [
        (sv.Accepts(domain=["cat", "dog"]), "asks for another domain than the application accepts"),
        (sv.Accepts(domain=range(3)), "asks for another domain than the application accepts"),
        (sv.Accepts(epsilon=0.9), "costs epsilon 1, and the application accepts at most 0.9"),
        (sv.Accepts(plans=("survey",)), "asks by another plan than the application accepts"),
        (sv.Accepts(plans=()), "asks by another plan than the application accepts"),
        (sv.Accepts(digest="x"), "has another digest than the application accepts"),
    ],
)
def test_a_task_that_asks_for_something_else_is_refused(accepts, reason):
    assert refusal(PETS, accepts) == f"the task 'pets' {reason}"


def test_a_task_that_asks_for_what_was_agreed_is_answered():
    digest = codec.publish(PETS).digest
    everything = sv.Accepts(LABELS, 1.0, (), ("histogram", "survey"), digest)
    for accepts in (None, sv.Accepts(), everything, sv.Accepts(domain=PETS.plan.domain)):
        Client(PETS, ":memory:", accepts=accepts).answer("cat")


def test_the_price_is_that_of_all_answers_together():
    tracked = sv.Task("where", sv.Tracking(LABELS, 9), 2.0, distinct=2)
    assert "costs epsilon 2" in refusal(tracked, sv.Accepts(epsilon=1.0))


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"domain": "cat"}, "a domain must be a list of labels or a range, not str"),
        ({"epsilon": 0}, "`epsilon` must be a number above 0"),
        ({"public": "users.os"}, "`public` must be of class tuple or list, not str"),
        ({"public": ("",)}, "each entry of `public` must be text that is not empty"),
        ({"plans": "histogram"}, "`plans` must be of class tuple or list, not str"),
        ({"digest": ""}, "`digest` must be text that is not empty"),
        ({"central": 0}, "`central` must be a number above 0"),
    ],
)
def test_each_setting_is_refused_by_its_own_rule(settings, rule):
    with pytest.raises(ParameterError, match=rule):
        sv.Accepts(**settings)


def test_what_the_application_states_is_not_a_matter_of_memory():
    assert sv.Accepts().stated == set()
    assert sv.Accepts(domain=range(3)).stated == {"domain"}
    assert sv.Accepts(epsilon=1.0, public=("a",), plans=("b",)).stated == {"epsilon"}
    assert sv.Accepts(digest="x").stated == set(REMEMBERED)


# --- the first use ---

CHANGES = {
    "domain": pets(["cat", "dog"]),
    "epsilon": pets(epsilon=2.0),
    "declares": pets(declares=("subject",)),
    "distinct": pets(distinct=1),
}


@pytest.mark.parametrize("field", CHANGES)
def test_a_task_that_has_changed_is_refused_until_somebody_agrees(field):
    ledger = DiskLedger(":memory:")
    Client(PETS, ledger).answer("cat")
    changed = CHANGES[field]
    assert refusal(changed, ledger=ledger) == (
        "the task 'pets' asks for something else than when this device first answered it:"
        f" `{field}` has changed; call agree() if the app or the owner agrees"
    )
    Client(changed, ledger).agree()
    Client(changed, ledger).answer("cat")
    other = sv.Task("pets", PETS.plan, 1.0, description="once more")
    assert f"`{field}` has changed" in refusal(other, ledger=ledger)


def test_what_the_document_may_say_otherwise_changes_freely():
    """A description, a plan and what the collector promises are not what a person agreed to."""
    ledger = DiskLedger(":memory:")
    for number, more in enumerate(({}, {"description": "x"}, {"collection": Collection()})):
        Client(pets(**more), ledger).answer("cat")
        assert len(ledger.entries()) == number + 1


def test_a_change_that_the_application_states_is_answered_and_remembered():
    ledger = DiskLedger(":memory:")
    Client(PETS, ledger).answer("cat")
    Client(CHANGES["domain"], ledger, accepts=sv.Accepts(domain=["cat", "dog"])).answer("cat")
    dearer = pets(["cat", "dog"], 2.0)
    assert "`epsilon`" in refusal(dearer, sv.Accepts(domain=["cat", "dog"]), ledger)
    Client(dearer, ledger, accepts=sv.Accepts(digest=codec.publish(dearer).digest)).answer("cat")
    assert "`domain`" in refusal(pets(epsilon=2.0), ledger=ledger)


def test_an_answer_that_was_refused_is_not_remembered():
    ledger = DiskLedger(":memory:", cap=1.0)
    Client(sv.Task("other", PETS.plan, 1.0), ledger).answer("cat")
    with pytest.raises(BudgetError):
        Client(PETS, ledger).answer("cat")
    assert ledger.meaning("", "pets") is None


def test_looking_is_not_remembered():
    client = Client(PETS, ":memory:")
    client.explain()
    client.statement()
    client.check()
    assert client.ledger.meaning("", "pets") is None


def test_a_meaning_is_canonical_and_has_four_fields():
    notice = codec.publish(PETS)
    text = meaning_of(notice)
    content = codec.parse(text)
    assert codec.canonical(content) == text
    assert tuple(content) == REMEMBERED
    assert content["domain"] == codec.document(notice.domain)
    assert (content["epsilon"], content["declares"], content["distinct"]) == ("1.0", [], None)


def test_only_what_is_left_open_counts_as_changed():
    old, new = (meaning_of(codec.publish(task)) for task in (PETS, pets(["a", "b"], 2.0)))
    assert changed_field(None, new, frozenset()) is None
    assert changed_field(old, old, frozenset()) is None
    assert changed_field(old, new, frozenset()) == "domain"
    assert changed_field(old, new, frozenset({"domain"})) == "epsilon"
    assert changed_field(old, new, frozenset(REMEMBERED)) is None


# --- silence ---


def halves(low, high, secret):
    """Yield the tasks of a collector that halves a range until one number is left."""
    while low < high:
        middle = (low + high) // 2
        yield sv.Task("age", sv.Histogram(Integers(low - 1, middle)), 0.1)
        low, high = (low, middle) if secret <= middle else (middle + 1, high)


LISTED = [sv.Task("age", sv.Histogram([str(number), "dummy"]), 0.1) for number in range(18, 40)]
LONGER = [sv.Task("age", sv.HeavyHitters(sv.Strings(size, whole=True)), 0.1) for size in (3, 4, 5)]
CLAMPED = [
    sv.Task("age", sv.Mean(domain=Numbers(0.0, 9.0, 11, clamped)), 0.1) for clamped in (False, True)
]
DECLINED = [
    sv.Task("age", sv.Histogram(["a", "b"], declinable=declinable), 0.1)
    for declinable in (False, True)
]
SEARCHES = {
    "smaller and smaller ranges": list(halves(18, 99, 37)),
    "one label and a dummy": LISTED,
    "longer and longer texts": LONGER,
    "numbers that count or are refused": CLAMPED,
    "nothing said": DECLINED,
}
VALUES = (37, "37", "nobody", None, 4.5, [], Untouchable())


def searched(tasks, value, *, sandbox, agrees):
    """Return what a collector sees of a device that it offers one task after another."""
    ledger = DiskLedger(":memory:", cap=20.0)
    seen = []
    for task in tasks:
        collection = Collection(sandbox=True) if sandbox else None
        offered = sv.Task(task.name, task.plan, task.epsilon, collection=collection)
        client = Client(offered, ledger, token="a token")
        if agrees:
            client.agree()
        try:
            seen.append(len(client.answer(value)))
        except MismatchError as error:
            seen.append(str(error))
    return seen, [(spend.task, spend.epsilon) for spend in ledger.entries()]


@pytest.mark.parametrize("sandbox", [False, True], ids=["paid", "rehearsal"])
@pytest.mark.parametrize("search", SEARCHES)
def test_no_sequence_of_domains_finds_a_value_by_silence(search, sandbox):
    """What leaves and what is charged is the same for every value, even if somebody agrees."""
    for agrees in (False, True):
        first, *rest = (
            searched(SEARCHES[search], value, sandbox=sandbox, agrees=agrees) for value in VALUES
        )
        assert all(seen == first for seen in rest)
    _, charges = first
    assert len(charges) == len(SEARCHES[search])


@pytest.mark.parametrize("search", SEARCHES)
def test_the_second_domain_is_refused(search):
    seen, charges = searched(SEARCHES[search], 37, sandbox=False, agrees=False)
    assert isinstance(seen[0], int)
    assert all("`domain` has changed" in reason for reason in seen[1:])
    assert len(charges) == 1


# --- shuffled tasks ---

CHAIN = Chain(("https://mix-a.example.org", "https://mix-b.example.org"))
FIRST, SECOND = CHAIN.shuffle().hops


def meaning(**changes):
    return meaning_of(codec.publish(CHAIN.task(**changes)))


WITH_TOKENS = meaning(collection=blind_collection())
UNSHUFFLED = meaning_of(codec.publish(sv.Task("browser", CHAIN.task().plan, 6.0)))
WORSE = {
    "not shuffled": UNSHUFFLED,
    "one hop less": meaning(hops=(FIRST,), collection=blind_collection()),
    "another order": meaning(hops=(SECOND, FIRST), collection=blind_collection()),
    "another key": meaning(
        hops=(FIRST, replace(SECOND, key="A" * 43)), collection=blind_collection()
    ),
    "another address": meaning(
        hops=(FIRST, replace(SECOND, url="https://mix-c.example.org")),
        collection=blind_collection(),
    ),
    "more for the collector": meaning(central=0.51, collection=blind_collection()),
    "more for all others": meaning(against_users=1.01, collection=blind_collection()),
    "a larger delta": meaning(delta=1.1e-9, collection=blind_collection()),
    "no tokens": meaning(),
}
NOT_WORSE = {
    "less for the collector": meaning(central=0.49, collection=blind_collection()),
    "less for all others": meaning(against_users=0.99, collection=blind_collection()),
    "a smaller delta": meaning(delta=0.9e-9, collection=blind_collection()),
    "more users and fakes": meaning(users=200_000, fakes=3_000, collection=blind_collection()),
    "another key of the collector": meaning(key="A" * 43, collection=blind_collection()),
}


@pytest.mark.parametrize("change", WORSE)
def test_a_shuffle_that_became_worse_has_changed(change):
    assert changed_field(WITH_TOKENS, WORSE[change], frozenset()) == "shuffle"
    assert changed_field(WITH_TOKENS, WORSE[change], sv.Accepts(digest="x").stated) is None


@pytest.mark.parametrize("change", NOT_WORSE)
def test_a_shuffle_that_became_better_has_not(change):
    assert changed_field(WITH_TOKENS, NOT_WORSE[change], frozenset()) is None


def test_a_task_may_be_shuffled_from_now_on():
    assert changed_field(UNSHUFFLED, meaning(), frozenset()) is None
    assert changed_field(meaning(), WITH_TOKENS, frozenset()) is None


def test_a_task_that_is_not_shuffled_any_more_is_refused_until_somebody_agrees():
    ledger = DiskLedger(":memory:", cap=20.0)
    task = CHAIN.task()
    Client(task, ledger).answer("7", sealing=CHAIN.sealing(task))
    direct = sv.Task("browser", task.plan, 6.0)
    assert "`shuffle` has changed" in refusal(direct, ledger=ledger)
    Client(direct, ledger).agree()
    Client(direct, ledger).answer("7")


def test_an_application_states_how_much_the_collector_may_learn():
    task = CHAIN.task()
    assert "is not shuffled" in refusal(PETS, sv.Accepts(central=0.5))
    assert "reveals epsilon 0.5 to the collector, and the application accepts at most 0.4" in (
        refusal(task, sv.Accepts(central=0.4))
    )
    client = Client(task, ":memory:", accepts=sv.Accepts(central=0.5))
    client.answer("7", sealing=CHAIN.sealing(task))
