"""What can be done about implausible reports when an answer is asked for."""

from sottovoce.core import settings

DEFENCES = ("none", "auto")


def checked_defence(defence: str) -> str:
    """Return the name of a defence, or refuse it.

    >>> checked_defence("auto")
    'auto'
    """
    return settings.choice("defence", defence, DEFENCES)
