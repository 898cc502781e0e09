"""Wide Piecewise: the piecewise mechanism with the window of the least worst variance.

Choose it for the mean of a number at epsilon 1 and above.  Its worst case is below that of the
published window, by 3 % at epsilon 1, 11 % at 2 and 33 % at 4, because it falls like
e^(-2 epsilon / 3) instead of e^(-epsilon / 2).  The wide hybrid has a smaller worst case still;
numbers that are not all near the ends of the range have a smaller variance here.

Of N cells, windows of W, T = N - W and a = e^epsilon - 1, the variance is the largest for a number
at an end of the range, whose window is not rounded:

    (N + a W) (N (N^2 - 1) + a W (W^2 - 1)) / (3 (a W T)^2) + N / (a W)

It is convex in W, so its differences grow, and bisection finds the best whole W.

The window is our own.  A device needs nothing new: the document of a piecewise mechanism states it.

Source: Wang et al. 2019.
"""

from decimal import Decimal

from sottovoce.maths import exact
from sottovoce.mechanisms.piecewise import Piecewise
from sottovoce.mechanisms.window import best_window


def wide_piecewise(epsilon: float, size: int, cells: int = 4096) -> Piecewise:
    """Return the piecewise mechanism whose variance at the ends of the range is the least.

    >>> Piecewise(epsilon=4.0, size=201).window, wide_piecewise(epsilon=4.0, size=201).window
    (488, 1001)
    """
    published = Piecewise(epsilon, size, cells=cells)
    with exact.sixty_digits():
        a = exact.exp(published.epsilon) - 1
        window = best_window(cells, lambda window: _variance_at_end(a, cells, window))
    return Piecewise(epsilon, size, cells=cells, window=window)


def _variance_at_end(a: Decimal, cells: int, window: int) -> Decimal:
    pull = a * window
    # (N (N^2 - 1) + a W (W^2 - 1)) / 3
    spread = (cells * (cells**2 - 1) + pull * (window**2 - 1)) / 3
    return (cells + pull) * spread / (pull * (cells - window)) ** 2 + cells / pull
