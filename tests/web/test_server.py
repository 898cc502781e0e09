"""A server tells its address before its application is made, and refuses a port that is taken."""

import socket

import pytest

from sottovoce.errors import StateError, UnavailableError
from sottovoce.web import folder, server
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


def test_nodes_that_share_a_database_may_share_a_folder(tmp_path):
    with folder.served(tmp_path):
        with pytest.raises(StateError, match="another server"):
            server.run(Settings(data=tmp_path, port=0), lambda: None, lambda url: None)
        shared = Settings(data=tmp_path, port=0, database="postgresql://somewhere")
        with pytest.raises(ZeroDivisionError):
            server.run(shared, lambda: 1 / 0, lambda url: None)


def test_an_open_folder_and_a_missing_proxy_are_concerns(tmp_path):
    tmp_path.chmod(0o755)
    first, second = server.concerns(Settings(data=tmp_path, host="0.0.0.0"))
    assert "chmod 700" in first
    assert "without encryption" in second
