"""Sealed logs in an object store: a real server that speaks S3."""

import pytest

from collector.people import Clock, counting, honest, numbered, once, question, text
from collector.sending import held, send, states
from object_store import object_store
from sottovoce.collector.collector import DAY, Collector
from sottovoce.collector.resources import Resources
from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.engine import files, parquet
from sottovoce.engine.sealed import SealedCollected, tally_all
from sottovoce.engine.stored_path import log_folder
from sottovoce.errors import MismatchError, NoDataError, ParameterError, UnavailableError

pytest.importorskip("moto.server")
TASK = once(question("olh"))


@pytest.fixture(scope="module")
def logs():
    with object_store() as url:
        yield url


@pytest.mark.parametrize("part_bytes", [1 << 25, 4_000])
def test_a_log_is_written_read_damaged_and_erased(logs, monkeypatch, part_bytes):
    monkeypatch.setattr(parquet, "PART_BYTES", part_bytes)
    path = log_folder(logs) / f"log-{part_bytes}" / "round-00000.parquet"
    messages = honest(TASK, 400)
    assert not parquet.exists(path)
    with pytest.raises(NoDataError):
        parquet.read(path, TASK.opening, "unknown")
    log = parquet.write(path, messages, TASK.opening)
    assert parquet.exists(path)
    assert parquet.checksum_of(path) == log.checksum
    sealed = parquet.open_log(path, TASK.opening, log.checksum)
    assert SealedCollected(TASK).after(TASK.opening, sealed).users(0) == 400
    parquet.condense(path.with_suffix(".npz"), tally_all(sealed))
    assert parquet.tallies(path.with_suffix(".npz"), TASK.opening) == tally_all(sealed)
    part = path / sealed.parts[-1].name
    good = part.read_bytes()
    part.write_bytes(good[:-20])
    with pytest.raises(MismatchError):
        parquet.read(path, TASK.opening, log.checksum)
    part.write_bytes(good)
    again = parquet.write(path, messages[::-1], TASK.opening)
    assert again == log
    parquet.erase(path)
    assert not parquet.exists(path)
    files.remove_leftovers(path.parent)
    assert [one.name for one in path.parent.iterdir()] == ["round-00000.npz"]


def test_a_collector_that_dies_while_it_seals_goes_on_from_the_object_store(logs, tmp_path):
    clock = Clock()
    store = SqliteStore(tmp_path / "collector.db")

    def collector():
        return Collector(store, tmp_path, clock, Resources(logs=logs))

    first = collector()
    task = counting(quota=5, retention=1)
    first.create(text(task), toml=False)
    send(first, "count", numbered(task, *range(5)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "seal", lambda *_: 1 / 0)  # the log is there, the store is not told
        with pytest.raises(ZeroDivisionError):
            first.advance()
    assert states(first, "count") == ["sealing"]
    second = collector()
    assert second.advance()
    assert held(second, "count") == dict.fromkeys(range(5), 1)
    before = second.answer("count").to_dict()
    assert not (tmp_path / "sealed").exists()
    clock.pass_(DAY)
    assert second.advance()
    assert not parquet.exists(second.log(second.find("count").last))
    assert collector().answer("count").to_dict() == before
    store.close()


def test_an_object_store_that_cannot_be_reached_is_unavailable(logs):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        away = log_folder(logs)
    with pytest.raises(UnavailableError, match="cannot be reached"):
        away.exists()


def test_anything_but_the_url_of_a_bucket_is_refused():
    for url in ("ftp://somewhere", "s3://", "bucket/prefix"):
        with pytest.raises(ParameterError, match="`logs` must be a URL"):
            log_folder(url)
