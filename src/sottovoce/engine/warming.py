"""Kernels compiled before they are needed: by a command, or by a process beside a server.

Numba keeps compiled code under ``NUMBA_CACHE_DIR``, or beside the kernels, or, where this user
cannot write there, in a folder of the user.  A stamp in the same place says that all of it is
there.  Its name changes with Python, Numba, the processor and the files of the kernels, as compiled
code does.  Looking at the stamp loads nothing.
"""

import os
import platform
import subprocess
import sys
import time
from contextlib import suppress
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import Thread

CLAIM_SECONDS = 600.0
KERNELS = Path(__file__).parents[1] / "kernels"
PROCESSOR = Path("/proc/cpuinfo")  # Linux: what the processor can do


def is_warm() -> bool:
    """Return whether the kernels have been compiled for this Python."""
    return _stamp().exists()


def warm() -> float:
    """Compile all kernels that are not yet kept; return the seconds that it took."""
    from sottovoce.kernels.warm import compile_all

    start = time.perf_counter()
    compile_all()
    stamp = _stamp()
    with suppress(OSError):  # where nothing can be kept, every process compiles for itself
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.touch()
        _claim_of(stamp).unlink(missing_ok=True)
    return time.perf_counter() - start


def start_warming() -> None:
    """Compile the kernels in a process of low priority.

    Nothing is done if they are kept already, if another process is at it, if nothing can be kept,
    or if Numba is not installed.
    """
    if is_warm() or _numba_version() is None or not _claimed():
        return
    command = [sys.executable, "-m", "sottovoce", "warm", "--background"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    Thread(target=process.wait, daemon=True).start()


def _claimed() -> bool:
    """Return whether this process is the one to compile; a claim holds for some minutes."""
    claim = _claim_of(_stamp())
    try:
        if claim.exists() and time.time() - claim.stat().st_mtime > CLAIM_SECONDS:
            claim.unlink(missing_ok=True)
        claim.parent.mkdir(parents=True, exist_ok=True)
        claim.touch(exist_ok=False)
    except OSError:
        return False
    return True


def _claim_of(stamp: Path) -> Path:
    return stamp.with_suffix(".begun")


def _stamp() -> Path:
    changed = [f"{file} {file.stat().st_mtime_ns}" for file in sorted(KERNELS.glob("*.py"))]
    facts = "\n".join([sys.version, str(_numba_version()), *_processor(), *changed])
    return _folder() / f"warm-{sha256(facts.encode()).hexdigest()[:16]}"


def _folder() -> Path:
    """Return a folder that this user can write if Numba can keep compiled code for this user."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return Path(os.environ["NUMBA_CACHE_DIR"])
    beside = KERNELS / "__pycache__"
    existing = beside if beside.exists() else KERNELS
    return beside if os.access(existing, os.W_OK) else Path.home() / ".cache" / "numba"


def _processor() -> list[str]:
    """Return the model and the instructions of the processor, as far as the system says them."""
    try:
        lines = PROCESSOR.read_text().splitlines()
    except OSError:
        return [platform.machine(), platform.processor()]
    return sorted({line for line in lines if line.startswith(("model name", "flags", "Features"))})


def _numba_version() -> str | None:
    try:
        return version("numba")
    except PackageNotFoundError:
        return None
