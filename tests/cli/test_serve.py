"""``sottovoce serve``: it says where it listens, stops in good order, and refuses what it cannot
do.
"""

import json
import os
import signal
import socket
import subprocess
import sys

import pytest

from collector.running import client, running, until


def refused(*options, **environment):
    command = [sys.executable, "-m", "sottovoce", "serve", *map(str, options)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
        timeout=60,
    )
    assert done.stdout == ""
    return done.returncode, done.stderr


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_a_signal_and_leaves_in_good_order(tmp_path, how):
    with running(tmp_path / "new") as server:
        with client(server) as people:
            assert people.get("/healthz").text == "alive\n"
            assert people.get("/readyz").status_code == 200
            assert "server" not in people.get("/healthz").headers
        assert server.stop(how) == 0
        assert json.loads(server.said) == {"url": server.url, "data": str(tmp_path / "new")}
        assert all(json.loads(line)["level"] == "INFO" for line in server.logged.splitlines())
    assert not (tmp_path / "new" / "collector.db-wal").exists(), "the store was closed"


def test_settings_come_from_the_environment_and_options_win(tmp_path):
    with running(
        tmp_path, "--rate", "1", SOTTOVOCE_RATE="0", SOTTOVOCE_LARGEST_BODY="1024"
    ) as server:
        with client(server) as people:
            until(lambda: people.get("/v1/tasks").status_code == 429)
        assert server.stop() == 0


def test_people_are_told_where_to_look(tmp_path):
    command = [sys.executable, "-m", "sottovoce", "serve", "--data", str(tmp_path), "--port", "0"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    first = process.stdout.readline()
    second = process.stdout.readline()
    process.terminate()
    process.communicate(timeout=60)
    assert first.startswith("Collector and dashboard: http://127.0.0.1:")
    assert "sottovoce token create analyst" in second


def test_a_port_that_is_taken_is_told_in_one_line(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, said = refused("--data", tmp_path, "--port", port)
    assert code == 9
    assert said == f"Error: nothing can listen on 127.0.0.1, port {port}\n"


def test_a_setting_that_is_no_number_is_told(tmp_path):
    code, said = refused("--data", tmp_path, SOTTOVOCE_TICK="often")
    assert code == 2
    assert said == "Error: SOTTOVOCE_TICK is not a number\n"


@pytest.mark.parametrize(
    "options", [["--port", "70000"], ["--rate", "-1"], ["--largest-body", "5"], ["--data"]]
)
def test_a_setting_that_cannot_work_is_refused(run, tmp_path, options):
    assert (
        run("serve", *options, *([] if "--data" in options else ["--data", tmp_path])).exit_code
        == 2
    )


def test_a_database_that_is_none_is_told(tmp_path):
    (tmp_path / "collector.db").write_bytes(b"not a database" * 100)
    code, said = refused("--data", tmp_path, "--port", "0")
    assert code == 9
    assert said.startswith("Error: the database cannot serve")


def test_a_folder_that_is_open_to_others_is_told_and_logged_and_new_files_are_closed(tmp_path):
    tmp_path.chmod(0o755)
    with running(tmp_path) as server:
        with client(server) as people:
            assert people.get("/readyz").status_code == 200
        files = [path for path in tmp_path.iterdir() if path.is_file()]
        assert {oct(path.stat().st_mode & 0o777) for path in files} == {"0o600"}
        assert server.stop() == 0
    assert f"Warning: other users of this machine can open {tmp_path}" in server.logged
    assert '"level": "WARNING"' in server.logged
