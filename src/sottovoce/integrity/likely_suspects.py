"""The suspects that explain the reported buckets best: guesses of the tests, compared and improved.

The tests find sets of values that are promoted together.  Such a set may lack some of these values
or contain others.  The likelihood of the load EMF separates sets far better than the tests do: if
5 % of the reports are false, a missing value lowers the log-likelihood by hundreds.  The search
therefore begins with the likeliest guess.  It adds or removes single values as long as that makes
the reports much likelier.

The number of suspects that one false report promotes is chosen in the same way.  It changes the
likelihood less, and also changes the estimates.  All numbers are kept that explain the reports
nearly as well as the best one.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Bools, Floats
from sottovoce.integrity.candidates import Candidates
from sottovoce.integrity.load_emf import LoadFit, LoadModel

MAX_COMPARED = 1 << 15  # sets of suspects are compared on a sample of so many reports
MIN_SUSPECTS = 2  # one value alone has no load
TOGETHER = (0, 2, 3, 4)  # suspects that one false report promotes; 0 for all
# Differences of log-likelihoods.  A wrong model exceeds the right one by 6 with probability at most
# e^-6.  A difference of 12 is too large for chance, however many sets are compared.
PLAUSIBLE = 6.0
_MARGIN = 12.0
_SWEEPS = 6
_SHARE_STEPS = 10


@dataclass(frozen=True, eq=False)
class Suspected:
    """The candidates at an address, and which of them are suspects.

    ``together`` are the plausible numbers of suspects that a false report promotes.
    """

    candidates: Candidates
    suspects: Bools
    together: tuple[int, ...] = (0,)

    def models(self) -> list[LoadModel]:
        """Return a model of the reports for every plausible number."""
        hashed = self.candidates.hashed
        assert hashed is not None
        first = LoadModel.of(hashed, self.suspects, self.together[0])
        others = [first.suspecting(hashed, self.suspects, each) for each in self.together[1:]]
        return [first, *others]


def likeliest(candidates: Candidates, guesses: Iterable[Bools]) -> Suspected:
    """Return the suspects that explain the reports best, beginning with the best guess."""
    search = _Search(candidates.sampled(MAX_COMPARED))
    best = max((search.fitted(guess, 0) for guess in guesses), key=_log_likelihood)
    for _ in range(_SWEEPS):
        refined = search.refined(best)
        shapes = [search.fitted(refined.suspects, each, refined.fit) for each in TOGETHER]
        improved = max(shapes, key=_log_likelihood)
        if not _is_better(improved, best):
            break
        best = improved
    plausible = [
        shape.together
        for shape in shapes
        if shape.log_likelihood > improved.log_likelihood - PLAUSIBLE
    ]
    return Suspected(candidates, shapes[0].suspects, tuple(plausible))


@dataclass(frozen=True, eq=False)
class _Fitted:
    """A set of suspects, and the parameters that make the reports likeliest with it."""

    suspects: Bools
    together: int
    fit: LoadFit
    log_likelihood: float


class _Search:
    """Compare sets of suspects on the same reports."""

    def __init__(self, candidates: Candidates) -> None:
        assert candidates.hashed is not None
        self._hashed = candidates.hashed
        self._shares = candidates.shares
        self._model = LoadModel.of(self._hashed, np.ones(len(candidates), bool))

    def fitted(self, suspects: Bools, together: int, near: LoadFit | None = None) -> _Fitted:
        """Return the best parameters for some suspects; the search starts from the fit ``near``."""
        model = self._model.suspecting(self._hashed, suspects, together)
        fit = model.fit(LoadFit(self._shares if near is None else near.shares, model.start))
        return _Fitted(suspects, together, fit, model.log_likelihood(fit))

    def refined(self, best: _Fitted) -> _Fitted:
        """Return a set improved by adding or removing single values."""
        honest = self._model.honest(best.fit.shares)
        suspects = best.suspects
        likelihood = self._with_honest(honest, suspects, best.together)
        for value in range(len(suspects)):
            changed = suspects.copy()
            changed[value] = not changed[value]
            if np.count_nonzero(changed) < MIN_SUSPECTS:
                continue
            changed_likelihood = self._with_honest(honest, changed, best.together)
            if changed_likelihood > likelihood + _MARGIN:
                suspects, likelihood = changed, changed_likelihood
        refined = self.fitted(suspects, best.together, best.fit)
        return refined if _is_better(refined, best) else best

    def _with_honest(self, honest: Floats, suspects: Bools, together: int) -> float:
        """Return the largest log-likelihood if only the shares of false reports are fitted."""
        model = self._model.suspecting(self._hashed, suspects, together)
        counts = np.bincount(model.levels)
        false = model.start
        for _ in range(_SHARE_STEPS):
            greedy = false[model.levels] * model.greedy
            whole = (1 - false[model.levels]) * honest + greedy
            false = np.bincount(model.levels, greedy / whole) / counts
        whole = (1 - false[model.levels]) * honest + false[model.levels] * model.greedy
        return float(np.log(whole).sum())


def _log_likelihood(fitted: _Fitted) -> float:
    return fitted.log_likelihood


def _is_better(fitted: _Fitted, other: _Fitted) -> bool:
    return fitted.log_likelihood > other.log_likelihood + _MARGIN
