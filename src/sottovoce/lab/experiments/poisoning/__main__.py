"""Print the page of evidence about poisoned frequency collections.

python -m sottovoce.lab.experiments.poisoning > docs/evidence/poisoning.md

It takes about an hour of one core.  With ``--keep FOLDER --seconds 500`` it is done in sittings:
run the same command until it prints the page.
"""

import argparse
import sys
from collections.abc import Sequence
from math import inf
from pathlib import Path

from sottovoce.lab.experiments.pieces import Pieces, UnfinishedError
from sottovoce.lab.experiments.poisoning.page import Sizes, page


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the page; return 3 if it takes another sitting."""
    sizes = Sizes()
    options = argparse.ArgumentParser(prog="python -m sottovoce.lab.experiments.poisoning")
    options.add_argument("--runs", type=int, default=sizes.runs)
    options.add_argument("--other-runs", type=int, default=sizes.other_runs)
    options.add_argument("--power-runs", type=int, default=sizes.power_runs)
    options.add_argument("--coverage-runs", type=int, default=sizes.coverage_runs)
    options.add_argument("--clean-rounds", type=int, default=sizes.clean_rounds)
    options.add_argument("--keep", type=Path, help="folder of the pieces that are done")
    options.add_argument("--seconds", type=float, default=inf, help="when to stop a sitting")
    chosen = vars(options.parse_args(arguments))
    pieces = Pieces(chosen.pop("keep"), chosen.pop("seconds"))
    try:
        text = page(pieces, Sizes(**chosen))
    except UnfinishedError:
        print("not finished: run the same command again", file=sys.stderr)
        return 3
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
