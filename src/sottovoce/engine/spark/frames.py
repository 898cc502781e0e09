"""Logs as Spark's frames: read and checked, given to executors, made into views.

``answering`` converts errors of Spark into errors of this package.
"""

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
from sottovoce.engine import tables
from sottovoce.engine.parquet import SEAL
from sottovoce.errors import (
    MismatchError,
    MissingExtraError,
    NoDataError,
    SottovoceError,
    UnavailableError,
)

LogPaths: TypeAlias = "str | PathLike[str] | Iterable[str | PathLike[str]]"

_INTEGERS = ("int", "bigint", "smallint")
_TYPES = {"id": ("binary",), "member": _INTEGERS, "slot": _INTEGERS, "payload": ("binary",)}
_OPTIONAL_TYPES = {"subject": ("binary",), "public": ("binary",)}
_READ_BYTES = 1 << 20
_REPORTS_AT_ONCE = 250_000  # in one partition that the driver fetches
_FILTER_LOCK = Lock()  # a filter of warnings holds for all threads, so only one thread may set it


def read(spark: Any, paths: LogPaths, declares: Iterable[str]) -> Any:
    """Return the log of a round as a frame; refuses files that are no log of such a task."""
    _check_installed()
    listed = [paths] if isinstance(paths, (str, PathLike)) else paths
    with answering():
        frame = spark.read.parquet(*map(str, listed))
    needed = _TYPES | {name: _OPTIONAL_TYPES[name] for name in declares}
    types = dict(frame.dtypes)
    if any(types.get(name) not in allowed for name, allowed in needed.items()):
        raise MismatchError(f"the log of a round of this task has the columns {', '.join(needed)}")
    return frame.select(*needed)


def _check_installed() -> None:
    try:
        for name in ("pyspark", "pyarrow", "pandas"):
            import_module(name)
    except ImportError as missing:
        raise MissingExtraError(
            "reading logs with Spark needs more: pip install 'sottovoce[spark]'"
        ) from missing


def mapped(frame: Any, work: Any, schema: str) -> Any:
    """Return the frame that executors make of their parts.

    Spark itself broadcasts work of a megabyte and more.
    """
    warning = "PySpark does not yet fully support pandas"
    with _FILTER_LOCK, warnings.catch_warnings():
        warnings.filterwarnings("ignore", warning, FutureWarning)
        return frame.mapInArrow(work, schema)


def people(log: Any, public: Mapping[str, bool], *, one_report_each: bool) -> Any:
    """Return everybody once, with their public columns p0, p1, ... as Spark reads them from JSON.

    Nobody is there who has two reports in the first slot.
    """
    from pyspark.sql import Window, functions, types

    first_slot = log.filter(log["slot"] == 0)
    if not one_report_each:
        times = functions.count("*").over(Window.partitionBy("subject"))
        first_slot = first_slot.withColumn("times", times).filter("times = 1")
    if not public:
        return first_slot.select(first_slot["subject"].alias("person"))
    fields = [types.StructField(name, types.StringType()) for name in public]
    content = functions.from_json(first_slot["public"].cast("string"), types.StructType(fields))
    seen = first_slot.select(first_slot["subject"].alias("person"), content.alias("seen"))
    columns = []
    for number, (name, is_number) in enumerate(public.items()):
        column = seen["seen"][name].cast("double" if is_number else "string")
        columns.append(column.alias(f"p{number}"))
    return seen.select("person", *columns)


@contextmanager
def views(spark: Any, frames: Mapping[str, Any], statement: Any) -> Iterator[str]:
    """Yield a statement in Spark's dialect over temporary views of the frames.

    The views have names that no other query knows, and are dropped at the end.
    """
    from sqlglot import exp

    view_names = {name: f"{name}_{uuid4().hex}" for name in frames}
    tree = statement.copy()
    for table in tree.find_all(exp.Table):
        if table.name in view_names:
            table.set("this", exp.to_identifier(view_names[table.name]))
    try:
        for name, frame in frames.items():
            frame.createOrReplaceTempView(view_names[name])
        yield tree.sql(dialect="spark")
    finally:
        for view_name in view_names.values():
            spark.catalog.dropTempView(view_name)


