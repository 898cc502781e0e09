"""People who hold a number in [0, 1], in the shapes of the experiments on poisoned numbers.

The taxi and retirement shapes stand for data sets that are not published here: taxi is nearly flat,
retirement is broad and leans to the high end.

Source: Du 2025, section 6.5.1.
"""

from collections.abc import Callable

import numpy as np

from sottovoce.arrays import Floats

Shape = Callable[[np.random.Generator, int], Floats]


def beta_2_5(generator: np.random.Generator, people: int) -> Floats:
    """Return numbers of which most are small."""
    return generator.beta(2, 5, people)


def beta_5_2(generator: np.random.Generator, people: int) -> Floats:
    """Return numbers of which most are large."""
    return generator.beta(5, 2, people)


def taxi(generator: np.random.Generator, people: int) -> Floats:
    """Return times of day: 0.6 uniform, 0.2 about 0.42 and 0.2 about 0.8."""
    parts = np.stack(
        [
            generator.random(people),
            generator.normal(0.42, 0.12, people),
            generator.normal(0.8, 0.08, people),
        ]
    )
    return _mixed(generator, parts, (0.6, 0.2, 0.2))


def retirement(generator: np.random.Generator, people: int) -> Floats:
    """Return payments: 0.35 of Beta(1.2, 6), 0.65 of Beta(6, 3.5)."""
    parts = np.stack([generator.beta(1.2, 6, people), generator.beta(6, 3.5, people)])
    return _mixed(generator, parts, (0.35, 0.65))


SHAPES: dict[str, Shape] = {
    "Beta(2, 5)": beta_2_5,
    "Beta(5, 2)": beta_5_2,
    "taxi-like": taxi,
    "retirement-like": retirement,
}


def _mixed(generator: np.random.Generator, parts: Floats, shares: tuple[float, ...]) -> Floats:
    picked = generator.choice(len(shares), parts.shape[1], p=shares)
    return np.asarray(np.clip(parts[picked, np.arange(parts.shape[1])], 0.0, 1.0))
