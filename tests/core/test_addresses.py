"""Which addresses a device may talk to."""

import pytest

from sottovoce.core.addresses import is_this_machine, protected_url
from sottovoce.errors import ParameterError


@pytest.mark.parametrize(
    "url",
    [
        "https://reports.example.org",
        "https://reports.example.org:8443/base",
        "http://localhost:8000",
        "http://127.0.0.1:8000",
        "http://[::1]:8000",
    ],
)
def test_a_protected_address_is_taken(url):
    assert protected_url("url", url).hostname


@pytest.mark.parametrize(
    "url",
    ["", "http://reports.example.org", "ftp://localhost", "https://", "http://127.0.0.1:x", 7],
)
def test_another_address_is_refused_with_the_name_of_its_setting(url):
    with pytest.raises(ParameterError, match="`relay` must begin with https://"):
        protected_url("relay", url)


@pytest.mark.parametrize(
    "url", ["https://me@host.example", "https://host.example?a=b", "https://host.example#key"]
)
def test_an_address_carries_nothing_else(url):
    with pytest.raises(ParameterError, match="`url` must have no user name"):
        protected_url("url", url)


def test_the_loopback_range_is_this_machine():
    assert is_this_machine("127.1.2.3")
    assert not is_this_machine("example.org")
