"""Threads for one call: a compiled loop over contiguous slices of the users, one slice per core."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

FEW = 50_000  # users below which starting threads costs more than they save


def split(count: int, parts: int) -> list[slice]:
    """Return at most ``parts`` contiguous slices of range(count), of nearly equal length.

    >>> split(5, 2)
    [slice(0, 2, None), slice(2, 5, None)]
    """
    parts = max(1, min(parts, count))
    return [slice(count * part // parts, count * (part + 1) // parts) for part in range(parts)]


def run(function: Callable[[slice], T], count: int, threads: int | None = None) -> list[T]:
    """Return the results of ``function`` for every slice of the users, in order."""
    slices = split(count, cores(count) if threads is None else threads)
    if len(slices) == 1:
        return [function(slices[0])]
    with ThreadPoolExecutor(len(slices)) as pool:
        return list(pool.map(function, slices))


def cores(count: int) -> int:
    """Return how many threads are worth starting for ``count`` users."""
    if count < FEW:
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
