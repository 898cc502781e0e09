"""``sottovoce shuffle`` in a process of its own, which can die at a named point of its code.

Started as ``python -m system.hop_serving '{...}' shuffle serve ...``, or forked from a process that
has loaded everything already.  The orders are: ``point``, the number of a point of the hop's own
code at which it gets SIGKILL, and "before" or "after"; ``part_messages``, the messages in a part of
a batch; ``twin``, the name of a mistake that the checks must find; ``sent``, a file that gets every
part of a batch before it leaves, a line each.
"""

import hashlib
import json
import os
import queue
import signal
import sys
import threading
import time
from pathlib import Path

from shuffler.deaths import CHAIN_POINTS, POINTS, TOKEN_POINTS, arm
from sottovoce.cli.main import main
from sottovoce.core.rng import SystemRng
from sottovoce.shuffler import app, batch_file, mixing  # noqa: F401
from sottovoce.shuffler.batch_file import BatchFiles
from sottovoce.shuffler.delivery import Delivery
from sottovoce.shuffler.outgoing import OtherServer
from sottovoce.shuffler.store import sql
from sottovoce.shuffler.store.base import TakeVerdict

ALL_POINTS = (*POINTS, *CHAIN_POINTS)
POINTS_WITH_TOKENS = (*ALL_POINTS, *TOKEN_POINTS)


def keep_order() -> None:
    """Hand messages on in the order of the inbox."""
    mixing.random_order = lambda count, rng: list(range(count))


def draw_again() -> None:
    """Draw a new order for every delivery."""
    plain = Delivery.send

    def send(self, signing_key, connect=OtherServer):
        data, width = self.path.read_bytes(), self.message_bytes
        pieces = [data[start : start + width] for start in range(0, len(data), width)]
        drawn = b"".join(pieces[index] for index in mixing.random_order(len(pieces), SystemRng()))
        self.path.write_bytes(drawn)
        object.__setattr__(self, "batch_hash", hashlib.sha256(drawn).digest())
        return plain(self, signing_key, connect)

    Delivery.send = send
    BatchFiles.check = lambda self, *given: self.path(*given)


def acknowledge_first() -> None:
    """Say that messages are durable, and store them half a second later."""
    waiting = queue.SimpleQueue()
    plain = sql.SqlHopStore.take

    def take_later(self, offers):
        waiting.put((self, offers))
        return [[TakeVerdict.ACCEPTED] * len(offer.messages) for offer in offers]

    def run_later():
        while True:
            given = waiting.get()
            time.sleep(0.5)
            plain(*given)

    sql.SqlHopStore.take = take_later
    threading.Thread(target=run_later, daemon=True).start()


class _RandomHash:
    """Stands for the hash of a message, and is another one every time."""

    def __init__(self, message: bytes) -> None:
        self._digest = os.urandom(32)

    def digest(self) -> bytes:
        return self._digest


def forget_hashes() -> None:
    """Take a message that is sent again for a new one."""
    plain = sql.SqlHopStore.take

    def take(self, offers):
        sql.sha256, proper = _RandomHash, sql.sha256
        try:
            return plain(self, offers)
        finally:
            sql.sha256 = proper

    sql.SqlHopStore.take = take


def keep_files() -> None:
    """Leave the batch file where it is."""
    BatchFiles.remove = lambda self, number, keep=None: None


TWINS = {
    "keeps the order": keep_order,
    "draws again": draw_again,
    "acknowledges first": acknowledge_first,
    "forgets hashes": forget_hashes,
    "keeps the batch file": keep_files,
}


def note_sent(path: str) -> None:
    """Write down every part before it leaves."""
    plain = OtherServer.put_bytes

    def put_bytes(self, address, body):
        with Path(path).open("ab") as file:
            file.write(f"{address} {body.hex()}\n".encode())
        return plain(self, address, body)

    OtherServer.put_bytes = put_bytes


def run(orders, arguments):
    TWINS.get(orders.get("twin", ""), lambda: None)()
    if orders.get("part_messages"):
        batch_file.MAX_PART_MESSAGES = orders["part_messages"]
    if orders.get("sent"):
        note_sent(orders["sent"])
    if orders.get("point"):
        number, when = orders["point"]
        arm(POINTS_WITH_TOKENS[number], when, lambda: os.kill(os.getpid(), signal.SIGKILL))
    sys.argv = ["sottovoce", *arguments]
    main()


def run_forked(orders, arguments, environment, log, said):
    """Do the same in a process that was forked: with an environment, a log and an output."""
    os.environ.clear()
    os.environ.update(environment)
    os.dup2(os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT), 2)
    os.dup2(said.fileno(), 1)
    said.close()
    run(orders, arguments)


if __name__ == "__main__":
    run(json.loads(sys.argv[1]), sys.argv[2:])
