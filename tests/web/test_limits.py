"""Rate limits: what an address may send, and how long it is told to wait."""

from math import inf

import pytest

from collector.people import Clock
from sottovoce.web.limits import RateLimit, address_of


def test_every_address_has_a_bucket_of_its_own_that_fills_with_time():
    clock = Clock()
    limit = RateLimit(2, clock)
    assert [limit.wait("a") for _ in range(4)] == [0.0] * 4
    assert limit.wait("a") == 0.5
    assert limit.wait("b") == 0.0
    clock.pass_(1)
    assert [limit.wait("a") for _ in range(3)] == [0.0, 0.0, 0.5]
    clock.pass_(-100)
    assert limit.wait("a") == 0.5, "a clock that goes back fills nothing"


def test_no_rate_is_no_limit():
    limit = RateLimit(0, Clock())
    assert {limit.wait("a") for _ in range(1000)} == {0.0}


def test_addresses_are_kept_only_as_hashes_of_this_process():
    """Whatever a limit keeps, the address is not in it, and another limit keeps something else."""
    limit, other = RateLimit(2, Clock()), RateLimit(2, Clock())
    for each in (limit, other):
        each.wait("203.0.113.7")
    kept, elsewhere = repr(vars(limit)), repr(vars(other))
    assert "203.0.113.7" not in kept
    assert kept != elsewhere


def test_a_request_takes_many_tokens_at_once_or_none():
    limit = RateLimit(10, Clock())
    assert limit.capacity == 20
    assert limit.wait("a", 15) == 0.0
    assert limit.wait("a", 15) == 1.0
    assert limit.wait("a", 5) == 0.0, "a request that was refused has taken nothing"


@pytest.mark.parametrize("count", [1, 7, 20])
def test_whoever_waits_as_long_as_told_is_admitted(count):
    clock = Clock()
    limit = RateLimit(10, clock)
    limit.wait("a", 20)
    clock.pass_(limit.wait("a", count))
    assert limit.wait("a", count) == 0.0


def test_what_a_request_has_paid_before_it_was_refused_is_paid_again():
    clock = Clock()
    limit = RateLimit(10, clock)
    assert limit.wait("a", 15) == limit.wait("a", 1) == 0.0
    clock.pass_(limit.wait("a", 9, paid=1))
    assert limit.wait("a", 1) == limit.wait("a", 9, paid=1) == 0.0


def test_without_a_rate_there_is_no_largest_request():
    assert RateLimit(0, Clock()).capacity == inf


def test_a_request_without_a_known_address_has_a_bucket_too():
    assert address_of({"client": ("203.0.113.7", 5)}) == "203.0.113.7"
    assert address_of({"client": None}) == address_of({}) == ""


def test_all_addresses_of_an_ipv6_network_share_a_bucket():
    """A host with a network of 64 bits may use 2^64 addresses: together they get one rate."""
    limit = RateLimit(2, Clock())
    waits = [limit.wait(address_of(client(f"2001:db8:1:2::{n:x}"))) for n in range(1, 100)]
    assert (waits.count(0.0), waits.count(0.5)) == (4, 95)
    assert limit.wait(address_of(client("2001:db8:1:3::1"))) == 0.0, "the network of somebody else"


def test_many_addresses_of_an_ipv6_network_leave_the_buckets_of_others_alone():
    """Buckets are kept for the last 100,000 addresses: none of them is pushed out by one host."""
    limit = RateLimit(1, Clock())
    honest = [f"2001:db8:0:{n:x}::1" for n in range(10)]
    for host in honest * 2:
        assert limit.wait(address_of(client(host))) == 0.0
    for n in range(100_001):
        limit.wait(address_of(client(f"2001:db8:ffff:1::{n >> 16:x}:{n & 0xFFFF:x}")))
    assert all(limit.wait(address_of(client(host))) for host in honest)


@pytest.mark.parametrize(
    ("host", "counted"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("::FFFF:cb00:7107", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:0DB8:0001:0002::", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::/64"),
        ("::ffff:203.0.113.7.8", "::ffff:203.0.113.7.8"),
        ("[2001:db8::1", "[2001:db8::1"),
        ("a\0:b", "a\0:b"),
        ("/run/a:b", "/run/a:b"),
    ],
)
def test_an_address_of_any_way_of_writing_is_counted_once(host, counted):
    assert address_of(client(host)) == counted


def client(host):
    return {"client": (host, 5)}
