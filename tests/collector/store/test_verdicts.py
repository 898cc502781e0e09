"""Verdicts: one rule for messages of which some are not new."""

import pytest

from collector.store.offers import DIGEST, bundles, hashed, report_id, singles
from sottovoce.collector.store.base import Verdict
from sottovoce.collector.store.verdicts import Facts, accepted_part, judge, message_counts


def words(offer, facts):
    return [str(verdict) for verdict in judge(offer, facts)]


def test_an_accepted_message_is_known_to_those_behind_it():
    offer = singles(["a", "b", "a"])
    facts = Facts(True, known_ids={report_id("b")})
    assert words(offer, facts) == ["accepted", "duplicate", "duplicate"]
    assert facts.known_ids == {report_id("a"), report_id("b")}


def test_a_message_is_new_or_known_as_a_whole():
    offer = bundles([["a", "b"], ["b", "c"], ["d", "d"], ["a", "b"]])
    assert words(offer, Facts(True)) == ["accepted", "conflicting", "conflicting", "duplicate"]


def test_a_round_that_takes_no_reports_still_knows_its_duplicates():
    assert words(singles(["a", "b"]), Facts(False, {report_id("a")})) == ["duplicate", "too-late"]


def test_a_token_pays_for_one_message():
    offer = singles(["a", "b", "c", "d"], tokens=["ann", "ann", "bob", "eve"])
    facts = Facts(True, valid_tokens={hashed("ann"), hashed("bob")}, spent_tokens={hashed("bob")})
    assert words(offer, facts) == ["accepted", "token-spent", "token-spent", "token-unknown"]
    assert facts.spent_tokens == {hashed("ann"), hashed("bob")}


@pytest.mark.parametrize("tokens", [None, ["ann", "bob", "eve"]])
def test_the_accepted_part_of_an_offer_is_an_offer(tokens):
    offer = singles(["a", "b", "c"], tokens=tokens, epoch=2)
    verdicts = [Verdict.ACCEPTED, Verdict.DUPLICATE, Verdict.ACCEPTED]
    part = accepted_part(offer, verdicts)
    assert (part.task, part.round, part.epoch, len(part)) == (DIGEST, 0, 2, 2)
    assert part.data.tolist() == offer.data[[0, 2]].tolist()
    assert part.ids.tolist() == offer.ids[[0, 2]].tolist()
    assert (part.claims is None) == (tokens is None)


def test_messages_are_counted_by_task_and_code_and_duplicates_not_at_all():
    offers = [singles(["a", "b", "c"]), singles(["d"], digest="other")]
    verdicts = [[Verdict.ACCEPTED, Verdict.DUPLICATE, Verdict.TOO_LATE], [Verdict.ACCEPTED]]
    accepted, refused = message_counts(offers, verdicts, {(DIGEST, "malformed"): 4})
    assert accepted == {DIGEST: 1, "other": 1}
    assert refused == {(DIGEST, "malformed"): 4, (DIGEST, "too-late"): 1}
