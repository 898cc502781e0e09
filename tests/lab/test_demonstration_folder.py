"""A demonstration replaces its own files, and never somebody else's."""

import pytest

from sottovoce.errors import ParameterError
from sottovoce.lab.demonstration_folder import COLLECTOR, HOPS, MARKER, prepare


def test_a_new_folder_is_made(tmp_path):
    folder = tmp_path / "a" / "b"
    assert prepare(folder) == folder / COLLECTOR
    assert [path.name for path in folder.iterdir()] == [MARKER]


def test_an_earlier_demonstration_is_replaced(tmp_path):
    collector = prepare(tmp_path)
    for name in (COLLECTOR, HOPS):
        (tmp_path / name).mkdir()
        (tmp_path / name / "old").write_text("old")
    assert prepare(tmp_path) == collector
    assert not collector.exists()
    assert not (tmp_path / HOPS).exists()


@pytest.mark.parametrize("name", ["collector", "task.json", "notes.txt"])
def test_a_folder_of_somebody_else_is_refused_and_kept(tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "data").write_text("dear")
    with pytest.raises(ParameterError, match="`--out` must be a new or empty folder"):
        prepare(tmp_path)
    assert (tmp_path / name / "data").read_text() == "dear"
    assert not (tmp_path / MARKER).exists()
