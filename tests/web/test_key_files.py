"""Long-term keys: made once, whole, for their user alone, and the first process wins."""

import stat
import threading

import pytest

from sottovoce.errors import NoDataError, ParameterError, UnavailableError
from sottovoce.web import key_files
from sottovoce.web.key_files import SIGNING, load_signing_key, make_signing_key
from sottovoce.wire.round_keys import KeyStatement


def test_a_key_is_made_once_for_its_user_alone_and_signs(tmp_path):
    folder = tmp_path / "data"
    key = make_signing_key(folder)
    assert make_signing_key(folder) == key == load_signing_key(folder)
    assert [path.name for path in folder.iterdir()] == [SIGNING]
    assert stat.S_IMODE((folder / SIGNING).stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    statement = KeyStatement(b"d" * 32, 0, 0, b"p" * 32)
    statement.verify(statement.sign(key.private_key), key.public_key)


def test_processes_that_start_together_agree_on_one_key(tmp_path):
    barrier = threading.Barrier(8)
    found = []

    def start():
        barrier.wait()
        found.append(make_signing_key(tmp_path).public_key)

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
    assert [path.name for path in tmp_path.iterdir()] == [SIGNING]


def test_a_key_that_is_missing_open_to_others_or_cut_is_refused(tmp_path):
    path = tmp_path / SIGNING
    with pytest.raises(NoDataError, match=SIGNING):
        load_signing_key(tmp_path)
    make_signing_key(tmp_path)
    for mode in (0o640, 0o604, 0o620):
        path.chmod(mode)
        for open_key in (load_signing_key, make_signing_key):
            with pytest.raises(ParameterError, match="chmod 600"):
                open_key(tmp_path)
    path.chmod(0o600)
    path.write_bytes(b"secret")
    with pytest.raises(ParameterError, match="32 bytes: restore it") as caught:
        load_signing_key(tmp_path)
    assert "secret" not in str(caught.value)


def test_any_key_is_made_once(tmp_path):
    path = tmp_path / "other.pem"
    assert key_files.make(path, lambda: b"first") == b"first"
    assert key_files.make(path, lambda: b"second") == b"first"
    assert key_files.read(path) == b"first"


def test_a_folder_that_cannot_be_written_is_unavailable(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises((UnavailableError, OSError)):
        make_signing_key(tmp_path / "file" / "below")
