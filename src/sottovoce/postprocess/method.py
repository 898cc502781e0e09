"""The contract of a post-processing method: what a module of this package states about itself.

A module that ends with ``METHOD = Method(...)`` is offered everywhere by name: in Python, by the
command line, in the HTTP API, on the dashboard and in the reference.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sottovoce.errors import ParameterError
from sottovoce.postprocess.rule import Rule


@dataclass(frozen=True)
class Method:
    """One method of post-processing.

    ``needs_whole_domain`` means that it relies on shares that sum to 1, so that it has nothing to say
    about some candidates.  ``needs_equal_errors`` means that it relies on one variance for all values
    that nobody holds, which sums and joint tables do not have.
    """

    name: str
    summary: str  # a few words for people who choose a method
    rule_for: Callable[..., Rule]
    needs_whole_domain: bool = False
    needs_equal_errors: bool = False

    def __post_init__(self) -> None:
        if not self.name or self.name != self.name.lower() or " " in self.name:
            raise ParameterError("`name` of a method must be lower case and without spaces")

    @property
    def label(self) -> str:
        """Return the name and the summary, as a form shows them."""
        return f"{self.name}: {self.summary}"
