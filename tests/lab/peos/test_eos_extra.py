"""The extra ``eos``: what is missing is named, and nothing else is hidden."""

import subprocess
import sys

import pytest

from sottovoce.errors import MissingExtraError
from sottovoce.lab.peos.eos_extra import needs_eos


def test_a_failed_import_says_what_to_install():
    advice = r"pip install 'sottovoce\[eos\]'"
    with pytest.raises(MissingExtraError, match=advice), needs_eos():
        raise ImportError("no module")


def test_other_errors_pass():
    with pytest.raises(ZeroDivisionError), needs_eos():
        raise ZeroDivisionError


def test_without_the_library_a_key_cannot_be_made_and_the_error_says_why():
    script = (
        "import sys\n"
        "sys.modules['gmpy2'] = None\n"
        "from sottovoce.core.rng import SystemRng\n"
        "from sottovoce.errors import MissingExtraError\n"
        "from sottovoce.lab.peos.encryption import schemes\n"
        "for scheme in schemes.SCHEMES:\n"
        "    try:\n        schemes.new_private_key(scheme, SystemRng())\n"
        "    except MissingExtraError:\n        continue\n"
        "    sys.exit('was not refused')\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
