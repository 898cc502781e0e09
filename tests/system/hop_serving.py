"""``sottovoce shuffle`` in a process of its own, which can die at a named point of its code.

Started as ``python -m system.hop_serving '{...}' shuffle serve ...``, or forked from a process that
has loaded everything already.  The orders are: ``point``, the number of a point of the hop's own
code at which it gets SIGKILL, and "before" or "after"; ``part_messages``, the messages in a part of
a batch; ``twin``, the name of a mistake that the checks must find.
"""

import json
import os
import signal
import sys

from shuffler.deaths import CHAIN_POINTS, POINTS, arm
from sottovoce.cli.main import main
from sottovoce.shuffler import app, batch_file, mixing  # noqa: F401

ALL_POINTS = (*POINTS, *CHAIN_POINTS)


def keep_order() -> None:
    """Hand messages on in the order of the inbox."""
    mixing.random_order = lambda count, rng: list(range(count))


TWINS = {"keeps the order": keep_order}


def run(orders, arguments):
    TWINS.get(orders.get("twin", ""), lambda: None)()
    if orders.get("part_messages"):
        batch_file.MAX_PART_MESSAGES = orders["part_messages"]
    if orders.get("point"):
        number, when = orders["point"]
        arm(ALL_POINTS[number], when, lambda: os.kill(os.getpid(), signal.SIGKILL))
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
