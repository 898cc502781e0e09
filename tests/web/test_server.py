"""A server tells its address before its application is made, and refuses a port that is taken."""

import socket

import pytest

from sottovoce.errors import UnavailableError
from sottovoce.web import server
from sottovoce.web.settings import Settings


def test_a_port_that_is_taken_is_unavailable(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings = Settings(data=tmp_path, port=taken.getsockname()[1])
        with pytest.raises(UnavailableError, match="nothing can listen"):
            server.run(settings, lambda: None, lambda url: None)


def test_the_address_is_told_before_the_application_is_made(tmp_path):
    events = []

    def create():
        events.append("created")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        server.run(Settings(data=tmp_path, port=0), create, events.append)
    assert events[0].startswith("http://127.0.0.1:")
    assert events[1] == "created"
