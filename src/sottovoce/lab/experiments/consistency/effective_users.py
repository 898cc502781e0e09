"""How many users the raw estimate would need for an error that was measured after post-processing.

Source: Wang et al. 2020, section V-C.
"""

from sottovoce.core.noise import IndependentNoise
from sottovoce.core.settings import positive


def effective_users(error: float, noise: IndependentNoise, size: int) -> float:
    """Return n': the users for whom the raw mean squared error of all shares is this one.

    Raw, it is (unheld + held / size) / n, whatever the distribution.

    >>> round(effective_users(1e-6, IndependentNoise(unheld=3.0, held=1.0), 100))
    3010000
    """
    return (noise.unheld + noise.held / size) / positive("error", error)
