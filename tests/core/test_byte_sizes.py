"""Sizes as operators write them."""

import pytest

from sottovoce.core.byte_sizes import byte_size
from sottovoce.errors import ParameterError


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1GB", 10**9),
        ("1gib", 1 << 30),
        ("512 MB", 512 * 10**6),
        ("1.5KiB", 1536),
        ("268435456", 1 << 28),
        (" 2TB ", 2 * 10**12),
    ],
)
def test_a_size_is_a_number_and_a_unit(text, size):
    assert byte_size("memory", text) == size


@pytest.mark.parametrize("text", ["", "GB", "-1GB", "1 gigabyte", "1GBB", "1e9", "nan"])
def test_anything_else_is_refused_by_the_name_of_the_setting(text):
    with pytest.raises(ParameterError, match="`memory` must be a size such as 512MB"):
        byte_size("memory", text)
