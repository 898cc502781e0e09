"""Every message is counted once: what is new is kept, and each message is told what became of
it.
"""

import pytest

from collector.store.offers import (
    DIGEST,
    MINUTE,
    NOW,
    accept,
    bundles,
    close_round,
    messages,
    singles,
    stored,
    task,
    token,
    users,
)
from sottovoce.collector.store.base import State
from sottovoce.errors import StateError


def test_new_messages_are_accepted_and_kept(round_open):
    assert accept(round_open, singles("abc"), bundles([["d", "e"], ["f", "g"]])) == [
        ["accepted"] * 3,
        ["accepted"] * 2,
    ]
    assert stored(round_open) == messages("a", "b", "c", "de", "fg")
    assert users(round_open) == 5


def test_a_hundred_replays_change_nothing(round_open):
    offer = bundles([["a", "b"], ["c", "d"]])
    accept(round_open, offer)
    before = (round_open.rounds(DIGEST), stored(round_open), round_open.arrivals(DIGEST, 0))
    for _ in range(100):
        assert accept(round_open, offer, now=NOW + 120) == [["duplicate"] * 2]
    assert before == (round_open.rounds(DIGEST), stored(round_open), round_open.arrivals(DIGEST, 0))
    assert round_open.refusals(DIGEST) == {}


def test_replays_among_new_messages_are_told_apart(round_open):
    accept(round_open, singles("bd"))
    assert accept(round_open, singles("abcd")) == [
        ["accepted", "duplicate", "accepted", "duplicate"]
    ]
    assert stored(round_open) == messages(*"abcd")
    assert users(round_open) == 4


def test_a_message_twice_in_one_offer_or_in_two_counts_once(round_open):
    given = accept(round_open, singles("aba"), singles("cb"))
    assert given == [["accepted", "accepted", "duplicate"], ["accepted", "duplicate"]]
    assert stored(round_open) == messages(*"abc")


def test_a_bundle_of_which_a_part_is_here_is_refused_whole(round_open):
    accept(round_open, bundles(["ab"]))
    given = accept(round_open, bundles(["bc", "cd", "ea", "dc", "ba"]))
    assert given == [["conflicting", "accepted", "conflicting", "duplicate", "duplicate"]]
    assert stored(round_open) == messages("ab", "cd")
    assert round_open.refusals(DIGEST) == {"conflicting": 2}


def test_nothing_of_a_refused_bundle_stays_behind(round_open):
    accept(round_open, bundles(["ab"]))
    accept(round_open, bundles(["bc"]))
    assert accept(round_open, singles("c")) == [["accepted"]]


def test_a_bundle_that_repeats_an_id_is_refused(round_open):
    assert accept(round_open, bundles(["aa", "bc"])) == [["conflicting", "accepted"]]
    assert accept(round_open, bundles(["dd"])) == [["conflicting"]]
    assert stored(round_open) == messages("bc")


def test_conflicts_between_the_offers_of_one_call_are_seen(round_open):
    assert accept(round_open, bundles(["ab"]), bundles(["bc", "de"])) == [
        ["accepted"],
        ["conflicting", "accepted"],
    ]
    assert accept(round_open, bundles(["fg", "gh"])) == [["accepted", "conflicting"]]


def test_one_id_in_two_rounds_is_two_reports(round_open):
    round_open.open_round(DIGEST, 1, "second", NOW)
    assert accept(round_open, singles("a"), singles("a", number=1)) == [["accepted"], ["accepted"]]
    assert (users(round_open), users(round_open, number=1)) == (1, 1)


def test_two_tasks_are_kept_apart(round_open):
    round_open.publish(task("birds", "e" * 32), "opening")
    assert accept(round_open, singles("ab"), singles("b", digest="e" * 32)) == [
        ["accepted"] * 2,
        ["accepted"],
    ]
    assert stored(round_open) == messages("a", "b")
    assert stored(round_open, "e" * 32) == messages("b")


