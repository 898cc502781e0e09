"""The pages of evidence that a module of the laboratory prints, and how to write them anew.

Each takes from a minute to some hours at its only size, which is the full one.
"""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_PACKAGE = "sottovoce.lab.experiments"


@dataclass(frozen=True)
class EvidencePage:
    """A page of ``docs/evidence`` and the module that prints it."""

    name: str
    module: str

    def print(self) -> str:
        """Return the page, computed in a process of its own."""
        command = [sys.executable, "-m", f"{_PACKAGE}.{self.module}"]
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout

    def write(self, folder: Path) -> None:
        """Write the page into a folder, all of it or nothing."""
        new = folder / f"{self.name}.new"
        new.write_text(self.print(), encoding="utf-8")
        new.replace(folder / f"{self.name}.md")


PAGES = (
    EvidencePage("findings", "findings"),
    EvidencePage("post-processing", "consistency"),
    EvidencePage("default-mechanism", "default_mechanism"),
    EvidencePage("numbers", "numbers"),
    EvidencePage("means", "means"),
    EvidencePage("quantiles", "quantiles"),
    EvidencePage("byzantine-numbers", "byzantine_numbers"),
    EvidencePage("joint-tables", "joint_tables"),
    EvidencePage("services", "tables"),
    EvidencePage("sql", "sql_coverage"),
    EvidencePage("sql-workloads", "sql_workloads"),
    EvidencePage("attack-intervals", "poisoned_intervals"),
    EvidencePage("poisoning", "poisoning"),
    EvidencePage("planted-values", "planted_values"),
    EvidencePage("searches", "searches"),
    EvidencePage("amplification", "amplification"),
    EvidencePage("shuffling", "shuffling"),
)
