"""Figures: drawn without global state, readable back from their parts."""

import io
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

import sottovoce as sv
from sottovoce.answers.chart import bars, grid, heat
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


def test_every_outcome_is_drawn_into_given_axes(pets, survey):
    from matplotlib.figure import Figure

    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert pets.plot(ax=left) is figure
    assert len(left.patches) == 4
    survey.plot(ax=right)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["pets", "pet", "age", "item"]
    with pytest.raises(ParameterError, match="must be made by subplots"):
        survey.plot(ax=Figure().add_axes((0, 0, 1, 1)))


def test_a_mean_is_drawn_with_axis_title_and_without_offset(tmp_path):
    task = sv.Task("income", sv.Mean(0, 10_000_000), 1.0)
    answer = sv.simulate(task, [9_000_000.0] * 500, seed=1)
    figure = answer.plot(tmp_path / "mean.png")
    (axes,) = figure.axes
    assert axes.get_xlabel()
    assert axes.get_title(loc="left") == "income"
    figure.savefig(io.BytesIO())  # lays the figure out
    assert axes.xaxis.get_offset_text().get_text() == ""
    assert any("," in label.get_text() for label in axes.get_xticklabels())
    assert answer.frame("pandas")["value"].tolist() == ["mean"]


def test_a_density_names_both_axes():
    answer = sv.simulate(sv.Task("age", sv.Distribution(0, 120), 2.0), [40.0] * 300, seed=1)
    (axes,) = answer.plot().axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("age", "density")


def test_a_map_of_noise_stays_pale_and_has_its_numbers():
    noise = np.array([[0.0, 0.002], [0.002, 0.0]])
    axes = heat(["a", "b"], {"estimated": noise}, edges=[(0, 1)]).axes[0]
    assert axes.images[0].get_clim() == (0, 0.1)
    assert [text.get_text() for text in axes.texts] == ["0.00", "0.00"]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["pair of the tree"]


@pytest.mark.parametrize("count", [1, 2])
def test_maps_are_drawn_into_the_axes_of_a_caller(count):
    figure = Figure(layout="constrained")
    left, right = figure.subplots(1, 2)
    tables = {f"map {number}": np.array([[0.0, 0.2], [0.2, 0.0]]) for number in range(count)}
    assert heat(["a", "b"], tables, ax=right) is figure
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert [title for title in titles if title] == list(tables)
    assert left in figure.axes
    assert not left.images


def test_no_label_is_cut_at_the_margin(pets):
    figure = bars(pets)
    figure.savefig(io.BytesIO())  # lays the figure out
    (axes,) = figure.axes
    boxes = [label.get_window_extent() for label in axes.get_yticklabels()]
    assert min(box.x0 for box in boxes) >= 0.1 * figure.dpi
