"""The extra ``sealed``: what is missing is named, and nothing else is hidden."""

import subprocess
import sys

import pytest

from sottovoce.errors import MissingExtraError
from sottovoce.wire.sealed_extra import needs_cryptography


def test_a_failed_import_says_what_to_install():
    advice = r"pip install 'sottovoce\[sealed\]'"
    with pytest.raises(MissingExtraError, match=advice), needs_cryptography():
        raise ImportError("no module")


def test_other_errors_pass():
    with pytest.raises(ZeroDivisionError), needs_cryptography():
        raise ZeroDivisionError


@pytest.mark.parametrize(
    "work",
    [
        "seal.seal(b'x', [bytes(32)], seal.SealContext(bytes(32), 0, 0, 1))",
        "seal.open_layer(bytes(49), bytes(32), seal.SealContext(bytes(32), 0, 0, 1), 0)",
        "round_keys.new_round_key()",
        "round_keys.new_signing_key()",
        "round_keys.KeyStatement(bytes(32), 0, 0, bytes(32)).sign(bytes(32))",
        "tokens.new_issuer_key()",
        "tokens.Issuer(b'')",
    ],
)
def test_without_the_library_every_use_says_so(work):
    script = (
        "import sys\n"
        "sys.modules['cryptography'] = None\n"
        "from sottovoce.errors import MissingExtraError\n"
        "from sottovoce.wire import round_keys, seal, tokens\n"
        f"try:\n    {work}\n"
        "except MissingExtraError:\n    sys.exit(0)\n"
        "sys.exit('was not refused')\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