def test_a_round_that_is_not_there_is_too_early(round_open):
    given = accept(round_open, singles("ab", number=1), singles("a", digest="unknown"))
    assert given == [["too-early"] * 2, ["too-early"]]
    assert round_open.refusals(DIGEST) == {"too-early": 2}
    assert round_open.refusals("unknown") == {"too-early": 1}


def test_late_messages_are_taken_while_a_round_closes(round_open):
    round_open.turn(DIGEST, 0, State.OPEN, State.CLOSING, NOW)
    assert accept(round_open, singles("a")) == [["accepted"]]


@pytest.mark.parametrize("sealed", [False, True], ids=["sealing", "sealed"])
def test_a_sealed_round_acknowledges_replays_and_refuses_the_rest(round_open, sealed):
    accept(round_open, bundles(["ab", "cd"]))
    close_round(round_open, sealed=sealed)
    assert accept(round_open, bundles(["cd", "ef", "ax"])) == [
        ["duplicate", "too-late", "too-late"]
    ]
    assert round_open.refusals(DIGEST) == {"too-late": 2}
    assert users(round_open) == 2


def test_an_erased_round_has_forgotten_its_ids(round_open):
    round_open.open_round(DIGEST, 1, "second", NOW)
    accept(round_open, singles("ab"), singles("c", number=1))
    close_round(round_open, sealed=True)
    round_open.erase(DIGEST, 0, NOW)
    assert accept(round_open, singles("a"), singles("c", number=1)) == [["too-late"], ["duplicate"]]
    assert users(round_open) == 2


def test_no_messages_are_no_change(round_open):
    assert round_open.accept([], {}, NOW) == []
    nothing = singles("a")
    nothing = type(nothing)(nothing.task, 0, nothing.ids[:0], nothing.data[:0])
    assert accept(round_open, nothing, singles("b")) == [[], ["accepted"]]
    assert stored(round_open) == messages("b")


def test_arrivals_are_counted_by_the_minute(round_open):
    accept(round_open, singles("ab"), singles("c"), now=MINUTE)
    accept(round_open, singles("cd"), now=MINUTE + 59)
    accept(round_open, singles("efg"), now=MINUTE + 60)
    assert round_open.arrivals(DIGEST, 0) == [(MINUTE, 4), (MINUTE + 60, 3)]
    assert round_open.arrivals(DIGEST, MINUTE + 1) == [(MINUTE + 60, 3)]
    assert round_open.arrivals("unknown", 0) == []


def test_refusals_of_others_are_counted_with_our_own(round_open):
    refused = {(DIGEST, "malformed"): 3, (DIGEST, "too-early"): 1, ("", "unknown-task"): 2}
    accept(round_open, singles("a", number=5), refused=refused)
    accept(round_open, refused={(DIGEST, "malformed"): 4})
    assert round_open.refusals(DIGEST) == {"malformed": 7, "too-early": 2}
    assert round_open.refusals("") == {"unknown-task": 2}


def test_sealing_takes_the_payloads_away(round_open):
    round_open.open_round(DIGEST, 1, "second", NOW)
    accept(round_open, singles("ab"), singles("c", number=1))
    close_round(round_open)
    assert stored(round_open) == messages("a", "b")
    round_open.seal(DIGEST, 0, 2, "checksum", NOW)
    with pytest.raises(StateError):
        stored(round_open)
    assert stored(round_open, number=1) == messages("c")


def test_an_empty_round_has_no_segments_and_an_unknown_one_is_refused(round_open):
    assert stored(round_open) == []
    with pytest.raises(StateError):
        stored(round_open, number=1)


def test_a_reader_overtaken_by_the_sealing_is_told(round_open):
    """Half of the reports must not pass for all of them."""
    for name in range(100):
        accept(round_open, singles([name]))
    close_round(round_open)
    reading = round_open.segments(DIGEST, 0)
    assert next(reading)
    round_open.seal(DIGEST, 0, 100, "checksum", NOW)
    with pytest.raises(StateError):
        list(reading)


