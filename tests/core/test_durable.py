"""Files and the names in folders are pushed to the disk."""

import os
from pathlib import Path

from sottovoce.core.durable import sync


def test_a_file_and_a_folder_are_pushed_and_closed_again(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_text("content")
    pushed = []

    def watched(handle):
        pushed.append((handle, Path(f"/proc/self/fd/{handle}").readlink()))

    monkeypatch.setattr(os, "fsync", watched)
    sync(path)
    sync(tmp_path)
    assert [target for _, target in pushed] == [path, tmp_path]
    for handle, target in pushed:
        now = Path(f"/proc/self/fd/{handle}")
        assert not now.exists() or now.readlink() != target
