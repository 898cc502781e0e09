"""Requests that are served without ASGI: the same answers, the same limits, on a connection that
uvicorn's protocol shares.

A request whose body comes in chunks goes through ASGI, so it is the twin of one that states its
length.
"""

import asyncio
import json

import pytest

from collector.people import Clock, counting, numbered
from collector.serving import body, served
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.web.behind_proxies import BehindProxies
from web.line import Line

PATH = "/v1/tasks/count/reports"
JSON = {"Host": "localhost", "Content-Type": "application/json"}
SECONDS = 0.2
JUNK = json.dumps({"reports": ["AAAA"]}).encode()


def request(content, headers=JSON, path=PATH, method="POST", chunked=False):
    named = dict(headers)
    if chunked:
        named["Transfer-Encoding"] = "chunked"
        content = b"%x\r\n%s\r\n0\r\n\r\n" % (len(content), content) if content else b"0\r\n\r\n"
    else:
        named["Content-Length"] = str(len(content))
    lines = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + content


@pytest.fixture
def site(tmp_path):
    """A collector with a task whose questions are prepared."""
    store = SqliteStore(tmp_path / "collector.db")
    with served(store, tmp_path, Clock(), body_seconds=SECONDS) as made:
        made.publish(counting())
        made.collector.find("count").prepare()
        yield made
    store.close()


def upload(*numbers, **rest):
    return json.dumps(body(numbered(counting(), *numbers), **rest)).encode()


def one(site, data, **rest):
    """The answer to one request, and whether it went through ASGI."""

    async def talk():
        line = Line(site.app, **rest)
        by_asgi = line.send(data)
        (answer,) = await line.answers()
        return answer, by_asgi

    return asyncio.run(talk())


@pytest.mark.parametrize(
    ("status", "content", "headers"),
    [
        (200, upload(1, 2), {}),
        (200, upload(1), {"Accept": "application/msgpack"}),
        (200, upload(1), {"Origin": "https://app.example"}),
        (200, JUNK, {}),
        (400, b"{", {}),
        (400, b"", {}),
        (400, b'{"reports": [], "more": 1}', {}),
        (400, upload(1, tokens=["a", "b"]), {}),
        (415, upload(1), {"Content-Type": "text/plain"}),
    ],
)
def test_both_ways_give_one_answer(site, status, content, headers):
    given = JSON | headers
    (direct, by_asgi), (twin, twin_by_asgi) = (
        one(site, request(content, given, chunked=chunked)) for chunked in (False, True)
    )
    assert (by_asgi, twin_by_asgi) == (False, True)
    assert direct[0] == twin[0] == status
    theirs = {name: value for name, value in twin[1].items() if name != "connection"}
    assert direct[1] == theirs, "but that the rest of a body in chunks is not read"
    if status == 200 and content != JUNK:
        assert direct[2] != twin[2], "the same messages again are duplicates"
    else:
        assert direct[2] == twin[2]


def test_a_malformed_origin_is_refused(site):
    (status, _, content), by_asgi = one(site, request(upload(1), JSON | {"Origin": "https://a b"}))
    assert (status, by_asgi) == (400, False)
    assert json.loads(content)["code"] == "malformed-request"


@pytest.mark.parametrize(
    "data",
    [
        request(b"", method="GET"),
        request(upload(1), path="/v1/tasks/unknown/reports"),
        request(upload(1), path=f"{PATH}?a=1"),
        request(upload(1), JSON | {"Expect": "100-continue"}),
        request(b" " * 70_000 + upload(1)),
    ],
)
def test_whatever_is_unusual_goes_through_asgi(site, data):
    async def talk():
        line = Line(site.app)
        by_asgi = line.send(data)
        await asyncio.gather(*line.state.tasks)
        return by_asgi

    assert asyncio.run(talk())


def test_origins_that_are_not_allowed_are_refused(tmp_path):
    store = SqliteStore(tmp_path / "collector.db")
    with served(store, tmp_path, Clock(), origins="https://app.example") as site:
        site.publish(counting())
        site.collector.find("count").prepare()
        (status, headers, _), by_asgi = one(
            site, request(upload(1), JSON | {"Origin": "https://other.example"})
        )
        assert (status, by_asgi) == (403, False)
        assert "access-control-allow-origin" not in headers
    store.close()


def test_requests_are_counted_and_bodies_given_back(site):
    assert one(site, request(upload(1)))[0][0] == 200
    assert one(site, request(b"{"))[0][0] == 400
    text = site.client.get("/metrics").text
    assert 'sottovoce_requests_total{route="upload",status="200"} 1.0' in text
    assert 'sottovoce_requests_total{route="upload",status="400"} 1.0' in text
    assert site.app.door.bodies.bytes_in_memory == 0


def test_an_address_that_sends_too_much_is_told_when_to_come_back(tmp_path):
    store = SqliteStore(tmp_path / "collector.db")
    with served(store, tmp_path, Clock(), rate=2) as site:
        site.publish(counting())
        site.collector.find("count").prepare()
        answers = [one(site, request(upload(number)), peer="203.0.113.9") for number in range(5)]
        assert [status for (status, _, _), _ in answers] == [200, 200, 200, 200, 429]
        (_, headers, _), by_asgi = answers[-1]
        assert headers["retry-after"] == "1"
        assert headers["access-control-allow-origin"] == "*"
        assert not by_asgi
        assert one(site, request(upload(9)), peer="203.0.113.10")[0][0] == 200
    store.close()


