"""Who may see pages: tokens of people become sessions, sessions are good for pages only, and both
can end.
"""

import pytest
from starlette.testclient import TestClient

from collector.dashboard.collecting import NOW, ORIGIN, place
from collector.dashboard.reading import read
from sottovoce.collector import access
from sottovoce.collector.dashboard.sessions import local

ELSEWHERE = [
    "https://elsewhere.test/",
    "//elsewhere.test",
    "/\\elsewhere.test",
    "\\\\elsewhere.test",
    "javascript:alert(1)",
    "/\t/elsewhere.test",
    "/a\r\nset-cookie: x=y",
    "/é",
    "tasks",
    "",
    "/logout",
    "/login?next=/",
]
GUARDED = [
    "/",
    "/tasks/pets",
    "/tasks/pets/live",
    "/tasks/pets/answer.json",
    "/tasks/pets/answer.csv",
    "/tasks/none",
]


def test_whoever_has_not_logged_in_is_sent_to_the_log_in(fresh):
    for path in GUARDED:
        response = fresh.browser.get(path)
        assert response.status_code == 303
        assert response.headers["location"].startswith("/login")


def test_the_way_to_the_log_in_leads_back(fresh):
    location = fresh.browser.get("/tasks/a%20b?level=0.9").headers["location"]
    assert location == "/login?next=/tasks/a%2520b%3Flevel%3D0.9"
    target = fresh.page(location).one("input", name="next")["value"]
    assert target == "/tasks/a%20b?level=0.9"
    assert fresh.enter(target=target).headers["location"] == target


@pytest.mark.parametrize("scope", [access.ANALYST, access.OPERATOR])
def test_people_log_in_and_see_pages(fresh, scope):
    response = fresh.enter(fresh.token(scope))
    assert (response.status_code, response.headers["location"]) == (303, "/")
    assert fresh.page("/").one("h1").text == "Tasks"


def test_the_cookie_is_out_of_reach_for_scripts_and_other_sites(fresh):
    cookie = fresh.enter().headers["set-cookie"]
    parts = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert {"httponly", "samesite=strict", "path=/", f"max-age={fresh.settings.session}"} <= parts
    assert "secure" not in parts


def test_over_https_the_cookie_stays_there(fresh):
    browser = TestClient(fresh.app, base_url="https://testserver", follow_redirects=False)
    form = {"token": fresh.token(), "next": "/"}
    response = browser.post("/login", data=form, headers={"origin": "https://testserver"})
    assert "secure" in response.headers["set-cookie"].lower()


@pytest.mark.parametrize("scope", [access.ENROLMENT, access.SESSION, "garbage", "empty"])
def test_other_tokens_are_refused_and_never_shown(fresh, scope):
    token = {"garbage": "<b>garbage</b>", "empty": ""}.get(scope) or (
        fresh.token(scope) if scope in (access.ENROLMENT, access.SESSION) else ""
    )
    response = fresh.enter(token)
    assert response.status_code == 401
    assert "set-cookie" not in response.headers
    assert "was not accepted" in read(response.text).one("p", role="alert").text
    assert not token or token not in response.text
    assert fresh.browser.get("/").status_code == 303


def test_a_session_ends_by_itself(fresh):
    fresh.enter()
    token = fresh.browser.cookies["session"]
    fresh.now = NOW + fresh.settings.session + 1
    fresh.wear(token)
    assert fresh.browser.get("/").status_code == 303


def test_a_session_ends_with_the_token_that_opened_it(fresh):
    token = fresh.token()
    fresh.enter(token)
    assert fresh.browser.get("/").status_code == 200
    fresh.store.revoke(access.hashed(token))
    assert fresh.browser.get("/").status_code == 303


def test_a_session_does_not_outlive_a_token_that_expires(fresh):
    fresh.enter(fresh.token(batch=access.TokenBatch(seconds=60)))
    fresh.now += 61
    assert fresh.browser.get("/").status_code == 303


def test_whoever_logs_out_is_out_even_with_a_copy_of_the_cookie(fresh):
    fresh.enter()
    copy = fresh.browser.cookies["session"]
    response = fresh.browser.post("/logout", headers=ORIGIN)
    assert response.headers["location"] == "/login"
    assert "session" not in fresh.browser.cookies
    fresh.wear(copy)
    assert fresh.browser.get("/").status_code == 303


def test_a_log_out_ends_sessions_and_no_other_token(fresh):
    token = fresh.token()
    fresh.wear(token)
    fresh.browser.post("/logout", headers=ORIGIN)
    assert fresh.store.token(access.hashed(token), NOW) is not None


def test_a_session_is_no_token_for_programs_and_a_token_is_no_session(fresh):
    fresh.enter()
    session, token = fresh.browser.cookies["session"], fresh.token()
    program = TestClient(fresh.app)
    for path in ("/v1/tokens", "/v1/tasks/pets/status", "/v1/tasks/pets/answer"):
        assert program.get(path, headers={"authorization": f"Bearer {session}"}).status_code == 403
    fresh.wear(token)
    assert fresh.browser.get("/").status_code == 303


def test_a_log_in_leads_nowhere_else(fresh):
    for target in ELSEWHERE:
        assert local(target) == "/"
        assert fresh.enter(target=target).headers["location"] == "/"
        assert fresh.browser.get("/login", params={"next": target}).headers["location"] == "/"


@pytest.mark.parametrize("path", ["/login", "/logout"])
def test_forms_of_other_sites_are_refused(fresh, path):
    fresh.enter()
    form = {"token": fresh.token(), "next": "/"}
    for origin in (
        {},
        {"origin": "null"},
        {"origin": "http://elsewhere.test"},
        {"origin": "http://testserver.test"},
    ):
        assert fresh.browser.post(path, data=form, headers=origin).status_code == 403
    assert fresh.browser.get("/").status_code == 200


def test_whoever_is_logged_in_needs_no_form(fresh):
    fresh.enter()
    assert fresh.browser.get("/login?next=/tasks/x").headers["location"] == "/tasks/x"


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"token=" + b"x" * 5000, "application/x-www-form-urlencoded", 413),
        (b'{"token": "x"}', "application/json", 415),
        (b"token", "application/x-www-form-urlencoded", 400),
        (b"\xff=1", "application/x-www-form-urlencoded", 400),
        (b"&".join([b"token=x"] * 20), "application/x-www-form-urlencoded", 400),
        (b"", "application/x-www-form-urlencoded", 401),
    ],
    ids=["too large", "not a form", "no field", "not ascii", "too many fields", "empty"],
)
def test_a_form_is_read_strictly(seen, body, kind, status):
    response = seen.browser.post("/login", content=body, headers={**ORIGIN, "content-type": kind})
    assert response.status_code == status
    assert response.headers["content-type"].startswith("text/html")


def test_guessing_tokens_meets_the_rate_limit(tmp_path):
    with place(tmp_path, rate=5) as made:
        statuses = [made.enter(f"guess {number}").status_code for number in range(12)]
    assert statuses == [401] * 10 + [429] * 2


def test_a_part_of_a_page_sends_the_whole_page_to_the_log_in(fresh):
    response = fresh.browser.get("/tasks/pets/live?seen=x", headers={"hx-request": "true"})
    assert (response.status_code, response.headers["hx-redirect"]) == (
        401,
        "/login?next=/tasks/pets",
    )
