"""An extension of griffe: show the doctests of docstrings as code in the API reference."""

import re
from typing import Any

import griffe

DOCTEST = re.compile(r"(?:^|(?<=\n\n))(>>> .*?)(?=\n\n|\Z)", re.DOTALL)


class FencedDoctests(griffe.Extension):
    """Put every doctest of a docstring between fences; Markdown would read it as a quotation."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = DOCTEST.sub(r"```python\n\1\n```", obj.docstring.value)
