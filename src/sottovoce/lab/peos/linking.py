"""The attack that fresh randomness prevents: following ciphertexts through a permutation.

The server holds the private key.  Suppose it also controls a shuffler that had the ciphertexts
before a permutation it does not know, and gets them again afterwards.  The server decrypts both
vectors.  If words were added without fresh randomness, entry j came from entry i exactly if

    after[j] = before[i] * base^(decrypt(after[j]) - decrypt(before[i])) mod n

With fresh randomness no pair fulfils that, but for a negligible probability.

Source: Wang 2021, section 9.5.
"""

from sottovoce.lab.peos.encryption.base import WORD_BITS, Ciphertexts, HomomorphicPrivateKey
from sottovoce.lab.peos.eos_extra import needs_eos


def linked_positions(
    before: Ciphertexts, after: Ciphertexts, private_key: HomomorphicPrivateKey
) -> list[tuple[int, int]]:
    """Return the pairs of positions before and after a permutation that the server can link."""
    with needs_eos():
        from gmpy2 import powmod
    public_key = private_key.public
    words_before = private_key.decrypt_all(before).tolist()
    words_after = private_key.decrypt_all(after).tolist()
    pairs = []
    for target, word_after in enumerate(words_after):
        for source, word_before in enumerate(words_before):
            added = (word_after - word_before) % (1 << WORD_BITS)
            power = powmod(public_key.word_base, added, public_key.modulus)
            if public_key.add(before[source], power) == after[target]:
                pairs.append((source, target))
    return pairs
