"""The server of PEOS: it reads what fits together, and refuses the rest."""

from dataclasses import replace

import numpy as np
import pytest

from lab.peos.batches import HASHED, shuffled, terms_for, users_of
from lab.peos.keys import small_key
from sottovoce.core.rng import SystemRng
from sottovoce.errors import CodecError, MismatchError, StateError
from sottovoce.lab.peos.oblivious_shuffle import RESULT
from sottovoce.lab.peos.party import Party, PartyMessage, Seat
from sottovoce.lab.peos.server import PeosServer
from sottovoce.lab.peos.shares import pack_words
from sottovoce.lab.peos.shuffler import CONFIRM, TERMS
from sottovoce.lab.peos.submissions import CompleteReports


def server_before_the_result(confirmed=None):
    """Return a server that waits for the result of two users and one fake."""
    terms = terms_for(fakes=1)
    seat = Seat(3)
    server = PeosServer(seat, terms, small_key("joye_libert"))
    party = Party(seat, server.steps())
    party.start()
    complete = CompleteReports([bytes(16), b"\1" * 16]).packed
    for sender in range(3):
        party.receive(PartyMessage(sender, 3, TERMS, 0, terms.packed))
    for sender in range(3):
        payload = (confirmed or {}).get(sender, complete)
        party.receive(PartyMessage(sender, 3, CONFIRM, 0, payload))
    return party, server, terms


def plain(sender, words):
    packed = pack_words(np.array(words, np.uint64))
    return PartyMessage(sender, 3, RESULT, 2, packed)


def encrypted(sender, words, terms):
    ciphertexts = terms.public_key.encrypt_all(np.array(words, np.uint64), SystemRng())
    return PartyMessage(sender, 3, RESULT, 2, terms.public_key.pack(ciphertexts), True, 3)


def test_shares_and_ciphertexts_are_added():
    party, server, terms = server_before_the_result()
    party.receive(plain(1, [1, 2, (1 << 64) - 1]))
    with pytest.raises(StateError, match="not finished"):
        _ = server.words
    party.receive(encrypted(2, [10, 20, 30], terms))
    assert party.finished
    assert server.words.tolist() == [11, 22, 29]
    assert server.users == 2
    assert server.reports.tolist() == [1, 2, 9]


def test_a_result_of_another_length_is_refused():
    party, _, terms = server_before_the_result()
    party.receive(plain(1, [1, 2, 3]))
    with pytest.raises(MismatchError, match="every vector must have 3 entries"):
        party.receive(encrypted(2, [1, 2], terms))
    party, _, terms = server_before_the_result()
    party.receive(encrypted(2, [1, 2, 3], terms))
    with pytest.raises(CodecError, match="must have 24 bytes"):
        party.receive(plain(1, [1, 2]))


def test_a_result_without_ciphertexts_is_refused():
    party, _, _ = server_before_the_result()
    party.receive(plain(1, [1, 2, 3]))
    with pytest.raises(MismatchError, match="exactly one shuffler"):
        party.receive(plain(2, [1, 2, 3]))


def test_shufflers_that_kept_different_reports_are_refused():
    with pytest.raises(MismatchError, match="kept different reports"):
        server_before_the_result({1: CompleteReports([bytes(16)]).packed})


def test_a_key_that_does_not_belong_to_the_terms_is_refused():
    with pytest.raises(MismatchError, match="private key"):
        PeosServer(Seat(3), terms_for(), small_key("dgk"))


def test_reports_of_hashing_are_read():
    terms = terms_for(HASHED, fakes=0)
    users = users_of(terms, [3, 3])
    server = shuffled(terms, users).server
    sent = terms.codec.read(np.array([user.word for user in users], np.uint64))
    assert sorted(server.reports.tolist()) == sorted(sent.tolist())


def test_other_terms_are_refused():
    terms = terms_for()
    seat = Seat(3)
    party = Party(seat, PeosServer(seat, terms, small_key("joye_libert")).steps())
    party.start()
    message = PartyMessage(0, 3, TERMS, 0, replace(terms, fakes=9).packed)
    for sender in range(2):
        party.receive(replace(message, sender=sender))
    with pytest.raises(MismatchError, match="fakes"):
        party.receive(replace(message, sender=2))
