"""An operation states everything that the OpenAPI document says about it."""

from sottovoce.web.openapi import document
from sottovoce.web.operation import Operation, Parameter

NAME = Parameter("name", "path", "The name of a task.", {"type": "string"})
LEVEL = Parameter("level", "query", "The confidence level.", {"type": "number"})


def described(**settings):
    operation = Operation("GET", "/tasks/{name}", "get_task", "Show a task.", None, **settings)
    return document("toy", [operation])["paths"]["/tasks/{name}"]["get"]


def test_without_settings_anybody_may_ask_and_gets_200():
    shown = described()
    assert shown["operationId"] == "get_task"
    assert shown["summary"] == "Show a task."
    assert "200" in shown["responses"]
    assert "security" not in shown
    assert "requestBody" not in shown


def test_parameters_say_where_they_stand():
    shown = described(parameters=(NAME, LEVEL))["parameters"]
    assert [(each["name"], each["in"], each.get("required", False)) for each in shown] == [
        ("name", "path", True),
        ("level", "query", False),
    ]


def test_a_scope_needs_a_token_and_may_be_refused():
    shown = described(scope="analyst")
    assert shown["security"] == [{"token": []}]
    assert {"401", "403"} <= set(shown["responses"])


def test_statuses_and_problems_are_all_listed():
    shown = described(status=201, statuses=((304, "Nothing new."),), problems=("not-found",))
    assert {"201", "304", "404"} <= set(shown["responses"])
    assert shown["responses"]["304"] == {"description": "Nothing new."}
