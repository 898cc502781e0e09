"""HTTP to a collector that may be slow, absent, mistaken or malicious."""

import json
import socket
from threading import Thread

import pytest

import sottovoce as sv
from client.serving import PROBLEM, Collecting, free_port, serving
from client.shuffling import Chain, ShuffledCollecting, blind_collection, issuer
from sottovoce.client.transport import (
    MAX_ANSWER_BYTES,
    CollectorApi,
    Receipt,
    RefusedReport,
    ShufflerApi,
)
from sottovoce.errors import (
    AccessError,
    CodecError,
    MismatchError,
    ParameterError,
    StateError,
    UnavailableError,
)
from sottovoce.plans.frequencies.tracking import Tracking
from sottovoce.tasks.round import Round
from sottovoce.wire import codec, tokens

TASK = sv.Task("pets / città", sv.Histogram(["cat", "dog", "fish"]), epsilon=1.0)
DIGEST = codec.publish(TASK).digest
OTHER = sv.Task("pets / città", sv.Histogram(["cat", "dog", "fish"]), epsilon=9.0)


@pytest.fixture
def collecting():
    return Collecting(TASK)


@pytest.fixture
def collector(collecting):
    with serving(collecting) as url:
        yield CollectorApi(url + "/", timeout=5)


def test_a_task_is_fetched_and_known_by_its_digest(collector, collecting):
    assert collector.task(TASK.name) == collector.task(TASK.name) == codec.publish(TASK)
    tags = [headers.get("If-None-Match") for _, _, headers in collecting.requests]
    assert tags == [None, f'"{DIGEST}"']


def test_a_request_says_nothing_about_the_device(collector, collecting):
    collector.task(TASK.name)
    collector.send(TASK.name, [b"message"])
    for _, _, headers in collecting.requests:
        assert headers["User-Agent"] == "sottovoce"
        allowed = {
            "Host",
            "User-Agent",
            "Connection",
            "Accept-Encoding",
            "Content-Type",
            "Content-Length",
        }
        assert set(headers) <= allowed


def test_cookies_are_not_kept(collector, collecting):
    body = codec.canonical(codec.document(TASK)).encode()
    collecting.scripted = [(200, {"ETag": f'"{DIGEST}"', "Set-Cookie": "who=you"}, body)]
    collector.task(TASK.name)
    collector.round(TASK.name)
    assert "Cookie" not in collecting.requests[-1][2]


def test_a_digest_that_is_not_the_documents_is_refused(collector, collecting):
    body = codec.canonical(codec.document(OTHER)).encode()
    for headers in ({"ETag": f'"{DIGEST}"'}, {"ETag": DIGEST}, {}):
        collecting.scripted = [(200, headers, body)]
        with pytest.raises(MismatchError, match="another digest"):
            collector.task(TASK.name)


def test_nothing_that_the_collector_chose_is_repeated_to_it(collector, collecting):
    """An entity tag of its own, a cookie and a redirection would tell devices apart."""
    body = codec.canonical(codec.document(TASK)).encode()
    asked = {"digest": DIGEST, "state": "open", "round": codec.document(TASK.opening)}
    round_body = codec.canonical(asked).encode()
    marks = {"Set-Cookie": "who=you", "Last-Modified": "Mon, 01 Jan 2024 00:00:07 GMT"}
    collecting.scripted = [
        (200, {"ETag": f'W/"{DIGEST}"', **marks}, body),
        (200, {"ETag": '"device-7"', **marks}, round_body),
    ]
    for _ in range(2):
        collector.task(TASK.name)
        collector.round(TASK.name)
    sent = [headers for _, _, headers in collecting.requests]
    assert [headers.get("If-None-Match") for headers in sent] == [None, None, f'"{DIGEST}"', None]
    assert not any("Cookie" in headers or "If-Modified-Since" in headers for headers in sent)
    assert "device-7" not in str(sent)


def test_a_document_under_a_tag_of_its_own_is_refused_and_not_remembered(collector, collecting):
    body = codec.canonical(codec.document(TASK)).encode()
    collecting.scripted = [(200, {"ETag": '"device-7"'}, body)]
    with pytest.raises(MismatchError, match="another digest"):
        collector.task(TASK.name)
    collector.task(TASK.name)
    assert "If-None-Match" not in collecting.requests[-1][2]


def test_nothing_has_changed_only_where_something_is_known(collector, collecting):
    for ask in (lambda: collector.task(TASK.name), lambda: collector.round(TASK.name)):
        collecting.scripted = [(304, {}, b"")]
        with pytest.raises(MismatchError):
            ask()


