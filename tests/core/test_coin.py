"""Public coins: fixed by 16 bytes and the task, uniform, and the same in every language.

The bytes behind them are pinned by the golden vectors (``choice.json``).
"""

import hashlib

from sottovoce.core import coin

DIGEST = "AAAAAAAAAAAAAAAAAAAAAA"


def first_word(content):
    return int.from_bytes(hashlib.sha256(content).digest()[:8], "little")


def test_a_token_gives_a_device_its_bytes_for_one_task():
    device_bytes = coin.enrolled_bytes("token", DIGEST)
    assert len(device_bytes) == coin.COIN_BYTES
    assert device_bytes != coin.enrolled_bytes("token", DIGEST.lower())
    assert device_bytes != coin.enrolled_bytes("another", DIGEST)


def test_coins_are_hashes_of_the_bytes_and_of_what_is_asked():
    device_bytes = bytes(range(16))
    asked = b"sottovoce/coin/v1" + device_bytes + DIGEST.encode()
    assert coin.round_coin(device_bytes, DIGEST) == first_word(asked)
    chosen = b"sottovoce/choice/v1" + device_bytes + b"\x03\0\0\0" + b"\x05\0\0\0"
    assert coin.choice_coin(device_bytes, 3, 5) == first_word(chosen)


def test_coins_of_many_devices_are_spread_evenly():
    """4,000 coins in 16 cells: each within 5 sigma of 250, sigma^2 = 4000 (1/16) (15/16)."""
    cells = [0] * 16
    for number in range(4000):
        device_bytes = coin.enrolled_bytes(f"token {number}", DIGEST)
        cells[coin.round_coin(device_bytes, DIGEST) >> 60] += 1
    assert max(abs(count - 250) for count in cells) < 5 * (4000 * 15 / 256) ** 0.5
