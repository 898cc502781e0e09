"""The JavaScript client, served by the collector so that a page can import it from there."""

from pathlib import Path
from typing import Any

from starlette.responses import Response
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles

_PACKAGE = Path(__file__).parents[1]
# In an installed package the built client lies inside it; in a checkout where it is built.
_PLACES = (_PACKAGE / "javascript", _PACKAGE.parents[1] / "clients" / "js" / "dist")


def folder() -> Path | None:
    """Return where the built client lies, if it was installed."""
    return next((place for place in _PLACES if place.is_dir()), None)


def routes() -> list[BaseRoute]:
    """Return the route ``/client/...``."""
    found = folder()
    return [Mount("/client", _Shared(directory=found))] if found else []


class _Shared(StaticFiles):
    """Files that pages of other origins may import."""

    def file_response(self, *arguments: Any, **options: Any) -> Response:
        response = super().file_response(*arguments, **options)
        response.headers["access-control-allow-origin"] = "*"
        response.headers["cache-control"] = "no-cache"
        return response
