"""Addresses of servers that a device may talk to: protected on their way, or on this machine."""

from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from sottovoce.errors import ParameterError


def protected_url(name: str, url: str) -> SplitResult:
    """Return the parts of a server's address, or refuse one that is not protected on its way.

    >>> protected_url("url", "https://reports.example.org/v2").path
    '/v2'
    >>> protected_url("url", "http://reports.example.org")
    Traceback (most recent call last):
    sottovoce.errors.ParameterError: `url` must begin with https://, or with http:// for an \
address of this machine
    """
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - a number that is no port raises here
    except (ValueError, AttributeError):
        parts = urlsplit("")
    is_local = parts.scheme == "http" and is_this_machine(parts.hostname or "")
    if not parts.hostname or not (parts.scheme == "https" or is_local):
        raise ParameterError(
            f"`{name}` must begin with https://, or with http:// for an address of this machine"
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise ParameterError(f"`{name}` must have no user name, no query and no fragment")
    return parts


def is_this_machine(host: str) -> bool:
    """Return whether a host is the machine itself.

    >>> is_this_machine("127.0.0.1"), is_this_machine("192.0.2.1")
    (True, False)
    """
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
