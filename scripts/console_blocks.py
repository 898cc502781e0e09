"""Blocks of recorded pages: commands, and what they printed, folded as a terminal folds it."""

import textwrap
from typing import Any

COLUMNS = 100
_AS_IT_IS: dict[str, Any] = {
    "replace_whitespace": False,
    "drop_whitespace": True,
    "break_long_words": False,
    "break_on_hyphens": False,
}


def commands(block: str) -> list[tuple[str, str]]:
    """Return the commands of a block, each with the output below it.

    >>> commands("$ echo a\\na\\n$ cat <<END\\n> b\\n> END\\nb\\n")
    [('echo a', 'a\\n'), ('cat <<END\\nb\\nEND', 'b\\n')]
    """
    found: list[tuple[str, str]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
            continue
        command, output = found[-1]
        if line.startswith("> ") and not output:
            found[-1] = (f"{command}\n{line[2:]}", output)
        else:
            found[-1] = (command, f"{output}{line}\n")
    return found


def written(command: str, output: str, code: int) -> str:
    """Return a command and its output as a page shows them."""
    first, *more = command.splitlines()
    lines = [f"$ {first}", *(f"> {line}" for line in more)]
    for line in output.rstrip("\n").splitlines():
        lines += textwrap.wrap(line, COLUMNS, **_AS_IT_IS) or [""]
    if code:
        lines.append(f"(exit code {code})")
    return "\n".join(lines) + "\n"
