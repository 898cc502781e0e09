"""What users send, and which reports are complete."""

import numpy as np
import pytest

from lab.peos.batches import HASHED, terms_for, users_of
from lab.peos.keys import small_key
from sottovoce.core.rng import SystemRng
from sottovoce.errors import CodecError, MismatchError, NoDataError
from sottovoce.lab.peos.shares import joined, unpack_words
from sottovoce.lab.peos.submissions import (
    CompleteReports,
    ShareSubmission,
    SubmissionBox,
    UserReport,
    count_of,
)
from sottovoce.lab.seeded import SeededRng

RNG = SystemRng()


def ids(*numbers):
    return b"".join(number.to_bytes(16, "big") for number in numbers)


@pytest.mark.parametrize("shufflers", [3, 5])
def test_the_shares_of_a_report_add_up_to_it(shufflers):
    terms = terms_for(HASHED, shufflers)
    (user,) = users_of(terms, [4])
    *plain, last = user.submissions(terms, RNG)
    words = [unpack_words(submission.payload, 1) for submission in plain]
    words.append(small_key("joye_libert").decrypt_all(terms.public_key.unpack(last.payload)))
    assert joined(words).tolist() == [user.word]
    assert {submission.report_id for submission in (*plain, last)} == {user.report_id}


def test_a_retry_shares_the_same_report_again():
    """Fresh noise in every attempt would average out; fresh shares of one word do not."""
    terms = terms_for()
    (user,) = users_of(terms, [4])
    again = terms_for(batch_id=b"a second attempt")
    key = small_key("joye_libert")
    for attempt in (terms, again):
        *plain, last = user.submissions(attempt, RNG)
        encrypted = key.decrypt_all(attempt.public_key.unpack(last.payload))
        shares = [unpack_words(submission.payload, 1) for submission in plain]
        assert joined([*shares, encrypted]).tolist() == [user.word]


def test_a_report_is_randomised_by_the_mechanism():
    """The same coins give the report of the mechanism itself, lifted."""
    terms = terms_for()
    user = UserReport.of(terms.codec, 4, SeededRng(1))
    report = terms.codec.mechanism.privatize(np.array([4]), SeededRng(1))
    assert terms.codec.read(np.array([user.word], np.uint64)) == report


def test_nothing_shows_a_word_or_a_share():
    user = UserReport(bytes(16), 424242)
    assert "424242" not in repr(user)
    assert "payload" not in repr(ShareSubmission(bytes(16), b"share"))


def test_a_box_keeps_one_share_per_report():
    box = SubmissionBox(terms_for(), 0)
    box.add(ShareSubmission(ids(2), bytes(8)))
    box.add(ShareSubmission(ids(2), bytes(8)))  # the same bytes again: a retry
    box.add(ShareSubmission(ids(1), b"\1" * 8))
    assert box.packed_ids == ids(1, 2)
    with pytest.raises(MismatchError, match="two different shares"):
        box.add(ShareSubmission(ids(2), b"\1" * 8))
    assert box.take([ids(1)]) == b"\1" * 8
    assert box.packed_ids == b""


@pytest.mark.parametrize(("shuffler", "width"), [(0, 8), (2, 128)])
def test_a_share_of_another_length_is_refused(shuffler, width):
    box = SubmissionBox(terms_for(), shuffler)
    with pytest.raises(CodecError, match=f"must have {width} bytes"):
        box.add(ShareSubmission(ids(1), bytes(9)))


def test_only_complete_reports_are_kept_in_the_order_of_their_ids():
    complete = CompleteReports.of([ids(3, 1, 2), ids(2, 3), ids(3, 2, 4)], 2)
    assert complete.report_ids == [ids(2), ids(3)]
    assert count_of(complete.packed) == 2
    assert complete.packed != CompleteReports([ids(2), ids(4)]).packed


def test_too_few_complete_reports_are_refused():
    with pytest.raises(NoDataError, match="has 1 complete reports, of at least 2"):
        CompleteReports.of([ids(3, 1), ids(3), ids(3)], 2)


def test_ids_of_another_length_are_refused():
    with pytest.raises(CodecError, match="16 bytes each"):
        CompleteReports.of([ids(1), bytes(15)], 1)
