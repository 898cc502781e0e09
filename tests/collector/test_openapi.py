"""The OpenAPI document says what the collector does, and the collector does what it says."""

import re
from importlib import import_module

import msgspec
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.specs.openapi.definitions import OPENAPI_31_VALIDATOR
from starlette.routing import Route

from collector.people import Clock, counting, numbered
from collector.serving import served
from collector.shuffled import Chain, shuffled_for
from sottovoce.collector import key_files
from sottovoce.collector.api import Api
from sottovoce.collector.operations import OPERATIONS, TITLE
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.core.base64url import text_of
from sottovoce.web import openapi
from sottovoce.web.problems import CATALOGUE

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
EXAMPLES = settings(
    max_examples=24,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@schemathesis.serializer("application/msgpack")
def packed(ctx, value):
    try:
        return msgspec.msgpack.encode(value)
    except OverflowError:
        return b"\xc1"  # MessagePack has no such number: the one byte that it never uses


@schemathesis.serializer("application/toml")
def written(ctx, value):
    return str(value).encode(errors="replace")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A site with a task that is open and one that has its answer."""
    folder = tmp_path_factory.mktemp("openapi")
    store = SqliteStore(folder / "collector.db")
    with served(store, folder, Clock()) as site:
        for name in ("open", "done"):
            task = site.publish(counting(name, size=4))
            site.upload(name, numbered(task, 0, 1, 2, 3))
        site.seal("done")
        chain = Chain.of(2)
        key_files.make_issuer(folder)
        known = text_of(key_files.issuer(folder).public_key.data)
        site.publish(shuffled_for(site.collector, chain, name="mixed", fakes=2, issuer=known))
        chain.push(site.collector, site.collector.find("mixed").task)
        yield site
    store.close()


@pytest.fixture(scope="module")
def operations(site):
    """Schemathesis' view of every operation, by the name of its handler."""

    async def running(scope, receive, send):
        if scope["type"] == "http":  # the site's own client has started the application
            await site.app(scope, receive, send)

    schema = schemathesis.openapi.from_asgi("/v1/openapi.json", running)
    found = [result.ok() for result in schema.get_all_operations()]
    return {one.definition.raw["operationId"]: one for one in found}


def test_the_document_is_valid():
    OPENAPI_31_VALIDATOR.validate(openapi.document(TITLE, OPERATIONS))


def test_the_validator_would_see_a_mistake():
    broken = openapi.document(TITLE, OPERATIONS)
    broken["paths"]["/v1/tasks"]["get"]["responses"] = 7
    assert not OPENAPI_31_VALIDATOR.is_valid(broken)


def test_every_reference_leads_somewhere():
    text = msgspec.json.encode(openapi.document(TITLE, OPERATIONS)).decode()
    names = set(re.findall(r'"#/components/schemas/([^"]+)"', text))
    assert names <= set(openapi.document(TITLE, OPERATIONS)["components"]["schemas"])


def test_every_route_is_in_the_document_and_nothing_else_is(site):
    routes = {
        (method, route.path)
        for route in site.app.routes
        if isinstance(route, Route)
        for method in route.methods - {"HEAD", "OPTIONS"}
    }
    paths = openapi.document(TITLE, OPERATIONS)["paths"]
    served = routes | {(one.method, one.path) for one in OPERATIONS if one.home}
    assert served == {
        (method.upper(), path) for path, methods in paths.items() for method in methods
    }
    assert routes == {(one.method, one.path) for one in OPERATIONS if not one.home}


def test_every_operation_is_served_by_what_the_table_names():
    for operation in OPERATIONS:
        if operation.home:
            module, _, name = operation.home.partition(":")
            assert callable(getattr(import_module(module), name))
        else:
            assert callable(getattr(Api, operation.handler))


def test_the_document_that_is_served_is_the_one_that_is_made(site):
    assert site.client.get("/v1/openapi.json").json() == openapi.document(TITLE, OPERATIONS)


def test_codes_in_the_document_are_those_of_whole_requests():
    codes = openapi.document(TITLE, OPERATIONS)["components"]["schemas"]["Problem"]["properties"][
        "code"
    ]["enum"]
    assert set(codes) == {code for code, one in CATALOGUE.items() if one.status != 200}


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.handler)
def test_an_operation_that_needs_a_token_says_so(operation):
    said = openapi.document(TITLE, OPERATIONS)["paths"][operation.path][operation.method.lower()]
    assert ("security" in said) == bool(operation.scope)
    assert ({"401", "403"} <= set(said["responses"])) == bool(operation.scope)


# Thousands of tokens are made last: every list of tokens after that would be as long.
HANDLERS = sorted(
    (one.handler for one in OPERATIONS if one.handler != "get_openapi"),
    key=lambda name: name == "issue_tokens",
)


@pytest.mark.parametrize(
    "mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["good", "bad"]
)
@pytest.mark.parametrize("handler", HANDLERS)
def test_whatever_is_sent_the_answer_is_as_documented(site, operations, handler, mode):
    operation = operations[handler]
    if mode is GenerationMode.NEGATIVE and not takes_something(handler):
        return  # there is no bad way to ask for this
    named = "{name}" in operation.path
    headers = site.bearing("operator")

    @EXAMPLES
    @given(st.data())
    def check(data):
        place = data.draw(st.sampled_from([None, "open", "done", "mixed"])) if named else None
        given = {"path_parameters": {"name": place}} if place else {}
        case = data.draw(operation.as_strategy(generation_mode=mode, **given))
        checks = (
            CHECKS
            if must_be_refused(case)
            else [one for one in CHECKS if one is not negative_data_rejection]
        )
        case.validate_response(case.call(headers=headers), checks=checks, headers=headers)

    check()


def must_be_refused(case):
    """Bad paths and bodies must; a missing token is put back here, and unknown words of a query are
    ignored.
    """
    return any(
        case.meta.components[place].mode.is_negative
        for place in case.meta.components
        if place in STRICT
    )


STRICT = (ParameterLocation.PATH, ParameterLocation.BODY)


def takes_something(handler):
    operation = next(one for one in OPERATIONS if one.handler == handler)
    return operation.body is not None or bool(operation.parameters)


def test_a_float_that_is_whole_is_where_the_schema_and_the_collector_part(site):
    """To JSON Schema 3.0 is an integer; the collector reads integers only as integers are written,
    and says so.
    """
    schema = openapi.document(TITLE, OPERATIONS)["components"]["schemas"]["TokenRequest"][
        "properties"
    ]["count"]
    assert schema["type"] == "integer"
    answer = site.client.post(
        "/v1/tokens", content=b'{"scope":"analyst","count":3.0}', headers=site.bearing("operator")
    )
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed-request")
