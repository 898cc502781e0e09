"""Sessions of the dashboard: a log-in turns the token of an analyst or operator into a cookie.

A session is a token of its own scope, valid for pages only.  It ends when the token that opened it
is revoked or expires.  Forms are accepted only from pages of the same host.
"""

from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from sottovoce.collector import access
from sottovoce.collector.store.base import Store
from sottovoce.errors import AccessError
from sottovoce.web.origins import host_of, origin_of
from sottovoce.web.problems import RequestError

COOKIE = "session"


def enter(store: Store, token: str, now: int, seconds: int) -> str:
    """Return a new session for the token of an analyst or an operator."""
    person = access.admit(store, token, access.ANALYST, now)
    session = access.TokenBatch(seconds=seconds)
    return access.issue(store, access.SESSION, now, label=person.hash.hex(), batch=session)[0]


def check(store: Store, session: str | None, now: int) -> str:
    """Return the hash of the token that opened a session, or refuse the session.

    A session ends with its token.
    """
    record = access.admit(store, session, access.SESSION, now)
    if store.token(bytes.fromhex(record.label), now) is None:
        raise RequestError("unauthenticated", "the token of this session is no longer valid")
    return record.label


def leave(store: Store, session: str | None, now: int) -> None:
    """End a session; other tokens are not touched."""
    if (
        session
        and (record := store.token(access.hashed(session), now))
        and record.scope == access.SESSION
    ):
        store.revoke(record.hash)


def remember(
    response: Response, request: Request, session: str, seconds: int, root_path: str
) -> None:
    """Set the session cookie, for the pages under a path alone."""
    secure = request.url.scheme == "https"
    response.set_cookie(
        COOKIE,
        session,
        max_age=seconds,
        path=root_path or "/",
        secure=secure,
        httponly=True,
        samesite="strict",
    )


def forget(response: Response, request: Request, root_path: str) -> None:
    """Delete the session cookie."""
    secure = request.url.scheme == "https"
    path = root_path or "/"
    response.delete_cookie(COOKIE, path=path, secure=secure, httponly=True, samesite="strict")


def check_origin(request: Request) -> None:
    """Refuse a form that was not sent from a page of this collector."""
    host = host_of(origin_of(request.scope["headers"]) or "")
    if not host or host != request.headers.get("host", "").lower():
        raise AccessError("forms are accepted only from the pages of this collector")


def local(target: str) -> str:
    """Return the page to show after a log-in: a path of this collector, or its first page.

    >>> local("/tasks/pets?level=0.9"), local("/login")
    ('/tasks/pets?level=0.9', '/')
    >>> local("//elsewhere"), local("https://elsewhere/")
    ('/', '/')
    """
    plain = target.isascii() and target.isprintable() and "\\" not in target
    inside = target.startswith("/") and not target.startswith("//")
    return target if plain and inside and not target.startswith(("/login", "/logout")) else "/"


def login_path(request: Request) -> str:
    """Return the address of the log-in page that leads back to the requested page."""
    wanted = quote(request.scope["path"].removesuffix("/live"), safe="/")
    query = (
        f"?{request.url.query}"
        if request.url.query and not request.scope["path"].endswith("/live")
        else ""
    )
    return "/login" if wanted == "/" else f"/login?next={quote(wanted + query, safe='/')}"
