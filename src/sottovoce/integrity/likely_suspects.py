"""Which suspects explain the named buckets best: guesses of the tests, compared and improved.

Tests find sets of values that are promoted together, and may miss some of them or take in others.
The likelihood of the load EMF tells sets apart far better than the tests do: a value that is missed
costs a log-likelihood of hundreds where five in a hundred reports are false.  So the likeliest
guess is taken, and single values enter or leave it while that makes the reports much likelier.

How many suspects each false report promotes is chosen the same way.  It makes less difference to
the likelihood, and some to the estimates.  So all numbers are kept that explain the reports nearly
as well as the best one.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Bools, Floats
from sottovoce.integrity.candidates import Candidates
from sottovoce.integrity.load_emf import LoadFit, LoadModel

MAX_COMPARED = 1 << 15  # of many reports, how many sets of suspects are compared on
MIN_SUSPECTS = 2  # one value alone has no load
TOGETHER = (0, 2, 3, 4)  # suspects that one false report promotes; 0 for all
PLAUSIBLE = 6.0  # of log-likelihoods: a wrong model beats the right one by so much 1 in e^6 times
_MARGIN = 12.0  # of log-likelihoods: chance alone does not explain it, whatever is compared
_SWEEPS = 6
_SHARE_STEPS = 10


@dataclass(frozen=True, eq=False)
class Suspected:
    """The candidates at an address, and which of them to suspect.

    ``together`` are the plausible numbers of suspects that a false report promotes.
    """

    candidates: Candidates
    suspects: Bools
    together: tuple[int, ...] = (0,)

    def models(self) -> list[LoadModel]:
        """Return the likelihood of the reports for every plausible number."""
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
        """Return the best parameters for some suspects, searched near those of others."""
        model = self._model.suspecting(self._hashed, suspects, together)
        fit = model.fit(LoadFit(self._shares if near is None else near.shares, model.start))
        return _Fitted(suspects, together, fit, model.log_likelihood(fit))

    def refined(self, best: _Fitted) -> _Fitted:
        """Return what becomes of a set when values that improve it enter or leave."""
        honest = self._model.honest(best.fit.shares)
        suspects = best.suspects
        likelihood = self._with_honest(honest, suspects, best.together)
        for value in range(len(suspects)):
            changed = suspects.copy()
            changed[value] = not changed[value]
            if np.count_nonzero(changed) < MIN_SUSPECTS:
                continue
            found = self._with_honest(honest, changed, best.together)
            if found > likelihood + _MARGIN:
                suspects, likelihood = changed, found
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
