"""The tests of a round while they are computed, with the results that corrections use."""

from dataclasses import dataclass, field

import numpy as np

from sottovoce.arrays import Bools, Ints
from sottovoce.core.plausibility import PlausibilityTest
from sottovoce.integrity import seeds
from sottovoce.integrity.candidates import Candidates
from sottovoce.integrity.co_support import CoSupport
from sottovoce.integrity.load import LoadTest
from sottovoce.integrity.misfit import Misfit
from sottovoce.tasks.question import Address


@dataclass(frozen=True, eq=False)
class Examined:
    """The tests of the largest estimates at one address."""

    address: Address
    candidates: Candidates
    co_support: CoSupport | None
    load: LoadTest | None

    @property
    def guesses(self) -> list[Ints]:
        """Return the candidates that each test suspects; the load test is the finer one."""
        tests = (self.load, self.co_support)
        return [test.members for test in tests if test is not None and len(test.members)]

    @property
    def members(self) -> Ints:
        """Return the candidates that the finest alarming test suspects."""
        return self.guesses[0] if self.guesses else np.zeros(0, np.int64)

    @property
    def suspects(self) -> Bools:
        """Return for every candidate whether a test suspects it."""
        return np.isin(np.arange(len(self.candidates)), self.members)

    @property
    def alarming(self) -> PlausibilityTest | None:
        """Return the test that suspects the members."""
        for suspecting in (self.load, self.co_support):
            if suspecting is not None and len(suspecting.members):
                return suspecting.test
        return None


@dataclass
class RoundTests:
    """Tests of a round by name, with the intermediate results that corrections use.

    ``searched`` are the keys of the pools whose seed spectrum alarms.
    """

    pools: dict[str, seeds.Pool]
    tests: dict[str, list[PlausibilityTest]] = field(default_factory=dict)
    examined: list[Examined] = field(default_factory=list)
    misfits: list[Misfit] = field(default_factory=list)
    searched: set[str] = field(default_factory=set)

    def add_pool_test(self, key: str, test: PlausibilityTest) -> None:
        """Add a test of a pool."""
        self.add(test)
        if test.alarm and test.name == seeds.SPECTRUM:
            self.searched.add(key)

    def add(self, test: PlausibilityTest | None) -> None:
        """Add a test, if it could be made."""
        if test is not None:
            self.tests.setdefault(test.name, []).append(test)

    def add_misfit(self, misfit: Misfit | None) -> None:
        """Add the test of randomised numbers, if it could be made."""
        if misfit is not None:
            self.misfits.append(misfit)
            self.add(misfit.test)