def test_a_task_of_another_name_is_refused(collector, collecting):
    collecting.documents["cheap"] = codec.document(TASK)
    with pytest.raises(MismatchError):
        collector.task("cheap")


def test_a_document_that_spends_more_than_it_states_is_refused(collector, collecting):
    document = codec.document(OTHER)
    collecting.documents[TASK.name] = {**document, "epsilon": "1.0"}
    with pytest.raises(ParameterError, match="more than the `epsilon`"):
        collector.task(TASK.name)


def test_the_round_is_that_of_the_task(collector, collecting):
    assert collector.round(TASK.name, DIGEST) == ("open", TASK.opening)
    collecting.state, collecting.rounds[TASK.name] = "finished", None
    assert collector.round(TASK.name) == ("finished", None)
    with pytest.raises(MismatchError, match="another task"):
        collector.round(TASK.name, codec.publish(OTHER).digest)


def test_a_round_is_fetched_anew_every_time(collector, collecting):
    tracked = sv.Task("where", Tracking(["a", "b"], 3), 1.0, distinct=1)
    for name, document in Collecting(tracked).documents.items():
        collecting.documents[name], collecting.rounds[name] = (
            document,
            codec.document(tracked.opening),
        )
    for number in (0, 0, 1, 1):
        asked = Round(number, tracked.opening.ask)
        collecting.ask("where", asked)
        assert collector.round("where") == ("open", asked)
        assert collector.task("where") == codec.publish(tracked)
    known = [
        "If-None-Match" in headers
        for _, path, headers in collecting.requests
        if path.endswith("/round")
    ]
    assert known == [False, False, False, False]


@pytest.mark.parametrize(
    "body",
    [
        b"<html>log in</html>",
        b"[]",
        b"{}",
        b'{"digest":"x","round":null,"state":"ajar"}',
        b'{"digest":"x","round":7,"state":"open"}',
        b'{"digest":"x","round":null,"state":"open","more":1}',
        b"\xff\xfe",
    ],
)
def test_a_round_that_does_not_read_is_refused(collector, collecting, body):
    collecting.scripted = [(200, {}, body)]
    with pytest.raises(CodecError):
        collector.round(TASK.name)


def test_reports_travel_in_base64_with_tokens_only_if_there_are_any(collector, collecting):
    assert collector.send(TASK.name, [b"\0\1", b"\xff"]) == Receipt(2, 0)
    assert collector.send(TASK.name, [b"\0\1", b"new"], ["t1", "t2"]) == Receipt(1, 1)
    assert collecting.bodies == [
        {"reports": ["AAE=", "/w=="]},
        {"reports": ["AAE=", "bmV3"], "tokens": ["t1", "t2"]},
    ]


def test_a_refused_report_is_told_with_its_code(collector, collecting):
    collecting.refusal = {"index": 0, "code": "too-late", "retry": False}
    assert collector.send(TASK.name, [b"m"]) == Receipt(
        0, 0, (RefusedReport(0, "too-late", False),)
    )


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"accepted": 1, "duplicates": 0},
        {"accepted": "1", "duplicates": 0, "refused": []},
        {"accepted": True, "duplicates": 0, "refused": []},
        {"accepted": 2, "duplicates": -1, "refused": []},
        {"accepted": 0, "duplicates": 0, "refused": []},
        {"accepted": 0, "duplicates": 0, "refused": [{"index": 1, "code": "x", "retry": False}]},
        {"accepted": 0, "duplicates": 0, "refused": [{"index": 0, "code": 7, "retry": False}]},
        {"accepted": 0, "duplicates": 0, "refused": [{"index": 0, "code": "x"}]},
        {"accepted": 0, "duplicates": 0, "refused": ["too-late"]},
    ],
    ids=str,
)
def test_a_receipt_that_does_not_say_what_became_of_the_report_is_refused(
    collector, collecting, said
):
    collecting.scripted = [(200, {}, json.dumps(said).encode())]
    with pytest.raises(CodecError):
        collector.send(TASK.name, [b"m"])


@pytest.mark.parametrize(
    ("headers", "wait"),
    [({"Retry-After": "120"}, 120.0), ({"Retry-After": "soon"}, None), ({}, None)],
)
@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_a_collector_that_is_busy_may_be_tried_again(collector, collecting, status, headers, wait):
    collecting.scripted = [(status, headers, b"")]
    with pytest.raises(UnavailableError) as refused:
        collector.send(TASK.name, [b"m"])
    assert refused.value.retry_after == wait


