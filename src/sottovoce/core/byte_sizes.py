"""Sizes in bytes as people write them: ``512MB``, ``1.5 GiB``."""

import re

from sottovoce.errors import ParameterError

_UNITS = {
    "": 1,
    **{f"{prefix}B": 1000 ** (power + 1) for power, prefix in enumerate("KMGT")},
    **{f"{prefix}iB": 1024 ** (power + 1) for power, prefix in enumerate("KMGT")},
}
_BY_LOWER_CASE = {unit.lower(): size for unit, size in _UNITS.items()}


def byte_size(name: str, text: str) -> int:
    """Return the number of bytes in a text such as 1GB; an error names the setting.

    >>> byte_size("memory", "1GB"), byte_size("memory", "1.5 KiB")
    (1000000000, 1536)
    """
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([a-z]*)", text.strip().lower())
    if match is None or match[2] not in _BY_LOWER_CASE:
        raise ParameterError(f"`{name}` must be a size such as 512MB or 2GiB, not {text[:20]!r}")
    return int(float(match[1]) * _BY_LOWER_CASE[match[2]])
