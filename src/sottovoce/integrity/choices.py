"""Defences against implausible reports that an answer can be requested with."""

from sottovoce.core import settings

DEFENCES = ("none", "auto")


def checked_defence(defence: str) -> str:
    """Return the name of a defence, or refuse it.

    >>> checked_defence("auto")
    'auto'
    """
    return settings.choice("defence", defence, DEFENCES)
