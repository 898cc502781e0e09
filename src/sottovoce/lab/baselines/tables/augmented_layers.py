"""The layers of AMG: all columns at single values, together with the coin that rounds one of them.

A family that rounds ``one`` number has two layers in each group where columns have one width: one
without the group's coin and one with it.  Only the second is asked here.

Source: Xu 2020, section 3.3.1, with the marginal (MG) in place of HIO.
"""

from dataclasses import dataclass, fields
from typing import Any

from sottovoce.core.settings import whole
from sottovoce.encodings.cell import Cell
from sottovoce.errors import ParameterError
from sottovoce.tasks.families.layers import Layers


@dataclass(frozen=True)
class AugmentedLayers(Layers, kind="augmented_layers", wire=False):
    """One layer for each of the ``groups`` columns, which always holds that column's coin."""

    def __post_init__(self) -> None:
        if self.rounding != "one":
            raise ParameterError("`rounding` of augmented layers must be 'one'")
        whole("first", self.first, 0, 0)
        if any(len(widths) != 1 for widths in self.widths):
            raise ParameterError("each entry of `widths` must list exactly one width")

    @classmethod
    def of_family(cls, family: Layers) -> "AugmentedLayers":
        """Return the layers of a family that hold a coin."""
        settings: dict[str, Any] = {
            each.name: getattr(family, each.name) for each in fields(family)
        }
        asked = [family[_with_coin(group)].mechanism for group in range(len(family.groups))]
        ascending = sorted(dict.fromkeys(asked), key=lambda mechanism: mechanism.size)
        return cls(**{**settings, "mechanisms": tuple(ascending)})

    def __len__(self) -> int:
        return len(self.groups)

    def representatives(self) -> list[int]:
        return list(range(len(self)))

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Return how many choices each column and the coin have: one."""
        return ((1,) * (len(self.columns) + 1),) * len(self)

    def place(self, index: int) -> tuple[int, tuple[int, ...]]:
        """Return the group of a member and its only choices."""
        return index, (0,) * (len(self.columns) + 1)

    def cell(self, index: int) -> Cell:
        """Return what a member asks for."""
        return super().cell(_with_coin(index))


def _with_coin(group: int) -> int:
    return 2 * group + 1
