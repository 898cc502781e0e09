"""Logs as Spark's frames: read and checked, given to executors, made into views; and what Spark says when it fails."""

import hashlib
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib import import_module
from itertools import chain
from os import PathLike
from tempfile import TemporaryFile
from threading import Lock
from typing import Any, TypeAlias
from uuid import uuid4

import numpy as np

from sottovoce import errors
from sottovoce.arrays import Values
from sottovoce.engine.spark import workers
from sottovoce.errors import MismatchError, MissingExtraError, NoDataError, SottovoceError, UnavailableError

Places: TypeAlias = "str | PathLike[str] | Iterable[str | PathLike[str]]"

_INTEGERS = ("int", "bigint", "smallint")
_TYPES = {"id": ("binary",), "member": _INTEGERS, "slot": _INTEGERS, "payload": ("binary",)}
_OPTIONAL = {"subject": ("binary",), "public": ("binary",)}
_QUIET = Lock()  # a warning is ignored in all threads at once, so one after another ignores it


def read(spark: Any, places: Places, declares: Iterable[str]) -> Any:
    """Return the log of a round; refuses what is none."""
    _check_installed()
    paths = [str(places)] if isinstance(places, (str, PathLike)) else [str(place) for place in places]
    with answering():
        frame = spark.read.parquet(*paths)
    wanted = _TYPES | {name: _OPTIONAL[name] for name in declares}
    found = dict(frame.dtypes)
    if any(found.get(name) not in types for name, types in wanted.items()):
        raise MismatchError(f"the log of a round of this task has the columns {', '.join(wanted)}")
    return frame.select(*wanted)


def _check_installed() -> None:
    try:
        for name in ("pyspark", "pyarrow", "pandas"):
            import_module(name)
    except ImportError as missing:
        raise MissingExtraError("reading logs with Spark needs more: pip install 'sottovoce[spark]'") from missing


def mapped(frame: Any, work: Any, schema: str) -> Any:
    """Return a frame that every executor makes of its part; Spark itself broadcasts work of a megabyte and more."""
    with _QUIET, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        return frame.mapInArrow(work, schema)


def people(log: Any, public: Mapping[str, bool], *, single: bool) -> Any:
    """Return everybody once, with the public columns as Spark reads them from JSON; nobody of whom there are two."""
    from pyspark.sql import Window, functions, types

    own = log.filter(log["slot"] == 0)
    if not single:
        times = functions.count("*").over(Window.partitionBy("subject"))
        own = own.withColumn("times", times).filter("times = 1")
    if not public:
        return own.select(own["subject"].alias("person"))
    fields = types.StructType([types.StructField(name, types.StringType()) for name in public])
    seen = functions.from_json(own["public"].cast("string"), fields)
    own = own.select(own["subject"].alias("person"), seen.alias("seen"))
    kinds = enumerate(public.items())
    columns = [own["seen"][name].cast("double" if number else "string").alias(f"p{at}") for at, (name, number) in kinds]
    return own.select("person", *columns)


@contextmanager
def views(spark: Any, frames: Mapping[str, Any], statement: Any) -> Iterator[str]:
    """Yield a statement in Spark's dialect over views that no other question knows, which then are no more."""
    from sqlglot import exp

    own = {name: f"{name}_{uuid4().hex}" for name in frames}
    tree = statement.copy()
    for table in tree.find_all(exp.Table):
        if table.name in own:
            table.set("this", exp.to_identifier(own[table.name]))
    try:
        for name, frame in frames.items():
            frame.createOrReplaceTempView(own[name])
        yield tree.sql(dialect="spark")
    finally:
        for view in own.values():
            spark.catalog.dropTempView(view)


def pieces(frame: Any, width: int = 0) -> Iterator[dict[str, tuple[bytes, bytes]]]:
    """Yield a frame in large pieces: of every column the entries end to end, and their lengths, or its numbers."""
    schema = ", ".join(f"{name}_entries binary, {name}_numbers binary" for name in frame.columns)
    joined = mapped(frame, workers.Joined(width), schema)
    with answering():
        for row in joined.toLocalIterator():
            yield {name: (row[f"{name}_entries"], row[f"{name}_numbers"]) for name in frame.columns}


def checksum(log: Any) -> str:
    """Return the checksum of a log's content, as ``sealed.write`` states it.

    It goes from column to column, reports come in rows: files of the driver hold the columns meanwhile.
    """
    total, count = hashlib.sha256(), 0
    with ExitStack() as stack:
        files = {name: [stack.enter_context(TemporaryFile()) for _ in range(2)] for name in sorted(log.columns)}
        for piece in pieces(log.orderBy("id")):
            count += len(piece["id"][1]) // 4
            for name, parts in piece.items():
                for file, part in zip(files[name], parts, strict=True):
                    file.write(part)
        for name, pair in files.items():
            total.update(f"{name}:{count}:".encode())
            for part in chain(*map(_written, pair)):
                total.update(part)
    return total.hexdigest()


def _written(file: Any) -> Iterator[bytes]:
    file.seek(0)
    return iter(lambda: file.read(1 << 20), b"")


def array(column: Any) -> Values:
    """Return a column of an answer; where there is no number, None."""
    import pyarrow

    if column.null_count:
        return np.array(column.to_pylist(), object)
    return np.asarray(column.cast(pyarrow.float64()) if pyarrow.types.is_decimal(column.type) else column.to_numpy())


@contextmanager
def answering() -> Iterator[None]:
    """Turn what Spark tells into errors of this house, those of its executors too."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise _typed(str(error)) from error


def _typed(text: str) -> SottovoceError:
    for name, message in reversed(re.findall(r"sottovoce\.errors\.(\w+): (.*)", text)):
        kind = getattr(errors, name, None)
        if isinstance(kind, type) and issubclass(kind, SottovoceError):
            return kind(message)
    if "No module named" in text:
        return MissingExtraError("the executors need the package too: pip install 'sottovoce[server,spark]' there")
    if re.search("PATH_NOT_FOUND|UNABLE_TO_INFER_SCHEMA|FILE_NOT_EXIST", text):
        return NoDataError("the log of this round has been erased or is missing")
    if re.search("FAILED_READ_FILE|CANNOT_READ_FILE_FOOTER|not a Parquet file|ParquetDecodingException", text):
        return MismatchError("the log of a round is damaged: it cannot be read")
    return UnavailableError("Spark could not answer this question")
