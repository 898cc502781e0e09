"""The page for people: states, batches and the triple, and nothing that runs."""

from shuffler.hops import USERS, people
from sottovoce.shuffler import page
from sottovoce.shuffler.store.base import SealedOffer


def test_the_page_shows_hops_states_and_the_triple(client, hop, receiver):
    answer = client.get("/")
    assert "not mixed yet" in answer.text
    assert "https://mix-a.example.org" in answer.text
    hop.store.take([SealedOffer(receiver.notice.fingerprint, 0, people(receiver, USERS)[1])])
    hop.advance()
    answer = client.get("/")
    assert "erased" in answer.text
    assert "against collector and all other users" in answer.text
    assert "epsilon 6" in answer.text
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "<script" not in answer.text
    assert page.__doc__
