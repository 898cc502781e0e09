"""The reference page is the one that the code writes."""

import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "reference.md"


def test_the_reference_page_is_up_to_date():
    command = [sys.executable, "-m", "sottovoce.lab.reference"]
    written = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert written == PAGE.read_text(encoding="utf-8"), "make docs writes it"
