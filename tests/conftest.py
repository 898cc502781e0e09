"""Settings for every test."""

import gc
import os
import shutil
import tempfile
from pathlib import Path

# Two workers share two cores: further threads for matrix products would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from hypothesis import settings

# The first example may compile a kernel: no deadline, and examples that do not change from run to
# run.  `make papers` asks for the thorough profile.
settings.register_profile("house", deadline=None, derandomize=True, max_examples=30)
settings.register_profile("thorough", deadline=None, derandomize=True, max_examples=200)
settings.load_profile("house")

# Every commit of a store or a ledger waits for the disk, and tests commit by the ten thousand.  In
# memory nobody waits, and everything that the tests observe is the same: a process that is killed
# leaves its files to the kernel on either.  Tests that cut the power mount a disk of their own.
_MEMORY = Path("/dev/shm")
_NEEDED = 2 * 2**30  # bytes; a whole run leaves about a tenth of it
if "TMPDIR" not in os.environ and _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _NEEDED:
    os.environ["TMPDIR"] = str(_MEMORY)  # for the processes that tests start
    tempfile.tempdir = str(_MEMORY)


def pytest_collection_finish() -> None:
    """Spare the garbage collector a million objects of pytest that live until the end."""
    gc.collect()
    gc.freeze()
