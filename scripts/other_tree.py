"""Running the package of another commit beside that of this tree, for comparisons."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """Give a folder with the tree of a commit, and remove it afterwards."""
    with tempfile.TemporaryDirectory(prefix="sottovoce-tree-") as folder:
        tree = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), commit], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def run(tree: Path, arguments: list[str], seconds: float | None = None) -> str:
    """Return what a Python process prints that imports the package from a tree.

    Raises ``subprocess.TimeoutExpired`` after so many seconds, and ``SystemExit`` if the process
    fails or prints nothing.
    """
    paths = [str(tree / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, text=True, check=False, timeout=seconds
    )
    if done.returncode:
        raise SystemExit(f"{tree}: {' '.join(arguments)} ended with code {done.returncode}")
    if not done.stdout:
        raise SystemExit(f"{tree}: {' '.join(arguments)} printed nothing")
    return done.stdout
