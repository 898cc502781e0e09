"""Any document is refused on purpose or answered, with bounded work and memory."""

import random

import pytest

import sottovoce as sv
from fuzz.hostile_documents import (
    MAX_BYTES,
    MAX_CALLS,
    call_count,
    changed_document,
    ending,
    extremes,
    peak_bytes,
    valid_documents,
)
from sottovoce.core import bounds
from sottovoce.tasks.shuffle import Hop, Shuffle
from sottovoce.wire import codec

COUNT = 600


@pytest.fixture(scope="module", autouse=True)
def _warm():
    """Import what reading and answering import, so that no document pays for that."""
    for text in valid_documents():
        ending(text)


def excess(text):
    """Return what a document takes too much of, or nothing.

    Work is counted in calls: the seconds of a busy machine would say nothing.
    """
    calls = call_count(text)
    if calls > MAX_CALLS:
        return f"{calls} calls"
    held = peak_bytes(text)
    return f"{held} bytes" if held > MAX_BYTES else ""


def test_the_tasks_of_every_plan_are_answered():
    assert {ending(text) for text in valid_documents()} == {"answered"}


@pytest.mark.parametrize("name", extremes())
def test_the_worst_of_every_family_is_refused_or_answered_in_a_moment(name):
    assert not excess(extremes()[name])


def test_changed_documents_are_refused_or_answered_in_a_moment():
    dice = random.Random(7)
    endings = set()
    for _ in range(COUNT):
        text = changed_document(dice)
        endings.add(ending(text))
        assert not excess(text), text[:500]
    assert {"answered", "CodecError", "ParameterError", "MismatchError"} <= endings


@pytest.mark.parametrize(("users", "delta", "promised"), [
    (10**9, "1e-300", "1e-300"),
    (10**6, "1e-09", "0.1"),
    (1000, "1e-09", "1.0"),
])  # fmt: skip
def test_promises_of_a_shuffle_are_checked_in_a_moment(users, delta, promised):
    """A device computes whether they hold, which must not take as long as a stranger likes."""
    hop = Hop("https://mix.example.org", "A" * 43)
    promises = {"central": 2.0, "against_users": 2.0, "delta": 1e-9}
    shuffle = Shuffle((hop,), "A" * 43, users=1000, fakes=0, **promises)
    plan = sv.Histogram([str(number) for number in range(16)], "oue")
    content = codec.document(sv.Task("pets", plan, 2.0, shuffle=shuffle))
    stated = {"users": users, "delta": delta, "central": promised, "against_users": promised}
    content["shuffle"] |= stated
    calls = call_count(codec.canonical(content))
    assert 1000 < calls <= MAX_CALLS, calls


def test_the_same_seed_gives_the_same_documents():
    first, second = (random.Random(3) for _ in range(2))
    assert [changed_document(first) for _ in range(50)] == [
        changed_document(second) for _ in range(50)
    ]


@pytest.mark.parametrize(
    ("bound", "most", "name"),
    [
        ("MAX_DOCUMENT_MEMBERS", 1 << 17, "2^17 layers"),
        ("MAX_STEPS", 1 << 30, "a bundle of large subsets"),
        ("MAX_REMEMBERED_BYTES", 1 << 30, "a wide report again and again"),
    ],
)
def test_a_device_without_a_bound_is_caught(bound, most, name, monkeypatch):
    """The broken twins: what each bound is for."""
    monkeypatch.setattr(bounds, bound, most)
    if bound == "MAX_DOCUMENT_MEMBERS":
        monkeypatch.setattr("sottovoce.tasks.families.layers.MAX_LAYERS", most)
    assert excess(extremes()[name])


def test_a_message_that_would_be_too_long_is_refused_before_it_is_made(monkeypatch):
    assert ending(extremes()["a bundle of 256 wide reports"]) == "ParameterError"
    text = extremes()["a bundle of 256 hashes"]
    assert ending(text) == "answered"
    monkeypatch.setattr(bounds, "MAX_MESSAGE_BYTES", 1 << 10)
    assert ending(text) == "ParameterError"
