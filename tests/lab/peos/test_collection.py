"""PEOS from end to end: every report arrives, and as many fakes as agreed."""

import pytest

from lab.peos.batches import DIRECT, HASHED, missing_and_extra, shuffled, terms_for, users_of
from lab.peos.keys import small_key
from sottovoce.lab.peos.encryption.schemes import SCHEMES
from sottovoce.lab.seeded import SeededRng

USERS = 200
FAKES = 50


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("mechanism", "shufflers"),
    [(DIRECT, 3), (HASHED, 3), (HASHED, 5)],
    ids=["grr-3", "olh-3", "olh-5"],
)
def test_every_report_arrives(mechanism, shufflers, scheme):
    key = small_key(scheme)
    terms = terms_for(mechanism, shufflers, FAKES, USERS, key)
    users = users_of(terms, [number % 10 for number in range(USERS)])
    batch = shuffled(terms, users, key)
    assert batch.server.users == USERS
    assert missing_and_extra(users, batch.server) == (0, FAKES)


def test_the_order_of_delivery_does_not_matter():
    terms = terms_for(HASHED, 5)
    users = users_of(terms, range(10))
    batch = shuffled(terms, users, disorder=SeededRng(1))
    assert missing_and_extra(users, batch.server) == (0, terms.fakes)
