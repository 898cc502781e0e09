"""The built client is served to pages of every origin, and nothing beside it."""

from base64 import b64encode
from hashlib import sha384

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from sottovoce.collector import javascript
from sottovoce.errors import SottovoceError
from sottovoce.web.problem_response import respond


@pytest.fixture(scope="module")
def client():
    async def refused(request, error):
        return respond(error, "")

    handlers = {SottovoceError: refused}
    with TestClient(Starlette(routes=javascript.routes(), exception_handlers=handlers)) as client:
        yield client


def test_the_entry_of_the_client_may_be_imported_from_anywhere():
    """The mark in the scope makes the door add the headers for pages of other origins."""
    app = Starlette(routes=javascript.routes())
    marks = []

    async def watched(scope, receive, send):
        await app(scope, receive, send)
        marks.append(scope.get("shared"))

    with TestClient(watched) as client:
        answer = client.get("/client/index.js")
        assert answer.status_code == 200
        assert answer.content == (javascript.folder() / "index.js").read_bytes()
        assert marks[-1] is True
        assert answer.headers["cache-control"] == "no-cache"
        assert "javascript" in answer.headers["content-type"]


@pytest.mark.parametrize(
    "path",
    ["../package.json", "%2e%2e/package.json", "", "nothing.js", "0123456789abcdef/index.js"],
)
def test_files_outside_of_the_folder_are_not_served(client, path):
    assert client.get(f"/client/{path}").status_code == 404


def test_files_travel_compressed_and_unchanged_ones_do_not_travel(client):
    plain = client.get("/client/browser.js", headers={"accept-encoding": "identity"})
    small = client.get("/client/browser.js", headers={"accept-encoding": "gzip"})
    assert small.content == plain.content  # decompressed by whoever asked
    assert int(small.headers["content-length"]) < int(plain.headers["content-length"])
    assert small.headers["content-encoding"] == "gzip"
    assert small.headers["vary"] == "accept-encoding"
    again = client.get("/client/browser.js", headers={"if-none-match": plain.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_a_version_is_kept_for_ever_and_has_the_hash_of_every_module(client):
    import_map = client.get("/client/importmap.json").json()
    entry = import_map["imports"]["sottovoce/browser"]
    assert entry in import_map["integrity"]
    modules = {path.name for path in javascript.folder().rglob("*.js")}
    assert {address.rpartition("/")[2] for address in import_map["integrity"]} == modules
    for address, integrity in list(import_map["integrity"].items())[:5]:
        module = client.get(address)
        digest = b64encode(sha384(module.content).digest()).decode()
        assert integrity == f"sha384-{digest}"
        assert "immutable" in module.headers["cache-control"]


def test_another_content_is_another_version(tmp_path):
    (tmp_path / "browser.js").write_text("1")
    before = javascript.ClientFiles(tmp_path).version
    (tmp_path / "browser.js").write_text("2")
    assert javascript.ClientFiles(tmp_path).version != before
