"""The log of a sealed round: whole or not there, the same for the same reports, and nobody's to
change.
"""

import hashlib
import resource
import threading
from contextlib import contextmanager

import duckdb
import numpy as np
import pytest

from collector.people import ASKS, KINDS, digest_of, envelope, fresh, honest, once, question
from sottovoce.engine import parquet
from sottovoce.engine.memory import MemoryCollected, batches_of
from sottovoce.errors import CodecError, MismatchError, NoDataError, UnavailableError
from sottovoce.tasks.question import Address

PLAIN = once(question())


def same(one, other):
    """Whether two sets of batches hold the same reports, in any order."""
    assert set(one) == set(other)
    for address, batch in one.items():
        key = sorted(map(_bytes, _rows(batch)))
        assert key == sorted(map(_bytes, _rows(other[address])))
    return True


def _rows(batch):
    reports = batch.reports
    return reports if batch.subjects is None else list(zip(reports, batch.subjects, strict=True))


def _bytes(row):
    return (
        b"|".join(np.asarray(one).tobytes() for one in row)
        if isinstance(row, tuple)
        else np.asarray(row).tobytes()
    )


def log(folder, task, messages, name="round.parquet"):
    return folder / name, parquet.write(folder / name, messages, task.opening)


def raw(path):
    """The columns of a log, read without the engine."""
    with duckdb.connect() as engine:
        rows = engine.execute(f"select * from read_parquet('{path}')")
        names = [column[0] for column in rows.description]
        return {
            name: list(column)
            for name, column in zip(names, zip(*rows.fetchall(), strict=True), strict=True)
        }


@pytest.mark.parametrize("shape", [*KINDS, *list(ASKS)[-5:]])
def test_what_is_read_is_what_was_written(tmp_path, shape):
    task = once(ASKS[shape])
    messages = honest(task, 40)
    path, made = log(tmp_path, task, messages)
    assert made.count == sum(message.count(digest_of(task)) for message in messages)
    read = parquet.read(path, task.opening, made.checksum)
    assert same(read, batches_of(task, task.opening, messages))


@pytest.mark.parametrize("declares", [("subject",), ("public",), ("subject", "public")])
def test_declared_fields_are_in_the_log(tmp_path, declares):
    task = once(question(), declares=declares)
    messages = honest(task, 20)
    path, made = log(tmp_path, task, messages)
    assert same(
        parquet.read(path, task.opening, made.checksum), batches_of(task, task.opening, messages)
    )
    columns = raw(path)
    assert set(columns) == {"id", "member", "slot", "payload", *declares}
    if "public" in declares:
        assert set(columns["public"]) == {b"{}"}


def test_the_log_holds_what_the_envelopes_held_sorted_by_id(tmp_path):
    messages = honest(PLAIN, 50)
    path, _ = log(tmp_path, PLAIN, messages)
    columns = raw(path)
    assert columns["id"] == sorted(message[28:44] for message in messages), (
        "the order of arrival is gone"
    )
    by_id = {message[28:44]: message[44:] for message in messages}
    assert columns["payload"] == [by_id[one] for one in columns["id"]]


def test_the_same_reports_in_any_order_give_the_same_file(tmp_path):
    task = once(ASKS["choice of bundles"], declares=("subject",))
    subject = fresh()
    messages = [
        b"".join(
            envelope(digest_of(task), bytes(2), slot=slot, member=0, subject=subject)
            for slot in (0, 1)
        )
        for _ in range(200)
    ]
    first, made = log(tmp_path, task, messages, "first.parquet")
    second, again = log(tmp_path, task, [b"".join(reversed(messages))], "second.parquet")
    assert made == again
    assert first.read_bytes() == second.read_bytes()


