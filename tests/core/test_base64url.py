"""Base64url without padding: what is written is read again, and nothing else is."""

import pytest

from sottovoce.core import settings
from sottovoce.core.base64url import text_of
from sottovoce.errors import ParameterError


@pytest.mark.parametrize("length", range(1, 9))
def test_what_is_written_is_read_again(length):
    data = bytes(range(255, 255 - length, -1))
    text = text_of(data)
    assert "=" not in text
    assert settings.base64url("data", text, length) == data


def test_the_alphabet_is_that_of_addresses():
    assert text_of(b"\xff" * 32) == "_" * 42 + "8"
    with pytest.raises(ParameterError):
        settings.base64url("data", text_of(b"\xff" * 32).replace("_", "/"), 32)
