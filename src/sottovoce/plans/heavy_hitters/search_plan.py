"""Base of the plans that search for long values by their prefixes."""

from typing import Any, ClassVar

from sottovoce.domains.bits import Bits
from sottovoce.domains.strings import Strings
from sottovoce.encodings.segment import Segment
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.plans.heavy_hitters.sought_values import sought_values
from sottovoce.tasks.question import Address, Question
from sottovoce.tasks.round import Round


class SearchPlan:
    """A plan that seeks the ``top`` values, or all above a ``threshold``.

    Every one of its ``groups`` reports a prefix; the last ``lengths`` are those of the groups.
    """

    takes_fakes: ClassVar[bool] = True

    domain: Bits | Strings
    top: int
    threshold: float
    groups: int

    @property
    def lengths(self) -> tuple[int, ...]:
        """Return the bits of prefixes, those of the groups last."""
        raise NotImplementedError

    def question_about(self, epsilon: float, length: int) -> Question:
        """Return the question about a prefix of ``length`` bits."""
        return Question(AffinePrefix(epsilon, 1 << length), Segment(self.domain.bits, 0, length))

    def cell_label(self, asked: Round, address: Address, cell: int) -> str:
        """Return the value, or the prefix in bits, of a cell of a group."""
        if address.member == self.groups - 1:
            return self.domain.shown(cell)
        length = self.lengths[-self.groups :][address.member]
        return f"prefix {cell:0{length}b}"

    @property
    def methods(self) -> tuple[str, ...]:
        """Return the methods for candidates: their shares do not sum to 1."""
        from sottovoce.postprocess.apply import methods

        return ("none", *methods(whole_domain=False, equal_errors=False))

    def sought(self, values: Any) -> dict[str, int]:
        """Return the values that the search should find, with their counts."""
        return sought_values(self.domain, values, self.top, self.threshold)
