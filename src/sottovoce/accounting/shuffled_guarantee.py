"""What a person in a shuffled batch is promised, against three kinds of adversaries."""

from dataclasses import asdict, dataclass

from sottovoce.accounting.blanket import BLOCKS, Blanket


@dataclass(frozen=True)
class ShuffledGuarantee:
    """Three epsilons that are only quoted together.

    ``central`` holds against the collector alone, ``against_users`` against the collector together
    with all other users, both except for ``delta``.  ``local`` holds against everybody, the
    shufflers included, without a delta; it is what the ledger charges.

    >>> blanket = Blanket(6.0, 1 / 16)
    >>> guarantee = ShuffledGuarantee.of(blanket, users=100_000, fakes=1_051, delta=1e-9)
    >>> round(guarantee.central, 2), round(guarantee.against_users, 2), guarantee.local
    (0.42, 1.0, 6.0)
    """

    central: float
    delta: float
    against_users: float
    local: float

    @classmethod
    def of(
        cls, blanket: Blanket, users: int, fakes: int, delta: float, blocks: int = BLOCKS
    ) -> "ShuffledGuarantee":
        """Return the guarantee of one batch; count only users who are known to be real."""
        return cls(
            central=blanket.epsilon(users, fakes, delta, blocks),
            delta=delta,
            against_users=blanket.epsilon(1, fakes, delta, blocks),
            local=blanket.epsilon_local,
        )

    def to_dict(self) -> dict[str, float]:
        """Return the guarantee as plain data."""
        return asdict(self)
