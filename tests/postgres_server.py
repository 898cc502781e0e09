"""A PostgreSQL server for the tests: found, started on a socket of its own, and stopped at the end.

PostgreSQL refuses to run as root; tests that do run it as the user ``postgres``, or as nobody.
"""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

_SETTINGS = {
    "listen_addresses": "",  # the socket alone: nobody else on this machine needs to reach it
    "fsync": "on",  # what is killed in these tests must find what it was promised
    "max_connections": "40",
    "shared_buffers": "32MB",
    "deadlock_timeout": "200ms",
    "autovacuum": "off",
}


@dataclass(frozen=True)
class Server:
    """A running server, and the folder of its socket."""

    binaries: Path
    folder: Path

    def url(self, schema: str = "public") -> str:
        path = f"options=-csearch_path%3D{schema}"
        return f"postgresql:///postgres?host={self.folder}&user=postgres&{path}"

    def create(self, schema: str) -> str:
        """Make an empty schema, which costs less than a database, and return its address."""
        import psycopg

        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f'create schema "{schema}"')
        return self.url(schema)

    def runs(self) -> bool:
        """Return whether the server is there, be it that it still recovers."""
        path = self.folder / "data" / "postmaster.pid"
        return path.exists() and Path(f"/proc/{path.read_text().split()[0]}").exists()

    def control(self, *arguments: str) -> None:
        """Run pg_ctl on this server."""
        data = str(self.folder / "data")
        settings = " ".join(f"-c {name}='{value}'" for name, value in _SETTINGS.items())
        command = [
            str(self.binaries / "pg_ctl"),
            "-D",
            data,
            "-w",
            "-l",
            str(self.folder / "log"),
            *arguments,
        ]
        _run(
            [*command, "-o", f"-k {self.folder} {settings}"]
            if arguments[0] in ("start", "restart")
            else command
        )


def found() -> Path | None:
    """Return the folder of the server's programs, or None."""
    on_path = shutil.which("initdb")
    installed = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3])
    )
    return Path(on_path).parent if on_path else installed[-1].parent if installed else None


@contextmanager
def running(megabytes: int = 0) -> Iterator[Server]:
    """Run a server while the block runs; skip the test where there is none to run.

    With ``megabytes`` its data are on a disk of that size.
    """
    pytest.importorskip(
        "psycopg", reason="psycopg is not installed: pip install 'sottovoce[postgres]'"
    )
    binaries = found()
    if binaries is None:
        pytest.skip("no PostgreSQL server programs (initdb) on PATH or in /usr/lib/postgresql")
    folder = Path(tempfile.mkdtemp(prefix="pg-"))  # short: a socket's path has 107 bytes at most
    server = Server(binaries, folder)
    try:
        with _small_disk(folder / "data", megabytes):
            for path in folder, *folder.iterdir():
                if _other_user():
                    shutil.chown(path, _other_user())
            initdb = [str(binaries / "initdb"), "-D", str(folder / "data"), "-U", "postgres"]
            small = ["--wal-segsize=1"] if megabytes else []
            _run([*initdb, "-A", "trust", "--no-sync", *small])
            server.control("start")
            try:
                yield server
            finally:
                if server.runs():
                    server.control("stop", "-m", "immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _small_disk(folder: Path, megabytes: int) -> Iterator[None]:
    """Mount a disk of some megabytes while the block runs; none for 0."""
    if not megabytes:
        yield
        return
    folder.mkdir(mode=0o700)
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=700", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a small disk cannot be mounted here: that needs root")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _other_user() -> str | None:
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _run(command: list[str]) -> None:
    # Not through pipes: the server inherits them, and whoever reads them would wait for it.
    with tempfile.TemporaryFile() as said:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            user=_other_user(),
            cwd="/",
            check=False,
        )
        said.seek(0)
        assert done.returncode == 0, said.read().decode()
