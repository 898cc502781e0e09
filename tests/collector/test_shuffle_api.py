"""Shuffled tasks over HTTP: keys, parts and tokens, and what is refused with which problem."""

import json

import pytest

from collector.people import counting, text
from collector.serving import served
from collector.shuffled import Chain, fingerprint_of, shuffled_for
from sottovoce.collector import key_files
from sottovoce.core.base64url import text_of
from sottovoce.wire import tokens
from sottovoce.wire.fake_tokens import FakeTokenRequest
from sottovoce.wire.round_keys import read_signed_keys


@pytest.fixture
def chain():
    return Chain.of(1)


@pytest.fixture
def issuer(site):
    return key_files.make_issuer(site.collector.folder)


@pytest.fixture
def task(site, chain, issuer):
    known = text_of(issuer.public_key.data)
    return site.publish(shuffled_for(site.collector, chain, fakes=2, issuer=known))


@pytest.fixture
def open_task(site, chain):
    return site.publish(shuffled_for(site.collector, chain, name="without tokens"))


def push(site, chain, task):
    for signed in chain.statements(task):
        body = signed.to_dict()
        hop = body.pop("hop")
        yield site.client.put(f"/v1/tasks/{task.name}/rounds/0/keys/{hop}", json=body)


def push_signatures(site, chain, task):
    """Every hop fetches all keys, signs them as one set, and pushes the signature."""
    address = f"/v1/tasks/{task.name}/rounds/0/key-set"
    keys = read_signed_keys(site.client.get(address).json()["keys"])
    public_keys = [key.public_key for key in keys]
    for hop, signature in enumerate(chain.set_signatures(task, task.opening, public_keys)):
        body = {"signature": text_of(signature)}
        yield site.client.put(f"{address}/{hop}", json=body)


def code(answer):
    assert answer.headers["content-type"] == "application/problem+json"
    return answer.status_code, answer.json()["code"]


def test_keys_are_pushed_and_fetched(site, chain, task):
    address = f"/v1/tasks/{task.name}/rounds/0/keys"
    assert code(site.client.get(address)) == (409, "not-ready")
    assert code(site.client.get(f"/v1/tasks/{task.name}/rounds/0/key-set")) == (409, "not-ready")
    assert [answer.status_code for answer in push(site, chain, task)] == [201]
    assert [answer.status_code for answer in push(site, chain, task)] == [200]
    assert code(site.client.get(address)) == (409, "not-ready")
    assert [answer.status_code for answer in push_signatures(site, chain, task)] == [201]
    assert [answer.status_code for answer in push_signatures(site, chain, task)] == [200]
    answer = site.client.get(address)
    assert len(answer.json()["set_signatures"]) == 1
    assert answer.json()["digest"] == site.collector.find(task.name).digest
    assert answer.json()["round"] == 0
    assert [key["hop"] for key in answer.json()["keys"]] == [0, 1]
    assert "immutable" in answer.headers["cache-control"]
    tag = answer.headers["etag"]
    assert site.client.get(address, headers={"if-none-match": tag}).status_code == 304
    chain.round_keys.clear()
    assert [code(answer) for answer in push(site, chain, task)] == [(409, "conflict")]


def test_a_batch_is_delivered_in_parts_and_opened(site, chain, open_task):
    list(push(site, chain, open_task))
    list(push_signatures(site, chain, open_task))
    parts = chain.batch(site.collector, open_task, [5, 5, 6, 7])
    address = f"/v1/tasks/{open_task.name}/rounds/0/batch"
    octets = {"content-type": "application/octet-stream"}
    first = site.client.put(f"{address}/0", content=parts[0], headers=octets)
    assert (first.status_code, first.json()) == (
        201,
        {"received": 1, "parts": 2, "complete": False},
    )
    again = site.client.put(f"{address}/0", content=parts[0], headers=octets)
    assert (again.status_code, again.json()) == (200, first.json())
    last = site.client.put(f"{address}/1", content=parts[1], headers=octets)
    assert last.json() == {"received": 2, "parts": 2, "complete": True}
    site.collector.advance()
    headers = site.bearing("analyst")
    answer = site.client.get(f"/v1/tasks/{open_task.name}/answer", headers=headers)
    assert answer.json()["users"] == 4


def test_hostile_parts_are_refused_with_a_problem(site, chain, open_task):
    list(push(site, chain, open_task))
    list(push_signatures(site, chain, open_task))
    parts = chain.batch(site.collector, open_task, [5, 5, 6, 7])
    address = f"/v1/tasks/{open_task.name}/rounds/0/batch"

    def put(part, body, kind="application/octet-stream"):
        return site.client.put(f"{address}/{part}", content=body, headers={"content-type": kind})

    assert code(put(1, parts[0])) == (403, "bad-signature")
    assert code(put(0, b"nothing")) == (400, "malformed-request")
    assert code(put(0, bytes(2 << 20))) == (413, "too-large")
    assert code(put(0, bytes(5 << 20))) == (413, "too-large")
    assert code(put(0, parts[0], "application/json")) == (415, "unsupported-media")
    assert code(put("x", parts[0])) == (404, "not-found")
    put(0, parts[0])
    other = chain.batch(site.collector, open_task, [5, 5, 6, 8])
    assert code(put(0, other[0])) == (409, "conflict")


