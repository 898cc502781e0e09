"""Every operation over HTTP: what it answers, in which shape, and what it says when it cannot."""

import base64
import csv
import hashlib
import io
import json
import sqlite3
from urllib.parse import quote

import msgspec
import pytest

import sottovoce as sv
from collector.people import (
    Clock,
    Ladder,
    Task,
    counting,
    envelope,
    honest,
    numbered,
    once,
    question,
    text,
)
from collector.sending import held
from collector.serving import body, plain_call, served
from sottovoce.client.client import Client
from sottovoce.collector.operations import OPERATIONS
from sottovoce.collector.published import OPEN_TO_ANYBODY
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.domains.integers import Integers
from sottovoce.tasks.collection import Collection
from sottovoce.web import uploads
from sottovoce.web.limits import RateLimit
from sottovoce.web.problems import CATALOGUE
from sottovoce.web.settings import Settings
from sottovoce.wire import codec

TOML = """
name = "browser"
epsilon = 2.0
description = "Which browser do you use?"

[plan]
kind = "histogram"
domain = ["chrome", "firefox", "safari"]

[collection]
minimum = 20
grace = 0
"""
AS_TOML = {"content-type": "application/toml"}
MSGPACK = "application/msgpack"


def problem(response, status, code):
    """Check that a response is a whole problem document of this code, and return it."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    said = response.json()
    assert (said["status"], said["code"]) == (status, code)
    assert said["title"] == CATALOGUE[code].title
    assert said["retry"] is CATALOGUE[code].retry
    assert said["type"] == f"/errors#{code}"
    assert set(said) <= {"type", "title", "status", "code", "retry", "detail"}
    return said


def ladder():
    """A task of several rounds."""
    collection = Collection(minimum=2, grace=0)
    return Task("ladder", Ladder(Integers(0, 15)), 2.0, collection=collection)


def messages(count, name="browser", site=None):
    document = site.client.get(f"/v1/tasks/{name}").text
    return [Client(document, ":memory:").answer("firefox") for _ in range(count)]


@pytest.fixture
def browser(site):
    """A site with one task."""
    made = site.client.post("/v1/tasks", content=TOML, headers=site.bearing("operator") | AS_TOML)
    assert made.status_code == 201
    return site


def test_a_task_is_published_listed_and_read_back(browser):
    client = browser.client
    (line,) = client.get("/v1/tasks").json()["tasks"]
    document = client.get("/v1/tasks/browser")
    digest = codec.digest(codec.parse(document.text))
    assert line == {
        "name": "browser",
        "digest": digest,
        "description": "Which browser do you use?",
        "epsilon": "2.0",
        "state": "open",
    }
    assert document.headers["content-type"] == "application/json"
    assert document.headers["etag"] == f'"{digest}"'
    again = client.post("/v1/tasks", content=TOML, headers=browser.bearing("operator") | AS_TOML)
    assert (again.status_code, again.json()) == (
        200,
        {"name": "browser", "digest": digest, "new": False, "concerns": [OPEN_TO_ANYBODY]},
    )


def test_a_task_comes_as_json_too(site):
    file = {"name": "json", "epsilon": 1.0, "plan": {"kind": "histogram", "domain": ["a", "b"]}}
    made = site.client.post("/v1/tasks", json=file, headers=site.bearing("operator"))
    assert made.status_code == 201
    assert made.json()["new"]


def test_the_round_is_what_devices_are_asked_now(browser):
    current = browser.client.get("/v1/tasks/browser/round").json()
    document = codec.parse(browser.client.get("/v1/tasks/browser").text)
    assert current == {
        "digest": codec.digest(document),
        "state": "open",
        "round": document["opening"],
    }
    browser.upload("browser", messages(20, site=browser))
    browser.seal("browser")
    over = browser.client.get("/v1/tasks/browser/round").json()
    assert (over["state"], over["round"]) == ("finished", None)


@pytest.mark.parametrize("path", ["/v1/tasks/browser", "/v1/tasks/browser/round"])
def test_what_has_not_changed_is_not_sent_again(browser, path):
    first = browser.client.get(path)
    tag = first.headers["etag"]
    for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        again = browser.client.get(path, headers={"if-none-match": known})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == tag
    for unknown in ('"other"', tag.strip('"'), ""):
        assert browser.client.get(path, headers={"if-none-match": unknown}).status_code == 200


def test_the_tag_of_a_round_changes_with_its_state(browser):
    path = "/v1/tasks/browser/round"
    tag = browser.client.get(path).headers["etag"]
    browser.client.post("/v1/tasks/browser/close?force=true", headers=browser.bearing("operator"))
    after = browser.client.get(path, headers={"if-none-match": tag})
    assert after.status_code == 200
    assert after.json()["state"] == "closing"


def test_json_and_messagepack_uploads_say_the_same(browser):
    sent = messages(4, site=browser)
    first = browser.upload("browser", sent[:2])
    assert first.headers["content-type"] == "application/json"
    assert first.json() == {"accepted": 2, "duplicates": 0, "refused": []}
    packed = msgspec.msgpack.encode({"reports": [*sent, b"junk"]})
    second = browser.client.post(
        "/v1/tasks/browser/reports", content=packed, headers={"content-type": MSGPACK}
    )
    assert second.headers["content-type"] == MSGPACK
    outcome = msgspec.msgpack.decode(second.content, type=uploads.UploadReceipt)
    assert outcome == uploads.UploadReceipt(2, 2, [uploads.RefusedMessage(4, "malformed", False)])


@pytest.mark.parametrize("sent", ["application/json", MSGPACK])
@pytest.mark.parametrize("wanted", ["application/json", MSGPACK])
def test_the_answer_to_an_upload_has_the_type_that_was_asked_for(browser, sent, wanted):
    content = {"reports": messages(1, site=browser)}
    encoded = (
        msgspec.json.encode(content)
        if sent == "application/json"
        else msgspec.msgpack.encode(content)
    )
    headers = {"content-type": sent, "accept": wanted}
    answer = browser.client.post("/v1/tasks/browser/reports", content=encoded, headers=headers)
    assert answer.headers["content-type"] == wanted
    decode = msgspec.json.decode if wanted == "application/json" else msgspec.msgpack.decode
    assert decode(answer.content)["accepted"] == 1


def test_a_body_sent_a_hundred_times_counts_once(browser):
    sent = messages(25, site=browser)
    first = browser.upload("browser", sent).json()
    assert first == {"accepted": 25, "duplicates": 0, "refused": []}
    for _ in range(99):
        assert browser.upload("browser", sent).json() == {
            "accepted": 0,
            "duplicates": 25,
            "refused": [],
        }
    status = browser.client.get(
        "/v1/tasks/browser/status", headers=browser.bearing("analyst")
    ).json()
    assert status["rounds"][0]["users"] == 25
    assert status["refused"] == {}
    assert sum(count for _, count in status["arrivals"]) == 25


def test_only_what_failed_is_listed_with_its_place_and_code(browser):
    good, bad = messages(3, site=browser), [b"junk", envelope(bytes(16), b"\0")]
    said = browser.upload("browser", [good[0], bad[0], good[1], bad[1], good[2]]).json()
    assert said["accepted"] == 3
    assert said["refused"] == [
        {"index": 1, "code": "malformed", "retry": False},
        {"index": 3, "code": "other-task", "retry": False},
    ]
    status = browser.client.get(
        "/v1/tasks/browser/status", headers=browser.bearing("operator")
    ).json()
    assert status["refused"] == {"malformed": 1, "other-task": 1}


def test_status_tells_how_a_collection_goes(browser):
    browser.upload("browser", messages(20, site=browser))
    browser.seal("browser")
    status = browser.client.get(
        "/v1/tasks/browser/status", headers=browser.bearing("analyst")
    ).json()
    (line,) = status["rounds"]
    assert (status["state"], status["failure"]) == ("finished", "")
    assert (line["number"], line["state"], line["users"], line["count"]) == (0, "sealed", 20, 20)
    assert len(line["checksum"]) == 64
    assert line["erased"] is False


def test_the_answer_has_intervals_and_says_what_it_rests_on(browser):
    browser.upload("browser", messages(30, site=browser))
    analyst = browser.bearing("analyst")
    problem(browser.client.get("/v1/tasks/browser/answer", headers=analyst), 409, "not-ready")
    browser.seal("browser")
    answer = browser.client.get("/v1/tasks/browser/answer", headers=analyst).json()
    assert (answer["users"], answer["epsilon"], answer["steps"], answer["level"]) == (
        30,
        2.0,
        [],
        0.95,
    )
    assert [row["value"] for row in answer["rows"]] == ["chrome", "firefox", "safari"]
    assert all(row["low"] <= row["estimate"] <= row["high"] for row in answer["rows"])
    wide = browser.client.get(
        "/v1/tasks/browser/answer?level=0.99&method=norm-sub", headers=analyst
    ).json()
    assert (wide["level"], wide["steps"]) == (0.99, ["norm-sub"])
    assert sum(row["estimate"] for row in wide["rows"]) == pytest.approx(30)


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("text/csv", "text/csv"),
        ("text/csv, */*;q=0.1", "text/csv"),
        ("text/*", "text/csv"),
        ("*/*", "application/json"),
        ("application/json, text/csv", "application/json"),
        ("application/*", "application/json"),
    ],
)
def test_the_answer_comes_as_json_or_csv(browser, accept, kind):
    browser.upload("browser", messages(30, site=browser))
    browser.seal("browser")
    headers = browser.bearing("analyst") | {"accept": accept}
    answer = browser.client.get("/v1/tasks/browser/answer", headers=headers)
    assert answer.headers["content-type"].split(";")[0] == kind
    if kind == "text/csv":
        rows = list(csv.DictReader(io.StringIO(answer.text)))
        assert [row["value"] for row in rows] == ["chrome", "firefox", "safari"]
        assert {row["question"] for row in rows} == {"browser"}


def test_a_format_that_an_answer_does_not_have_is_refused(browser):
    browser.upload("browser", messages(30, site=browser))
    browser.seal("browser")
    headers = browser.bearing("analyst") | {"accept": "image/png"}
    problem(browser.client.get("/v1/tasks/browser/answer", headers=headers), 406, "not-acceptable")


@pytest.mark.parametrize(
    "query",
    ["level=0.4", "level=1", "level=nan", "level=much", "method=magic", "method=", "level="],
)
def test_a_level_or_method_that_cannot_work_is_refused(browser, query):
    browser.upload("browser", messages(30, site=browser))
    browser.seal("browser")
    headers = browser.bearing("analyst")
    problem(
        browser.client.get(f"/v1/tasks/browser/answer?{query}", headers=headers), 400, "invalid"
    )


def test_a_mean_has_no_method(site):
    task = Task("mean", sv.Mean(0, 1), 2.0, collection=Collection(minimum=2))
    site.publish(task)
    site.upload("mean", honest(task, 5))
    site.seal("mean")
    headers = site.bearing("analyst")
    assert (
        site.client.get("/v1/tasks/mean/answer", headers=headers).json()["rows"][0]["value"]
        == "mean"
    )
    problem(
        site.client.get("/v1/tasks/mean/answer?method=norm-sub", headers=headers), 400, "invalid"
    )


def test_closing_is_said_once(browser):
    operator = browser.bearing("operator")
    path = "/v1/tasks/browser/close"
    problem(browser.client.post(f"{path}?at_once=perhaps", headers=operator), 400, "invalid")
    problem(browser.client.post(path, headers=operator), 409, "would-fail")
    path = f"{path}?force=true"
    assert browser.client.post(path, headers=operator).json()["state"] == "closing"
    problem(browser.client.post(path, headers=operator), 409, "not-ready")
    assert browser.client.post(f"{path}&at_once=true", headers=operator).json()["state"] == "sealed"
    late = messages(1, site=browser)
    assert browser.upload("browser", late).json()["refused"] == [
        {"index": 0, "code": "too-late", "retry": False}
    ]


def test_tokens_are_issued_listed_and_revoked(site):
    operator = site.bearing("operator")
    made = site.client.post(
        "/v1/tokens", json={"scope": "analyst", "label": "Ada", "count": 2}, headers=operator
    )
    assert made.status_code == 201
    issued = made.json()["tokens"]
    assert len(set(issued)) == 2
    listed = site.client.get("/v1/tokens", headers=operator).json()["tokens"]
    mine = [one for one in listed if one["label"] == "Ada"]
    assert {one["scope"] for one in mine} == {"analyst"}
    assert not any(token in json.dumps(listed) for token in issued)
    gone = site.client.delete(f"/v1/tokens/{mine[0]['id']}", headers=operator)
    assert (gone.status_code, gone.content) == (204, b"")
    problem(site.client.delete(f"/v1/tokens/{mine[0]['id']}", headers=operator), 404, "not-found")


def test_enrolled_reports_pay_with_their_tokens(site, clock):
    task = site.publish(once(question(), name="enrolled", enrolment=True, minimum=2))
    wanted = {"scope": "enrolment", "count": 2, "days": 1}
    tokens = site.client.post("/v1/tokens", json=wanted, headers=site.bearing("operator")).json()[
        "tokens"
    ]
    sent = honest(task, 3)

    def upload(reports, **rest):
        said = site.client.post("/v1/tasks/enrolled/reports", json=body(reports, **rest)).json()
        return said["accepted"], said["duplicates"], [one["code"] for one in said["refused"]]

    assert upload(sent[:1]) == (0, 0, ["token-missing"])
    assert upload(sent[:1], tokens=tokens[:1]) == (1, 0, [])
    assert upload(sent[:1], tokens=tokens[:1]) == (0, 1, [])
    assert upload(sent[1:2], tokens=tokens[:1]) == (0, 0, ["token-spent"])
    clock.pass_(86_400)
    assert upload(sent[2:], tokens=tokens[1:]) == (0, 0, ["token-unknown"])
    short = site.client.post("/v1/tasks/enrolled/reports", json=body(sent, tokens=tokens[:1]))
    assert "one token for every report" in problem(short, 400, "malformed-request")["detail"]


def test_health_readiness_metrics_and_the_document_are_open(browser):
    browser.upload("browser", [*messages(2, site=browser), b"junk"])
    client = browser.client
    assert (client.get("/healthz").text, client.get("/readyz").text) == ("alive\n", "ready\n")
    metrics = client.get("/metrics")
    assert metrics.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'sottovoce_messages_total{outcome="accepted",task="browser"} 2.0' in metrics.text
    assert 'sottovoce_messages_total{outcome="malformed",task="browser"} 1.0' in metrics.text
    assert client.get("/v1/openapi.json").json()["openapi"] == "3.1.0"


def test_metrics_follow_the_rounds(browser):
    browser.upload("browser", messages(21, site=browser))
    browser.seal("browser")
    text = browser.client.get("/metrics").text
    assert 'sottovoce_round_users{round="0",task="browser"} 21.0' in text
    assert 'sottovoce_round_state{round="0",state="sealed",task="browser"} 1.0' in text
    assert 'sottovoce_requests_total{route="upload",status="200"} 1.0' in text


def paths(operation):
    named = operation.path.replace("{name}", "browser").replace("{number}", "0")
    return named.replace("{id}", "0" * 12)


@pytest.mark.parametrize(
    "operation", [one for one in OPERATIONS if one.method == "GET"], ids=lambda one: one.handler
)
def test_head_says_what_get_would_without_the_body(browser, operation):
    headers = browser.bearing("operator")
    got, headed = (
        browser.client.request(method, paths(operation), headers=headers)
        for method in ("GET", "HEAD")
    )
    assert headed.status_code == got.status_code
    assert headed.headers["content-type"] == got.headers["content-type"]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.handler)
def test_pages_of_other_origins_may_call_what_devices_call_and_nothing_else(browser, operation):
    path = paths(operation)
    asked = {"origin": "https://example.org", "access-control-request-method": operation.method}
    allowed = browser.client.options(path, headers=asked)
    assert allowed.status_code == 204
    shared = any(one.shared for one in OPERATIONS if one.path == operation.path)
    assert ("access-control-allow-origin" in allowed.headers) == shared
    assert ("allow" in allowed.headers) != shared
    answer = browser.client.request(
        operation.method, path, headers={"origin": "https://example.org"}
    )
    assert (answer.headers.get("access-control-allow-origin") == "*") == operation.shared
    assert "access-control-allow-credentials" not in answer.headers
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_page_of_another_origin_can_read_problems_and_how_long_to_wait(store, tmp_path, clock):
    with served(store, tmp_path, clock, rate=1) as site:
        while (answer := site.client.get("/v1/tasks/none")).status_code == 404:
            assert answer.headers["access-control-allow-origin"] == "*"
        problem(answer, 429, "slow-down")
        assert answer.headers["access-control-allow-origin"] == "*"
        assert "retry-after" in answer.headers["access-control-expose-headers"]


@pytest.mark.parametrize("path", ["/", "/v1", "/v1/task", "/v1/tasks/a/b", "/v1/tasks/none"])
def test_what_is_not_there_is_not_found(site, path):
    problem(site.client.get(path), 404, "not-found")


def test_a_method_that_a_page_does_not_take_is_refused_with_those_it_takes(site):
    refused = site.client.delete("/v1/tasks")
    problem(refused, 405, "method-not-allowed")
    assert {"GET", "POST"} <= set(refused.headers["allow"].split(", "))


BODIES = {
    "nothing": b"",
    "no JSON": b"{",
    "a list": b"[]",
    "no reports": b"{}",
    "an empty list": b'{"reports":[]}',
    "an unknown field": b'{"reports":["AAAA"],"device":"laptop-of-ada"}',
    "no base64": b'{"reports":["!!laptop-of-ada!!"]}',
    "a number": b'{"reports":[7]}',
    "null": b'{"reports":null}',
    "a token that is no text": b'{"reports":["AAAA"],"tokens":[1]}',
    "half a surrogate": b'{"reports":["AAAA"],"tokens":["\\ud800"]}',
    "the other half": b'{"reports":["AAAA"],"tokens":["\\udc00abcdefgh"]}',
    "two tokens for a report": b'{"reports":["AAAA"],"tokens":["laptop-of-ada","b"]}',
    "no UTF-8": b'{"reports":["\xff"]}',
    "deep": b"[" * 100_000,
    "a long token": b'{"reports":["AAAA"],"tokens":["' + b"a" * 201 + b'"]}',
}


@pytest.mark.parametrize("content", BODIES.values(), ids=BODIES)
def test_a_body_that_is_not_what_the_route_documents_is_refused_and_never_quoted(browser, content):
    headers = {"content-type": "application/json"}
    said = problem(
        browser.client.post("/v1/tasks/browser/reports", content=content, headers=headers),
        400,
        "malformed-request",
    )
    assert "laptop-of-ada" not in json.dumps(said)
    assert "AAAA" not in json.dumps(said)


def test_more_reports_than_an_upload_takes_are_refused(browser):
    problem(browser.upload("browser", [b"x"] * (uploads.MAX_REPORTS + 1)), 400, "malformed-request")
    assert (
        len(browser.upload("browser", [b"x"] * uploads.MAX_REPORTS).json()["refused"])
        == uploads.MAX_REPORTS
    )


def test_messagepack_is_read_as_strictly(browser):
    headers = {"content-type": MSGPACK}
    for content in (
        b"",
        b"\xc1",
        b"\x81",
        msgspec.msgpack.encode({"reports": ["text"], "x": 1}),
        b"\x91" * 100_000,
    ):
        answer = browser.client.post("/v1/tasks/browser/reports", content=content, headers=headers)
        problem(answer, 400, "malformed-request")


@pytest.mark.parametrize(
    "count", ["4850.0", "1e3", "true", '"3"', "null", "0", "-1", "10001", "1" * 400]
)
def test_a_count_is_a_whole_number_written_as_one(site, count):
    content = f'{{"scope":"analyst","count":{count}}}'
    headers = site.bearing("operator") | {"content-type": "application/json"}
    problem(
        site.client.post("/v1/tokens", content=content, headers=headers), 400, "malformed-request"
    )


@pytest.mark.parametrize("field", ["", "admin", "session", "operator\n", "xoperator"])
def test_only_tokens_of_people_and_devices_are_issued(site, field):
    answer = site.client.post("/v1/tokens", json={"scope": field}, headers=site.bearing("operator"))
    problem(answer, 400, "malformed-request")


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/v1/tasks/browser/reports", "text/plain"),
        ("/v1/tasks/browser/reports", "application/toml"),
        ("/v1/tasks/browser/reports", "application/x-www-form-urlencoded"),
        ("/v1/tasks", MSGPACK),
        ("/v1/tokens", "application/toml"),
    ],
)
def test_a_content_type_that_a_route_does_not_read_is_refused(browser, path, kind):
    headers = browser.bearing("operator") | {"content-type": kind}
    problem(browser.client.post(path, content=b"{}", headers=headers), 415, "unsupported-media")


@pytest.mark.parametrize(
    "kind", ["application/json; charset=utf-8", "APPLICATION/JSON", " application/json "]
)
def test_a_content_type_may_have_parameters_and_capitals(browser, kind):
    content = json.dumps(body(messages(1, site=browser)))
    answer = browser.client.post(
        "/v1/tasks/browser/reports", content=content, headers={"content-type": kind}
    )
    assert answer.json()["accepted"] == 1


@pytest.fixture
def small(store, tmp_path, clock):
    with served(store, tmp_path, clock, largest_body=2048) as site:
        site.publish(counting())
        yield site


@pytest.mark.parametrize("path", ["/v1/tasks/count/reports", "/v1/tasks", "/v1/tokens"])
def test_a_body_above_the_limit_is_refused_with_and_without_a_length(small, path):
    headers = small.bearing("operator") | {"content-type": "application/json"}
    large = b" " * 2049
    problem(small.client.post(path, content=large, headers=headers), 413, "too-large")
    problem(
        small.client.post(path, content=iter([large[:1000], large[1000:]]), headers=headers),
        413,
        "too-large",
    )
    problem(small.client.post(path, content=b" " * 2048, headers=headers), 400, "malformed-request")


@pytest.mark.parametrize("path", ["/v1/tasks/count/reports", "/v1/tasks", "/v1/tokens"])
@pytest.mark.parametrize(
    ("length", "statuses"),
    [
        ("nonsense", {400}),
        ("-5", {400}),
        ("", {400}),
        ("9" * 5000, {400, 413}),
        ("0", {413}),
        ("\u0664", {400, 413}),
    ],
)
def test_a_content_length_that_lies_is_no_way_around_the_limit(small, path, length, statuses):
    headers = {
        "content-type": "application/json",
        "content-length": length,
        **small.bearing("operator"),
    }
    status, said, unread = plain_call(small.app, "POST", path, headers, [b" " * 1500] * 50)
    assert status in {*statuses, 413}
    assert json.loads(said)["code"] in ("malformed-request", "too-large")
    assert unread > 40, "the rest of a large body is not even read"


def test_a_stated_length_above_the_limit_is_refused(small):
    headers = {
        "content-type": "application/json",
        "content-length": "2049",
        **small.bearing("operator"),
    }
    status, _, _ = plain_call(small.app, "POST", "/v1/tokens", headers, [b" " * 2049])
    assert status == 413


def test_a_client_that_asks_too_often_is_told_how_long_to_wait(store, tmp_path, clock):
    with served(store, tmp_path, clock, rate=5) as site:
        answers = [site.client.get("/v1/tasks") for _ in range(12)]
        assert [one.status_code for one in answers] == [200] * 10 + [429] * 2
        problem(answers[-1], 429, "slow-down")
        assert answers[-1].headers["retry-after"] == "1"
        assert site.client.get("/healthz").status_code == 200, "probes are counted apart"
        clock.pass_(1)
        assert [site.client.get("/v1/tasks").status_code for _ in range(6)] == [200] * 5 + [429]


def test_a_full_queue_is_busy_and_says_when_to_come_back(store, tmp_path, clock):
    with served(store, tmp_path, clock, most_waiting=1024) as site:
        task = site.publish(counting())
        site.app.state.api.intake.waiting += 1020  # as if so many were waiting
        answer = site.upload("count", numbered(task, *range(5)))
        problem(answer, 429, "busy")
        assert answer.headers["retry-after"] == "1"
        site.app.state.api.intake.waiting -= 1020
        assert site.upload("count", numbered(task, *range(5))).json()["accepted"] == 5


@pytest.fixture
def impatient(open_store, tmp_path, clock):
    """A site whose store waits for a lock for a moment only."""
    with served(open_store(busy_timeout=0.05), tmp_path, clock) as site:
        site.publish(counting())
        yield site


def test_a_locked_store_is_unavailable_and_serves_again_afterwards(impatient, tmp_path):
    sent = numbered(counting(), 1, 2)
    other = sqlite3.connect(tmp_path / "collector.db", isolation_level=None)
    other.execute("begin immediate")
    answer = impatient.upload("count", sent)
    problem(answer, 503, "unavailable")
    assert answer.headers["retry-after"] == "1"
    problem(impatient.client.get("/readyz"), 503, "unavailable")
    assert impatient.client.get("/healthz").status_code == 200
    assert impatient.client.get("/v1/tasks/count").status_code == 200, "reading goes on"
    other.execute("rollback")
    other.close()
    assert impatient.client.get("/readyz").status_code == 200
    assert impatient.upload("count", sent).json() == {"accepted": 2, "duplicates": 0, "refused": []}


class Bounded(SqliteStore):
    """A store on a disk that is full when a test says so."""

    def bound(self, pages):
        with self._write_lock:
            self._writer.execute(f"pragma max_page_count = {pages}")

    def pages(self):
        with self._write_lock:
            return self._writer.execute("pragma page_count").fetchone()[0]


def test_a_full_disk_is_unavailable_loses_nothing_and_serves_again(open_store, tmp_path, clock):
    store = open_store(kind=Bounded)
    with served(store, tmp_path, clock) as site:
        task = site.publish(counting(size=60_000))
        first = numbered(task, *range(500))
        assert site.upload("count", first).json()["accepted"] == 500
        store.bound(store.pages() + 2)
        second = numbered(task, *range(500, 1500))
        answer = site.upload("count", second)
        problem(answer, 503, "unavailable")
        assert site.upload("count", first).json()["duplicates"] == 500, (
            "what was acknowledged is still here"
        )
        store.bound(1 << 30)
        assert site.upload("count", second).json()["accepted"] == 1000
        site.seal("count")
        assert held(site.collector, "count") == dict.fromkeys(range(1500), 1)


def test_no_error_says_what_a_request_held(browser):
    """Neither the body, nor a token, nor the name of a value."""
    secret = "Voldemort-Preference"
    client, operator = browser.client, browser.bearing("operator")
    encoded = base64.b64encode(secret.encode()).decode()
    file = {"name": "x", "epsilon": -1, "plan": {"kind": "histogram", "domain": [secret, secret]}}
    answers = [
        client.post("/v1/tasks", json=file, headers=operator),
        client.post(
            "/v1/tasks",
            json={**file, "epsilon": 1, "plan": {"kind": secret.lower()[:9]}},
            headers=operator,
        ),
        client.post("/v1/tasks", json={**file, secret: 1}, headers=operator),
        client.post("/v1/tasks", content=f"{secret} = [", headers=operator | AS_TOML),
        client.post(
            "/v1/tasks/browser/reports", content=f'{{"reports":["{encoded}"],"{secret}":1}}'
        ),
        client.post("/v1/tasks/browser/reports", json={"reports": [secret]}),
        client.post("/v1/tokens", json={"scope": secret}, headers=operator),
        client.get("/v1/tokens", headers={"authorization": f"Bearer {secret}"}),
        client.get(f"/v1/tasks/{secret}"),
        client.get(f"/v1/tasks/browser/answer?method={secret}", headers=browser.bearing("analyst")),
        client.get(f"/v1/tasks/browser/answer?level={secret}", headers=browser.bearing("analyst")),
    ]
    for one in answers:
        assert one.status_code >= 400
        assert secret not in one.text
        assert encoded not in one.text


def test_a_broken_store_is_an_error_of_ours_without_details(open_store, tmp_path, clock):
    class Broken(SqliteStore):
        def tokens(self):
            raise ZeroDivisionError("secret-detail")

    with served(open_store(kind=Broken), tmp_path, clock) as site:
        answer = site.client.get("/v1/tokens", headers=site.bearing("operator"))
        said = problem(answer, 500, "internal")
        assert "detail" not in said
        assert "secret" not in answer.text
        assert site.client.get("/v1/tasks").status_code == 200


@pytest.mark.parametrize("name", ["a/b", "..", ".", "a\nb", "\x00"])
def test_a_name_that_has_no_address_is_refused(site, name):
    file = {"name": name, "epsilon": 1.0, "plan": {"kind": "histogram", "domain": ["a", "b"]}}
    problem(
        site.client.post("/v1/tasks", json=file, headers=site.bearing("operator")), 400, "invalid"
    )
    assert site.collector.tasks() == []


@pytest.mark.parametrize("name", ["Wie geht's?", "50 %", "ä#ö", "a?b&c", "reports", "日本"])
def test_any_other_name_is_found_under_its_address(site, name):
    task = site.publish(counting(name))
    path = quote(name, safe="")
    assert site.client.get(f"/v1/tasks/{path}").text == text(task)
    assert site.upload(path, numbered(task, 1)).json()["accepted"] == 1
    assert site.client.get(f"/v1/tasks/{path}/round").json()["state"] == "open"


def test_a_minimum_that_is_no_crowd_is_refused_over_http(site):
    for minimum in (0, 1):
        for content, headers in (
            (TOML.replace("minimum = 20", f"minimum = {minimum}"), AS_TOML),
            (text(counting()).replace('"minimum":2', f'"minimum":{minimum}'), {}),
        ):
            answer = site.client.post(
                "/v1/tasks", content=content, headers=site.bearing("operator") | headers
            )
            assert (
                "`minimum` must be a whole number from 2"
                in problem(answer, 400, "invalid")["detail"]
            )
    assert site.collector.tasks() == []


def test_what_speaks_against_a_task_is_told_when_it_is_published(site):
    plan = {"kind": "dbs", "domain": {"low": 1, "high": 2000}, "users": 400, "top": 2}
    file = {"name": "songs", "epsilon": 0.5, "plan": plan}
    made = site.client.post("/v1/tasks", json=file, headers=site.bearing("operator"))
    assert made.status_code == 201
    (concern,) = site.collector.find("songs").task.concerns
    assert made.json()["concerns"] == [concern, OPEN_TO_ANYBODY]


def test_only_a_task_that_is_open_to_anybody_is_called_so(site):
    file = {"name": "one", "epsilon": 1.0, "plan": {"kind": "histogram", "domain": ["a", "b"]}}
    anybody = site.client.post("/v1/tasks", json=file, headers=site.bearing("operator")).json()
    assert anybody["concerns"] == [OPEN_TO_ANYBODY]
    enrolled = file | {"name": "two", "collection": {"enrolment": True}}
    made = site.client.post("/v1/tasks", json=enrolled, headers=site.bearing("operator"))
    assert made.status_code == 201
    assert "concerns" not in made.json()


def test_everybody_can_compare_what_devices_are_asked(site):
    task = site.publish(ladder())
    document = codec.parse(site.client.get("/v1/tasks/ladder").text)
    site.upload("ladder", honest(task, 40))
    site.seal("ladder")
    listed = site.client.get("/v1/tasks/ladder/rounds")
    assert listed.headers["cache-control"] == "public, max-age=10"
    assert listed.json()["digest"] == codec.digest(document)
    lines = listed.json()["rounds"]
    assert [line["number"] for line in lines] == [0, 1]
    rounds = [site.client.get(f"/v1/tasks/ladder/rounds/{number}") for number in (0, 1)]
    for line, asked in zip(lines, rounds, strict=True):
        assert line["sha256"] == hashlib.sha256(asked.content).hexdigest()
        assert asked.headers["etag"] == f'"{line["sha256"]}"'
        assert asked.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert codec.canonical(codec.parse(asked.text)) == asked.text
    assert codec.parse(rounds[0].text) == document["opening"]
    now = site.client.get("/v1/tasks/ladder/round").json()["round"]
    assert codec.canonical(now) == rounds[1].text


def test_the_list_of_rounds_changes_only_when_a_round_is_asked(site):
    task = site.publish(ladder())
    path = "/v1/tasks/ladder/rounds"
    tag = site.client.get(path).headers["etag"]
    assert site.client.get(path, headers={"if-none-match": tag}).status_code == 304
    site.upload("ladder", honest(task, 40))
    site.seal("ladder")
    assert site.client.get(path, headers={"if-none-match": tag}).status_code == 200


@pytest.mark.parametrize("number", ["1", "-1", "00", "x", "9" * 5000])
def test_a_round_that_was_not_asked_is_not_found(browser, number):
    problem(browser.client.get(f"/v1/tasks/browser/rounds/{number}"), 404, "not-found")


def test_a_request_takes_as_many_tokens_as_it_has_reports(store, tmp_path, clock):
    with served(store, tmp_path, clock, rate=10) as site:
        task = site.publish(counting())  # takes one of twenty
        assert site.upload("count", numbered(task, *range(15))).json()["accepted"] == 15
        refused = site.upload("count", numbered(task, *range(15, 25)))
        problem(refused, 429, "slow-down")
        # Four were left, of which the request itself took one: ten need 0.7 seconds.
        assert refused.headers["retry-after"] == "1"
        clock.pass_(int(refused.headers["retry-after"]))
        assert site.upload("count", numbered(task, *range(15, 25))).json()["accepted"] == 10


def test_a_request_that_no_bucket_admits_is_too_large_and_not_told_to_wait(store, tmp_path, clock):
    with served(store, tmp_path, clock, rate=10) as site:
        task = site.publish(counting())
        clock.pass_(10)
        said = problem(site.upload("count", numbered(task, *range(21))), 413, "too-large")
        assert said["detail"] == "a request has at most 20 reports at this collector's rate"
        clock.pass_(10)
        assert site.upload("count", numbered(task, *range(20))).json()["accepted"] == 20


def test_the_default_rate_admits_the_largest_request(store, tmp_path):
    assert RateLimit(Settings(data=tmp_path).rate, Clock()).capacity >= uploads.MAX_REPORTS


def test_probes_have_a_limit_of_their_own(store, tmp_path, clock):
    with served(store, tmp_path, clock, rate=2, health_rate=3) as site:
        statuses = [site.client.get("/healthz").status_code for _ in range(8)]
        assert statuses == [200] * 6 + [429] * 2
        assert site.client.get("/v1/tasks").status_code == 200, "requests have theirs"
        assert site.client.get("/metrics").status_code == 429


@pytest.fixture
def bound(store, tmp_path, clock):
    """A site that takes reports from the pages of two origins."""
    origins = "https://app.example, http://localhost:3000"
    with served(store, tmp_path, clock, origins=origins) as site:
        site.publish(counting())
        yield site


def test_pages_of_origins_that_are_not_listed_cannot_send_reports(bound):
    sent = numbered(counting(), 1)
    for origin in ("https://other.example", "https://app.example:8443", "null"):
        answer = bound.upload("count", sent, headers={"origin": origin})
        problem(answer, 403, "forbidden")
        assert "access-control-allow-origin" not in answer.headers
    listed = bound.upload("count", sent, headers={"origin": "https://app.example"})
    assert listed.json()["accepted"] == 1
    assert listed.headers["access-control-allow-origin"] == "https://app.example"
    assert listed.headers["vary"] == "origin"


def test_programs_and_the_pages_of_the_collector_itself_need_no_origin(bound):
    assert bound.upload("count", numbered(counting(), 1)).json()["accepted"] == 1
    own = {"origin": "http://testserver"}
    assert bound.upload("count", numbered(counting(), 2), headers=own).json()["accepted"] == 1


def test_a_page_asks_first_and_is_told_whether_its_origin_may(bound):
    path = "/v1/tasks/count/reports"
    asked = {"access-control-request-method": "POST"}
    for origin, allowed in (("http://localhost:3000", True), ("https://other.example", False)):
        answer = bound.client.options(path, headers=asked | {"origin": origin})
        assert answer.status_code == 204
        assert ("access-control-allow-origin" in answer.headers) == allowed


@pytest.mark.parametrize("origin", ["http://[", "https://a/b", "a, b", "https://a b", "", "\x00"])
@pytest.mark.parametrize("path", ["/v1/tasks", "/healthz", "/nowhere"])
def test_a_malformed_origin_is_a_bad_request(site, origin, path):
    said = problem(site.client.get(path, headers={"origin": origin}), 400, "malformed-request")
    assert said["detail"].startswith("the header Origin must be")


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.handler)
def test_what_only_the_holder_of_a_token_may_see_is_stored_nowhere(browser, operation):
    for headers in (browser.bearing("operator"), {}):
        answer = browser.client.request(operation.method, paths(operation), headers=headers)
        stored = answer.headers.get("cache-control") != "no-store"
        assert stored == (not operation.scope)


def test_bounds_that_allow_for_false_reports_are_asked_for(browser):
    browser.upload("browser", messages(30, site=browser))
    browser.seal("browser")
    headers = browser.bearing("analyst")
    path = "/v1/tasks/browser/answer"
    answer = browser.client.get(f"{path}?fakes=0.1", headers=headers).json()
    assert answer["fakes"] == 0.1
    assert all(row["low_attacked"] < row["low"] for row in answer["rows"])
    for none in ("fakes=", "fakes=0"):
        plain = browser.client.get(f"{path}?{none}", headers=headers).json()
        assert "low_attacked" not in plain["rows"][0]
    for wrong in ("fakes=1", "fakes=-0.1", "fakes=many", "fakes=nan"):
        problem(browser.client.get(f"{path}?{wrong}", headers=headers), 400, "invalid")
