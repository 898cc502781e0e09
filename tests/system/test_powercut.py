"""A collector whose machine loses power loses nothing that it acknowledged.

Collectors that do not sync are found out in ``test_twins.py``.
"""

import pytest

from system.crash import Kill, Scenario, Trial
from system.disk import disk

KILLS = (
    Kill(round=0, share=0.5, delay=0.002),
    Kill("seal: committed", 1),
    Kill("erase: committed", 1),
)


@pytest.mark.parametrize("kind", ["ext4", "xfs"])
def test_a_power_cut_takes_nothing_that_was_acknowledged(tmp_path, kind):
    with disk(kind, tmp_path / "data") as made:
        result = Trial(made.folder, 2, Scenario(KILLS, erase=True), disk=made).run()
        assert result.findings == []
        assert made.cuts >= len(KILLS) == result.kills.total()
