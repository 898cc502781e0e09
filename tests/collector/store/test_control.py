"""Tasks, rounds and tokens: what is published stays, and a round goes one way."""

import pytest

from collector.store.offers import (
    DIGEST,
    NOW,
    accept,
    close_round,
    hashed,
    singles,
    task,
    token,
    users,
)
from sottovoce.collector.store.base import RoundRecord, State, TokenRecord
from sottovoce.errors import MismatchError, ParameterError, StateError, UnavailableError

OPEN, CLOSING, SEALING, SEALED = State


def test_a_task_is_published_once_and_opens_its_first_round(store):
    assert store.publish(task(), "opening")
    assert not store.publish(task(), "opening")
    assert store.tasks() == [task()]
    assert store.rounds(DIGEST) == [RoundRecord(DIGEST, 0, "opening", OPEN, NOW, NOW, users=0)]


def test_another_task_of_the_same_name_is_refused_and_leaves_nothing(store):
    store.publish(task(), "opening")
    with pytest.raises(MismatchError, match="name"):
        store.publish(task(digest="e" * 32), "another opening")
    assert store.tasks() == [task()]
    assert store.rounds("e" * 32) == []


def test_what_a_task_waits_for_is_noted_and_forgotten(store):
    store.publish(task(), "opening")
    assert store.note_trouble(DIGEST, "the disk is full")
    assert [one.trouble for one in store.tasks()] == ["the disk is full"]
    assert store.note_trouble(DIGEST, "")
    assert store.tasks() == [task()]
    assert not store.note_trouble("e" * 32, "no such task")


def test_one_digest_has_one_name(store):
    store.publish(task(), "opening")
    with pytest.raises(MismatchError):
        store.publish(task("other name"), "opening")


def test_tasks_come_oldest_first(store):
    for name, created in (("late", 30), ("early", 10), ("between", 20), ("also between", 20)):
        store.publish(task(name, name, created), "opening")
    assert [one.name for one in store.tasks()] == ["early", "between", "also between", "late"]


def test_rounds_are_opened_in_order_and_once(store):
    store.publish(task(), "opening")
    with pytest.raises(StateError):
        store.open_round(DIGEST, 2, "third", NOW)
    assert len(store.rounds(DIGEST)) == 1
    assert store.open_round(DIGEST, 1, "second", NOW + 5)
    assert not store.open_round(DIGEST, 1, "second", NOW + 6)
    assert [(one.number, one.document, one.opened) for one in store.rounds(DIGEST)] == [
        (0, "opening", NOW),
        (1, "second", NOW + 5),
    ]


def test_a_round_opened_again_with_other_questions_is_refused(store):
    store.publish(task(), "opening")
    with pytest.raises(MismatchError):
        store.open_round(DIGEST, 0, "other questions", NOW)


def test_a_round_of_an_unknown_task_is_refused(store):
    with pytest.raises(MismatchError):
        store.open_round("unknown", 0, "opening", NOW)


def test_a_round_takes_every_step_once(round_open):
    assert not round_open.turn(DIGEST, 0, CLOSING, SEALING, NOW)
    assert round_open.turn(DIGEST, 0, OPEN, CLOSING, NOW + 1)
    assert not round_open.turn(DIGEST, 0, OPEN, CLOSING, NOW + 2)
    assert round_open.turn(DIGEST, 0, CLOSING, SEALING, NOW + 3)
    assert round_open.seal(DIGEST, 0, 7, "checksum", NOW + 4)
    assert not round_open.seal(DIGEST, 0, 8, "other", NOW + 5)
    assert round_open.rounds(DIGEST) == [
        RoundRecord(DIGEST, 0, "opening", SEALED, NOW, NOW + 4, 0, count=7, checksum="checksum")
    ]


@pytest.mark.parametrize(
    "step", [(OPEN, SEALING), (CLOSING, OPEN), (SEALING, SEALED), (OPEN, OPEN)]
)
def test_a_round_does_not_jump_or_go_back(round_open, step):
    with pytest.raises(ParameterError):
        round_open.turn(DIGEST, 0, *step, NOW)


