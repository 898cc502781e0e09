"""How many users Base would need for an error that was measured after post-processing.

Source: Wang et al. 2020, section V-C.
"""

from sottovoce.core.noise import IndependentNoise
from sottovoce.errors import ParameterError


def effective_users(error: float, noise: IndependentNoise, size: int) -> float:
    """Return n': the users for whom the raw mean squared error of all shares is this one.

    Raw, it is (unheld + held / size) / n whatever the distribution.

    >>> round(effective_users(1e-6, IndependentNoise(unheld=3.0, held=1.0), 100))
    3010000
    """
    if not error > 0:
        raise ParameterError("a mean squared error is above 0")
    return (noise.unheld + noise.held / size) / error
