"""The built client is served to pages of every origin, and nothing beside it."""

from starlette.applications import Starlette
from starlette.testclient import TestClient

from sottovoce.collector import javascript


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


def test_files_outside_of_the_folder_are_not_served():
    with TestClient(Starlette(routes=javascript.routes())) as client:
        assert client.get("/client/../package.json").status_code == 404
        assert client.get("/client/%2e%2e/package.json").status_code == 404
