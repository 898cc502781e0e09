"""Origins: whose web pages may use the routes for devices.

A browser states in the header ``Origin`` which site the page is from that sends a request.  The
setting ``origins`` lists the sites whose pages may read answers and send reports; ``*`` allows
every site.  Programs that are no browsers can state any origin or none, so this is no protection
against them: it keeps the pages of other sites from sending reports through their visitors.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from sottovoce.errors import AccessError, ParameterError
from sottovoce.web.problems import RequestError

ANY = "*"

_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?")
_OPAQUE = "null"  # what browsers send for pages without a site, such as local files
_EXPOSED = (b"access-control-expose-headers", b"etag, retry-after")
_VARY = (b"vary", b"origin")

Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True)
class Origins:
    """The sites whose pages may use the routes for devices; ``None`` means all sites."""

    allowed: frozenset[str] | None = None

    @classmethod
    def of(cls, text: str) -> "Origins":
        """Return the origins in a setting: ``*``, or origins separated by commas or spaces."""
        if text.strip() == ANY:
            return cls()
        listed = [word.lower() for word in re.split(r"[,\s]+", text) if word]
        if not all(_ORIGIN.fullmatch(word) for word in listed):
            raise ParameterError(
                "`origins` must be * or a list of origins such as https://example.org, separated"
                " by commas and without a path"
            )
        return cls(frozenset(listed))

    def headers(self, origin: str | None) -> Headers:
        """Return the headers that let a page of an origin read an answer."""
        if self.allowed is None:
            return [(b"access-control-allow-origin", b"*"), _EXPOSED]
        if origin is None or origin not in self.allowed:
            return [_VARY]
        return [(b"access-control-allow-origin", origin.encode()), _EXPOSED, _VARY]

    def check(self, origin: str | None, host: str) -> None:
        """Refuse a request of a page whose origin is not allowed.

        Pages of the collector itself, which its ``host`` serves, are always allowed.
        """
        if origin is None or self.allowed is None or origin in self.allowed:
            return
        if not host or host_of(origin) != host.lower():
            raise AccessError("pages of this origin may not send reports to this collector")


def origin_of(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """Return the origin of a request, or None if it has none; refuse a malformed one."""
    stated = [value for name, value in headers if name == b"origin"]
    if not stated:
        return None
    origin = stated[0].decode("latin-1").strip().lower()
    if len(stated) > 1 or (origin != _OPAQUE and not _ORIGIN.fullmatch(origin)):
        raise RequestError(
            "malformed-request", "the header Origin must be one origin such as https://example.org"
        )
    return origin


def host_of(origin: str) -> str:
    """Return the host and port in an origin, or nothing if it is opaque.

    >>> host_of("https://example.org:8443"), host_of("null")
    ('example.org:8443', '')
    """
    return origin.partition("://")[2]
