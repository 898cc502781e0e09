"""The templates, style sheet, scripts and security headers of the pages."""

from functools import cached_property
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse, Response

from sottovoce.collector.dashboard import formatting
from sottovoce.web.problems import RequestError

_KINDS = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_FOR_EVER = "public, max-age=31536000, immutable"  # the address changes with the content
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src "
    "'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": _POLICY,
    # Without a referrer, browsers send forms with the origin "null", as other sites can.
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Assets:
    """The files of the dashboard, read once; ``root_path`` is where a proxy serves them."""

    def __init__(self, root_path: str = "") -> None:
        self._root_path = root_path

    @cached_property
    def _files(self) -> dict[str, bytes]:
        folder = files("sottovoce.collector.dashboard") / "static"
        known = [file for file in folder.iterdir() if file.name.rpartition(".")[2] in _KINDS]
        return {file.name: file.read_bytes() for file in known}

    @cached_property
    def _templates(self) -> Environment:
        loader = PackageLoader("sottovoce.collector.dashboard")
        environment = Environment(
            loader=loader,
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.globals["asset"] = self.address
        environment.globals["root"] = self._root_path
        environment.filters["sentence"] = formatting.sentence
        environment.filters["with_code"] = with_code
        return environment

    def address(self, name: str) -> str:
        """Return the address of a file; it changes with the content."""
        version = sha256(self._files[name]).hexdigest()[:12]
        return f"{self._root_path}/static/{name}?v={version}"

    def file(self, name: str) -> Response:
        """Return a file, or refuse a name that is not known."""
        if name not in self._files:
            raise RequestError("not-found")
        kind = _KINDS[name.rpartition(".")[2]]
        return Response(self._files[name], media_type=kind, headers={"cache-control": _FOR_EVER})

    def page(self, template: str, status: int = 200, **facts: Any) -> Response:
        """Return a page made from a template."""
        return HTMLResponse(
            self._templates.get_template(template).render(facts), status_code=status
        )


def with_code(text: str) -> Markup:
    """Return a remark as HTML, in which what stands between backticks is code.

    >>> str(with_code("set `minimum` < 5"))
    'set <code>minimum</code> &lt; 5'
    """
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a single backtick is a character like any other
        return escape(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if index % 2 else escape(part)
        for index, part in enumerate(parts)
    )
