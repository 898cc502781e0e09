"""A shuffler of PEOS: what it agrees on, what it adds, and what a dishonest one can do."""

import numpy as np
import pytest

from lab.peos.batches import DIRECT, HASHED, missing_and_extra, shuffled, terms_for, users_of
from lab.peos.keys import small_key
from lab.peos.statistics import chi_square_deviation
from sottovoce.accounting.batch import ShuffledBatch
from sottovoce.core.rng import SystemRng
from sottovoce.errors import MismatchError, NoDataError
from sottovoce.lab.peos.collection import shuffle_locally, submit
from sottovoce.lab.peos.estimation import estimate
from sottovoce.lab.peos.local_network import run_locally
from sottovoce.lab.peos.party import Party, Seat
from sottovoce.lab.peos.server import PeosServer
from sottovoce.lab.peos.shares import pack_words, unpack_words
from sottovoce.lab.peos.shuffler import CONFIRM, PeosShuffler
from sottovoce.lab.peos.submissions import ShareSubmission, SubmissionBox
from sottovoce.lab.seeded import SeededRng


class LazyRng(SystemRng):
    """The randomness of a dishonest shuffler: its shares of fakes, drawn first, are all zero."""

    def __init__(self):
        self.lazy = True

    def longs(self, count):
        if self.lazy:
            self.lazy = False
            return np.zeros(count, np.uint64)
        return super().longs(count)


def parties_of(terms, submissions, rngs, own_terms=None):
    """Return all parties, each shuffler with its own randomness, and the server."""
    parties = []
    for number, (received, rng) in enumerate(zip(submissions, rngs, strict=True)):
        used = (own_terms or {}).get(number, terms)
        box = SubmissionBox(used, number)
        for submission in received:
            box.add(submission)
        seat = Seat(number)
        parties.append(Party(seat, PeosShuffler(seat, used, box, rng).steps()))
    seat = Seat(terms.server)
    server = PeosServer(seat, terms, small_key("joye_libert"))
    return [*parties, Party(seat, server.steps())], server


def test_incomplete_reports_are_dropped():
    terms = terms_for(min_users=3)
    users = users_of(terms, range(5))
    submissions = submit(users, terms, SystemRng())
    del submissions[0][0]
    del submissions[2][4]
    batch = shuffle_locally(terms, submissions, small_key("joye_libert"), SystemRng())
    assert batch.server.users == 3
    assert missing_and_extra(users[1:4], batch.server) == (0, terms.fakes)


def test_a_batch_with_too_few_complete_reports_is_not_shuffled():
    terms = terms_for(min_users=5)
    submissions = submit(users_of(terms, range(5)), terms, SystemRng())
    del submissions[1][0]
    with pytest.raises(NoDataError, match="4 complete reports, of at least 5"):
        shuffle_locally(terms, submissions, small_key("joye_libert"), SystemRng())


def test_a_shuffler_with_other_terms_stops_the_batch():
    terms = terms_for()
    submissions = submit(users_of(terms, range(3)), terms, SystemRng())
    parties, _ = parties_of(terms, submissions, [SystemRng()] * 3, {1: terms_for(fakes=6)})
    with pytest.raises(MismatchError, match="other terms for this batch: fakes"):
        run_locally(parties)


def test_a_shuffler_that_keeps_other_reports_stops_the_batch():
    terms = terms_for()
    submissions = submit(users_of(terms, range(3)), terms, SystemRng())
    parties, _ = parties_of(terms, submissions, [SystemRng()] * 3)

    class Liar(Party):
        def receive(self, message):
            sent = super().receive(message)
            for one in sent:
                if one.step == CONFIRM:
                    object.__setattr__(one, "payload", bytes(40))
            return sent

    parties[1].__class__ = Liar
    with pytest.raises(MismatchError, match=r"kept (other|different) reports"):
        run_locally(parties)


def test_one_honest_shuffler_makes_all_fakes_uniform():
    """Two of three shufflers draw nothing: the fakes of the third are still uniform."""
    terms = terms_for(fakes=500)
    users = users_of(terms, [0])
    rngs = [LazyRng(), LazyRng(), SeededRng(1)]
    parties, server = parties_of(terms, submit(users, terms, SystemRng()), rngs)
    run_locally(parties)
    deviation = chi_square_deviation(np.bincount(server.reports, minlength=10))
    assert deviation < 5, (deviation, 0)


def test_without_an_honest_shuffler_fakes_are_what_they_choose():
    """A broken twin for the check above: all three draw nothing."""
    terms = terms_for(fakes=500)
    users = users_of(terms, [0])
    rngs = [LazyRng(), LazyRng(), LazyRng()]
    parties, server = parties_of(terms, submit(users, terms, SystemRng()), rngs)
    run_locally(parties)
    assert chi_square_deviation(np.bincount(server.reports, minlength=10)) > 100


# The known weakness: shares of users can be changed, and nothing in the protocol notices.

VALUES = np.arange(400) % 10
TARGET = 7


def tampered(submissions, offsets):
    """Return the same submissions after the first shuffler added something to its shares."""
    first = [
        ShareSubmission(
            submission.report_id,
            pack_words(unpack_words(submission.payload, 1) + np.uint64(int(offset) % (1 << 64))),
        )
        for submission, offset in zip(submissions[0], offsets, strict=True)
    ]
    return [first, *submissions[1:]]


def shares_after(mechanism, offsets):
    """Return the estimated shares after one shuffler tampered, and the users and the server."""
    terms = terms_for(mechanism, fakes=40)
    users = users_of(terms, VALUES, SeededRng(9))
    submissions = tampered(submit(users, terms, SystemRng()), offsets)
    batch = shuffle_locally(terms, submissions, small_key("joye_libert"), SeededRng(10))
    counted = ShuffledBatch(batch.server.users, terms.fakes)
    found = estimate(mechanism, batch.server.reports, counted)
    return found, users, batch.server


def test_a_shuffler_that_knows_the_values_moves_everybody_to_a_target():
    """Known weakness of direct response: the target's share goes from 0.1 to about 1."""
    honest, users, server = shares_after(DIRECT, np.zeros(len(VALUES), int))
    assert missing_and_extra(users, server) == (0, 40)
    sigma = honest.variances[TARGET] ** 0.5
    assert abs(honest.shares[TARGET] - 0.1) < 5 * sigma, honest.shares[TARGET]
    attacked, _, _ = shares_after(DIRECT, (TARGET - VALUES).tolist())
    assert abs(attacked.shares[TARGET] - 1) < 5 * attacked.variances[TARGET] ** 0.5


def test_hashing_can_be_wiped_out_but_not_moved():
    """Known weakness of hashing: one added to every word leaves no value with a share."""
    attacked, _, _ = shares_after(HASHED, np.ones(len(VALUES), int))
    # p is that of a wrong bucket now: the expected share is (q' - q) / (p - q), just below 0.
    wrong = HASHED.response.q
    expected = 0.1 * (wrong - HASHED.q) / (HASHED.p - HASHED.q)
    sigma = attacked.variances.max() ** 0.5
    assert np.abs(attacked.shares - expected).max() < 5 * sigma, attacked.shares


def test_planted_accounts_notice_tampering_with_everybody():
    """Dummies of the server, whose words it knows, no longer arrive."""
    _, users, server = shares_after(DIRECT, np.ones(len(VALUES), int))
    planted = users[:10]
    assert missing_and_extra(planted, server)[0] == 10


def test_a_batch_without_fakes_is_a_shuffle():
    terms = terms_for(fakes=0)
    users = users_of(terms, range(4))
    assert missing_and_extra(users, shuffled(terms, users).server) == (0, 0)
