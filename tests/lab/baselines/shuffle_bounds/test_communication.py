"""The communication of table 9.3, for a million users."""

import pytest

from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.shuffle_bounds.communication import (
    encrypted_oblivious_shuffle,
    sequential_shuffle,
)

MILLION = 10**6


# Bytes of a user; megabytes of a shuffler and of the server.  The paper prints 429.8 and 3,293.3
# for the shufflers of PEOS, where it adds megabytes of 10^6 and of 2^20 bytes.
@pytest.mark.parametrize(
    ("protocol", "shufflers", "user", "shuffler", "server"),
    [
        (sequential_shuffle, 3, 416, 224, 128),
        (sequential_shuffle, 7, 800, 416, 128),
        (encrypted_oblivious_shuffle, 3, 400, 432, 392),
        (encrypted_oblivious_shuffle, 7, 432, 3360, 408),
    ],
)
def test_table_9_3(protocol, shufflers, user, shuffler, server):
    cost = protocol(MILLION, shufflers)
    assert (cost.user, cost.shuffler / MILLION, cost.server / MILLION) == (user, shuffler, server)


@pytest.mark.parametrize(("shufflers", "printed"), [(3, 429.8), (7, 3293.3)])
def test_the_printed_figures_mix_two_megabytes(shufflers, printed):
    cost = encrypted_oblivious_shuffle(MILLION, shufflers)
    rounds = {3: 3, 7: 35}[shufflers]
    ciphertexts = 384 * rounds / shufflers  # megabytes of 10^6 bytes
    shares = (cost.shuffler - ciphertexts * MILLION) / 2**20
    assert ciphertexts + shares == pytest.approx(printed, abs=0.05)


def test_numbers_that_count_nothing_are_refused():
    with pytest.raises(ParameterError, match="`shufflers` must be"):
        sequential_shuffle(10, 0)
