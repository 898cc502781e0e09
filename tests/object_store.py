"""A server that speaks the protocol of S3, in a process of its own."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

_GIVE_UP = 120.0  # seconds: only a server that never starts comes to the end of this
BUCKET = "reports"


@contextmanager
def object_store() -> Iterator[str]:
    """Yield the URL of an empty place for logs; the environment says how to get there."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **quiet) as process:
        try:
            endpoint = f"http://127.0.0.1:{port}"
            _make_bucket(endpoint)
            environment = {
                "AWS_ENDPOINT_URL": endpoint,
                "AWS_ACCESS_KEY_ID": "testing",
                "AWS_SECRET_ACCESS_KEY": "testing",
                "AWS_EC2_METADATA_DISABLED": "true",
            }
            with patch.dict(os.environ, environment):
                yield f"s3://{BUCKET}/sealed"
        finally:
            process.kill()


def _make_bucket(endpoint: str) -> None:
    end = time.monotonic() + _GIVE_UP
    while True:
        try:
            asked = urllib.request.Request(f"{endpoint}/{BUCKET}", method="PUT")
            urllib.request.urlopen(asked, timeout=10).close()
            return
        except OSError:
            assert time.monotonic() < end, "the object store did not start"
            time.sleep(0.05)
