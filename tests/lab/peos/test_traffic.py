"""Bytes of a real run: those of the published formulas, and of the path of the holder."""

import pytest

from lab.peos.batches import shuffled, terms_for, users_of
from lab.peos.keys import full_size_key, small_key
from sottovoce.core.rng import SystemRng
from sottovoce.lab.baselines.shuffle_bounds.communication import encrypted_oblivious_shuffle
from sottovoce.lab.peos.encryption.schemes import SCHEMES
from sottovoce.lab.peos.hider_sets import HiderSets
from sottovoce.lab.peos.traffic import (
    HolderMoves,
    Traffic,
    expected_moves,
    holder_path,
    vector_traffic,
)
from sottovoce.lab.seeded import SeededRng

USERS = 6


def full_size_batch(shufflers, scheme):
    key = full_size_key(scheme)
    terms = terms_for(shufflers=shufflers, fakes=0, private_key=key)
    return terms, shuffled(terms, users_of(terms, [1] * USERS), key)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("shufflers", [3, 5])
def test_users_and_server_have_the_published_bytes(shufflers, scheme):
    """Table 9.3, without ids: 384 + 8 (r - 1) from a user, n (384 + 8 (t - 1)) to the server."""
    terms, batch = full_size_batch(shufflers, scheme)
    published = encrypted_oblivious_shuffle(USERS, shufflers)
    (user,) = users_of(terms, [1])
    sent = sum(len(share.payload) for share in user.submissions(terms, SystemRng()))
    assert sent == published.user
    to_server = [message for message in batch.messages if message.receiver == terms.server]
    assert Traffic.of(to_server).vectors == published.server


@pytest.mark.parametrize("shufflers", [3, 5, 7])
def test_shufflers_send_exactly_what_follows_from_the_path_of_the_holder(shufflers):
    for _ in range(3):
        terms = terms_for(shufflers=shufflers, fakes=1)
        batch = shuffled(terms, users_of(terms, [1]))
        path = holder_path(batch.messages, terms.sets)
        counted = Traffic.of(m for m in batch.messages if m.sender != terms.server)
        computed = vector_traffic(terms.sets, path, 2, terms.public_key.width)
        assert (counted.shares, counted.ciphertexts) == (computed.shares, computed.ciphertexts)


@pytest.mark.parametrize("shufflers", [3, 5, 7])
def test_on_the_average_shufflers_send_between_one_and_two_times_the_published_bytes(shufflers):
    """The published formula counts one move of the ciphertexts in every round."""
    sets = HiderSets(shufflers)
    published = encrypted_oblivious_shuffle(1, shufflers).shuffler * shufflers
    # In every round the holder stays throughout: the most plain vectors, without ciphertexts.
    staying = [HolderMoves(hiders[0], hiders[0], hiders[0]) for hiders in sets.rounds]
    most_shares = vector_traffic(sets, staying, 1, 0).shares
    average = expected_moves(sets) * 384 + most_shares
    assert 1 <= average / published <= 2, average / published


def test_the_average_number_of_moves():
    sets = HiderSets(3)
    runs = 40
    rng = SeededRng(1)
    terms = terms_for(fakes=0)
    total = 0
    for _ in range(runs):
        batch = shuffled(terms, users_of(terms, [1]), rng=rng)
        total += sum(message.encrypted for message in batch.messages)
    # Four moves with probability 2/3 each, two certain ones: a variance of 8/9 a run.
    sigma = (8 / 9 * runs) ** 0.5
    expected = runs * expected_moves(sets)
    assert abs(total - expected) < 5 * sigma, (total, expected)


def test_agreement_is_counted_apart():
    terms = terms_for(fakes=0)
    batch = shuffled(terms, users_of(terms, [1, 2]))
    counted = Traffic.of(batch.messages)
    terms_sent = 3 * 4 * len(terms.packed)  # everybody to everybody else
    ids = 3 * 2 * 2 * 16
    confirmations = 3 * 3 * 40
    seeds = 3 * 2 * (32 + 32)  # three rounds, two hiders: a commitment and a seed
    assert counted.agreement == terms_sent + ids + confirmations + seeds


def test_small_keys_make_small_ciphertexts():
    assert small_key("dgk").public.width == 128
