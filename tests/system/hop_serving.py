"""``sottovoce shuffle`` in a process of its own, with fakes for single questions.

Started as ``python -m system.hop_serving '{"twin": name}' shuffle serve ...``.  A twin is a hop
with one mistake that the checks must find.
"""

import json
import sys

from shuffler import fakes_adapter
from sottovoce.cli.main import main
from sottovoce.shuffler import mixing


def keep_order() -> None:
    """Hand messages on in the order of the inbox."""
    mixing.random_order = lambda count, rng: list(range(count))


TWINS = {"keeps the order": keep_order}


def run(orders, arguments):
    fakes_adapter.install()
    TWINS.get(orders.get("twin", ""), lambda: None)()
    sys.argv = ["sottovoce", *arguments]
    main()


if __name__ == "__main__":
    run(json.loads(sys.argv[1]), sys.argv[2:])