def test_many_messages_survive_the_round_trip(round_open):
    names = [f"user {number}" for number in range(3000)]
    for first in range(0, 3000, 500):
        assert accept(round_open, singles(names[first : first + 500])) == [["accepted"] * 500]
    assert stored(round_open) == messages(*([name] for name in names))
    assert users(round_open) == 3000


def test_a_token_buys_one_message_for_each_epoch(round_open):
    round_open.add_tokens([token("ann"), token("bob")])
    assert accept(round_open, singles("ab", tokens=["ann", "bob"])) == [["accepted"] * 2]
    assert accept(round_open, singles("cd", tokens=["ann", "bob"])) == [["token-spent"] * 2]
    assert accept(round_open, singles("cd", tokens=["ann", "bob"], epoch=1)) == [["accepted"] * 2]
    assert users(round_open) == 4
    assert round_open.refusals(DIGEST) == {"token-spent": 2}


def test_a_token_is_spent_for_one_task_only(round_open):
    round_open.publish(task("birds", "e" * 32), "opening")
    round_open.add_tokens([token("ann")])
    given = accept(
        round_open, singles("a", tokens=["ann"]), singles("a", tokens=["ann"], digest="e" * 32)
    )
    assert given == [["accepted"], ["accepted"]]


def test_tokens_that_do_not_count_are_refused(round_open):
    known = [
        token("good"),
        token("revoked"),
        token("expired", expires=NOW),
        token("analyst", "analyst"),
    ]
    round_open.add_tokens(known)
    round_open.revoke(known[1].hash)
    given = accept(
        round_open, singles("abcde", tokens=["good", "revoked", "expired", "analyst", "unheard of"])
    )
    assert given == [["accepted"] + ["token-unknown"] * 4]
    assert stored(round_open) == messages("a")
    assert round_open.refusals(DIGEST) == {"token-unknown": 4}


def test_of_two_messages_with_one_token_the_first_wins(round_open):
    round_open.add_tokens([token("ann"), token("bob")])
    given = accept(
        round_open, singles("abc", tokens=["ann", "ann", "bob"]), singles("d", tokens=["bob"])
    )
    assert given == [["accepted", "token-spent", "accepted"], ["token-spent"]]
    assert stored(round_open) == messages("a", "c")


def test_a_replay_is_acknowledged_whatever_its_token_says(round_open):
    round_open.add_tokens([token("ann"), token("bob")])
    accept(round_open, singles("a", tokens=["ann"]))
    round_open.revoke(token("ann").hash)
    assert accept(round_open, singles("aaa", tokens=["ann", "bob", "unheard of"])) == [
        ["duplicate"] * 3
    ]
    assert accept(round_open, singles("b", tokens=["bob"])) == [["accepted"]]


def test_a_refused_message_does_not_spend_its_token(round_open):
    round_open.add_tokens([token("ann"), token("bob"), token("cid")])
    accept(round_open, bundles(["ab"], tokens=["ann"]))
    assert accept(round_open, bundles(["bc", "cd"], tokens=["bob", "cid"])) == [
        ["conflicting", "accepted"]
    ]
    assert accept(round_open, bundles(["ef"], tokens=["bob"])) == [["accepted"]]


def test_a_message_for_a_sealed_round_does_not_spend_its_token(round_open):
    round_open.open_round(DIGEST, 1, "second", NOW)
    round_open.add_tokens([token("ann")])
    close_round(round_open)
    assert accept(round_open, singles("a", tokens=["ann"])) == [["too-late"]]
    assert accept(round_open, singles("a", tokens=["ann"], number=1)) == [["accepted"]]


def test_ids_and_tokens_with_zeros_at_the_end_are_told_apart(round_open):
    """Sorting as text must not cut them."""
    offer = singles("abc")
    ids = offer.ids.copy()
    ids[:] = 0
    ids[1, 0, 0], ids[2, 0, 1] = 1, 1
    cut = type(offer)(offer.task, 0, ids, offer.data)
    assert accept(round_open, cut) == [["accepted"] * 3]
    assert accept(round_open, cut) == [["duplicate"] * 3]
