"""Pushing files to the disk, so that they are there after a power cut."""

import os
from pathlib import Path


def sync(path: Path) -> None:
    """Push a file, or the names in a folder, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