def test_only_a_round_being_sealed_is_sealed(round_open):
    assert not round_open.seal(DIGEST, 0, 1, "checksum", NOW)
    assert not round_open.seal("unknown", 0, 1, "checksum", NOW)
    assert round_open.rounds(DIGEST)[0].state == OPEN


def test_only_a_sealed_round_is_erased_and_only_once(round_open):
    assert not round_open.erase(DIGEST, 0, NOW)
    close_round(round_open, sealed=True)
    assert round_open.erase(DIGEST, 0, NOW + 9)
    assert not round_open.erase(DIGEST, 0, NOW + 10)
    assert round_open.rounds(DIGEST)[0].erased == NOW + 9


def test_a_task_finishes_once(round_open):
    assert round_open.finish(DIGEST, NOW + 1, "too few users")
    assert not round_open.finish(DIGEST, NOW + 2)
    assert (round_open.tasks()[0].finished, round_open.tasks()[0].failure) == (
        NOW + 1,
        "too few users",
    )
    assert not round_open.finish("unknown", NOW)


def test_a_token_is_known_until_it_expires_or_is_revoked(store):
    store.add_tokens(
        [token("for ever", "operator"), token("for a while", "analyst", expires=NOW + 10)]
    )
    assert store.token(hashed("for ever"), NOW + 10**9) == token("for ever", "operator")
    assert store.token(hashed("for a while"), NOW + 9) == token(
        "for a while", "analyst", expires=NOW + 10
    )
    assert store.token(hashed("for a while"), NOW + 10) is None
    assert store.token(hashed("never made"), NOW) is None
    assert store.revoke(hashed("for ever"))
    assert not store.revoke(hashed("for ever"))
    assert store.token(hashed("for ever"), NOW) is None


def test_a_token_added_again_stays_what_it_was(store):
    store.add_tokens([token("one", "analyst")])
    store.add_tokens([token("one", "operator"), token("two", "operator")])
    assert store.token(hashed("one"), NOW) == token("one", "analyst")
    assert store.token(hashed("two"), NOW) == token("two", "operator")


def test_tokens_of_users_and_sessions_are_not_listed(store):
    store.add_tokens(
        [
            token("a", "operator"),
            token("b", "enrolment"),
            token("c", "session"),
            token("d", "analyst"),
        ]
    )
    assert {one.scope for one in store.tokens()} == {"operator", "analyst"}
    assert all(
        isinstance(one, TokenRecord) and isinstance(one.hash, bytes) for one in store.tokens()
    )


def test_pruning_drops_expired_tokens_and_old_arrivals(round_open):
    round_open.add_tokens(
        [token("old", "analyst", expires=NOW), token("new", "analyst", expires=NOW + 1)]
    )
    accept(round_open, singles("a"), now=NOW)
    accept(round_open, singles("b"), now=NOW + 600)
    round_open.prune(NOW, arrivals_before=NOW + 300)
    assert [one.hash for one in round_open.tokens()] == [hashed("new")]
    assert [count for _, count in round_open.arrivals(DIGEST, 0)] == [1]
    assert users(round_open) == 2


def test_a_store_is_the_same_after_it_was_closed_and_opened(open_store):
    first = open_store()
    first.publish(task(), "opening")
    first.add_tokens([token("one", "analyst")])
    accept(first, singles("abc"))
    before = (first.tasks(), first.rounds(DIGEST), first.tokens(), list(first.segments(DIGEST, 0)))
    first.close()
    again = open_store()
    assert before == (
        again.tasks(),
        again.rounds(DIGEST),
        again.tokens(),
        list(again.segments(DIGEST, 0)),
    )
    assert accept(again, singles("abcd")) == [["duplicate"] * 3 + ["accepted"]]


def test_a_store_that_can_write_says_nothing(store):
    store.check()
    store.check()


def test_a_closed_store_is_unavailable(store):
    store.close()
    for question in (store.check, store.tasks, lambda: store.accept([], {}, NOW)):
        with pytest.raises(UnavailableError):
            question()
    store.close()
