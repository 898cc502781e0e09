"""Figures: drawn without global state, readable back from their parts."""

import subprocess
import sys

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.answers.chart import bars, grid
from sottovoce.errors import ParameterError

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def pets():
    task = sv.Task("pets", sv.Histogram(["cat", "dog", "$100_bill^2$", "none"]), 1.0)
    return sv.simulate(task, ["cat"] * 3_000 + ["dog"] * 1_000, seed=1)


@pytest.fixture(scope="module")
def survey():
    task = sv.Task(
        "s",
        sv.Survey({"pet": ["cat", "dog"], "age": range(18, 100), "item": list("abcdefgh")}),
        1.0,
    )
    dice = np.random.default_rng(1)
    held = {
        "pet": ["cat", "dog"] * 1_500,
        "age": dice.integers(18, 100, 3_000),
        "item": list("abcdefgh") * 375,
    }
    return sv.simulate(task, held, seed=1)


def test_bars_show_share_interval_and_truth(pets, tmp_path):
    figure = bars(pets, tmp_path / "pets.png", {"cat": 3_000, "dog": 1_000})
    assert (tmp_path / "pets.png").read_bytes().startswith(PNG)
    (axes,) = figure.axes
    shares = [bar.get_width() for bar in axes.patches]
    assert shares == pytest.approx([100 * row["share"] for row in pets.top(4)])
    assert "epsilon 1" in axes.texts[0].get_text()
    assert "4,000 users" in axes.texts[0].get_text()
    assert {text.get_text() for text in axes.get_legend().get_texts()} == {"truth", "95 % interval"}


def test_an_answer_draws_itself(pets, tmp_path):
    pets.plot(tmp_path / "pets.svg", truth={"cat": 3_000})
    assert b"<svg" in (tmp_path / "pets.svg").read_bytes()


def test_dollars_in_a_label_are_not_mathematics(pets):
    (axes,) = bars(pets).axes
    assert "$100_bill^2$" in [label.get_text() for label in axes.get_yticklabels()]
    assert not any(label.get_parse_math() for label in axes.get_yticklabels())


def test_a_long_answer_shows_thirty_values():
    task = sv.Task("many", sv.Histogram([f"value {index}" for index in range(100)]), 1.0)
    (axes,) = bars(sv.simulate(task, [f"value {index % 7}" for index in range(2_000)], seed=1)).axes
    assert len(axes.patches) == 30


def test_a_grid_has_a_panel_for_every_question(survey, tmp_path):
    figure = grid(survey, tmp_path / "grid.png", {"pet": {"cat": 1_500, "dog": 1_500}})
    assert (tmp_path / "grid.png").read_bytes().startswith(PNG)
    titles = {axes.get_title(loc="left") for axes in figure.axes} - {""}
    assert titles == {"pet", "age", "item"}


def test_a_format_that_cannot_be_written_is_refused(pets, tmp_path):
    with pytest.raises(ParameterError, match="ends in one of"):
        bars(pets, tmp_path / "pets.docx")


def test_drawing_leaves_pyplot_alone():
    code = (
        "import sys, sottovoce as sv\n"
        "from sottovoce.answers.chart import bars\n"
        "bars(sv.simulate(sv.Task('t', sv.Histogram(['a', 'b']), 1.0), ['a'] * 9, seed=1))\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
