"""EOS: all words arrive, no coalition of shufflers reads them, and nobody follows a ciphertext."""

import numpy as np
import pytest
from gmpy2 import powmod

from lab.peos.keys import small_key
from lab.peos.test_oblivious_shuffle import round_orders
from sottovoce.core.rng import SystemRng
from sottovoce.errors import MismatchError
from sottovoce.lab.peos.encrypted_shuffle import EncryptedShuffle
from sottovoce.lab.peos.encryption.dgk import DgkPublicKey
from sottovoce.lab.peos.encryption.schemes import SCHEMES
from sottovoce.lab.peos.hider_sets import HiderSets
from sottovoce.lab.peos.linking import linked_positions
from sottovoce.lab.peos.local_network import run_locally
from sottovoce.lab.peos.oblivious_shuffle import HIDE, RESHARE, RESULT, ShuffleSetup
from sottovoce.lab.peos.party import Awaited, Party, PartyMessage, Seat
from sottovoce.lab.peos.shares import joined, split, unpack_words
from sottovoce.lab.peos.traffic import holder_path
from sottovoce.lab.seeded import SeededRng


class CarelessKey(DgkPublicKey):
    """A broken twin: words are added without fresh randomness."""

    def encrypt_all(self, words, rng):
        return [powmod(self.word_base, word, self.modulus) for word in words.tolist()]


def gather(setup, received):
    """Wait for the result, as the server does."""
    last = setup.rounds[-1]
    received.update((yield Awaited(RESULT, last.number, frozenset(last.hiders))))


def shuffle(words, public_key, shufflers=3, rng=None, disorder=None):
    """Return what the server receives, and all messages."""
    rng = rng or SystemRng()
    setup = ShuffleSetup(HiderSets(shufflers, even=True), b"test")
    *plain, last = split(np.asarray(words, np.uint64), shufflers, rng)
    seats = [Seat(number) for number in range(shufflers)]
    parts = [
        EncryptedShuffle(seat, setup, part, rng, public_key)
        for seat, part in zip(seats, plain, strict=False)
    ]
    # Users encrypt with randomness, whatever the shufflers do.
    ciphertexts = [public_key.encrypt(word, rng) for word in last.tolist()]
    parts.append(EncryptedShuffle.of_first_holder(seats[-1], setup, ciphertexts, rng, public_key))
    received = {}
    parties = [Party(seat, part.steps()) for seat, part in zip(seats, parts, strict=True)]
    parties.append(Party(Seat(setup.server), gather(setup, received)))
    return received, run_locally(parties, disorder)


def opened(received, private_key):
    """Return the words in what the server receives."""
    vectors = []
    for message in received.values():
        if message.encrypted:
            ciphertexts = private_key.public.unpack(message.payload)
            vectors.append(private_key.decrypt_all(ciphertexts))
        else:
            vectors.append(unpack_words(message.payload, len(message.payload) // 8))
    return joined(vectors)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("shufflers", [2, 3, 4, 5])
def test_all_words_arrive_in_the_order_of_all_permutations(scheme, shufflers):
    """Thirty runs of r = 3 see every way in which the ciphertexts stay or move."""
    key = small_key(scheme)
    rng = SeededRng(shufflers)
    moves = set()
    for _ in range(30 if shufflers == 3 else 1):
        words = np.arange(8, dtype=np.uint64) ** np.uint64(21)
        received, messages = shuffle(words, key.public, shufflers, rng, disorder=rng)
        for order in round_orders(messages, shufflers, len(words)):
            words = words[order]
        assert (opened(received, key) == words).all()
        for moved in holder_path(messages, HiderSets(shufflers, even=True)):
            moves.add((moved.before == moved.during, moved.during == moved.after))
    assert shufflers != 3 or len(moves) == 4


def test_at_every_moment_one_vector_is_encrypted():
    """What all shufflers see together lacks the words: exactly one result is encrypted."""
    received, _ = shuffle(np.zeros(4), small_key("dgk").public)
    assert [message.encrypted for message in received.values()].count(True) == 1


def vectors_around_a_permutation(key, public_key, count):
    """Return the ciphertexts that a seeker sent and got back, and the order between them.

    The last shuffler is the first holder and a seeker of the first round.  It does not learn the
    order of that round, and with probability 1/3 it gets the ciphertexts back.
    """
    words = np.arange(count, dtype=np.uint64)
    for seed in range(100):
        _, messages = shuffle(words, public_key, rng=SeededRng(seed))
        if holder_path(messages, HiderSets(3))[0].after == 2:
            break
    sent = {(message.step, message.round): message for message in messages if message.encrypted}
    before = key.public.unpack(sent[HIDE, 0].payload)
    after = key.public.unpack(sent[RESHARE, 0].payload)
    return before, after, round_orders(messages, 3, count)[0]


def test_with_fresh_randomness_nobody_follows_a_ciphertext():
    key = small_key("dgk")
    before, after, _ = vectors_around_a_permutation(key, key.public, 40)
    assert linked_positions(before, after, key) == []


def test_without_fresh_randomness_every_ciphertext_is_followed():
    """A broken twin: the server and one shuffler find 40 of 40 positions."""
    key = small_key("dgk")
    public = key.public
    careless = CarelessKey(public.modulus, public.word_base, public.blinding_base)
    before, after, order = vectors_around_a_permutation(key, careless, 40)
    linked = linked_positions(before, after, key)
    assert linked == [(source, target) for target, source in enumerate(order.tolist())]
    assert len(linked) == 40


def test_a_ciphertext_never_leaves_a_shuffler_as_it_came():
    _, messages = shuffle(np.zeros(3), small_key("joye_libert").public, 5)
    seen = [message.payload for message in messages if message.encrypted]
    public = small_key("joye_libert").public
    numbers = [number for payload in seen for number in public.unpack(payload)]
    assert len(numbers) == len(set(numbers))


def holder_of_nothing():
    setup = ShuffleSetup(HiderSets(3), b"test")
    public = small_key("joye_libert").public
    return EncryptedShuffle(Seat(0), setup, np.zeros(2, np.uint64), SystemRng(), public), public


def test_ciphertexts_for_another_shuffler_are_refused():
    part, public = holder_of_nothing()
    packed = public.pack(public.encrypt_all(np.zeros(2, np.uint64), SystemRng()))
    with pytest.raises(MismatchError, match="not announced"):
        part.accept({2: PartyMessage(2, 0, HIDE, 0, packed, True, 1)})


def test_ciphertexts_of_another_length_are_refused():
    part, public = holder_of_nothing()
    packed = public.pack(public.encrypt_all(np.zeros(3, np.uint64), SystemRng()))
    with pytest.raises(MismatchError, match="one length"):
        part.accept({2: PartyMessage(2, 0, HIDE, 0, packed, True, 0)})


def test_two_announcements_are_refused():
    part, _ = holder_of_nothing()
    messages = {sender: PartyMessage(sender, 0, HIDE, 0, bytes(16), False, 1) for sender in (1, 2)}
    messages[2] = PartyMessage(2, 0, HIDE, 0, bytes(16), False, 0)
    with pytest.raises(MismatchError, match="two shufflers announced"):
        part.accept(messages)
