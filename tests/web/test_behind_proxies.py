"""Whom a believed proxy names is the client, on the way without ASGI too."""

import pytest

from sottovoce.web.behind_proxies import BehindProxies


class Route:
    """A route that serves nothing, and remembers who asked."""

    bodies = None

    def __init__(self):
        self.clients = []

    def begin(self, scope):
        self.clients.append(scope["client"][0])


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("10.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "198.51.100.1, 10.0.0.2", "198.51.100.1"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("192.0.2.1", "198.51.100.1", "192.0.2.1"),
    ],
)
def test_only_believed_proxies_name_a_client(peer, forwarded, client):
    route = Route()
    headers = [(b"x-forwarded-for", forwarded.encode())] if forwarded else []
    BehindProxies(route, "10.0.0.0/8").begin(
        {"type": "http", "client": (peer, 1), "headers": headers, "scheme": "http"}
    )
    assert route.clients == [client]
