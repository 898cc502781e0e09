"""The long-term key: made once, for its user alone."""

import stat

import pytest

from sottovoce.errors import NoDataError, ParameterError
from sottovoce.shuffler.signing_key import (
    FILE_NAME,
    key_text,
    load_signing_key,
    make_signing_key,
)
from sottovoce.wire.round_keys import KeyStatement


def test_a_key_is_made_once_and_signs(tmp_path):
    folder = tmp_path / "hop"
    key = make_signing_key(folder)
    assert make_signing_key(folder) == key == load_signing_key(folder)
    statement = KeyStatement(b"d" * 32, 0, 0, b"p" * 32)
    statement.verify(statement.sign(key.private_key), key.public_key)
    assert [path.name for path in folder.iterdir()] == [FILE_NAME]
    assert stat.S_IMODE((folder / FILE_NAME).stat().st_mode) == 0o600


def test_a_key_that_is_missing_open_to_others_or_cut_is_refused(tmp_path):
    with pytest.raises(NoDataError, match="no shuffler"):
        load_signing_key(tmp_path)
    make_signing_key(tmp_path)
    (tmp_path / FILE_NAME).chmod(0o640)
    with pytest.raises(ParameterError, match="chmod 600"):
        load_signing_key(tmp_path)
    (tmp_path / FILE_NAME).chmod(0o600)
    (tmp_path / FILE_NAME).write_bytes(b"short")
    with pytest.raises(ParameterError, match="32 bytes"):
        load_signing_key(tmp_path)


def test_keys_are_written_without_padding():
    assert key_text(b"\xff" * 32) == "_" * 42 + "8"
