"""The route of uploads: which requests are its own, and what it answers in.

What becomes of messages is in ``test_api.py`` and ``test_intake.py``.
"""

import json

import msgspec
import pytest

from collector.people import counting, numbered
from collector.serving import body, plain_call
from sottovoce.web import uploads

JSON = "application/json"
MSGPACK = "application/msgpack"


@pytest.fixture
def reports(site):
    return numbered(site.publish(counting()), 1, 2)


def upload(site, reports, **headers):
    pieces = [json.dumps(body(reports)).encode()]
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    status, content, _ = plain_call(site.app, "POST", "/v1/tasks/count/reports", named, pieces)
    return status, content


@pytest.mark.parametrize(
    ("accept", "decode"),
    [
        ("", msgspec.json.decode),
        ("*/*", msgspec.json.decode),
        (JSON, msgspec.json.decode),
        ("text/html", msgspec.json.decode),
        (MSGPACK, msgspec.msgpack.decode),
        (f"{JSON}, {MSGPACK}", msgspec.msgpack.decode),
    ],
)
def test_the_answer_is_in_a_type_that_the_client_accepts(site, reports, accept, decode):
    status, content = upload(site, reports, content_type=JSON, accept=accept)
    assert status == 200
    assert decode(content, type=uploads.UploadReceipt) == uploads.UploadReceipt(2, 0, [])


def test_a_body_in_another_type_is_refused(site, reports):
    status, content = upload(site, reports, content_type="text/plain")
    assert status == 415
    assert msgspec.json.decode(content)["detail"] == f"this route reads {JSON} and {MSGPACK}"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/tasks/count/reports", 405),
        ("POST", "/v1/tasks/count/more/reports", 404),
        ("POST", "/v1/tasks/other/reports", 404),
        ("GET", "/v1/tasks/count", 200),
    ],
)
def test_other_requests_are_passed_on_or_refused(site, reports, method, path, status):
    assert plain_call(site.app, method, path, {"content-type": JSON}, [b"{}"])[0] == status