def test_many_row_groups_keep_their_order(tmp_path):
    """Parquet cuts files into groups of rows."""
    rows = np.zeros((150_000, 45), np.uint8)
    rows[:] = np.frombuffer(envelope(digest_of(PLAIN), b"\5"), np.uint8)
    rows[:, 28:44] = np.random.default_rng(1).integers(0, 256, (150_000, 16))
    first, made = log(tmp_path, PLAIN, [rows.tobytes()], "first.parquet")
    second, again = log(tmp_path, PLAIN, [rows[::-1].tobytes()], "second.parquet")
    assert made == again
    assert first.read_bytes() == second.read_bytes()
    batches = parquet.read(first, PLAIN.opening, made.checksum)
    assert len(batches[Address()].reports) == 150_000


def test_the_checksum_can_be_recomputed_by_any_reader(tmp_path):
    """SHA-256 over the columns by name: name and length, entries and their lengths, or the
    numbers.
    """
    messages = honest(PLAIN, 30)
    _, made = log(tmp_path, PLAIN, messages)
    rows = sorted((message[28:44], message[44:]) for message in messages)
    total = hashlib.sha256()
    total.update(b"id:30:" + b"".join(one for one, _ in rows) + (16).to_bytes(4, "little") * 30)
    total.update(b"member:30:" + bytes(4 * 30))
    total.update(b"payload:30:" + b"".join(one for _, one in rows) + (1).to_bytes(4, "little") * 30)
    total.update(b"slot:30:" + bytes(4 * 30))
    assert made.checksum == total.hexdigest()


def test_the_checksum_knows_where_one_public_field_ends_and_the_next_begins(tmp_path):
    task = once(question(), declares=("public",))
    ids = [bytes([1]) * 16, bytes([2]) * 16]

    def checksum(*publics):
        messages = [
            envelope(digest_of(task), b"\0", public=public, report=report)
            for public, report in zip(publics, ids, strict=True)
        ]
        return log(tmp_path, task, messages)[1].checksum

    assert checksum(b"12", b"3") != checksum(b"1", b"23")


def test_any_changed_byte_is_refused_or_changes_nothing(tmp_path):
    messages = honest(once(question("bloom")), 12)
    task = once(question("bloom"))
    path, made = log(tmp_path, task, messages)
    good = path.read_bytes()
    expected = parquet.read(path, task.opening, made.checksum)
    refused = 0
    for place in range(0, len(good), 23):
        path.write_bytes(good[:place] + bytes([good[place] ^ 0xFF]) + good[place + 1 :])
        try:
            found = parquet.read(path, task.opening, made.checksum)
        except MismatchError:
            refused += 1
        else:
            assert same(found, expected), "only bytes that mean nothing may change"
    assert refused > len(good) // 23 // 2


def test_a_log_with_other_columns_or_types_is_refused(tmp_path):
    path, made = log(tmp_path, PLAIN, honest(PLAIN, 5))
    columns = "select id, member, slot, payload"
    for change in (
        "select id, member, slot",
        "select *, 1 as subject",
        "select id::varchar as id, member, slot, payload",
        "select id, null::uinteger as member, slot, payload",
        "select id, member, slot, null::blob as payload",
        "select id, member + 0.5 as member, slot, payload",
        f"{columns} from (select * from read_parquet('{path}') limit 4) --",
        f"{columns} from (select * from read_parquet('{path}') order by id desc) --",
    ):
        other = tmp_path / "other.parquet"
        with duckdb.connect() as engine:
            engine.execute(
                f"copy ({change} from read_parquet('{path}')\n) to '{other}' (format parquet)"
            )
        with pytest.raises(MismatchError):
            parquet.read(other, PLAIN.opening, made.checksum)


def test_a_missing_log_and_a_round_without_reports_are_no_data(tmp_path):
    with pytest.raises(NoDataError):
        parquet.read(tmp_path / "nothing.parquet", PLAIN.opening, "unknown")
    with pytest.raises(NoDataError):
        parquet.write(tmp_path / "nothing.parquet", [], PLAIN.opening)
    with pytest.raises(NoDataError):
        parquet.tallies(tmp_path / "nothing.npz", PLAIN.opening)
    assert not list(tmp_path.iterdir())


