"""The plain oblivious shuffle: all words arrive, in an order that no shuffler knows."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from lab.peos.statistics import chi_square_deviation
from sottovoce.core.rng import SystemRng
from sottovoce.errors import MismatchError
from sottovoce.lab.peos.hider_sets import HiderSets
from sottovoce.lab.peos.local_network import run_locally
from sottovoce.lab.peos.oblivious_shuffle import (
    HIDE,
    RESULT,
    REVEAL,
    ShuffleSetup,
    plain_parties,
)
from sottovoce.lab.peos.party import Party
from sottovoce.lab.peos.permutation import combined, permutation
from sottovoce.lab.peos.shares import joined, split, unpack_words
from sottovoce.lab.seeded import SeededRng

ORDERS = {order: number for number, order in enumerate(permutations(range(4)))}


def shuffle(words, shufflers=3, rng=None, disorder=None):
    """Return the shuffled words and all messages."""
    rng = rng or SystemRng()
    setup = ShuffleSetup(HiderSets(shufflers, even=True), b"test")
    shares = split(np.asarray(words, np.uint64), shufflers, rng)
    parties, server = plain_parties(setup, shares, rng)
    messages = run_locally(parties, disorder)
    return server.words, messages


def round_orders(messages, shufflers, count):
    """Return the permutation of every round, from the seeds that its hiders revealed."""
    seeds = {}
    for message in messages:
        if message.step == REVEAL:
            seeds.setdefault(message.round, {})[message.sender] = message.payload
    return [permutation(combined(seeds[number].values()), count) for number in sorted(seeds)]


@pytest.mark.parametrize("shufflers", [2, 3, 4, 5])
@pytest.mark.parametrize("disorder", [None, SeededRng(1)], ids=["in-order", "disorder"])
def test_all_words_arrive_in_the_order_of_all_permutations(shufflers, disorder):
    words = np.arange(20, dtype=np.uint64) ** np.uint64(13)
    shuffled, messages = shuffle(words, shufflers, disorder=disorder)
    for order in round_orders(messages, shufflers, len(words)):
        words = words[order]
    assert (shuffled == words).all()


def test_seekers_never_see_a_seed():
    _, messages = shuffle(range(5), 5)
    rounds = HiderSets(5).rounds
    revealed = [message for message in messages if message.step == REVEAL]
    assert len(revealed) == 10 * 3 * 2
    assert all(message.receiver in rounds[message.round] for message in revealed)


def orders_and_views(runs, seed):
    """Return final orders, and for each shuffler the order of a round in which it is a hider."""
    rng = SeededRng(seed)
    final = np.empty(runs, int)
    known = np.empty((3, runs), int)
    for run in range(runs):
        words, messages = shuffle(range(4), rng=rng)
        final[run] = ORDERS[tuple(words.tolist())]
        orders = [ORDERS[tuple(order.tolist())] for order in round_orders(messages, 3, 4)]
        known[:, run] = orders[0], orders[2], orders[1]  # hiders {0, 1}, {1, 2}, {0, 2}
    return final, known


def check_orders(final, known):
    """Refuse final orders that are not uniform, or depend on what one shuffler knows."""
    deviation = chi_square_deviation(np.bincount(final, minlength=24))
    assert deviation < 5, (deviation, 0)
    for view in known:
        table = np.zeros((24, 4))
        np.add.at(table, (final, view // 6), 1)  # where its first word comes from
        deviation = chi_square_deviation(table)
        assert deviation < 5, (deviation, 0)


def test_the_final_order_is_uniform_whatever_one_shuffler_knows():
    check_orders(*orders_and_views(720, seed=2))


def test_the_check_finds_an_order_that_a_shuffler_knows():
    """A broken twin: the final order is that of the one round."""
    final = SeededRng(4).integers(24, 2400)
    with pytest.raises(AssertionError):
        check_orders(final, final[None, :])


def test_the_hiders_of_a_round_can_read_every_word():
    """The known weakness of the plain shuffle, which the encrypted one does not have."""
    words = np.arange(6, dtype=np.uint64)
    shares = split(words, 3, SystemRng())
    parties, _ = plain_parties(ShuffleSetup(HiderSets(3), b"test"), shares, SystemRng())
    messages = run_locally(parties)
    received = [m for m in messages if m.step == HIDE and m.round == 0]
    parts = [unpack_words(message.payload, 6) for message in received]
    assert (joined([shares[0], shares[1], *parts]) == words).all()


def test_any_share_that_travels_is_uniform():
    """The vectors to the server, of words that are all 0: their highest bits."""
    _, messages = shuffle(np.zeros(4000), rng=SeededRng(5))
    for message in messages:
        if message.step in (HIDE, RESULT):
            bits = unpack_words(message.payload, 4000) >> np.uint64(60)
            deviation = chi_square_deviation(np.bincount(bits, minlength=16))
            assert deviation < 5, (deviation, 0)


def test_a_shuffler_that_reveals_another_seed_is_caught():
    setup = ShuffleSetup(HiderSets(3), b"test")
    parties, _ = plain_parties(setup, [np.zeros(3, np.uint64)] * 3, SystemRng())

    class Liar(Party):
        """The first shuffler: it commits to one seed and reveals another."""

        def receive(self, message):
            sent = super().receive(message)
            return [replace(m, payload=bytes(32)) if m.step == REVEAL else m for m in sent]

    parties[0].__class__ = Liar
    with pytest.raises(MismatchError, match="shuffler 0 revealed another seed"):
        run_locally(parties)
