"""Health checks while a server has something else to do."""

import asyncio
import time


async def probed(app, work):
    """What some work returns, and the longest that a health check took meanwhile, from the moment
    when it was due, as a share of the time of the work.
    """
    started = time.perf_counter()
    working = asyncio.ensure_future(work)
    longest, probes = 0.0, 0
    while not working.done():
        due = time.perf_counter() + 0.01
        await asyncio.sleep(0.01)
        assert await health(app) == 200
        longest = max(longest, time.perf_counter() - due)
        probes += 1
    seconds = time.perf_counter() - started
    print(f"{probes} probes in {seconds:.2f} s, the slowest {1000 * longest:.0f} ms")
    return await working, longest / seconds


async def health(app):
    """The status of a health check."""
    statuses = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        statuses.append(message.get("status"))

    scope = {"type": "http", "method": "GET", "path": "/healthz", "headers": [], "root_path": ""}
    await app({**scope, "client": ("127.0.0.1", 1), "query_string": b""}, receive, send)
    return statuses[0]
