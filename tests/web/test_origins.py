"""Origins: which pages may send reports, and what counts as an origin at all."""

import pytest

from sottovoce.errors import AccessError, ParameterError
from sottovoce.web.origins import Origins, host_of, origin_of
from sottovoce.web.problems import RequestError

LISTED = Origins.of("https://app.example, http://[::1]:3000 https://B.example")


def test_any_origin_is_allowed_by_a_star_and_none_by_nothing():
    for origin in (None, "null", "https://example.org"):
        Origins.of("*").check(origin, "collector.example")
    with pytest.raises(AccessError):
        Origins.of("").check("https://example.org", "collector.example")
    Origins.of("").check(None, "collector.example")


@pytest.mark.parametrize(
    "origin", ["https://app.example", "http://[::1]:3000", "https://b.example"]
)
def test_listed_origins_are_allowed_and_named(origin):
    LISTED.check(origin, "collector.example")
    assert (b"access-control-allow-origin", origin.encode()) in LISTED.headers(origin)
    assert (b"vary", b"origin") in LISTED.headers(origin)


@pytest.mark.parametrize("origin", ["null", "http://app.example", "https://app.example.org"])
def test_others_are_refused_and_caches_keep_answers_apart(origin):
    with pytest.raises(AccessError):
        LISTED.check(origin, "collector.example")
    assert LISTED.headers(origin) == [(b"vary", b"origin")]


def test_pages_of_the_same_host_are_allowed():
    LISTED.check("https://collector.example:8443", "Collector.example:8443")
    with pytest.raises(AccessError):
        LISTED.check("null", "")


@pytest.mark.parametrize("text", ["example.org", "https://", "https://a/", "*, https://a", "**"])
def test_a_setting_that_is_no_list_of_origins_is_refused(text):
    with pytest.raises(ParameterError, match="`origins` must be"):
        Origins.of(text)


def test_a_stated_origin_is_read_without_regard_to_case():
    assert (
        origin_of([(b"host", b"a"), (b"origin", b"HTTPS://App.Example")]) == "https://app.example"
    )
    assert origin_of([(b"origin", b"null")]) == "null"
    assert origin_of([(b"host", b"a")]) is None
    assert host_of("https://app.example") == "app.example"


@pytest.mark.parametrize("values", [[b"http://["], [b"x"], [b""], [b"https://a", b"https://b"]])
def test_what_is_no_origin_is_a_bad_request(values):
    with pytest.raises(RequestError) as refused:
        origin_of([(b"origin", value) for value in values])
    assert refused.value.status == 400
