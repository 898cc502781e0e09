"""The OpenAPI document of a service, made from the table of its operations."""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import msgspec

from sottovoce.web.operation import Operation, Parameter
from sottovoce.web.problems import CATALOGUE

_REF = "#/components/schemas/{name}"
_ALWAYS = ("malformed-request", "slow-down", "internal")
_WITH_BODY = ("too-large", "too-slow", "busy")


def document(title: str, operations: Sequence[Operation], root_path: str = "") -> dict[str, Any]:
    """Return the OpenAPI document, version 3.1, of a service with these operations.

    ``root_path`` is where a proxy serves it.
    """
    stated = [shape for op in operations for shape in (op.response, op.body)]
    shapes = [shape for shape in stated if isinstance(shape, type)]
    _, components = msgspec.json.schema_components(shapes, ref_template=_REF)
    paths: dict[str, dict[str, Any]] = {}
    for op in operations:
        paths.setdefault(op.path, {})[op.method.lower()] = _operation(op)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": title,
            "version": version("sottovoce"),
            "license": {"name": "Apache-2.0"},
        },
        **({"servers": [{"url": root_path}]} if root_path else {}),
        "paths": paths,
        "components": {
            "schemas": {**components, "Problem": _PROBLEM},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


_PROBLEM = {
    "type": "object",
    "description": "A problem document after RFC 9457, with a code of the error catalogue.",
    "required": ["type", "title", "status", "code", "retry"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {
            "type": "string",
            "enum": [code for code, problem in CATALOGUE.items() if problem.status != 200],
        },
        "retry": {"type": "boolean"},
        "detail": {"type": "string"},
        "rule": {"type": "string", "description": "The rule that a SQL query breaks."},
        "line": {"type": "integer", "minimum": 1},
        "column": {"type": "integer", "minimum": 1},
    },
}


def _operation(op: Operation) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": op.handler,
        "summary": op.summary,
        "responses": _responses(op),
    }
    if op.parameters:
        described["parameters"] = [_parameter(parameter) for parameter in op.parameters]
    if op.body is not None:
        content = {
            kind: {"schema": _schema(op.body) if kind != "application/toml" else {"type": "string"}}
            for kind in op.types
        }
        described["requestBody"] = {"required": True, "content": content}
    if op.scope:
        described["security"] = [{"token": []}]
        described["description"] = f"Needs a token of the scope `{op.scope}`."
    return described


def _parameter(parameter: Parameter) -> dict[str, Any]:
    entries = {
        "name": parameter.name,
        "in": parameter.location,
        "description": parameter.about,
        "schema": parameter.schema,
    }
    return {**entries, "required": True} if parameter.location == "path" else entries


def _responses(op: Operation) -> dict[str, Any]:
    good: dict[str, Any] = {"description": "Done."}
    if op.response is not None:
        good["content"] = {
            kind: {"schema": _schema(op.response) if kind == "application/json" else {}}
            for kind in op.produces
        }
    responses = {str(op.status): good}
    for status, meaning in op.statuses:
        responses[str(status)] = {"description": meaning} if meaning else good
    scoped = ("unauthenticated", "forbidden") if op.scope else ()
    with_body = () if op.body is None else _WITH_BODY
    for code in dict.fromkeys((*op.problems, *scoped, *with_body, *_ALWAYS)):
        problem = CATALOGUE[code]
        before = responses.get(str(problem.status), {}).get("description", "")
        responses[str(problem.status)] = {
            "description": f"{before}; {problem.title}" if before else problem.title,
            "content": {
                "application/problem+json": {"schema": {"$ref": _REF.format(name="Problem")}}
            },
        }
    return responses


def _schema(shape: Any) -> dict[str, Any]:
    return {"$ref": _REF.format(name=shape.__name__)} if isinstance(shape, type) else shape