def test_the_addresses_of_an_ipv6_network_share_a_rate(tmp_path):
    store = SqliteStore(tmp_path / "collector.db")
    with served(store, tmp_path, Clock(), rate=2) as site:
        site.publish(counting())
        site.collector.find("count").prepare()
        peers = [f"2001:db8::{number}" for number in range(5)]
        answers = [one(site, request(upload(n)), peer=peer) for n, peer in enumerate(peers)]
        assert [status for (status, _, _), _ in answers] == [200, 200, 200, 200, 429]
        assert one(site, request(upload(9)), peer="2001:db8:0:1::1")[0][0] == 200
    store.close()


def test_a_body_may_come_in_pieces(site):
    async def talk():
        line = Line(site.app)
        data = request(upload(1))
        for start in range(0, len(data), 50):
            line.send(data[start : start + 50])
            await asyncio.sleep(0)
        return await line.answers()

    ((status, _, _),) = asyncio.run(talk())
    assert status == 200


def test_a_body_that_does_not_come_is_refused_and_the_connection_closed(site):
    async def talk():
        line = Line(site.app)
        line.send(request(upload(1))[:-5])
        assert site.app.door.bodies.bytes_in_memory > 0
        ((status, headers, content),) = await line.answers()
        line.send(b"late")
        return status, headers, content, line.wire.closed

    status, headers, content, closed = asyncio.run(talk())
    assert status == 408
    assert json.loads(content)["code"] == "too-slow"
    assert headers["connection"] == "close"
    assert closed
    assert site.app.door.bodies.bytes_in_memory == 0


def test_a_lost_connection_gives_its_bytes_back(site):
    async def talk():
        line = Line(site.app)
        line.send(request(upload(1))[:-5])
        line.protocol.connection_lost(None)
        await asyncio.sleep(2 * SECONDS)  # nothing happens at the deadline
        return line.wire.written

    assert asyncio.run(talk()) == b""
    assert site.app.door.bodies.bytes_in_memory == 0


def test_a_connection_that_is_lost_before_the_answer_loses_no_report(site):
    async def talk():
        line = Line(site.app)
        line.send(request(upload(1)))
        line.protocol.connection_lost(None)
        while site.app.state.api.intake.waiting:
            await asyncio.sleep(0.001)
        return line.wire.written

    assert asyncio.run(talk()) == b""
    assert site.collector.store.rounds(site.collector.find("count").digest)[0].users == 1
    assert site.app.door.bodies.bytes_in_memory == 0


def test_bodies_beyond_the_budget_are_refused(tmp_path):
    store = SqliteStore(tmp_path / "collector.db")
    with served(store, tmp_path, Clock(), largest_body=1024, most_held=1024) as site:
        site.publish(counting())
        site.collector.find("count").prepare()
        content = upload(*range(8))

        async def talk():
            first, second = Line(site.app, peer="203.0.113.1"), Line(site.app, peer="203.0.113.2")
            first.send(request(content)[:-5])
            second.send(request(content))
            (answer,) = await second.answers()
            return answer

        status, headers, answer = asyncio.run(talk())
        assert status == 503 or status == 429
        assert json.loads(answer)["code"] == "busy"
        assert headers["retry-after"] == "1"
    store.close()


def test_a_body_larger_than_the_operator_allows_is_refused_like_any_other(tmp_path):
    store = SqliteStore(tmp_path / "collector.db")
    with served(store, tmp_path, Clock(), largest_body=1024) as site:
        site.publish(counting())
        site.collector.find("count").prepare()
        (status, _, content), _ = one(site, request(upload(1) + b" " * 1024))
        assert status == 413
        assert json.loads(content)["code"] == "too-large"
        assert one(site, request(upload(1)))[0][0] == 200
    store.close()


def test_requests_behind_one_another_are_answered_in_order(site):
    async def talk():
        line = Line(site.app)
        line.send(request(upload(1)) + request(b"{") + request(upload(2, 3)))
        first = await line.answers(3)
        line.send(request(upload(4)))
        return await line.answers(4), first

    answers, _ = asyncio.run(talk())
    assert [status for status, _, _ in answers] == [200, 400, 200, 200]
    assert [json.loads(answers[place][2])["accepted"] for place in (0, 2, 3)] == [1, 2, 1]


def test_a_client_that_wants_no_more_is_let_go(site):
    async def talk():
        line = Line(site.app)
        line.send(request(upload(1), JSON | {"Connection": "close"}))
        ((_, headers, _),) = await line.answers()
        return headers, line.wire.closed

    headers, closed = asyncio.run(talk())
    assert headers["connection"] == "close"
    assert closed


def test_a_server_that_stops_answers_what_is_under_way(site):
    async def talk():
        line = Line(site.app)
        line.send(request(upload(1)))
        line.protocol.shutdown()
        assert not line.wire.closed
        ((status, headers, _),) = await line.answers()
        return status, headers["connection"], line.wire.closed

    assert asyncio.run(talk()) == (200, "close", True)


def test_the_address_of_a_client_is_what_a_believed_proxy_says(site):
    seen = []
    begin = site.app.door.begin

    class Watched:
        bodies = site.app.door.bodies

        def begin(self, scope):
            seen.append(scope["client"][0])
            return begin(scope)

    route = BehindProxies(Watched(), "203.0.113.7")
    for peer in ("203.0.113.7", "203.0.113.8"):
        forwarded = request(upload(1), JSON | {"X-Forwarded-For": "198.51.100.1"})
        (answer, by_asgi) = one(site, forwarded, route=route, peer=peer)
        assert (answer[0], by_asgi) == (200, False)
    assert seen == ["198.51.100.1", "203.0.113.8"]
