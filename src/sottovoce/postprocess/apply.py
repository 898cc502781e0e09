"""Any method by name: an estimate in, a better one out, with errors that know what was done to it."""

from dataclasses import replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from sottovoce import postprocess
from sottovoce.core.estimate import Estimate
from sottovoce.errors import ParameterError
from sottovoce.postprocess.base import Rule
from sottovoce.postprocess.bootstrap import bootstrapped
from sottovoce.postprocess.shifted_noise import ShiftedNoise

ERRORS = ("raw", "bootstrap")
_MODULES = {"base": "unprocessed"}  # methods whose module has another name


def apply(estimate: Estimate, method: str, *, errors: str = "raw", replicates: int = 200, **options: Any) -> Estimate:
    """Return the estimate after one step of post-processing, the raw one kept beside it.

    Errors are those of the raw votes and the move from them, which cover; or the spread of bootstrap replicates around
    the population fitted to the votes, which is narrower and may miss.
    """
    if errors not in ERRORS:
        raise ParameterError(f"errors come from one of: {', '.join(ERRORS)}")
    rule, raw = rule_of(estimate, method, **options), estimate.raw or estimate
    if rule.whole and not raw.noise.complete:
        raise ParameterError(f"{method} needs the whole domain: the shares of some candidates do not sum to 1")
    votes, steps = rule(estimate.frequencies) * estimate.users, (*estimate.steps, rule.step(estimate.frequencies))
    if errors == "bootstrap":
        sampled = bootstrapped(estimate, rule, replicates)
        return replace(estimate, votes=votes, noise=sampled, steps=(*steps, errors), raw=raw)
    return replace(estimate, votes=votes, noise=ShiftedNoise(raw.votes, raw.noise, rule.whole), steps=steps, raw=raw)


def rule_of(estimate: Estimate, method: str, **options: Any) -> Rule:
    """Return the rule of a method for an estimate."""
    if method not in methods():
        raise ParameterError(f"a method of post-processing is one of: {', '.join(methods())}")
    rule: Rule = _module(_MODULES.get(method, method.replace("-", "_"))).rule_for(estimate, **options)
    return rule


@cache
def methods() -> tuple[str, ...]:
    """Return the names of all methods: the modules here that have a rule.

    >>> "norm-sub" in methods(), "post-pos" in methods()
    (True, False)
    """
    names = [found.name for found in iter_modules(postprocess.__path__)]
    known = {name: method for method, name in _MODULES.items()}
    return tuple(
        sorted(known.get(name, name.replace("_", "-")) for name in names if hasattr(_module(name), "rule_for"))
    )


def _module(name: str) -> Any:
    return import_module(f"sottovoce.postprocess.{name}")
