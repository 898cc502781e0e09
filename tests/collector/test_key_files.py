"""Long-term keys: made once, whole, for the user alone, and the first process wins."""

import stat
import threading

import pytest

from sottovoce.collector import key_files
from sottovoce.errors import MismatchError, NoDataError, UnavailableError
from sottovoce.wire.round_keys import KeyStatement


def test_the_signing_key_stays_and_is_for_its_user_alone(tmp_path):
    folder = tmp_path / "data"
    first = key_files.signing_key(folder)
    assert key_files.signing_key(folder) == first
    mode = (folder / key_files.SIGNING).stat().st_mode
    assert stat.S_IMODE(mode) == 0o600
    assert [path.name for path in folder.iterdir()] == [key_files.SIGNING]
    statement = KeyStatement(bytes(32), 0, 1, bytes(range(32)))
    statement.verify(statement.sign(first.private_key), first.public_key)
    assert key_files.public_signing_key(folder) == key_files.base64url(first.public_key)


def test_processes_that_start_together_agree_on_one_key(tmp_path):
    barrier = threading.Barrier(8)
    found = []

    def start():
        barrier.wait()
        found.append(key_files.signing_key(tmp_path).public_key)

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
    assert [path.name for path in tmp_path.iterdir()] == [key_files.SIGNING]


def test_a_damaged_key_is_refused_without_showing_it(tmp_path):
    (tmp_path / key_files.SIGNING).write_bytes(b"secret")
    with pytest.raises(MismatchError, match="is damaged: restore it") as caught:
        key_files.signing_key(tmp_path)
    assert "secret" not in str(caught.value)


def test_a_folder_that_cannot_be_written_is_unavailable(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises((UnavailableError, OSError)):
        key_files.signing_key(tmp_path / "file" / "below")


def test_the_issuer_is_made_on_demand_only(tmp_path):
    with pytest.raises(NoDataError, match="`sottovoce token issuer` makes a key"):
        key_files.issuer(tmp_path)
    made = key_files.make_issuer(tmp_path)
    assert key_files.issuer(tmp_path).public_key == made.public_key
    assert key_files.make_issuer(tmp_path).public_key == made.public_key
    mode = (tmp_path / key_files.ISSUER).stat().st_mode
    assert stat.S_IMODE(mode) == 0o600
