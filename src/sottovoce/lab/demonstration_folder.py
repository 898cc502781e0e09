"""The folder of a demonstration: made anew, without touching anything that somebody else made.

A marker file says that a demonstration made the folder.  Only then is what an earlier run left in
it removed or overwritten.
"""

import shutil
from pathlib import Path

from sottovoce.errors import ParameterError

MARKER = "made-by-sottovoce-demo.txt"
COLLECTOR = "collector"
HOPS = "hops"  # the folders of the two shufflers


def prepare(folder: Path) -> Path:
    """Make the folder ready for a demonstration, and return the folder of its collector.

    A folder that is not empty and that no demonstration made is refused.
    """
    marker = folder / MARKER
    if folder.exists() and any(folder.iterdir()) and not marker.is_file():
        raise ParameterError(
            f"`--out` must be a new or empty folder, or that of an earlier demonstration: "
            f"{folder} holds other files. Choose another folder."
        )
    folder.mkdir(parents=True, exist_ok=True)
    marker.write_text("`sottovoce demo` made this folder and replaces its files when it runs.\n")
    for name in (COLLECTOR, HOPS):
        shutil.rmtree(folder / name, ignore_errors=True)
    return folder / COLLECTOR
