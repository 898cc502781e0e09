"""Health and metrics: the same answers of every server, and one check of the store at a time."""

import asyncio
import threading

import pytest

from sottovoce.errors import UnavailableError
from sottovoce.web import problems
from sottovoce.web.health import HealthHandlers
from sottovoce.web.operation import SERVICE_OPERATIONS


def unavailable():
    raise UnavailableError("the disk is full")


def test_a_process_is_alive_whatever_its_store_does():
    handlers = HealthHandlers(unavailable, lambda: b"up 1\n")
    assert asyncio.run(handlers.healthz(None)).body == b"alive\n"
    assert asyncio.run(handlers.get_metrics(None)).body == b"up 1\n"
    with pytest.raises(UnavailableError):
        asyncio.run(handlers.readyz(None))


def test_requests_that_come_together_share_one_check():
    checks, may_end = [], threading.Event()

    def check():
        checks.append(1)
        may_end.wait(5)

    handlers = HealthHandlers(check, bytes)

    async def ask():
        waiting = [asyncio.ensure_future(handlers.readyz(None)) for _ in range(5)]
        await asyncio.sleep(0.05)
        may_end.set()
        return [response.body for response in await asyncio.gather(*waiting)]

    assert asyncio.run(ask()) == [b"ready\n"] * 5
    assert len(checks) == 1


def test_the_types_of_problem_documents_lead_to_their_row():
    page = asyncio.run(HealthHandlers(unavailable, bytes).get_errors(None)).body.decode()
    for problem in problems.CATALOGUE.values():
        address, _, anchor = problems.document(problem)["type"].partition("#")
        assert address in {operation.path for operation in SERVICE_OPERATIONS}
        assert f'id="{anchor}"' in page
