"""A notice: what a device needs of a task."""

from dataclasses import dataclass

from sottovoce.core import settings
from sottovoce.domains.base import Domain
from sottovoce.errors import MismatchError, ParameterError
from sottovoce.tasks.collection import Collection
from sottovoce.tasks.limits import (
    DIRECT_ENVELOPE,
    SHUFFLED_ENVELOPE,
    check_declared,
    check_description,
    check_message,
    check_name,
    check_price,
    check_shuffle,
    check_tokens,
)
from sottovoce.tasks.round import Round
from sottovoce.tasks.round_limits import RoundLimits
from sottovoce.tasks.shuffle import Shuffle


@dataclass(frozen=True)
class Notice:
    """The price, the domain and the rounds of a task; a device never needs the plan.

    ``fingerprint`` is the SHA-256 of the document, of which ``digest`` is the beginning as text.
    ``plan`` is the kind of the plan as the document names it.  ``rounds`` says what rounds after
    the opening may be (default: there are none).
    """

    name: str
    description: str
    digest: str
    fingerprint: bytes
    domain: Domain
    epsilon: float
    declares: tuple[str, ...]
    opening: Round
    collection: Collection | None = None
    distinct: int | None = None
    plan: str = ""
    rounds: RoundLimits | None = None
    shuffle: Shuffle | None = None

    def __post_init__(self) -> None:
        settings.epsilon("epsilon", self.epsilon)
        check_name(self.name)
        check_description(self.description)
        check_declared(self.declares)
        if self.opening.number != 0:
            raise ParameterError("`opening` must be round number 0")
        if self.shuffle is not None:
            check_shuffle(self.shuffle, self, self.opening)
        check_tokens(self.collection, self.distinct)
        self.check(self.opening)

    @property
    def envelope_version(self) -> int:
        """Return the version of the envelopes in all messages of the task."""
        return DIRECT_ENVELOPE if self.shuffle is None else SHUFFLED_ENVELOPE

    @property
    def has_issuer(self) -> bool:
        """Return whether a message needs a blind token."""
        return self.collection is not None and self.collection.issuer is not None

    @property
    def fixes_seeds(self) -> bool:
        """Return whether the token of a message fixes the hash seeds of its reports."""
        return self.collection is not None and self.collection.fixes_seeds

    def check(self, asked: Round) -> Round:
        """Return a round of this task; refuse one that the document neither states nor allows."""
        check_price(asked, self.epsilon, self.distinct)
        check_message(asked, self.domain.public_bytes, self.distinct, self.envelope_version)
        if self.shuffle is not None and asked.ask != self.opening.ask:
            check_shuffle(self.shuffle, self, asked)  # takes a while: not twice for the opening
        if asked.number == 0 and asked != self.opening:
            raise MismatchError("this is another opening round than the task states")
        if self.distinct is not None:
            if asked.ask != self.opening.ask:
                raise MismatchError("a longitudinal task asks the same question in every round")
        elif asked.number > 0:
            self._check_later(asked)
        return asked

    def check_public(self) -> None:
        """Refuse a task whose document and domain disagree about a public part."""
        has_public_columns = bool(self.domain.public_names)
        is_declared = "public" in self.declares
        if has_public_columns and not is_declared:
            raise MismatchError("the task asks for public columns, but declares no public part")
        if is_declared and not has_public_columns:
            raise MismatchError("the task declares a public part, but asks for no public columns")

    def _check_later(self, asked: Round) -> None:
        if self.rounds is None:
            raise MismatchError("the task states an opening round only, and this is a later one")
        self.rounds.check(asked)