def pieces(frame: Any, width: int = 0) -> Iterator[dict[str, tuple[bytes, bytes]]]:
    """Yield a frame in large pieces, each with two byte strings for every column.

    They are the entries end to end and the lengths of the entries; of a column of numbers nothing
    and the numbers.  With a ``width`` every entry must have it.
    """
    types = [f"{name}_entries binary, {name}_numbers binary" for name in frame.columns]
    joined = mapped(frame, tables.JoinedEntries(width), ", ".join(types))
    with answering():
        for row in joined.toLocalIterator():
            yield {name: (row[f"{name}_entries"], row[f"{name}_numbers"]) for name in frame.columns}


def seal_text(spark: Any, paths: LogPaths) -> bytes | None:
    """Return the list of parts of a log that is one folder of the collector; None for others.

    The session reads it where it reads the parts: a disk, HDFS, an object store.
    """
    if not isinstance(paths, (str, PathLike)):
        return None
    with answering():
        jvm = spark._jvm
        seal_path = jvm.org.apache.hadoop.fs.Path(f"{paths}/{SEAL}")
        system = seal_path.getFileSystem(spark._jsc.hadoopConfiguration())
        if not system.exists(seal_path):
            return None
        stream = system.open(seal_path)
        try:
            return bytes(jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
        finally:
            stream.close()


def part_checksums(spark: Any, folder: Any) -> dict[str, str]:
    """Return the checksum of every part in a folder, by the name of its file.

    Every executor reads whole files, as the collector does.
    """
    with answering():
        files = spark.read.format("binaryFile").option("pathGlobFilter", "*.parquet")
        content = files.load(str(folder)).select("path", "content")
        table = mapped(content, tables.PartChecksums(), "name string, checksum string").toArrow()
    return dict(zip(table["name"].to_pylist(), table["checksum"].to_pylist(), strict=True))


def checksum(log: Any) -> str:
    """Return the checksum of a log's content, as ``parquet.write`` states it.

    The checksum goes from column to column while reports come in rows, so temporary files of the
    driver hold the columns meanwhile.  Spark hands over whole partitions, so these are small.
    """
    total = hashlib.sha256()
    count = 0
    with answering():
        partitions = max(1, -(-log.count() // _REPORTS_AT_ONCE))
    ordered = log.repartitionByRange(partitions, "id").sortWithinPartitions("id")
    with ExitStack() as stack:
        files = {
            name: [stack.enter_context(TemporaryFile()) for _ in range(2)]
            for name in sorted(log.columns)
        }
        for piece in pieces(ordered):
            _, id_lengths = piece["id"]
            count += len(id_lengths) // 4
            for name, parts in piece.items():
                for file, part in zip(files[name], parts, strict=True):
                    file.write(part)
        for name, pair in files.items():
            total.update(f"{name}:{count}:".encode())
            for part in chain(*map(_content, pair)):
                total.update(part)
    return total.hexdigest()


def _content(file: Any) -> Iterator[bytes]:
    """Yield what was written to a file."""
    file.seek(0)
    return iter(lambda: file.read(_READ_BYTES), b"")


def array(column: Any) -> Values:
    """Return a column of a result as an array; with None where it has no number."""
    import pyarrow

    if column.null_count:
        return np.array(column.to_pylist(), object)
    if pyarrow.types.is_decimal(column.type):
        return np.asarray(column.cast(pyarrow.float64()))
    return np.asarray(column.to_numpy())


@contextmanager
def answering() -> Iterator[None]:
    """Turn the errors of Spark into those of this package, those of its executors too."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise typed_error(str(error)) from error


def typed_error(text: str) -> SottovoceError:
    """Return the error of this package for a message of Spark."""
    for name, message in reversed(re.findall(r"sottovoce\.errors\.(\w+): (.*)", text)):
        kind = getattr(errors, name, None)
        if isinstance(kind, type) and issubclass(kind, SottovoceError):
            return kind(message)
    if "No module named" in text:
        return MissingExtraError(
            "the executors need the package too: pip install 'sottovoce[server,spark]' there"
        )
    if re.search("PATH_NOT_FOUND|UNABLE_TO_INFER_SCHEMA|FILE_NOT_EXIST", text):
        return NoDataError("the log of this round has been erased or is missing")
    damaged = "FAILED_READ_FILE|CANNOT_READ_FILE_FOOTER|not a Parquet file|ParquetDecodingException"
    if re.search(damaged, text):
        return MismatchError("the log of a round is damaged: it cannot be read")
    return UnavailableError("Spark could not answer this query")
