"""The folder of a collector: closed to others, and copied without following links."""

import os
import socket
import stat
import subprocess
import sys

import pytest

from sottovoce.errors import MismatchError, StateError
from sottovoce.web import folder


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(autouse=True)
def usual_umask():
    umask = os.umask(0o022)
    yield
    os.umask(umask)


def test_a_new_folder_is_for_its_user_alone(tmp_path):
    folder.make(tmp_path / "a" / "data")
    assert mode(tmp_path / "a" / "data") == 0o700
    folder.make(tmp_path / "a" / "data")
    assert folder.concerns(tmp_path / "a" / "data") == []


@pytest.mark.parametrize("open_mode", [0o755, 0o710, 0o701, 0o777])
def test_a_folder_that_others_can_open_is_left_and_told(tmp_path, open_mode):
    tmp_path.chmod(open_mode)
    folder.make(tmp_path)
    (concern,) = folder.concerns(tmp_path)
    assert concern.endswith(f"chmod 700 {tmp_path}")
    assert mode(tmp_path) == open_mode


def test_a_folder_that_is_not_there_is_no_concern(tmp_path):
    assert folder.concerns(tmp_path / "none") == []


def test_files_are_private_while_the_block_lasts(tmp_path):
    with folder.kept_private():
        (tmp_path / "in").write_text("")
    (tmp_path / "out").write_text("")
    assert (mode(tmp_path / "in"), mode(tmp_path / "out")) == (0o600, 0o644)


@pytest.fixture
def origin(tmp_path):
    made = tmp_path / "origin"
    (made / "sealed" / "task").mkdir(parents=True)
    (made / "collector.db").write_bytes(b"database")
    (made / "sealed" / "task" / "log").write_bytes(b"log" * 1000)
    return made


def test_a_copy_holds_the_same_and_is_private(origin, tmp_path):
    folder.copy_plain(origin, tmp_path / "copy")
    assert (tmp_path / "copy" / "sealed" / "task" / "log").read_bytes() == b"log" * 1000
    for path in (tmp_path / "copy", *(tmp_path / "copy").rglob("*")):
        assert mode(path) == (0o700 if path.is_dir() else 0o600)


def symbolic(origin):
    (origin / "other").symlink_to("/etc/passwd")


def symbolic_folder(origin):
    (origin / "other").symlink_to(origin / "sealed", target_is_directory=True)


def dangling(origin):
    (origin / "sealed" / "other").symlink_to("nowhere")


def hard(origin):
    os.link(origin / "collector.db", origin / "other")


def pipe(origin):
    os.mkfifo(origin / "other")


def unix_socket(origin):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(origin / "other"))


@pytest.mark.parametrize("trap", [symbolic, symbolic_folder, dangling, hard, pipe, unix_socket])
def test_links_and_special_files_are_refused(origin, tmp_path, trap):
    trap(origin)
    with pytest.raises(MismatchError, match="links and special files are refused"):
        folder.copy_plain(origin, tmp_path / "copy")


def test_everything_in_a_folder_is_closed(origin):
    folder.restrict(origin)
    assert {mode(path) for path in origin.rglob("*") if path.is_file()} == {0o600}
    assert {mode(path) for path in (origin, *origin.rglob("*")) if path.is_dir()} == {0o700}


def test_a_second_server_on_a_folder_is_refused_until_the_first_has_ended(tmp_path):
    with folder.served(tmp_path):
        with pytest.raises(StateError, match="another server is running"), folder.served(tmp_path):
            pass
        assert list(tmp_path.iterdir()) == []
    with folder.served(tmp_path):
        pass


def test_the_death_of_a_server_frees_its_folder(tmp_path):
    script = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from sottovoce.web import folder\n"
        "with folder.served(Path(sys.argv[1])):\n"
        "    print('served', flush=True)\n"
        "    time.sleep(60)\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        with pytest.raises(StateError), folder.served(tmp_path):
            pass
        process.kill()
    with folder.served(tmp_path):
        pass
