"""How a collector treats a task: when a round closes, what is released, how long reports are kept.

These settings are part of the task's document, and so of its digest: a device sees them before it
answers, and a collector that wants others publishes another task.
"""

from dataclasses import dataclass, field

from sottovoce.core import settings
from sottovoce.errors import ParameterError

MIN_CROWD = 2  # a crowd of one is a person

ISSUER_KEY_BYTES = 342  # of a public key as RFC 9578 writes it

NO_DEFENCE = ""
SEEDS = "seeds"
DEFENCES = (SEEDS,)

_MAX = (1 << 32) - 1


@dataclass(frozen=True)
class Collection:
    """The rules of a collection.

    Durations are in seconds, ``retention`` in days.  A ``quota`` of 0 users or a duration of 0
    ``seconds`` means no such limit.

    ``defence`` says what a forged report cannot choose.  With ``"seeds"`` the blind token of a
    message fixes the hash seeds of its reports, as it fixes their public coins anyway.
    """

    quota: int = 0  # users of the whole task; a round closes when its share of them has answered
    seconds: int = 0  # time after which a round closes, once the minimum is in
    grace: int = 60  # time for late reports after a round has closed
    minimum: int = 50  # users below which nothing is released
    crowd: int = 0  # estimated users below which one value is not released
    retention: int = 90  # days until sealed reports are erased and only sums remain
    enrolment: bool = False  # whether a report needs a token, which buys one bundle for this task
    sandbox: bool = False  # whether devices answer at random, for a rehearsal that costs nothing
    issuer: str | None = None  # the key (base64url) behind blind tokens, where reports need them
    defence: str = field(default=NO_DEFENCE, metadata={"omitted": True})

    def __post_init__(self) -> None:
        settings.whole("minimum", self.minimum, MIN_CROWD, _MAX)
        settings.whole("quota", self.quota, 0, _MAX)
        if 0 < self.quota < self.minimum:
            raise ParameterError(
                f"`quota` must be 0 or at least `minimum`, {self.minimum}, not {self.quota}:"
                " rounds would close that may not be released"
            )
        settings.whole("crowd", self.crowd, 0, _MAX)
        if 0 < self.crowd < MIN_CROWD:
            raise ParameterError(f"`crowd` must be 0 or at least {MIN_CROWD}, not {self.crowd}")
        settings.whole("seconds", self.seconds, 0, _MAX)
        settings.whole("grace", self.grace, 0, _MAX)
        settings.whole("retention", self.retention, 1, _MAX)
        settings.flag("enrolment", self.enrolment)
        settings.flag("sandbox", self.sandbox)
        if self.issuer is not None:
            settings.base64url("issuer", self.issuer, ISSUER_KEY_BYTES)
            if self.enrolment:
                raise ParameterError(
                    "`enrolment` must be false where `issuer` is set: a blind token takes the place"
                    " of an enrolment token beside the report"
                )
        if self.defence != NO_DEFENCE:
            settings.choice("defence", self.defence, DEFENCES)
        if self.defence == SEEDS and self.issuer is None:
            raise ParameterError(
                f"`defence` may be {SEEDS!r} only where `issuer` is set: seeds follow from blind"
                " tokens. `sottovoce token issuer` prints the key to set"
            )

    @property
    def needs_token(self) -> bool:
        """Return whether a report needs a token, which pays for one report and deals its coins."""
        return self.enrolment or self.issuer is not None

    @property
    def fixes_seeds(self) -> bool:
        """Return whether the token of a message fixes the hash seeds of its reports."""
        return self.defence == SEEDS
