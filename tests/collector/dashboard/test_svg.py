"""Drawings on small input, exactly."""

import pytest

from collector.dashboard.reading import read
from sottovoce.collector.dashboard import svg
from sottovoce.collector.dashboard.svg import Scale

CAT = {
    "value": "cat",
    "estimate": 50.0,
    "low": 25.0,
    "high": 100.0,
    "significant": True,
    "suppressed": False,
}
DOG = {
    "value": "dog",
    "estimate": -5.0,
    "low": -25.0,
    "high": 15.0,
    "significant": False,
    "suppressed": False,
}
EEL = {"value": "<eel>", "suppressed": True}


def attributes(element, *names):
    return tuple(element[name] for name in names)


def test_bars_reach_from_zero_to_the_estimate_and_lines_from_low_to_high():
    """The scale goes from -25 to 100: zero is at a fifth."""
    drawing = read(svg.bars([CAT, DOG], "Pets", "a")).one("svg")
    cat, dog = drawing.all("rect", class_="bar")
    assert attributes(cat, "class", "x", "width") == ("bar", "20.0%", "40.0%")
    assert attributes(dog, "class", "x", "width") == ("bar noise", "16.0%", "4.0%")
    whiskers = drawing.all("line", class_="whisker")
    assert attributes(whiskers[0], "x1", "x2") == ("40.0%", "100.0%")
    assert attributes(whiskers[3], "x1", "x2") == ("0.0%", "32.0%")
    values = [one.text for one in drawing.all("text", class_="value")]
    assert values == ["50", "−5 · within noise"]
    assert drawing.one("line", class_="zero")["x1"] == "20.0%"


def test_a_suppressed_bar_is_a_mark_of_one_size_and_a_word():
    drawing = read(svg.bars([CAT, EEL], "Pets", "a")).one("svg")
    gap = drawing.one("rect", class_="gap")
    assert attributes(gap, "x", "width", "fill") == ("0.0%", "28", "url(#a-hatch)")
    assert drawing.one("pattern", id="a-hatch")
    assert [one.text for one in drawing.all("text", class_="value")] == ["50", "suppressed"]
    assert [one.text for one in drawing.all("text", class_="label")] == ["cat", "<eel>"]
    assert len(drawing.all("rect", class_="bar")) == 1
    assert "0 within noise, 1 suppressed" in drawing.one("desc").text


def test_nothing_but_suppressed_bars_can_be_drawn():
    assert len(read(svg.bars([EEL, EEL], "Pets", "a")).all("rect", class_="gap")) == 2


def test_names_are_escaped_and_cut():
    hostile = {**CAT, "value": "<script>" + "x" * 40}
    text = svg.bars([hostile], '<Pets> & "co"', "a")
    assert "<script" not in text
    drawing = read(text)
    assert drawing.one("title", id="a-title").text == '<Pets> & "co"'
    assert drawing.one("text", class_="label").text == "<script>" + "x" * 21 + "…"


def test_a_band_goes_through_the_middles_and_stops_at_gaps():
    rows = [
        {**CAT, "estimate": 20.0, "low": 0.0, "high": 40.0},
        {**CAT, "estimate": 60.0, "low": 20.0, "high": 100.0},
        EEL,
        {**CAT, "estimate": 0.0, "low": 0.0, "high": 20.0},
    ]
    drawing = read(svg.band(rows, [0.0, 1.0, 2.0, 3.0, 4.0], "Shape", "b")).all("svg")[0]
    first, last = drawing.all("polyline", class_="line")
    assert first["points"] == "0,80 12.5,80 37.5,40 50,40"
    assert last["points"] == "75,100 87.5,100 100,100"
    reach = drawing.all("polygon", class_="reach")[0]
    assert reach["points"] == "0,60 12.5,60 37.5,0 50,0 50,80 37.5,80 12.5,100 0,100"
    assert attributes(drawing.one("rect", class_="gap"), "x", "width") == ("50.0%", "25.0%")
    assert "hatched: suppressed" in [one.text for one in drawing.all("text", class_="value")]


def test_a_sparkline_has_a_bar_for_every_count_but_none():
    drawing = read(svg.sparkline([0, 31, 62, 0], "Arrivals", "93 in all", "c"))
    bars = [attributes(one, "x", "y", "width", "height") for one in drawing.all("rect")]
    assert bars == [("25.0%", "33.0", "20.0%", "31.0"), ("50.0%", "2.0", "20.0%", "62.0")]
    assert not read(svg.sparkline([0, 0], "Arrivals", "", "c")).all("rect")


@pytest.mark.parametrize(("done", "width"), [(0.0, "0.0%"), (0.5, "50.0%"), (3.0, "100.0%")])
def test_progress_ends_at_the_end(done, width):
    assert read(svg.progress(done, "half", "d")).one("rect", class_="done")["width"] == width


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0, 9_000, [0, 2_000, 4_000, 6_000, 8_000]),
        (-3, 8, [0, 5]),
        (18, 99, [20, 40, 60, 80]),
    ],
)
def test_ticks_are_few_and_round(low, high, ticks):
    assert Scale(low, high).ticks == pytest.approx(ticks)


def test_a_scale_always_shows_zero_and_never_nothing():
    assert Scale.of([5.0, 7.0]) == Scale(0.0, 7.0)
    assert Scale.of([]) == Scale(0.0, 1.0)
    assert Scale.of([-4.0]) == Scale(-4.0, 0.0)
