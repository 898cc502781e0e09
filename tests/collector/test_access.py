"""Who may do what: every operation with every kind of token, and what the collector keeps of
tokens.
"""

import re

import pytest

from collector.people import counting, numbered, text
from collector.serving import body
from sottovoce.collector import access
from sottovoce.collector.access import TokenBatch
from sottovoce.collector.operations import OPERATIONS
from sottovoce.errors import AccessError
from sottovoce.web.problems import RequestError

HOLDERS = ("nobody", "garbage", "enrolment", "session", "analyst", "operator", "expired", "revoked")
OPEN = dict.fromkeys(HOLDERS, "in")
READ = dict.fromkeys(("nobody", "garbage", "expired", "revoked"), 401) | dict.fromkeys(
    ("enrolment", "session"), 403
)
FOR_ANALYSTS = {**READ, "analyst": "in", "operator": "in"}
FOR_OPERATORS = {**READ, "analyst": 403, "operator": "in"}
MATRIX = {
    "list_tasks": OPEN,
    "create_task": FOR_OPERATORS,
    "get_task": OPEN,
    "get_round": OPEN,
    "list_rounds": OPEN,
    "get_asked_round": OPEN,
    "upload": OPEN,
    "get_round_keys": OPEN,
    "put_round_key": OPEN,
    "get_key_set": OPEN,
    "put_set_signature": OPEN,
    "put_batch_part": OPEN,
    "buy_token": OPEN,
    "buy_fake_tokens": OPEN,
    "get_answer": FOR_ANALYSTS,
    "get_integrity": FOR_ANALYSTS,
    "ask_sql": FOR_ANALYSTS,
    "get_status": FOR_ANALYSTS,
    "close_task": FOR_OPERATORS,
    "issue_tokens": FOR_OPERATORS,
    "list_tokens": FOR_OPERATORS,
    "revoke_token": FOR_OPERATORS,
    "get_openapi": OPEN,
    "healthz": OPEN,
    "readyz": OPEN,
    "get_metrics": OPEN,
    "get_errors": OPEN,
}
# Of those who get in; the task has no answer yet, and no tables, and is not shuffled.
WELCOME = {
    "get_round_keys": 404,
    "put_round_key": 400,
    "get_key_set": 404,
    "put_set_signature": 400,
    "put_batch_part": 404,
    "buy_token": 400,
    "buy_fake_tokens": 400,
    "get_answer": 409,
    "close_task": 409,
    "ask_sql": 400,
    "create_task": 200,
    "issue_tokens": 201,
    "revoke_token": 404,
}


@pytest.fixture
def holders(site, clock):
    """The header that everybody sends."""
    store, now = site.store, clock.now
    tokens = {**site.tokens, "garbage": "A" * 43}
    tokens["expired"] = access.issue(store, "operator", now, batch=TokenBatch(seconds=1))[0]
    (tokens["revoked"],) = access.issue(store, "operator", now)
    store.revoke(access.hashed(tokens["revoked"]))
    clock.pass_(1)
    return {
        name: {"authorization": f"Bearer {tokens[name]}"} if name in tokens else {}
        for name in HOLDERS
    }


def call(site, operation, headers):
    path = operation.path.replace("{name}", "count").replace("{number}", "0")
    path = path.replace("{id}", "0" * 12).replace("{hop}", "0").replace("{part}", "0")
    content = {
        "create_task": {"content": text(counting())},
        "upload": {"json": body(numbered(counting(), 1))},
        "issue_tokens": {"json": {"scope": "analyst"}},
        "ask_sql": {"json": {"task": "count", "sql": "SELECT COUNT(*) FROM people"}},
    }
    return site.client.request(
        operation.method, path, headers=headers, **content.get(operation.handler, {})
    )


def test_the_matrix_has_a_row_for_every_operation():
    assert set(MATRIX) == {one.handler for one in OPERATIONS}


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.handler)
def test_every_operation_lets_in_exactly_those_it_should(site, holders, operation):
    site.publish(counting())
    expected = MATRIX[operation.handler]
    welcome = WELCOME.get(operation.handler, 200)
    got = {name: call(site, operation, holders[name]).status_code for name in HOLDERS}
    assert got == {name: welcome if said == "in" else said for name, said in expected.items()}


