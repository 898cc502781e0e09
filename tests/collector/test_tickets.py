"""Tickets: what a token claims and fixes, and which tokens are none."""

import hashlib
from dataclasses import replace

import pytest

import sottovoce as sv
from client.shuffling import blind_collection, issuer
from collector.people import published
from collector.shuffled import fingerprint_of, token_for
from sottovoce.collector.access import hashed
from sottovoce.collector.tickets import Ticket
from sottovoce.core import coin
from sottovoce.errors import CodecError
from sottovoce.wire import tokens

TASK = sv.Task("task", sv.Histogram(range(8)), 1.0, collection=blind_collection())


def test_an_enrolment_token_claims_its_hash_and_deals_coins():
    ticket = Ticket.of_enrolment("mine", "digest")
    assert ticket.claim == hashed("mine")
    assert ticket.coin_bytes == coin.enrolled_bytes("mine", "digest")
    assert ticket.token is None
    assert Ticket.of_enrolment("", "digest") is None


def test_a_blind_token_claims_its_nonce_and_fixes_coins_and_seeds():
    token = token_for(TASK, issuer())
    ticket = Ticket.of_blind_token(token.to_bytes(), published(TASK))
    assert ticket.claim == hashlib.sha256(token.nonce).digest()
    assert ticket.coin_bytes == token.coin_bytes(fingerprint_of(TASK))
    assert ticket.token == token


def test_a_token_that_the_issuer_did_not_sign_for_the_task_is_none():
    token = token_for(TASK, issuer())
    other = token_for(replace(TASK, name="other"), issuer())
    for forged in (replace(token, nonce=bytes(32)), other, tokens.Token(bytes(32), bytes(256))):
        assert Ticket.of_blind_token(forged.to_bytes(), published(TASK)) is None
    with pytest.raises(CodecError):
        Ticket.of_blind_token(b"short", published(TASK))
