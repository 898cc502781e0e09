"""A question under a weaker guarantee than local differential privacy.

The operator states it in writing.

Correlation-bounded perturbation states its epsilon for each attribute alone (UDLDP): a whole report
spends more.  No device answers such a question, and no document can carry one; it exists so that
the published method can be run and compared.

Source: Du 2025, chapter 4.
"""

from dataclasses import dataclass
from unicodedata import normalize

from sottovoce.accounting.blanket import Blanket
from sottovoce.errors import ParameterError
from sottovoce.maths import exact
from sottovoce.tasks.question import Question

MIN_CHARACTERS = 20
MAX_CHARACTERS = 1000


@dataclass(frozen=True)
class WaivedQuestion(Question):
    """A question whose stated epsilon holds for every attribute alone, not for the whole report."""

    waiver: str = ""

    def check_price(self) -> None:
        text = normalize("NFC", self.waiver) if isinstance(self.waiver, str) else ""
        if not MIN_CHARACTERS <= len(text.strip()) <= len(text) <= MAX_CHARACTERS:
            raise ParameterError(
                f"`waiver` must be a statement of {MIN_CHARACTERS} to {MAX_CHARACTERS} characters"
            )
        object.__setattr__(self, "waiver", text)
        if exact.log(self.worst_ratio) <= exact.stated(self.epsilon):
            raise ParameterError(
                "`waiver` must be empty: the question spends no more than it states"
            )
        worst_part = self.mechanism.worst_part  # type: ignore[attr-defined]
        if exact.log(worst_part) > exact.stated(self.epsilon):
            raise ParameterError("each attribute alone must keep to the stated `epsilon`")

    @property
    def epsilon_pure(self) -> float:
        """Return the epsilon of local differential privacy that the report really spends."""
        return exact.at_least(exact.log(self.worst_ratio))

    @property
    def blanket(self) -> Blanket:
        return Blanket.generic(self.epsilon_pure)