def test_a_collector_that_is_not_there_may_be_tried_again():
    with pytest.raises(UnavailableError):
        CollectorApi(f"http://127.0.0.1:{free_port()}").task("pets")


@pytest.mark.parametrize(
    "reply", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", b"nonsense\r\n\r\n"]
)
def test_a_connection_that_breaks_off_may_be_tried_again(reply):
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()

        def hang_up():
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(reply)

        thread = Thread(target=hang_up)
        thread.start()
        with pytest.raises((UnavailableError, CodecError)):
            CollectorApi(f"http://127.0.0.1:{listening.getsockname()[1]}").send("pets", [b"m"])
        thread.join()


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *((status, CodecError) for status in (400, 413, 415, 422)),
        *((status, AccessError) for status in (401, 403)),
        *((status, MismatchError) for status in (404, 405, 409, 410)),
    ],
)
def test_a_problem_becomes_an_error_with_its_title(collector, collecting, status, kind):
    problem = {
        "type": "about:blank",
        "title": "Not this one",
        "status": status,
        "detail": "secret",
        "code": "x",
    }
    collecting.scripted = [(status, PROBLEM, json.dumps(problem).encode())]
    with pytest.raises(kind, match="Not this one"):
        collector.send(TASK.name, [b"m"])


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (PROBLEM, b"{"),
        (PROBLEM, b'{"title": 7}'),
        (PROBLEM, b'{"title": "two\\nlines"}'),
        (PROBLEM, b'{"title": "' + b"x" * MAX_ANSWER_BYTES + b'"}'),
        ({"Content-Type": "text/html"}, b"<html>"),
        ({}, b""),
    ],
)
def test_a_problem_without_a_decent_title_is_told_by_its_status(
    collector, collecting, headers, body
):
    collecting.scripted = [(404, headers, body)]
    with pytest.raises(MismatchError, match=r"status 404$"):
        collector.task(TASK.name)


def test_a_long_title_is_cut(collector, collecting):
    collecting.scripted = [(404, PROBLEM, b'{"title": "' + b"x" * 5000 + b'"}')]
    with pytest.raises(MismatchError) as refused:
        collector.task(TASK.name)
    assert len(str(refused.value)) < 300


def test_a_redirect_to_another_host_is_not_followed(collector, collecting):
    elsewhere = Collecting(TASK)
    with serving(elsewhere) as url:
        for target in (url + "/v1/tasks/pets", "https://127.0.0.1/x"):
            collecting.scripted = [(302, {"Location": target}, b"")]
            with pytest.raises(MismatchError, match="elsewhere"):
                collector.task(TASK.name)
    assert elsewhere.requests == []


def test_reports_are_not_taken_elsewhere_even_on_the_same_host(collector, collecting):
    for status in (301, 302, 303, 307, 308):
        collecting.scripted = [(status, {"Location": "/v1/tasks/other/reports"}, b"")]
        with pytest.raises(MismatchError):
            collector.send(TASK.name, [b"m"])
    assert len(collecting.requests) == 5


def test_a_redirect_on_the_same_host_is_not_followed_either(collector, collecting):
    """Its address could be one for each device."""
    collecting.documents["moved"] = collecting.documents[TASK.name]
    collecting.scripted = [(301, {"Location": "/v1/tasks/moved"}, b"")]
    with pytest.raises(MismatchError, match="elsewhere"):
        collector.task(TASK.name)
    assert len(collecting.requests) == 1


def test_an_oversized_answer_is_refused(collector, collecting):
    collecting.scripted = [(200, {"ETag": '"x"'}, b" " * (MAX_ANSWER_BYTES + 1))]
    with pytest.raises(CodecError, match="at most"):
        collector.task(TASK.name)


UNPROTECTED = ["file:///etc/passwd", "ftp://host", "collector", "http://", "", "https://"]
UNPROTECTED += ["http://collector.example", "http://10.0.0.1", "http://192.168.1.7:8080"]
UNPROTECTED += ["http://localhost.example", "http://[::2]", "http://0.0.0.0", "https://host:port"]


@pytest.mark.parametrize("url", UNPROTECTED)
def test_an_address_that_is_not_protected_on_its_way_is_refused(url):
    with pytest.raises(ParameterError, match="`url` must begin with https://"):
        CollectorApi(url)


