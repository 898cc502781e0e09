"""The JavaScript client, served by the collector so that a page can import it from there.

``/client/browser.js`` is the newest version and is asked for again every time.
``/client/VERSION/browser.js`` is one version for ever: VERSION is the hash of all files, and a
browser keeps what it has.  ``/client/importmap.json`` names the version and the hash of every
module, ready for the import map of a page.  Files travel compressed where the browser takes it.
"""

import gzip
from base64 import b64encode
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256, sha384
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route

from sottovoce.collector.responses import FOR_EVER, json_response
from sottovoce.web.problems import RequestError

_PACKAGE = Path(__file__).parents[1]
# The built client is part of an installed package; in a checkout it is where it was built.
_FOLDERS = (_PACKAGE / "javascript", _PACKAGE.parents[1] / "clients" / "js" / "dist")
_KINDS = {".js": "text/javascript", ".ts": "text/plain"}
_VERSION_LETTERS = 16


def folder() -> Path | None:
    """Return the folder of the built client, if there is one."""
    return next((path for path in _FOLDERS if path.is_dir()), None)


def routes(root_path: str = "") -> list[BaseRoute]:
    """Return the route ``/client/...``; ``root_path`` is where a proxy serves it."""
    directory = folder()
    if directory is None:
        return []
    file = Route("/{path:path}", ClientFiles(directory, root_path).serve, methods=["GET"])
    return [Mount("/client", routes=[file])]


@dataclass(frozen=True)
class ClientFile:
    """One file: its bytes, the same compressed, and its hash as ``integrity`` writes it."""

    content: bytes
    compressed: bytes
    kind: str
    integrity: str

    @classmethod
    def read(cls, path: Path) -> "ClientFile":
        """Return a file as it is served."""
        content = path.read_bytes()
        integrity = f"sha384-{b64encode(sha384(content).digest()).decode()}"
        compressed = gzip.compress(content, mtime=0)
        return cls(content, compressed, _KINDS[path.suffix], integrity)


@dataclass(frozen=True)
class ClientFiles:
    """The files of the built client, read once; nothing beside them is served."""

    directory: Path
    root_path: str = ""

    @cached_property
    def _files(self) -> dict[str, ClientFile]:
        paths = sorted(path for path in self.directory.rglob("*") if path.suffix in _KINDS)
        return {
            path.relative_to(self.directory).as_posix(): ClientFile.read(path) for path in paths
        }

    @cached_property
    def version(self) -> str:
        """Return the hash of all names and contents."""
        lines = (f"{name} {file.integrity}\n" for name, file in self._files.items())
        return sha256("".join(lines).encode()).hexdigest()[:_VERSION_LETTERS]

    def import_map(self) -> dict[str, dict[str, str]]:
        """Return the import map of this version: where it is, and the hash of every module."""
        base = f"{self.root_path}/client/{self.version}"
        modules = {name: file for name, file in self._files.items() if name.endswith(".js")}
        return {
            "imports": {"sottovoce/browser": f"{base}/browser.js"},
            "integrity": {f"{base}/{name}": file.integrity for name, file in modules.items()},
        }

    async def serve(self, request: Request) -> Response:
        """Return a file, or the import map."""
        request.scope["shared"] = True  # pages of other origins may import it
        path = request.path_params["path"]
        if path == "importmap.json":
            response = json_response(self.import_map())
            response.headers["cache-control"] = "no-cache"
            return response
        name = path.removeprefix(f"{self.version}/")
        if name not in self._files:
            raise RequestError("not-found")
        return _response(request, self._files[name], FOR_EVER if name != path else "no-cache")


def _response(request: Request, file: ClientFile, caching: str) -> Response:
    headers = {
        "etag": f'"{file.integrity}"',
        "cache-control": caching,
        "vary": "accept-encoding",
    }
    if headers["etag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["content-encoding"] = "gzip"
        return Response(file.compressed, media_type=file.kind, headers=headers)
    return Response(file.content, media_type=file.kind, headers=headers)