def test_an_endless_part_is_cut_off(store, tmp_path, clock, chain):
    def pieces():
        while True:
            yield bytes(1 << 16)

    with served(store, tmp_path, clock, largest_body=1 << 20, most_held=1 << 22) as site:
        task = site.publish(shuffled_for(site.collector, chain))
        address = f"/v1/tasks/{task.name}/rounds/0/batch/0"
        headers = {"content-type": "application/octet-stream"}
        answer = site.client.put(address, content=_some(pieces(), 40), headers=headers)
        assert code(answer) == (413, "too-large")


def _some(pieces, count):
    for _ in range(count):
        yield next(pieces)


def test_direct_uploads_are_refused_for_good(site, open_task):
    receipt = site.upload(open_task.name, [b"anything", b"else"]).json()
    assert receipt["accepted"] == 0
    expected = {"code": "not-shuffled", "retry": False}
    assert receipt["refused"] == [{"index": 0, **expected}, {"index": 1, **expected}]
    digest = site.collector.find(open_task.name).digest
    assert site.store.refusals(digest) == {"not-shuffled": 2}


def test_devices_buy_tokens_and_hops_those_of_their_fakes(site, chain, task, issuer):
    pending = tokens.blind(issuer.public_key, fingerprint_of(task))
    body = {"token": site.tokens["enrolment"], "blinded": text_of(pending.blinded)}
    address = f"/v1/tasks/{task.name}/tokens"
    answer = site.client.post(address, json=body)
    assert answer.status_code == 200
    tokens.finalize(pending, _bytes(answer.json()["blind_signature"]))
    assert site.client.post(address, json=body).json() == answer.json()
    other = text_of(tokens.blind(issuer.public_key, fingerprint_of(task)).blinded)
    assert code(site.client.post(address, json={**body, "blinded": other})) == (
        403,
        "token-refused",
    )
    fakes = [tokens.blind(issuer.public_key, fingerprint_of(task)) for _ in range(2)]
    request = FakeTokenRequest(fingerprint_of(task), 0, 0, tuple(each.blinded for each in fakes))
    signed = {
        "blinded": [text_of(number) for number in request.blinded],
        "signature": text_of(request.sign(chain.signing[0].private_key)),
    }
    address = f"/v1/tasks/{task.name}/rounds/0/fake-tokens/0"
    signatures = site.client.post(address, json=signed).json()["blind_signatures"]
    for each, signature in zip(fakes, signatures, strict=True):
        tokens.finalize(each, _bytes(signature))
    wrong = {**signed, "signature": text_of(bytes(64))}
    assert code(site.client.post(address, json=wrong)) == (403, "bad-signature")


def test_signatures_are_rationed_by_address(store, tmp_path, clock, chain):
    with served(store, tmp_path, clock, rate=100) as site:
        issuer = key_files.make_issuer(site.collector.folder)
        known = text_of(issuer.public_key.data)
        task = site.publish(shuffled_for(site.collector, chain, issuer=known))
        body = {"token": "nobody", "blinded": text_of(bytes(255) + b"\x01")}
        answers = [site.client.post(f"/v1/tasks/{task.name}/tokens", json=body) for _ in range(5)]
        assert [answer.status_code for answer in answers] == [403] * 4 + [429]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "rounds/0/keys"),
        ("PUT", "rounds/0/keys/0"),
        ("GET", "rounds/0/key-set"),
        ("PUT", "rounds/0/key-set/0"),
        ("PUT", "rounds/0/batch/0"),
        ("POST", "tokens"),
        ("POST", "rounds/0/fake-tokens/0"),
    ],
)
def test_a_task_that_is_not_shuffled_has_none_of_this(site, method, path):
    site.publish(counting())
    bodies = {
        "rounds/0/keys/0": {"public_key": "A" * 43, "signature": "A" * 86},
        "rounds/0/key-set/0": {"signature": "A" * 86},
        "tokens": {"token": "x", "blinded": "A" * 341 + "A"},
        "rounds/0/fake-tokens/0": {"blinded": ["A" * 342], "signature": "A" * 86},
    }
    body = json.dumps(bodies.get(path, {})).encode()
    kind = "application/octet-stream" if "batch" in path else "application/json"
    content = bytes(200) if "batch" in path else body
    headers = {"content-type": kind}
    answer = site.client.request(
        method, f"/v1/tasks/count/{path}", content=content, headers=headers
    )
    assert code(answer) == (404, "not-found")


def test_a_task_with_the_key_of_another_collector_is_not_published(site, chain, tmp_path):
    from collector.shuffled import shuffled

    foreign = text(shuffled(hops=chain.hops))
    answer = site.client.post("/v1/tasks", content=foreign, headers=site.bearing("operator"))
    assert code(answer) == (400, "invalid")


def _bytes(written):
    from base64 import urlsafe_b64decode

    return urlsafe_b64decode(written + "=" * (-len(written) % 4))
