"""The page about shuffling: its code runs and prints what it says, and its table is the code's."""

import re
from pathlib import Path

import pytest

from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.olh import OLH
from sottovoce.mechanisms.subset import SubsetSelection

PAGE = (Path(__file__).parents[2] / "docs" / "shuffling.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS)
def test_every_block_prints_what_its_comments_say(block, capsys):
    exec(compile(block, "shuffling.md", "exec"), {})
    promised = re.findall(r"^print.*?# (.*)$", block, re.MULTILINE)
    assert promised
    assert capsys.readouterr().out.splitlines() == promised


@pytest.mark.parametrize(
    ("mechanism", "share", "overlap"),
    [
        (GRR(1.0, 10), 1 / 10, 0),
        (AffineResponse(1.0, 100, 4), 1 / 4, (128 / 4 - 1) / 127),
        (OLH(1.0, 100, 5), 1 / 5, 1 / 5),
        (SubsetSelection(1.0, 10, 3), 3 / 10, 2 / 9),
    ],
)
def test_the_table_of_blankets_is_that_of_the_code(mechanism, share, overlap):
    assert (mechanism.share, mechanism.overlap) == pytest.approx((share, overlap))
