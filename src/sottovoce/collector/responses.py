"""Responses and media types that all handlers of the collector share."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from sottovoce.web.problems import RequestError
from sottovoce.web.uploads import JSON, as_json

FOR_EVER = "public, max-age=31536000, immutable"


def json_response(content: Any, status: int = 200) -> Response:
    """Return a body as JSON."""
    return Response(as_json(content), status_code=status, media_type=JSON)


def tagged(request: Request, tag: str, body: bytes, caching: str = "no-cache") -> Response:
    """Return a JSON body under an entity tag, or only the tag if the client has the body."""
    headers = {"etag": f'"{tag}"', "cache-control": caching}
    tags = request.headers.get("if-none-match", "").split(",")
    known = [known_tag.strip().removeprefix("W/") for known_tag in tags]
    if headers["etag"] in known or known == ["*"]:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=JSON, headers=headers)


def media_type(request: Request, allowed: tuple[str, ...]) -> str:
    """Return the content type of a request, or refuse it."""
    kind = request.headers.get("content-type", allowed[0]).split(";")[0].strip().lower()
    if kind not in allowed:
        raise RequestError("unsupported-media", f"this route reads {' and '.join(allowed)}")
    return kind
