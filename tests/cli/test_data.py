"""``sottovoce data``: back up while the collector runs, restore what was backed up, export a
task.
"""

import json
import sqlite3
import stat
from base64 import b64encode

import pytest

from cli.collecting import TOML, collected, said
from collector.people import numbered
from collector.running import client, running
from sottovoce.collector import key_files
from sottovoce.engine import parquet
from sottovoce.wire import codec


def users(run, folder):
    return {
        one["name"]: one["users"]
        for one in said(run("task", "list", "--data", folder, "--json"))["tasks"]
    }


@pytest.fixture
def data(run, tmp_path):
    """One sealed task and one open one."""
    folder = tmp_path / "data"
    collected(folder, "sealed")
    run("task", "close", "sealed", "--data", folder, "--now")
    collected(folder, "open")
    return folder


def test_what_is_restored_answers_as_before(run, data, tmp_path):
    before = said(run("answer", "sealed", "--data", data, "--json"))
    assert (
        run("data", "backup", tmp_path / "copy", "--data", data).stdout
        == f"done: {tmp_path / 'copy'}\n"
    )
    assert said(
        run("data", "restore", tmp_path / "copy", "--data", tmp_path / "new", "--json")
    ) == {"folder": str(tmp_path / "new")}
    assert said(run("answer", "sealed", "--data", tmp_path / "new", "--json")) == before
    assert users(run, tmp_path / "new") == {"sealed": 8, "open": 8}
    assert run("task", "close", "open", "--data", tmp_path / "new", "--now").exit_code == 0
    assert said(run("answer", "open", "--data", tmp_path / "new", "--json"))["users"] == 8


def test_a_backup_holds_the_keys_of_the_collector(run, data, tmp_path):
    made = {
        key_files.SIGNING: key_files.signing_key(data).private_key,
        key_files.ISSUER: key_files.make_issuer(data).public_key,
    }
    run("data", "backup", tmp_path / "copy", "--data", data)
    run("data", "restore", tmp_path / "copy", "--data", tmp_path / "new")
    assert key_files.signing_key(tmp_path / "new").private_key == made[key_files.SIGNING]
    assert key_files.issuer(tmp_path / "new").public_key == made[key_files.ISSUER]
    for name in made:
        assert stat.S_IMODE((tmp_path / "new" / name).stat().st_mode) == 0o600


def test_a_backup_beside_a_running_server_holds_what_was_acknowledged_before_it(run, tmp_path):
    folder = tmp_path / "data"
    task = collected(folder, "count", grace=3600)
    with running(folder, "--rate", "0") as server, client(server) as device:
        body = {"reports": [b64encode(one).decode() for one in numbered(task, 1, 2, 3)]}
        assert device.post("/v1/tasks/count/reports", json=body).json()["accepted"] == 3
        assert run("data", "backup", tmp_path / "copy", "--data", folder).exit_code == 0
        later = {"reports": [b64encode(one).decode() for one in numbered(task, 4)]}
        assert device.post("/v1/tasks/count/reports", json=later).json()["accepted"] == 1
        assert server.stop() == 0
    run("data", "restore", tmp_path / "copy", "--data", tmp_path / "new")
    assert users(run, tmp_path / "new") == {"count": 11}
    assert users(run, folder) == {"count": 12}


def test_a_log_that_is_being_written_is_not_backed_up(run, data, tmp_path):
    (log,) = data.rglob("*.parquet")
    (log.parent / ".round-00001.00c0ffee.new.parquet").write_bytes(b"half")
    assert run("data", "backup", tmp_path / "copy", "--data", data).exit_code == 0
    assert [path.name for path in (tmp_path / "copy").rglob("*.parquet")] == [log.name]


def test_a_backup_never_overwrites(run, data, tmp_path):
    (tmp_path / "copy").mkdir()
    refused = run("data", "backup", tmp_path / "copy", "--data", data)
    assert refused.exit_code == 2
    assert "does not exist yet" in refused.stderr


def test_a_backup_is_restored_into_an_empty_folder_only(run, data, tmp_path):
    run("data", "backup", tmp_path / "copy", "--data", data)
    refused = run("data", "restore", tmp_path / "copy", "--data", data)
    assert refused.exit_code == 2
    assert "empty folder" in refused.stderr


def test_what_is_no_backup_is_refused(run, tmp_path):
    (tmp_path / "other").mkdir()
    refused = run("data", "restore", tmp_path / "other", "--data", tmp_path / "new")
    assert refused.exit_code == 7
    assert "not a backup" in refused.stderr
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("damage", ["changed", "missing", "database"])
def test_a_damaged_backup_is_told(run, data, tmp_path, damage):
    run("data", "backup", tmp_path / "copy", "--data", data)
    (log,) = (tmp_path / "copy").rglob("*.parquet")
    if damage == "changed":
        log.write_bytes(log.read_bytes()[:-1] + b"?")
    elif damage == "missing":
        log.unlink()
    else:
        (tmp_path / "copy" / "collector.db").write_bytes(b"no database" * 100)
    refused = run("data", "restore", tmp_path / "copy", "--data", tmp_path / "new")
    assert refused.exit_code == {"changed": 5, "missing": 7, "database": 9}[damage]
    assert refused.stdout == ""
    assert not (tmp_path / "new").exists()


