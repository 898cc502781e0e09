"""Bodies: too large, too slow or too many at once, each refused with a code of its own."""

import asyncio

import pytest

from sottovoce.web.bodies import Body, BodyLimits, whole
from sottovoce.web.problems import RequestError

SECONDS = 0.05


def limits(max_body=1000, max_held=4000, seconds=60.0):
    return BodyLimits(max_body, max_held, seconds)


def body(budget, *pieces, address="203.0.113.7", stall=False, **headers):
    """A body that arrives in pieces, and then ends or stalls for ever."""
    sent = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]

    async def receive():
        if sent:
            message = sent.pop(0)
            message["more_body"] = bool(sent) or stall
            return message
        return await asyncio.get_running_loop().create_future()

    named = [
        (name.replace("_", "-").encode(), str(value).encode()) for name, value in headers.items()
    ]
    return Body(budget, {"client": (address, 1), "headers": named}, receive)


def refused(code, coroutine):
    with pytest.raises(RequestError) as error:
        asyncio.run(coroutine)
    assert error.value.code == code
    return error.value


def test_a_body_is_whole_and_counted_until_the_request_is_over():
    budget = limits()
    made = body(budget, b"a" * 400, b"b" * 600, content_length=1000)
    assert asyncio.run(whole(made.receive)) == b"a" * 400 + b"b" * 600
    assert budget.bytes_in_memory == 1000
    made.close()
    assert budget.bytes_in_memory == 0


def test_a_stated_length_above_the_limit_is_refused_before_anything_is_read():
    budget = limits()
    made = body(budget, b"", content_length=1001)
    refused("too-large", whole(made.receive))
    assert budget.bytes_in_memory == 0


@pytest.mark.parametrize("stated", ["x", "-1", "", "\u0664"])
def test_a_stated_length_that_is_no_number_is_refused(stated):
    refused("malformed-request", whole(body(limits(), b"", content_length=stated).receive))


def test_a_body_that_states_no_length_is_cut_at_the_limit():
    refused(
        "too-large", whole(body(limits(), *[b"a" * 100] * 11, transfer_encoding="chunked").receive)
    )


@pytest.mark.parametrize("pieces", [[], [b"a"], [b"a"] * 5])
def test_a_body_that_stalls_is_refused_at_its_deadline(pieces):
    made = body(limits(seconds=SECONDS), *pieces, stall=True, content_length=900)
    error = refused("too-slow", whole(made.receive))
    assert str(error) == "a body must arrive within 0.05 seconds"


def test_one_deadline_holds_for_all_pieces_together():
    async def trickle():
        await asyncio.sleep(SECONDS / 3)
        return {"type": "http.request", "body": b"a", "more_body": True}

    made = Body(limits(seconds=SECONDS), {"headers": []}, trickle)
    refused("too-slow", whole(made.receive))


def test_all_bodies_share_a_budget_and_who_comes_too_late_is_told_to_come_back():
    budget = limits()
    open_bodies = [
        body(budget, b"a" * 1000, address=f"203.0.113.{n}", content_length=1000) for n in range(5)
    ]
    for made in open_bodies[:4]:
        asyncio.run(whole(made.receive))
    assert refused("busy", whole(open_bodies[4].receive)).retry_after == 1.0
    open_bodies[4].close()
    open_bodies[0].close()
    again = body(budget, b"a" * 1000, content_length=1000)
    assert len(asyncio.run(whole(again.receive))) == 1000


def test_one_address_may_use_a_quarter_of_the_budget():
    budget = limits()
    first = body(budget, b"a" * 900, content_length=900)
    asyncio.run(whole(first.receive))
    refused("busy", whole(body(budget, b"a" * 101, content_length=101).receive))
    asyncio.run(whole(body(budget, b"a" * 900, address="198.51.100.1", content_length=900).receive))


def test_the_addresses_of_an_ipv6_network_share_the_quarter_of_one_host():
    budget = limits()
    for address in ("2001:db8::1", "2001:db8::2"):
        made = body(budget, b"a" * 500, address=address, content_length=500)
        asyncio.run(whole(made.receive))
    third = body(budget, b"a", address="2001:db8::3", content_length=1)
    refused("busy", whole(third.receive))
    neighbour = body(budget, b"a" * 900, address="2001:db8:0:1::1", content_length=900)
    asyncio.run(whole(neighbour.receive))


def test_what_a_request_claims_takes_nothing_from_the_budget():
    budget = limits(seconds=SECONDS)
    for _ in range(10):
        refused("too-slow", whole(body(budget, b"a", stall=True, content_length=1000).receive))
    assert budget.bytes_in_memory == 10, "one byte each, until the requests are over"


def test_the_rest_of_a_short_body_is_read_and_that_of_a_long_one_is_not():
    for pieces, headers, ended in (
        ([b"a" * 10], {"content_length": 10}, True),
        ([], {}, True),
        ([b"a" * 10], {"transfer_encoding": "chunked"}, False),
        ([b"a" * 10], {"content_length": 1 << 17}, False),
    ):
        assert asyncio.run(body(limits(), *pieces, **headers).drain()) is ended


def test_a_short_body_that_does_not_come_is_given_up():
    made = body(limits(seconds=SECONDS), b"a", stall=True, content_length=10)
    assert asyncio.run(made.drain()) is False


def test_a_body_that_is_cut_is_malformed():
    async def gone():
        return {"type": "http.disconnect"}

    refused("malformed-request", whole(Body(limits(), {"headers": []}, gone).receive))


def test_a_deadline_that_passes_between_two_pieces_is_seen_at_the_next():
    async def slowly(made):
        await made.receive()
        await asyncio.sleep(2 * SECONDS)  # the service does something else
        await made.receive()

    refused("too-slow", slowly(body(limits(seconds=SECONDS), b"a", b"b", content_length=2)))


def test_a_request_that_is_cancelled_by_somebody_else_is_cancelled():
    async def cancelled():
        reading = asyncio.create_task(whole(body(limits(), stall=True, content_length=9).receive))
        await asyncio.sleep(0)
        reading.cancel()
        await reading

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())


def test_a_body_that_came_in_time_leaves_no_timer_behind():
    async def read():
        made = body(limits(seconds=SECONDS), b"a", content_length=1)
        await whole(made.receive)
        await asyncio.sleep(2 * SECONDS)
        return "still running"

    assert asyncio.run(read()) == "still running"
