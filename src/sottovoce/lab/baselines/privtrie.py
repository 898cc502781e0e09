"""PrivTrie, a baseline for long values: a trie grown character by character, each user asked about its frontier.

Users come in batches.  A batch answers, with symmetric unary encoding, which of the current prefixes its values begin
with; a prefix above a threshold that falls with the users asked about it gives way to its 256 extensions.  No prefix
asked of one user extends another one, so a value begins with at most one of them and the answers together cost
epsilon.  The threshold is about two deviations: every fiftieth prefix passes it by chance, and 256 extensions of each
multiply until no more can be asked about.  A ``patient`` search, which is not the published one, avoids that.  Both are
interactive; prefer the prefix extending method, these are for comparison.

Source: Wang 2021, section 4.2.4, which leaves the randomiser and any limit to the trie open.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from sottovoce.arrays import Bools, Floats, Ints
from sottovoce.domains.bits import Bits
from sottovoce.domains.strings import Strings
from sottovoce.errors import BudgetError, NoDataError, ParameterError
from sottovoce.lab.aggregate import numbers_of
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.sue import SUE

CHARACTERS = 1 << 8
FAMILIES = 384  # of 256 prefixes: as many candidates as the published runs of PEM estimate, 6 * 16384

_ARRAYS = ("asked", "supports", "open")


@dataclass(frozen=True, eq=False)
class Trie:
    """The frontier of a search: families of 256 prefixes that differ in their last character.

    ``open`` (families, 256) tells which of them are asked about; the others have given way to families of their own.
    """

    stems: tuple[bytes, ...]  # what the prefixes of a family have in common
    asked: Ints  # how many users each family was asked of
    supports: Ints  # (families, 256): how many of them said yes
    open: Bools

    @classmethod
    def planted(cls, stem: bytes = b"") -> "Trie":
        """Return one family that nobody has been asked about: that of all first characters, or of a stem."""
        shape = (1, CHARACTERS)
        return cls((stem,), np.zeros(1, np.int64), np.zeros(shape, np.int64), np.ones(shape, bool))

    @property
    def depths(self) -> Ints:
        """Return the characters of the prefixes of each family."""
        return np.array([len(stem) + 1 for stem in self.stems])

    def __post_init__(self) -> None:
        places = {stem: family for family, stem in enumerate(self.stems)}
        if len(places) < len(self.stems) or any(self._asks_above(stem, places) for stem in self.stems):
            raise BudgetError("to ask one user about a prefix and its extension would spend up to twice epsilon")

    def _asks_above(self, stem: bytes, places: Mapping[bytes, int]) -> bool:
        above = ((places.get(stem[:end]), stem[end]) for end in range(len(stem)))
        return any(family is not None and self.open[family, character] for family, character in above)

    def answered(self, held: Ints, users: int, mechanism: SUE, rng: np.random.Generator) -> "Trie":
        """Return the trie after a batch, of whom so many hold values that begin with each prefix.

        Bits of unary encoding err independently, so the sums are drawn from the exact joint law of genuine reports.
        """
        said, some = rng.binomial(users, mechanism.q, held.shape), held > 0
        said[some] = rng.binomial(held[some], mechanism.p) + rng.binomial(users - held[some], mechanism.q)
        return replace(self, asked=self.asked + users, supports=self.supports + said)

    def estimates(self, mechanism: SUE) -> Floats:
        """Return (families, 256): the unbiased share of the population that begins with each prefix."""
        said = self.supports / self._users[:, None]
        return np.asarray((said - mechanism.q) / (mechanism.p - mechanism.q))

    @property
    def _users(self) -> Ints:
        return np.maximum(self.asked, 1)  # a family that nobody was asked about has nothing above the threshold

    def above(self, mechanism: SUE) -> Floats:
        """Return (families, 256): the estimates in units of the threshold, nothing for prefixes not asked about."""
        threshold = 4 / (mechanism.epsilon * np.sqrt(self._users))  # of the population: 4 n / (epsilon sqrt(asked))
        return np.where(self.open, self.estimates(mechanism) / threshold[:, None], 0.0)

    def grown(self, family: int, last: int) -> "Trie":
        """Return the trie in which one prefix gives way to all its extensions."""
        fresh, closed = Trie.planted(self.stems[family] + bytes([last])), self.open.copy()
        closed[family, last] = False
        kept = replace(self, open=closed)
        joined = {name: np.concatenate([getattr(kept, name), getattr(fresh, name)]) for name in _ARRAYS}
        return Trie(self.stems + fresh.stems, **joined)


@dataclass(frozen=True)
class PrivTrie:
    """A search among texts or values of whole bytes, in a trie of at most so many families.

    A patient search extends one prefix with every batch, the one farthest above its threshold, instead of all that are
    above.
    """

    domain: Bits | Strings
    epsilon: float
    most: int = FAMILIES
    patient: bool = False

    def __post_init__(self) -> None:
        if self.domain.bits % 8 or self.most < 1:
            raise ParameterError("a trie has at least one family, and its values have whole bytes")

    def find(self, held: Mapping[Any, int], seed: int) -> dict[str, float]:
        """Return what is found where so many people hold each value, with estimated counts, most frequent first."""
        mechanism, rng = SUE(self.epsilon, CHARACTERS), SeededRng(seed).generator
        characters = _characters(self.domain, held)
        people = rng.permutation(np.repeat(np.arange(len(held)), list(held.values())))
        trie, families = Trie.planted(), np.zeros(len(held), np.int64)
        for batch in batches(people, mechanism.epsilon):
            places = _places(trie, families, characters)
            asked = np.bincount(places[batch], minlength=trie.open.size).reshape(trie.open.shape)
            trie = trie.answered(asked, len(batch), mechanism, rng)
            for place in self._passing(trie, mechanism)[: self.most - len(trie.stems)]:
                families = np.where(places == place, len(trie.stems), families)
                trie = trie.grown(*divmod(place, CHARACTERS))
        whole = (trie.above(mechanism) > 1) & (trie.depths == self.domain.bits // 8)[:, None]
        return _named(self.domain, trie, whole, len(people) * trie.estimates(mechanism)[whole])

    def _passing(self, trie: Trie, mechanism: SUE) -> list[int]:
        """Return which prefixes that are not whole values are extended, the farthest above the threshold first."""
        above = (trie.above(mechanism) * (trie.depths < self.domain.bits // 8)[:, None]).ravel()
        places = np.flatnonzero(above > 1)
        chosen: list[int] = places[np.argsort(-above[places], kind="stable")].tolist()
        return chosen[:1] if self.patient else chosen


def batches(people: Ints, epsilon: float) -> Iterator[Ints]:
    """Yield max(n / 1000, 800 / epsilon^2) people at a time, everybody once.

    >>> [len(batch) for batch in batches(np.arange(500), epsilon=2.0)]
    [200, 200, 100]
    """
    if not len(people):
        raise NoDataError("there is nobody to ask")
    step = ceil(max(len(people) / 1000, 800 / epsilon**2))
    return (people[start : start + step] for start in range(0, len(people), step))


def _characters(domain: Bits | Strings, held: Mapping[Any, int]) -> Ints:
    """Return (values, length): the characters of every value."""
    coded = b"".join(number.to_bytes(domain.bits // 8, "big") for number in numbers_of(domain.indices(list(held))))
    return np.frombuffer(coded, np.uint8).reshape(len(held), -1).astype(np.int64)


def _places(trie: Trie, families: Ints, characters: Ints) -> Ints:
    """Return which of all the prefixes, family by family, each value begins with."""
    return families * CHARACTERS + characters[np.arange(len(families)), trie.depths[families] - 1]


def _named(domain: Bits | Strings, trie: Trie, whole: Bools, counts: Floats) -> dict[str, float]:
    found = [trie.stems[family] + bytes([last]) for family, last in np.argwhere(whole).tolist()]
    numbers = [int.from_bytes(value, "big") for value in found]
    order = (place for place in np.argsort(-counts, kind="stable") if domain.possible(numbers[place], domain.bits))
    return {domain.label(numbers[place]): float(counts[place]) for place in order}
