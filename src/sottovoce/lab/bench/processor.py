"""The processor time of another process, as the kernel counts it."""

import os
from pathlib import Path


def processor_seconds(process: int) -> float:
    """Return the processor time of a process and of all that it has started and that run.

    Children that have ended count, as far as the process has waited for them.
    """
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    ticks = sum(map(int, fields[11:15]))
    total = ticks / os.sysconf("SC_CLK_TCK")
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        total += sum(processor_seconds(int(child)) for child in children.read_text().split())
    return total
