"""The door: what every request passes, before and after the service looks at it."""

import logging

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from collector.people import Clock
from sottovoce.web.door import Door, Limits
from sottovoce.web.metrics import Metrics
from sottovoce.web.operation import Operation
from sottovoce.web.settings import Settings

PRIVATE = Operation("GET", "/private", "private", "For a token.", None, scope="analyst")
SHARED = Operation("GET", "/shared", "shared", "For pages.", None, shared=True)
OPERATIONS = {"/private": PRIVATE, "/shared": SHARED}


@pytest.fixture
def metrics():
    return Metrics(lambda: 0)


@pytest.fixture
def knock(tmp_path, metrics):
    """Return what a service behind a door answers; its clock stands still."""

    async def service(scope, receive, send):
        if scope["path"] in OPERATIONS:
            scope["operation"] = OPERATIONS[scope["path"]]
        await PlainTextResponse("inside")(scope, receive, send)

    def made(path, *, times=1, headers=None, **settings):
        limits = Limits.of(Settings(tmp_path, **settings), Clock())
        client = TestClient(Door(service, limits, metrics))
        return [client.get(path, headers=headers or {}) for _ in range(times)][-1]

    return made


def test_no_answer_is_sniffed_and_private_ones_are_stored_nowhere(knock):
    public = knock("/shared")
    assert public.text == "inside"
    assert public.headers["x-content-type-options"] == "nosniff"
    assert "cache-control" not in public.headers
    assert knock("/private").headers["cache-control"] == "no-store"


def test_pages_of_other_origins_read_what_is_shared(knock):
    origin = {"origin": "https://app.example"}
    assert knock("/shared", headers=origin).headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-origin" not in knock("/private", headers=origin).headers
    listed = knock("/shared", headers=origin, origins="https://app.example")
    assert listed.headers["access-control-allow-origin"] == "https://app.example"
    other = knock("/shared", headers=origin, origins="https://other.example")
    assert "access-control-allow-origin" not in other.headers


def test_the_service_never_sees_a_malformed_origin(knock):
    answer = knock("/shared", headers={"origin": "https://a b"})
    assert answer.status_code == 400
    assert answer.json()["code"] == "malformed-request"


def test_probes_and_other_requests_have_limits_of_their_own(knock):
    """A bucket holds two seconds of its rate."""
    assert knock("/shared", times=4, rate=2).status_code == 200
    refused = knock("/shared", times=5, rate=2)
    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "1"
    assert knock("/healthz", times=4, rate=1, health_rate=2).status_code == 200
    assert knock("/healthz", times=5, rate=1, health_rate=2).status_code == 429


def test_requests_are_counted_and_those_of_strangers_are_not_logged(knock, metrics, caplog):
    with caplog.at_level(logging.INFO):
        knock("/private")
        knock("/anything")
    logged = [record.route for record in caplog.records if record.getMessage() == "request"]
    assert logged == ["private"]
    text = metrics.text().decode()
    assert 'sottovoce_requests_total{route="private",status="200"} 1.0' in text
    assert 'sottovoce_requests_total{route="other",status="200"} 1.0' in text
