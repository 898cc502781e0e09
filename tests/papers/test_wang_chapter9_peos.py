"""Wang 2021, section 9.5 and table 9.3: PEOS at full size, with keys of 3072 bits."""

from dataclasses import replace

import numpy as np
import pytest

from lab.peos.batches import HASHED, missing_and_extra, shuffled, terms_for, users_of
from lab.peos.keys import full_size_key
from lab.peos.test_oblivious_shuffle import check_orders, orders_and_views
from lab.peos.test_processes import SHAPE, check
from papers.figure_rows import rows_of
from sottovoce.core.rng import SystemRng
from sottovoce.lab.baselines.shuffle_bounds.communication import encrypted_oblivious_shuffle
from sottovoce.lab.peos.encryption.dgk import DgkPrivateKey, DgkPublicKey
from sottovoce.lab.peos.encryption.schemes import SCHEMES
from sottovoce.lab.peos.processes import ProcessBatch, run_processes
from sottovoce.lab.peos.traffic import Traffic

pytestmark = pytest.mark.papers

USERS = 200
FAKES = 50


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("shufflers", [3, 5])
def test_every_report_arrives_between_processes(shufflers, scheme):
    batch = ProcessBatch(SHAPE, 3.0, shufflers, fakes=FAKES, scheme=scheme)
    run = run_processes(batch, np.arange(USERS) % 10, SystemRng())
    check(run, batch, USERS)
    assert run.bytes_per_user == encrypted_oblivious_shuffle(USERS, shufflers).user


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("shufflers", [3, 5])
def test_every_report_arrives_in_one_process(shufflers, scheme):
    key = full_size_key(scheme)
    terms = terms_for(HASHED, shufflers, FAKES, USERS, key)
    users = users_of(terms, [number % 10 for number in range(USERS)])
    assert missing_and_extra(users, shuffled(terms, users, key).server) == (0, FAKES)


class CountingPublicKey(DgkPublicKey):
    """A key that counts the single encryptions, which users make."""

    encryptions = 0

    def encrypt(self, word, rng):
        CountingPublicKey.encryptions += 1
        return super().encrypt(word, rng)


class CountingPrivateKey(DgkPrivateKey):
    """A key that counts decryptions."""

    decryptions = 0

    def decrypt(self, ciphertext):
        CountingPrivateKey.decryptions += 1
        return super().decrypt(ciphertext)


@pytest.mark.parametrize("shufflers", [3, 7])
def test_table_9_3(shufflers):
    """Bytes as printed, per report; one encryption a user and one decryption a report for any r."""
    printed = {
        row.series: row.published
        for row in rows_of("wang-9-3-table", "full")
        if row.x == f"PEOS, {shufflers}"
    }
    users = 4
    private = CountingPrivateKey.read(full_size_key("dgk").document())
    public = CountingPublicKey.read(private.public.document())
    terms = replace(terms_for(HASHED, shufflers, 0, users, private), public_key=public)
    CountingPublicKey.encryptions = 0
    CountingPrivateKey.decryptions = 0
    people = users_of(terms, range(users))
    sent = sum(len(share.payload) for share in people[0].submissions(terms, SystemRng()))
    assert sent == printed["user, B"]
    assert CountingPublicKey.encryptions == 1
    batch = shuffled(terms, people, private)
    to_server = [message for message in batch.messages if message.receiver == terms.server]
    # As many MB for a million users as bytes for one.
    assert Traffic.of(to_server).vectors == users * printed["server, MB"]
    assert CountingPrivateKey.decryptions == users


def test_the_final_order_is_uniform_whatever_one_shuffler_knows():
    check_orders(*orders_and_views(20_000, seed=3))
