"""A server for the tests of ``web/supervisor.py``: every connection learns who has accepted it."""

import os
import socket
import sys


def tell_process(door: socket.socket, number: int) -> None:
    """Answer every connection with the number and the id of this process; ``die`` ends it."""
    while True:
        connection, _ = door.accept()
        with connection:
            connection.sendall(f"{number} {os.getpid()}\n".encode())
            if connection.recv(10) == b"die":
                sys.exit(3)
