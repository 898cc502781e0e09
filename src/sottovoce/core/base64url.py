"""Bytes as text: base64url without padding, as documents, answers and addresses write them.

``settings.base64url`` reads it.
"""

from base64 import urlsafe_b64encode


def text_of(data: bytes) -> str:
    """Return bytes as base64url without padding.

    >>> text_of(bytes([0, 1, 2, 255]))
    'AAEC_w'
    """
    return urlsafe_b64encode(data).rstrip(b"=").decode()