def test_reports_with_different_fields_do_not_go_into_one_log(tmp_path):
    mixed = [*honest(PLAIN, 1), envelope(digest_of(PLAIN), b"\0", subject=fresh())]
    with pytest.raises(CodecError):
        log(tmp_path, PLAIN, mixed)
    assert not list(tmp_path.iterdir())


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    """A reader that looks all the time never sees a half-written log."""
    task = once(question("bloom"))
    messages, path = [b"".join(honest(task, 300))], tmp_path / "round.parquet"
    seen, done = [], threading.Event()

    def look():
        while not done.is_set():
            if path.exists():
                seen.append(path.read_bytes())

    watcher = threading.Thread(target=look)
    watcher.start()
    for _ in range(5):
        parquet.write(path, messages, task.opening)
    done.set()
    watcher.join()
    assert set(seen) <= {path.read_bytes()}
    assert [one.name for one in tmp_path.iterdir()] == ["round.parquet"], (
        "nothing else is left behind"
    )


def test_what_a_crash_left_half_written_is_not_in_the_way(tmp_path):
    half = tmp_path / ".round.00c0ffee.new.parquet"
    half.write_bytes(b"half a file")
    messages = honest(PLAIN, 5)
    path, made = log(tmp_path, PLAIN, messages)
    assert same(
        parquet.read(path, PLAIN.opening, made.checksum), batches_of(PLAIN, PLAIN.opening, messages)
    )
    assert half.read_bytes() == b"half a file", "another process may be writing it"


@contextmanager
def disk_of(size):
    """Let no file of this process grow beyond so many bytes, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_unavailable_and_leaves_the_old_file(tmp_path):
    task = once(question("bloom"))
    path, made = log(tmp_path, task, honest(task, 5))
    many = [b"".join(honest(task, 2000))]
    with disk_of(4096), pytest.raises(UnavailableError):
        parquet.write(path, many, task.opening)
    assert len(parquet.read(path, task.opening, made.checksum)[Address()].reports) == 5
    assert [one.name for one in tmp_path.iterdir()] == ["round.parquet"]
    assert parquet.write(path, many, task.opening).count == 2000


def test_a_folder_that_cannot_be_made_is_unavailable(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UnavailableError):
        log(tmp_path / "file", PLAIN, honest(PLAIN, 2))
    with pytest.raises(UnavailableError):
        parquet.condense(tmp_path / "file" / "round.npz", {})


SUMMED = [kind for kind in KINDS if kind != "affine_prefix"]


@pytest.mark.parametrize("shape", [*SUMMED, *list(ASKS)[-5:]])
def test_what_remains_of_erased_reports_are_their_sums(tmp_path, shape):
    task = once(ASKS[shape])
    batches = batches_of(task, task.opening, honest(task, 60))
    whole = MemoryCollected(task).after(task.opening, batches)
    parquet.condense(tmp_path / "round.npz", whole.tallies(0))
    sums = MemoryCollected(task).after_erasing(
        task.opening, parquet.tallies(tmp_path / "round.npz", task.opening)
    )
    assert sums.users(0) == whole.users(0) == 60
    for address in batches:
        one, other = sums.tally(address), whole.tally(address)
        assert (one.key, one.users) == (other.key, other.users)
        assert set(one.counts) == set(other.counts)
        assert all(np.array_equal(one.counts[name], other.counts[name]) for name in one.counts)
        with pytest.raises(NoDataError, match="erased"):
            next(sums.reports(address))


def test_sums_that_are_damaged_are_refused(tmp_path):
    path = tmp_path / "round.npz"
    batches = batches_of(PLAIN, PLAIN.opening, honest(PLAIN, 5))
    parquet.condense(path, MemoryCollected(PLAIN).after(PLAIN.opening, batches).tallies(0))
    good = path.read_bytes()
    for bad in (b"", b"nothing", good[:-20], good[20:], bytes(len(good))):
        path.write_bytes(bad)
        with pytest.raises(MismatchError):
            parquet.tallies(path, PLAIN.opening)
