"""Batches for tests: terms, users, and what a batch must give back."""

from collections import Counter

from lab.peos.keys import small_key
from sottovoce.core.rng import SystemRng
from sottovoce.lab.peos.batch_terms import BatchTerms
from sottovoce.lab.peos.collection import shuffle_locally, submit
from sottovoce.lab.peos.hider_sets import HiderSets
from sottovoce.lab.peos.submissions import UserReport
from sottovoce.lab.peos.word_codecs import word_codec
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.olh import OLH

DIRECT = GRR(3.0, 10)
HASHED = OLH(3.0, 10, 16)


def terms_for(
    mechanism=DIRECT, shufflers=3, fakes=5, min_users=1, private_key=None, batch_id=bytes(16)
):
    """Return terms under a small key of Joye and Libert, which is the fastest."""
    private_key = private_key or small_key("joye_libert")
    codec = word_codec(mechanism)
    return BatchTerms(batch_id, codec, HiderSets(shufflers), fakes, min_users, private_key.public)


def users_of(terms, values, rng=None):
    """Return the randomised reports of people who hold these values."""
    rng = rng or SystemRng()
    return [UserReport.of(terms.codec, int(value), rng) for value in values]


def shuffled(terms, users, private_key=None, rng=None, disorder=None):
    """Return a batch of these users."""
    rng = rng or SystemRng()
    private_key = private_key or small_key("joye_libert")
    return shuffle_locally(terms, submit(users, terms, rng), private_key, rng, disorder)


def missing_and_extra(users, server):
    """Return how many words of users did not arrive, and how many others did."""
    sent = Counter(user.word for user in users)
    arrived = Counter(server.words.tolist())
    return (sent - arrived).total(), (arrived - sent).total()