PROTECTED = ["https://collector.example", "https://10.0.0.1:8443/base", "http://127.0.0.1:80"]
PROTECTED += ["http://127.9.9.9", "http://localhost:8000/", "http://[::1]:8000"]


@pytest.mark.parametrize("url", PROTECTED)
def test_https_is_for_everybody_and_http_for_this_machine(url):
    assert CollectorApi(url).url == url.rstrip("/")


@pytest.mark.parametrize("url", ["https://user@host", "https://host?device=7", "https://host#7"])
def test_an_address_says_nothing_about_the_device(url):
    with pytest.raises(ParameterError, match="`url` must have no user name"):
        CollectorApi(url)


@pytest.mark.parametrize("timeout", [0, -1, float("inf"), "30"])
def test_an_impossible_timeout_is_refused(timeout):
    with pytest.raises(ParameterError, match="`timeout` must be"):
        CollectorApi("https://collector.example", timeout)


# --- what a shuffled task needs ---

CHAIN = Chain(("https://mix-a.example.org", "https://mix-b.example.org"))
SHUFFLED = CHAIN.task(collection=blind_collection())
NOTICE = codec.publish(SHUFFLED)


@pytest.fixture
def shuffled():
    return ShuffledCollecting(CHAIN, SHUFFLED)


@pytest.fixture
def api(shuffled):
    with serving(shuffled) as url:
        yield CollectorApi(url)


def test_the_keys_of_a_round_are_read_in_the_order_of_the_hops(api, shuffled):
    keys = api.keys("browser", 0, NOTICE.digest)
    assert keys == CHAIN.given(NOTICE)
    shuffled.opened = 1_700_000_000
    assert api.keys("browser", 0, NOTICE.digest).opened == 1_700_000_000
    assert shuffled.requests[-1][1] == "/v1/tasks/browser/rounds/0/keys"


def test_keys_that_are_not_all_there_may_be_asked_for_later(api, shuffled):
    shuffled.are_keys_ready = False
    with pytest.raises(StateError, match="not ready"):
        api.keys("browser", 0, NOTICE.digest)


def key(hop=0, public_key="A" * 43, signature="A" * 86, **more):
    return {"hop": hop, "public_key": public_key, "signature": signature, **more}


@pytest.mark.parametrize(
    "changes",
    [
        {"digest": "other"},
        {"round": 1},
        {"round": "0"},
        {"keys": {}},
        {"keys": [key(1)]},
        {"keys": [key(True)]},
        {"keys": [key(more=1)]},
        {"keys": [key(public_key="A" * 42)]},
        {"keys": [key(public_key=7)]},
        {"keys": [key(signature="A" * 43)]},
        {"keys": ["key"]},
        {"keys": [key(hop) for hop in range(5)]},
        {"opened": -1},
        {"opened": "now"},
        {"other": 1},
    ],
)
def test_keys_that_do_not_read_are_refused(api, shuffled, changes):
    proper = {"digest": NOTICE.digest, "round": 0, "keys": [key()], "set_signatures": []}
    shuffled.scripted = [(200, {}, json.dumps(proper | changes).encode())]
    with pytest.raises((CodecError, MismatchError)):
        api.keys("browser", 0, NOTICE.digest)
    shuffled.scripted = [(200, {}, json.dumps(proper).encode())]
    assert len(api.keys("browser", 0, NOTICE.digest).keys) == 1


def test_an_issuer_signs_one_number_for_a_person_and_the_same_one_again(api):
    pending = tokens.blind(issuer().public_key, NOTICE.fingerprint)
    signature = api.blind_signature("browser", "mine", pending.blinded)
    assert api.blind_signature("browser", "mine", pending.blinded) == signature
    tokens.finalize(pending, signature)
    with pytest.raises(AccessError, match="spent"):
        api.blind_signature("browser", "mine", bytes(255) + b"\2")


@pytest.mark.parametrize("answer", [{}, {"blind_signature": "AA"}, {"blind_signature": 1, "x": 2}])
def test_a_blind_signature_that_does_not_read_is_refused(api, shuffled, answer):
    shuffled.scripted = [(200, {}, json.dumps(answer).encode())]
    with pytest.raises(CodecError):
        api.blind_signature("browser", "mine", bytes(256))


def test_a_shuffler_is_called_what_it_is():
    with pytest.raises(UnavailableError, match="the shuffler cannot be reached"):
        ShufflerApi(f"http://127.0.0.1:{free_port()}").send(bytes(32), 0, [b"m"])
