"""A file system in an image of its own, whose power can be cut.

``cut_power`` tells the kernel to stop at once: nothing that is still in memory reaches the image,
neither data nor the journal of the file system.  Mounting it again shows what a disk holds after a
power cut: what was synced, and whatever else the kernel happened to have written.  The image counts
as a disk that keeps every write that it was given, in the order in which it was given.
"""

import fcntl
import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

MEGABYTES = {"ext4": 64, "xfs": 320}  # xfs cannot be smaller
_MAKE = {"ext4": ["mkfs.ext4", "-q", "-F"], "xfs": ["mkfs.xfs", "-q", "-f"]}
_SHUTDOWN = 0x8004587D  # EXT4_IOC_SHUTDOWN and XFS_IOC_GOINGDOWN are one number
_WITHOUT_FLUSH = struct.pack("I", 2)


@dataclass
class Disk:
    """An image that is mounted on a folder."""

    image: Path
    folder: Path
    cuts: int = 0
    has_power: bool = False

    def mount(self) -> None:
        self.has_power = True
        _run("mount", "-o", "loop", str(self.image), str(self.folder))

    def unmount(self) -> None:
        _run("umount", str(self.folder))

    def cut_power(self) -> None:
        """Stop the file system where it is; everything on it fails until it is mounted again."""
        if not self.has_power:
            return
        self.has_power = False
        self.cuts += 1
        handle = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.ioctl(handle, _SHUTDOWN, _WITHOUT_FLUSH)
        finally:
            os.close(handle)

    def restore_power(self) -> None:
        """Mount what the image holds; the kernel replays the journal of the file system."""
        self.unmount()
        self.mount()


@contextmanager
def disk(kind: str, folder: Path) -> Iterator[Disk]:
    """Mount a new disk on a folder while the block runs; skip where that is not allowed."""
    if os.geteuid() != 0:
        pytest.skip("an image cannot be mounted here: that needs root")
    if shutil.which(_MAKE[kind][0]) is None:
        pytest.skip(f"{_MAKE[kind][0]} is not installed: it comes with e2fsprogs or xfsprogs")
    folder.mkdir(parents=True)
    image = folder.with_name(f"{folder.name}.{kind}")
    with image.open("wb") as file:
        file.truncate(MEGABYTES[kind] << 20)
    _run(*_MAKE[kind], str(image))
    made = Disk(image, folder)
    try:
        made.mount()
    except subprocess.CalledProcessError:
        pytest.skip("an image cannot be mounted here: the kernel has no loop devices to give")
    try:
        yield made
    finally:
        made.unmount()
        image.unlink()


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
