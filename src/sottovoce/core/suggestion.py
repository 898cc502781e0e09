"""Suggestions for unknown words: the known word that was probably meant."""

from collections.abc import Iterable
from difflib import get_close_matches

_MAX_LENGTH = 60  # of words that are compared: the time grows with the square of the length


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a sentence that names the known word nearest to a word, empty if none is near.

    The case of letters does not count.

    >>> did_you_mean("qota", ["quota", "minimum"])
    ' Did you mean `quota`?'
    >>> did_you_mean("Rome", ["Oslo"])
    ''
    """
    if len(word) > _MAX_LENGTH:
        return ""
    by_folded = {name.casefold(): name for name in known}
    near = get_close_matches(word.casefold(), by_folded, n=1)
    return f" Did you mean `{by_folded[near[0]]}`?" if near else ""
