"""Requests to other servers: what is read, and what an answer means."""

import pytest

from sottovoce.errors import ParameterError, StateError, UnavailableError
from sottovoce.shuffler.outgoing import OtherServer, RefusedRequestError


def test_an_answer_is_read_and_a_refusal_has_its_code(receiver):
    server = OtherServer(receiver.url)
    assert server.get_json("/v1/tasks/count/round")["state"] == "open"
    assert server.get("/v1/tasks/count").decode() == receiver.document
    with pytest.raises(RefusedRequestError, match="not-found") as refusal:
        server.get("/v1/tasks/other")
    assert (refusal.value.status, refusal.value.code) == (404, "not-found")
    assert isinstance(refusal.value, StateError)


def test_a_server_that_cannot_serve_is_unavailable(receiver):
    receiver.failing = 1
    with pytest.raises(UnavailableError, match="cannot serve now"):
        OtherServer(receiver.url).get("/v1/tasks/count")
    with pytest.raises(UnavailableError, match="cannot be reached"):
        OtherServer("http://127.0.0.1:1").get("/")


def test_an_unprotected_address_is_refused():
    with pytest.raises(ParameterError, match="https"):
        OtherServer("http://collector.example.org")
