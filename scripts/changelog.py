"""Write CHANGELOG.md from the fragments in changes/, the newest first.

    python scripts/changelog.py

A fragment is a Markdown file; its name begins with a number that grows.  It may begin with a
heading, which becomes the heading of its section here; otherwise the name of the file does.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
ACRONYMS = {"sql": "SQL", "peos": "PEOS", "javascript": "JavaScript"}

HEAD = """# Changelog

Written from the fragments in `changes/` by `make docs`; a change adds a fragment and does not edit
this file. Nothing is released yet: everything below is in version 0.1.0.
"""


def page(fragments: Path) -> str:
    """Return the changelog of a folder of fragments."""
    paths = sorted(fragments.glob("*.md"), key=lambda path: path.name, reverse=True)
    return "\n".join([HEAD, *(section(path) for path in paths)])


def section(path: Path) -> str:
    """Return one fragment under a heading of the second level."""
    text = path.read_text(encoding="utf-8").strip()
    heading, _, rest = text.partition("\n")
    if heading.startswith("#"):
        title, body = heading.lstrip("# "), rest.strip()
    else:
        words = [ACRONYMS.get(word, word) for word in path.stem.split("-")[1:]]
        title, body = " ".join([words[0][:1].upper() + words[0][1:], *words[1:]]), text
    # Headings of a fragment are one level deeper here, and its links start one folder higher.
    body = re.sub(r"^(#+) ", r"#\1 ", body, flags=re.MULTILINE)
    return f"## {title}\n\n{body.replace('](../', '](')}\n"


if __name__ == "__main__":
    (ROOT / "CHANGELOG.md").write_text(page(ROOT / "changes"), encoding="utf-8")
