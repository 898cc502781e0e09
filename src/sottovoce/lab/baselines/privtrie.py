"""PrivTrie, a baseline for long values: a trie that grows character by character.

Users come in batches.  A batch reports by symmetric unary encoding which of the current prefixes
its values begin with.  A prefix above a threshold, which falls with the users asked about it, gives
way to its 256 extensions.  No prefix that one user is asked about extends another one, so a value
begins with at most one of them and all answers of a user together cost epsilon.

The threshold is about two standard deviations: every fiftieth prefix passes it by chance, and 256
extensions of each multiply until no more can be asked about.  A ``patient`` search, which is not
the published one, avoids that.  Both are interactive; prefer the prefix extending method (PEM).

Source: Wang 2021, section 4.2.4, which leaves the randomiser and any limit to the trie open.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints
from sottovoce.core.settings import whole
from sottovoce.domains.bits import Bits
from sottovoce.domains.strings import Strings
from sottovoce.errors import BudgetError, NoDataError, ParameterError
from sottovoce.lab.aggregate import numbers_of
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.sue import SUE

CHARACTERS = 1 << 8
MAX_FAMILIES = 384  # of 256 prefixes: as many candidates as the published runs of PEM, 6 * 16384


@dataclass(frozen=True, eq=False)
class Trie:
    """The frontier of a search: families of 256 prefixes that differ in their last character.

    ``stems`` are what the prefixes of each family have in common, ``asked`` the users each family
    was asked of, and ``supports`` (families, 256) how many of them said yes.  ``open`` (families,
    256) tells which prefixes are asked about; the others have given way to families of their own.
    """

    stems: tuple[bytes, ...]
    asked: Ints
    supports: Ints
    open: Bools

    @classmethod
    def planted(cls, stem: bytes = b"") -> "Trie":
        """Return a family that nobody was asked about: all first characters, or those of a stem."""
        shape = (1, CHARACTERS)
        return cls((stem,), np.zeros(1, np.int64), np.zeros(shape, np.int64), np.ones(shape, bool))

    @property
    def depths(self) -> Ints:
        """Return the number of characters of the prefixes of each family."""
        return np.array([len(stem) + 1 for stem in self.stems])

    def __post_init__(self) -> None:
        families = {stem: family for family, stem in enumerate(self.stems)}
        repeated = len(families) < len(self.stems)
        if repeated or any(self._asks_above(stem, families) for stem in self.stems):
            raise BudgetError(
                "a user must not be asked about a prefix and its extension:"
                " that spends epsilon twice"
            )

    def _asks_above(self, stem: bytes, families: Mapping[bytes, int]) -> bool:
        """Return whether a prefix of the stem is still asked about."""
        for end in range(len(stem)):
            family = families.get(stem[:end])
            if family is not None and self.open[family, stem[end]]:
                return True
        return False

    def answered(
        self, holders: Ints, users: int, mechanism: SUE, generator: np.random.Generator
    ) -> "Trie":
        """Return the trie after a batch of users.

        ``holders`` is how many values begin with each prefix.

        Bits of unary encoding err independently, so the sums are drawn from the exact joint law of
        genuine reports.
        """
        supports = generator.binomial(users, mechanism.q, holders.shape)
        held = holders > 0
        honest = generator.binomial(holders[held], mechanism.p)
        supports[held] = honest + generator.binomial(users - holders[held], mechanism.q)
        return replace(self, asked=self.asked + users, supports=self.supports + supports)

    def estimates(self, mechanism: SUE) -> Floats:
        """Return (families, 256): the unbiased share of people whose value begins like this."""
        rates = self.supports / self._users[:, None]
        return np.asarray((rates - mechanism.q) / (mechanism.p - mechanism.q))

    @property
    def _users(self) -> Ints:
        return np.maximum(self.asked, 1)  # a family that nobody was asked about passes no threshold

    def above(self, mechanism: SUE) -> Floats:
        """Return (families, 256): estimates in units of the threshold, 0 where nothing is asked."""
        # as a share of the population: 4 n / (epsilon sqrt(asked)) users
        threshold = 4 / (mechanism.epsilon * np.sqrt(self._users))
        return np.where(self.open, self.estimates(mechanism) / threshold[:, None], 0.0)

    def grown(self, family: int, last: int) -> "Trie":
        """Return the trie in which one prefix gives way to all its extensions."""
        fresh = Trie.planted(self.stems[family] + bytes([last]))
        still_open = self.open.copy()
        still_open[family, last] = False
        return Trie(
            self.stems + fresh.stems,
            np.concatenate([self.asked, fresh.asked]),
            np.concatenate([self.supports, fresh.supports]),
            np.concatenate([still_open, fresh.open]),
        )


@dataclass(frozen=True)
class PrivTrie:
    """A search among texts or values of whole bytes, in a trie of at most ``max_families``.

    A ``patient`` search extends one prefix with every batch, the one farthest above its threshold,
    instead of all that are above.
    """

    domain: Bits | Strings
    epsilon: float
    max_families: int = MAX_FAMILIES
    patient: bool = False

    def __post_init__(self) -> None:
        whole("max_families", self.max_families, 1)
        if self.domain.bits % 8:
            raise ParameterError("`domain` must have values of whole bytes")

    def find(self, holders: Mapping[Any, int], seed: int) -> dict[str, float]:
        """Return the values found with their estimated counts, most frequent first.

        ``holders`` is how many people hold each value.
        """
        mechanism = SUE(self.epsilon, CHARACTERS)
        generator = SeededRng(seed).generator
        characters = _characters(self.domain, holders)
        values = np.repeat(np.arange(len(holders)), list(holders.values()))
        people = generator.permutation(values)
        trie = Trie.planted()
        families = np.zeros(len(holders), np.int64)  # the family of each value
        for batch in batches(people, mechanism.epsilon):
            prefixes = _prefixes(trie, families, characters)
            counts = np.bincount(prefixes[batch], minlength=trie.open.size)
            trie = trie.answered(counts.reshape(trie.open.shape), len(batch), mechanism, generator)
            room = self.max_families - len(trie.stems)
            for prefix in self._passing(trie, mechanism)[:room]:
                families = np.where(prefixes == prefix, len(trie.stems), families)
                trie = trie.grown(*divmod(prefix, CHARACTERS))
        complete = trie.depths == self.domain.bits // 8
        whole_values = (trie.above(mechanism) > 1) & complete[:, None]
        counts = len(people) * trie.estimates(mechanism)[whole_values]
        return _labelled(self.domain, trie, whole_values, counts)

    def _passing(self, trie: Trie, mechanism: SUE) -> list[int]:
        """Return which prefixes are extended, the farthest above the threshold first."""
        extendable = trie.depths < self.domain.bits // 8
        above = (trie.above(mechanism) * extendable[:, None]).ravel()
        passing = np.flatnonzero(above > 1)
        ordered: list[int] = passing[np.argsort(-above[passing], kind="stable")].tolist()
        return ordered[:1] if self.patient else ordered


def batches(people: Ints, epsilon: float) -> Iterator[Ints]:
    """Yield max(n / 1000, 800 / epsilon^2) people at a time, everybody once.

    >>> [len(batch) for batch in batches(np.arange(500), epsilon=2.0)]
    [200, 200, 100]
    """
    if not len(people):
        raise NoDataError("there is nobody to ask")
    step = ceil(max(len(people) / 1000, 800 / epsilon**2))
    return (people[start : start + step] for start in range(0, len(people), step))


def _characters(domain: Bits | Strings, holders: Mapping[Any, int]) -> Ints:
    """Return (values, length): the characters of every value."""
    numbers = numbers_of(domain.indices(list(holders)))
    coded = b"".join(number.to_bytes(domain.bits // 8, "big") for number in numbers)
    return np.frombuffer(coded, np.uint8).reshape(len(holders), -1).astype(np.int64)


def _prefixes(trie: Trie, families: Ints, characters: Ints) -> Ints:
    """Return which prefix, numbered family by family, each value begins with."""
    last = characters[np.arange(len(families)), trie.depths[families] - 1]
    return families * CHARACTERS + last


def _labelled(
    domain: Bits | Strings, trie: Trie, whole_values: Bools, counts: Floats
) -> dict[str, float]:
    numbers = []
    for family, last in np.argwhere(whole_values).tolist():
        numbers.append(int.from_bytes(trie.stems[family] + bytes([last]), "big"))
    labelled = {}
    for index in np.argsort(-counts, kind="stable").tolist():
        if domain.possible(numbers[index], domain.bits):
            labelled[domain.label(numbers[index])] = float(counts[index])
    return labelled
