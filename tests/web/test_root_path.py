"""A service under a path of a site: the path is removed where it is there, and probes stay out."""

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from sottovoce.web.root_path import PROBES, RootPath


async def echo(scope, receive, send):
    """Say which path was asked for."""
    await PlainTextResponse(scope["path"])(scope, receive, send)


@pytest.fixture
def client():
    return TestClient(RootPath(echo, "/site/reports"))


@pytest.mark.parametrize(
    ("asked", "seen"),
    [
        ("/site/reports/v1/tasks", "/v1/tasks"),
        ("/site/reports/", "/"),
        ("/site/reports", "/"),
        ("/v1/tasks", "/v1/tasks"),  # the proxy has removed the path already
        ("/site/reportsmore", "/site/reportsmore"),
        ("/site/reports/site/reports/x", "/site/reports/x"),
        ("/other", "/other"),
    ],
)
def test_the_path_is_removed_once_where_it_is_there(client, asked, seen):
    assert client.get(asked).text == seen


@pytest.mark.parametrize("probe", PROBES)
def test_probes_are_not_served_under_the_path(client, probe):
    assert client.get(f"/site/reports{probe}").text == f"/site/reports{probe}"
    assert client.get(probe).text == probe


def test_a_service_of_its_own_site_is_not_touched():
    assert TestClient(RootPath(echo, "")).get("/v1//double").text == "/v1//double"
