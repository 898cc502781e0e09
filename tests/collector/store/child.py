"""What another process does to a store: run as ``python -m store.child KIND ADDRESS COMMAND
...``.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

from collector.store.offers import NOW, bundles, singles
from collector.store.places import Place

TESTS = Path(__file__).parents[2]


def start(place, command, *arguments):
    """Run a command beside the test; its standard output says how far it has come."""
    line = [
        sys.executable,
        "-m",
        "collector.store.child",
        place.kind,
        place.address,
        command,
        *map(str, arguments),
    ]
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        line,
        env=os.environ | {"PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def say(word):
    print(word, flush=True)


def hold(store, name):
    """Hold a lease until killed, or until told to let go."""
    with store.lease(name) as held:
        say(held)
        sys.stdin.readline()
    say("gone")


def accept_all(store, count):
    """Offer the same messages as every other child, a few at a time, and say how many were ours."""
    say("ready")
    sys.stdin.readline()
    ours = 0
    for first in range(0, int(count), 10):
        names = [f"user {first + number}" for number in range(10)]
        ours += sum(verdict == "accepted" for verdict in store.accept([singles(names)], {}, NOW)[0])
    say(ours)


def accept_forever(store, first):
    """Accept bundles until killed, naming each once it has been acknowledged."""
    say("ready")
    for number in range(int(first), int(first) + 10**6):
        pairs = [[f"{number} {index} a", f"{number} {index} b"] for index in range(5)]
        assert store.accept([bundles(pairs)], {}, NOW) == [["accepted"] * 5]
        say(number)


def sleep_in_transaction(place):
    """Keep the database locked until killed."""
    with place.raw() as connection:
        connection.execute("begin immediate")
        say("locked")
        time.sleep(60)


if __name__ == "__main__":
    kind, address, command, *arguments = sys.argv[1:]
    place = Place(kind, address)
    if command == "sleep_in_transaction":
        sleep_in_transaction(place)
    opened = place.open()
    globals()[command](opened, *arguments)
    opened.close()