def test_postgres_is_restored_by_its_own_tools(run, data, tmp_path):
    run("data", "backup", tmp_path / "copy", "--data", data)
    refused = run(
        "data",
        "restore",
        tmp_path / "copy",
        "--data",
        tmp_path / "new",
        "--database",
        "postgresql://x",
    )
    assert refused.exit_code == 2
    assert "pg_restore" in refused.stderr


def test_an_export_is_the_task_its_rounds_and_their_logs(run, data, tmp_path):
    to = tmp_path / "export"
    assert said(run("data", "export", "sealed", to, "--data", data, "--json")) == {
        "folder": str(to)
    }
    assert sorted(path.name for path in to.iterdir()) == [
        "round-00000.json",
        "round-00000.parquet",
        "round-00000.seal.json",
        "task.json",
    ]
    seal = json.loads((to / "round-00000.seal.json").read_text())
    assert seal["count"] == 8
    assert seal["checksum"] == parquet.checksum_of(to / "round-00000.parquet")
    assert json.loads((to / "task.json").read_text())["name"] == "sealed"
    assert json.loads((to / "round-00000.json").read_text())["kind"] == "round"
    assert run("data", "export", "sealed", to, "--data", data).exit_code == 2
    assert run("data", "export", "none", tmp_path / "other", "--data", data).exit_code == 7
    assert not (tmp_path / "other").exists()


def test_a_task_that_is_open_is_exported_without_reports(run, data, tmp_path):
    run("data", "export", "open", tmp_path / "export", "--data", data)
    assert sorted(path.name for path in (tmp_path / "export").iterdir()) == [
        "round-00000.json",
        "task.json",
    ]


def test_a_changed_log_is_not_exported(run, data, tmp_path):
    (log,) = data.rglob("*.parquet")
    log.write_bytes(log.read_bytes()[:-1] + b"?")
    assert run("data", "export", "sealed", tmp_path / "export", "--data", data).exit_code == 5
    assert not (tmp_path / "export").exists()


def test_a_backup_is_a_database_of_its_own(run, data, tmp_path):
    run("data", "backup", tmp_path / "copy", "--data", data)
    book = sqlite3.connect(tmp_path / "copy" / "collector.db")
    assert book.execute("pragma integrity_check").fetchone() == ("ok",)
    book.close()


def modes(folder):
    """The modes of a folder and of everything in it, as text."""
    return {oct(stat.S_IMODE(path.stat().st_mode)) for path in (folder, *folder.rglob("*"))}


def test_data_backups_and_what_is_restored_are_for_their_user_alone(run, data, tmp_path):
    file = tmp_path / "browser.toml"
    file.write_text(TOML)
    run("task", "create", file, "--data", tmp_path / "made")
    run("data", "backup", tmp_path / "copy", "--data", data)
    run("data", "restore", tmp_path / "copy", "--data", tmp_path / "new")
    run("data", "export", "sealed", tmp_path / "export", "--data", data)
    for name in ("made", "copy", "new", "export"):
        assert modes(tmp_path / name) == {"0o700", "0o600"}, name


def test_a_backup_of_open_files_is_closed(run, data, tmp_path):
    for path in (data, *data.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    told = run("data", "backup", tmp_path / "copy", "--data", data)
    assert told.stderr.startswith(f"Warning: other users of this machine can open {data}")
    assert modes(tmp_path / "copy") == {"0o700", "0o600"}


@pytest.mark.parametrize("link", ["symbolic", "hard"])
def test_a_backup_with_a_link_is_not_restored(run, data, tmp_path, link):
    run("data", "backup", tmp_path / "copy", "--data", data)
    (log,) = (tmp_path / "copy").rglob("*.parquet")
    elsewhere = tmp_path / "elsewhere"
    log.rename(elsewhere)
    if link == "symbolic":
        log.symlink_to(elsewhere)
    else:
        log.hardlink_to(elsewhere)
    refused = run("data", "restore", tmp_path / "copy", "--data", tmp_path / "new")
    assert refused.exit_code == 5
    assert "links and special files are refused" in refused.stderr
    assert not (tmp_path / "new").exists()
    assert not list(tmp_path.glob("*.restoring"))


@pytest.mark.parametrize(
    ("table", "where"), [("tasks", "name = 'sealed'"), ("rounds", "number = 0")]
)
def test_a_backup_with_other_documents_is_not_restored(run, data, tmp_path, table, where):
    """Digests are computed again: whoever changes a document in a backup is found out."""
    run("data", "backup", tmp_path / "copy", "--data", data)
    book = sqlite3.connect(tmp_path / "copy" / "collector.db")
    (document,) = book.execute(f"select document from {table} where {where}").fetchone()
    changed = json.loads(document)
    if table == "tasks":
        changed["description"] = "another question"
    else:
        changed["high"] = str(int(changed["high"]) // 2)
    book.execute(f"update {table} set document = ? where {where}", (codec.canonical(changed),))
    book.commit()
    book.close()
    refused = run("data", "restore", tmp_path / "copy", "--data", tmp_path / "new")
    assert refused.exit_code == 5, refused.stderr
    assert "is not the one" in refused.stderr
    assert not (tmp_path / "new").exists()
