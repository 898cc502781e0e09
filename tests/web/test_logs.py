"""Logs: one JSON object a line, of chosen fields, and never what somebody sent."""

import json
import logging

import pytest

from sottovoce.errors import CodecError
from sottovoce.web.logs import FIELDS, MINUTES, SECONDS, JsonLines


def line(message, *arguments, name="sottovoce.collector.app", error=None, **extra):
    information = (type(error), error, error.__traceback__) if error else None
    record = logging.LogRecord(name, logging.INFO, "file.py", 1, message, arguments, information)
    record.__dict__.update(extra)
    return json.loads(JsonLines().format(record))


def test_only_chosen_fields_are_written():
    made = line(
        "request", route="upload", status=200, token="secret", address="203.0.113.7", payload=b"x"
    )
    assert set(made) == {"time", "level", "event", "route", "status"}
    assert not {"token", "address", "payload", "id", "name"} & set(FIELDS)


@pytest.mark.parametrize(("time_format", "length"), [(SECONDS, 24), (MINUTES, 21)])
def test_times_are_as_exact_as_they_may_be(time_format, length):
    record = logging.LogRecord("sottovoce", logging.INFO, "file.py", 1, "request", (), None)
    made = json.loads(JsonLines(time_format).format(record))
    assert len(made["time"]) == length


def test_an_error_is_its_class_and_place_and_never_its_message():
    try:
        raise CodecError("somebody-sent-this")
    except CodecError as error:
        made = line("request", error=error)
    assert made["error"] == "CodecError"
    assert made["where"][-1].startswith("test_logs.py:")
    assert "somebody" not in json.dumps(made)


def test_other_libraries_are_named_and_not_quoted():
    made = line("bad request from %s", "203.0.113.7", name="somebody.library")
    assert made["event"] == "somebody.library"
    assert "203.0.113.7" not in json.dumps(made)


def test_lines_of_uvicorn_say_what_happened_without_what_fills_their_gaps():
    made = line("%s - connection from %s", "a", "203.0.113.7", name="uvicorn.error")
    assert made["event"] == "uvicorn.error: ... - connection from ..."
    assert "203.0.113.7" not in json.dumps(made)
    assert line("Finished.\n", name="uvicorn.error")["event"] == "uvicorn.error: Finished."
