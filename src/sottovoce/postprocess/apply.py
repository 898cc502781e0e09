"""Apply a post-processing method by name; errors include what the method did."""

from dataclasses import replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from sottovoce import postprocess
from sottovoce.core.estimate import Estimate
from sottovoce.errors import ParameterError
from sottovoce.postprocess.base import PostProcessor, Rule
from sottovoce.postprocess.bootstrap import bootstrapped
from sottovoce.postprocess.shifted_noise import ShiftedNoise

ERRORS = ("raw", "bootstrap")


def apply(
    estimate: Estimate, method: str, *, errors: str = "raw", replicates: int = 200, **options: Any
) -> Estimate:
    """Return the estimate after one step of post-processing, the raw one kept beside it.

    Errors are those of the raw votes and the move from them, which cover; or the spread of
    bootstrap replicates around the population fitted to the votes, which is narrower and may miss.
    """
    if errors not in ERRORS:
        raise ParameterError(f"`errors` must be one of: {', '.join(ERRORS)}")
    rule = rule_of(estimate, method, **options)
    raw = estimate.raw or estimate
    if rule.whole and not raw.noise.complete:
        raise ParameterError(
            f"`method` {method!r} needs the whole domain: the shares of some candidates do not sum "
            "to 1"
        )
    votes = rule(estimate.frequencies) * estimate.users
    steps = (*estimate.steps, rule.step(estimate.frequencies))
    if errors == "bootstrap":
        sampled = bootstrapped(estimate, rule, replicates)
        steps = (*steps, errors)
        return replace(estimate, votes=votes, noise=sampled, steps=steps, raw=raw, law=None)
    return replace(
        estimate,
        votes=votes,
        noise=ShiftedNoise(raw.votes, raw.noise, rule.whole),
        steps=steps,
        raw=raw,
        law=None,  # what false reports do to processed votes is not linear
    )


def rule_of(estimate: Estimate, method: str, **options: Any) -> Rule:
    """Return the rule of a method for an estimate."""
    if method not in known_methods():
        raise ParameterError(f"`method` must be one of: {', '.join(methods())}")
    return known_methods()[method].rule_for(estimate, **options)


def methods(*, whole_domain: bool = True, equal_errors: bool = True) -> tuple[str, ...]:
    """Return the names of the methods for outcomes of a kind: of a whole domain, with equal errors.

    >>> candidates = methods(whole_domain=False, equal_errors=False)
    >>> "norm-sub" in methods(), "post-pos" in methods(), candidates
    (True, False, ('base', 'base-pos'))
    """
    return tuple(
        method.name
        for method in known_methods().values()
        if (whole_domain or not method.needs_whole_domain)
        and (equal_errors or not method.needs_equal_errors)
    )


@cache
def known_methods() -> dict[str, PostProcessor]:
    """Return every method by name: those that the modules of this package state."""
    modules = [
        import_module(f"sottovoce.postprocess.{module.name}")
        for module in iter_modules(postprocess.__path__)
    ]
    stated = [module.METHOD for module in modules if hasattr(module, "METHOD")]
    return {method.name: method for method in sorted(stated, key=lambda each: each.name)}
