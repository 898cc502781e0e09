"""What Spark says when something is missing or fails, as errors of this package."""

import sys

import pytest

import sottovoce as sv
from sottovoce.engine import spark
from sottovoce.engine.spark import frames
from sottovoce.errors import MismatchError, MissingExtraError, NoDataError, UnavailableError
from sottovoce.tasks.task import Task


@pytest.mark.parametrize("name", ["pyspark", "pyarrow", "pandas"])
def test_a_missing_part_is_named_with_the_extra_that_brings_it(monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    task = Task("histogram", sv.Histogram(range(4)), 1.0)
    with pytest.raises(MissingExtraError, match=r"sottovoce\[spark\]"):
        spark.answer(task, None, {0: "nowhere"}, {0: "unknown"})


def test_errors_of_executors_keep_their_kind():
    traceback = "Traceback (most recent call last):\n  ...\n{}\n\tat org.apache.spark"
    told = traceback.format("sottovoce.errors.{}: a rule")
    error = frames.typed_error(told.format("MismatchError"))
    assert (type(error), str(error)) == (MismatchError, "a rule")
    assert type(frames.typed_error(told.format("os"))) is UnavailableError
    assert type(frames.typed_error("[PATH_NOT_FOUND] no such path")) is NoDataError
    assert (
        type(frames.typed_error("ModuleNotFoundError: No module named 'sottovoce'"))
        is MissingExtraError
    )
