"""The page about mechanisms is the one that the code writes."""

from pathlib import Path

import pytest

from sottovoce.lab.mechanism_page import PICTURES, draw, is_drawn, page, write
from sottovoce.mechanisms.base import Mechanism

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_up_to_date_and_has_a_section_for_every_kind():
    text = (DOCS / "mechanisms.md").read_text(encoding="utf-8")
    assert text == page(), "make docs writes it"
    for kind in Mechanism.kinds.classes():
        assert f"## {kind.__name__} (`{kind.kind}`)" in text


def test_every_drawn_kind_has_its_picture():
    drawn = [kind.kind for kind in Mechanism.kinds.classes() if is_drawn(kind)]
    assert len(drawn) > 10
    assert sorted(drawn) == sorted(path.stem for path in (DOCS / PICTURES).glob("*.png"))


@pytest.mark.parametrize("kind", ["grr", "duchi"])
def test_a_kind_is_drawn(kind, tmp_path):
    pytest.importorskip("matplotlib")
    draw(Mechanism.kinds[kind], tmp_path / "drawn.png")
    assert (tmp_path / "drawn.png").stat().st_size > 5_000


def test_a_folder_of_docs_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr("sottovoce.lab.mechanism_page.draw", lambda kind, path: path.touch())
    write(tmp_path)
    assert (tmp_path / "mechanisms.md").read_text(encoding="utf-8") == page()