def test_a_token_is_checked_before_anything_is_said_about_a_task(site, holders):
    for path in ("/v1/tasks/none/answer", "/v1/tasks/none/status"):
        assert site.client.get(path).status_code == 401
        assert site.client.get(path, headers=holders["enrolment"]).status_code == 403
        assert site.client.get(path, headers=holders["analyst"]).status_code == 404
    assert site.client.post("/v1/tasks/none/close", headers=holders["analyst"]).status_code == 403


def test_a_refusal_says_how_to_log_in_or_which_scope_is_needed(site, holders):
    unknown = site.client.get("/v1/tokens")
    assert unknown.headers["www-authenticate"] == "Bearer"
    assert unknown.json()["code"] == "unauthenticated"
    lower = site.client.get("/v1/tokens", headers=holders["analyst"])
    assert "www-authenticate" not in lower.headers
    assert (lower.json()["code"], lower.json()["detail"]) == (
        "forbidden",
        "this needs a token of the scope operator",
    )


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Basic {}",
        "{}",
        "Token {}",
        "Bearer {}x",
        "Bearer x{}",
        "Bearer {} {}",
    ],
)
def test_only_a_bearer_header_is_a_token(site, header):
    sent = header.replace("{}", site.tokens["operator"])
    assert site.client.get("/v1/tokens", headers={"authorization": sent}).status_code == 401


@pytest.mark.parametrize("header", ["bearer {}", "BEARER {}", "Bearer   {}"])
def test_the_word_bearer_may_be_written_as_one_likes(site, header):
    sent = header.replace("{}", site.tokens["operator"])
    assert site.client.get("/v1/tokens", headers={"authorization": sent}).status_code == 200


def test_head_needs_the_token_that_get_needs(site):
    site.publish(counting())
    for path in ("/v1/tokens", "/v1/tasks/count/answer", "/v1/tasks/count/status"):
        assert site.client.head(path).status_code == 401


def test_a_token_is_not_taken_from_the_address(site):
    token = site.tokens["operator"]
    assert (
        site.client.get(f"/v1/tokens?token={token}&authorization=Bearer%20{token}").status_code
        == 401
    )


def test_tokens_are_kept_only_as_hashes(site, tmp_path):
    issued = [
        *site.tokens.values(),
        *access.issue(site.store, "enrolment", 0, batch=TokenBatch(100)),
    ]
    for file in tmp_path.iterdir():
        content = file.read_bytes()
        assert not any(token.encode() in content for token in issued), file.name
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert access.hashed(issued[0]) in kept


def test_tokens_have_256_bits_and_are_all_different(store):
    tokens = access.issue(store, "enrolment", 0, batch=TokenBatch(1000))
    assert len(set(tokens)) == 1000
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{43}", token) for token in tokens)


@pytest.mark.parametrize("scope", ["operator", "analyst", "session", "enrolment"])
def test_a_token_is_good_for_its_own_scope(store, scope):
    (token,) = access.issue(store, scope, 0, batch=TokenBatch(seconds=10))
    assert access.admit(store, token, scope, 9).scope == scope
    with pytest.raises(RequestError, match="unknown, expired or revoked"):
        access.admit(store, token, scope, 10)


def test_only_operators_read_what_analysts_read(store):
    (operator,), (analyst,) = access.issue(store, "operator", 0), access.issue(store, "analyst", 0)
    assert access.admit(store, operator, "analyst", 0).scope == "operator"
    with pytest.raises(AccessError):
        access.admit(store, analyst, "operator", 0)
    for other in ("session", "enrolment"):
        with pytest.raises(AccessError):
            access.admit(store, operator, other, 0)


def test_a_token_is_revoked_by_the_name_in_the_list_and_only_that_one(store):
    tokens = access.issue(store, "analyst", 0, batch=TokenBatch(3))
    names = [access.identity(one) for one in store.tokens()]
    gone = access.identity(store.token(access.hashed(tokens[1]), 0))
    assert gone in names
    assert access.revoke(store, gone)
    assert not access.revoke(store, gone)
    assert [store.token(access.hashed(token), 0) is None for token in tokens] == [
        False,
        True,
        False,
    ]
    assert not access.revoke(store, "")
