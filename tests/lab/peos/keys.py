"""Keys for tests: small ones are generated from a seed, full-size ones are kept in a file.

Moduli of 1024 bits and seeded keys protect nothing.  They make tests fast and repeatable: how much
randomness an encryption takes depends on the key.
"""

import json
from functools import cache
from pathlib import Path

from sottovoce.lab.peos.encryption.schemes import new_private_key, read_private_key
from sottovoce.lab.seeded import SeededRng

SMALL_MODULUS_BITS = 1024
FULL_SIZE = json.loads(Path(__file__).with_name("full_size_keys.json").read_text("ascii"))


@cache
def small_key(scheme):
    """Return a private key with a modulus that is too small for anything but tests."""
    return new_private_key(scheme, SeededRng(1), SMALL_MODULUS_BITS)


@cache
def full_size_key(scheme):
    """Return the published private key of 3072 bits: for tests, of no use to anybody else."""
    return read_private_key(FULL_SIZE[scheme]["private_key"])
