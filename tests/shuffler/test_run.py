"""Running a shuffler: its folder and key are made, and a command works beside the server."""

import stat

import pytest

from shuffler.hops import settings_of
from sottovoce.errors import NoDataError
from sottovoce.shuffler.run import opened_shuffler
from sottovoce.shuffler.signing_key import make_signing_key


def test_a_folder_without_a_key_is_no_shuffler(tmp_path):
    with pytest.raises(NoDataError, match="shuffle key"), opened_shuffler(settings_of(tmp_path)):
        pass


def test_two_processes_may_open_one_shuffler_and_its_files_are_private(tmp_path):
    make_signing_key(tmp_path / "hop")
    settings = settings_of(tmp_path / "hop")
    with opened_shuffler(settings) as one, opened_shuffler(settings) as other:
        assert one.signing == other.signing
        assert one.tasks() == other.tasks() == []
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "hop").iterdir()}
    assert modes == {0o600}
