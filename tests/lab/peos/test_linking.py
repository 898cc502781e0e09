"""The attack on ciphertexts without fresh randomness, on vectors made by hand."""

import numpy as np
import pytest
from gmpy2 import powmod

from lab.peos.keys import small_key
from sottovoce.core.rng import SystemRng
from sottovoce.lab.peos.encryption.schemes import SCHEMES
from sottovoce.lab.peos.linking import linked_positions

RNG = SystemRng()
ORDER = [2, 0, 1]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_words_added_without_randomness_are_linked(scheme):
    key = small_key(scheme)
    before = key.public.encrypt_all(np.array([5, 5, (1 << 64) - 1], np.uint64), RNG)
    added = [powmod(key.public.word_base, word, key.public.modulus) for word in (7, 1 << 63, 2)]
    after = [key.public.add(before[source], added[source]) for source in ORDER]
    assert linked_positions(before, after, key) == [(2, 0), (0, 1), (1, 2)]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_words_added_with_randomness_are_not(scheme):
    key = small_key(scheme)
    before = key.public.encrypt_all(np.zeros(3, np.uint64), RNG)
    after = key.public.rerandomise([before[source] for source in ORDER], RNG)
    assert linked_positions(before, after, key) == []
