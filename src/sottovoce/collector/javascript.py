"""The JavaScript client, served by the collector so that a page can import it from there."""

from pathlib import Path

from starlette.responses import Response
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

_PACKAGE = Path(__file__).parents[1]
# The built client is part of an installed package; in a checkout it is where it was built.
_FOLDERS = (_PACKAGE / "javascript", _PACKAGE.parents[1] / "clients" / "js" / "dist")


def folder() -> Path | None:
    """Return the folder of the built client, if there is one."""
    return next((path for path in _FOLDERS if path.is_dir()), None)


def routes() -> list[BaseRoute]:
    """Return the route ``/client/...``."""
    directory = folder()
    return [Mount("/client", _Shared(directory=directory))] if directory else []


class _Shared(StaticFiles):
    """Files that pages of other origins may import."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        scope["shared"] = True
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = "no-cache"
        return response
