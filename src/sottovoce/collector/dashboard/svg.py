"""Drawings as SVG, made from released rows, each with a description in words.

Horizontal positions are percentages, so that a drawing fills any width while its text keeps its
size.  Suppressed values are hatched and labelled, and have no length.  Colours come from the style
sheet.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from math import floor, log10
from typing import Any

from sottovoce.answers.side_views import DARK_INFORMATION
from sottovoce.collector.dashboard import formatting

Row = dict[str, Any]

_ROW, _AXIS, _TOP = 44, 26, 4  # heights in pixels: a value, the axis, the space above
_BAR, _CAP, _MARK = 14, 4, 28
_BAND, _SPARK = 240, 64  # heights of the band and of the sparkline
_CELL, _NAMES = 30, 34  # the height of a cell of a heat map, and the width of its names in percent
_LONGEST = 30  # characters of a value's name; the table has all of them
_TICKS = 5
_MOST_DECIMALS = 9


@dataclass(frozen=True)
class Scale:
    """Positions of the numbers from ``low`` to ``high``, in percent of the width."""

    low: float
    high: float

    @classmethod
    def of(cls, numbers: Iterable[float]) -> "Scale":
        """Return the scale that shows these numbers and zero.

        >>> Scale.of([30.0, -10.0])
        Scale(low=-10.0, high=30.0)
        """
        known = [0.0, *numbers]
        return cls(min(known), max(known) if max(known) > min(known) else min(known) + 1.0)

    def at(self, number: float) -> float:
        """Return the position of a number.

        >>> Scale(-10, 30).at(0)
        25.0
        """
        return round(100 * (number - self.low) / (self.high - self.low), 2)

    @property
    def ticks(self) -> list[float]:
        """Return a few round numbers within the scale.

        >>> Scale(-10, 30).ticks
        [-10.0, 0.0, 10.0, 20.0, 30.0]
        """
        rough = (self.high - self.low) / _TICKS
        power = 10.0 ** floor(log10(rough))
        step = next(digit * power for digit in (1, 2, 5, 10) if digit * power >= rough * 0.999)
        first, last = -floor(-self.low / step + 1e-9), floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


def _count(row: Row, key: str) -> str:
    return formatting.count(row[key])


def bars(
    rows: Sequence[Row],
    title: str,
    name: str,
    *,
    doubt: str = "within noise",
    write: Callable[[Row, str], str] = _count,
) -> str:
    """Return one bar with its interval for every row; ``name`` makes ids unique on a page.

    ``doubt`` marks rows that are not significant; ``write`` formats a number of a row.
    """
    known = [row for row in rows if not row["suppressed"]]
    scale = Scale.of(bound for row in known for bound in (row["low"], row["high"]))
    height = _TOP + _ROW * len(rows) + _AXIS
    parts = [_hatch(name), *_grid(scale, height - _AXIS, height)]
    for index, row in enumerate(rows):
        top = _TOP + _ROW * index
        written = (
            {}
            if row["suppressed"]
            else {key: write(row, key) for key in ("estimate", "low", "high")}
        )
        parts += (
            _bar(row, top, scale, written, doubt)
            if written
            else _withheld(row, top, scale.at(0), name)
        )
    hidden = len(rows) - len(known)
    noise = sum(not row["significant"] for row in known)
    text = (
        f"{formatting.many(len(rows), 'bar')} with intervals: {noise} {doubt}, {hidden} suppressed."
    )
    frame = _Frame("bars", name, title, f"{text} The table below has the same numbers.")
    return frame.drawing(parts, height)


def band(rows: Sequence[Row], edges: Sequence[float], title: str, name: str) -> str:
    """Return the shape of a number with a band of its intervals; ``edges`` bound the rows."""
    known = [row for row in rows if not row["suppressed"]]
    tall = Scale.of(bound for row in known for bound in (row["low"], row["high"]))
    wide = Scale(edges[0], edges[-1])
    shapes = [
        part
        for first, last in _runs(rows, suppressed=False)
        for part in _shape(rows, edges, range(first, last), wide, tall)
    ]
    gaps = [
        f'<rect class="gap" x="{wide.at(edges[first])}%" y="{_TOP}" height="{_BAND}" '
        f'width="{round(wide.at(edges[last]) - wide.at(edges[first]), 2)}%" '
        f'fill="url(#{name}-hatch)"/>'
        for first, last in _runs(rows, suppressed=True)
    ]
    inner = (
        f'<svg y="{_TOP}" width="100%" height="{_BAND}" viewBox="0 0 100 100" '
        'preserveAspectRatio="none">'
    )
    legend = (
        '<text class="value" x="100%" y="16" text-anchor="end">hatched: suppressed</text>'
        if gaps
        else ""
    )
    plot = [*gaps, inner, *shapes, "</svg>", legend]
    height = _TOP + _BAND + _AXIS
    lines, ticks = _levels(tall)
    hidden = len(rows) - len(known)
    parts = [_hatch(name), *lines, *plot, *ticks, *_labels(wide, height)]
    text = (
        f"A line with a band over {len(rows):,} values, {hidden:,} of them suppressed."
        " The table has the numbers."
    )
    return _Frame("band", name, title, text).drawing(parts, height)


def heat(
    names: Sequence[str],
    table: Sequence[Sequence[float]],
    framed: Sequence[tuple[int, int]],
    title: str,
    name: str,
) -> str:
    """Return a cell for every pair of names, darker the more information they share."""
    pairs = [(row, column) for row in range(1, len(names)) for column in range(row)]
    most = max(DARK_INFORMATION, *(table[row][column] for row, column in pairs))
    wide = (100 - _NAMES) / (len(names) - 1)
    parts = []
    for row, column in pairs:
        number, kind = table[row][column], "cell tree" if (column, row) in framed else "cell"
        label = f"{names[column]}, {names[row]}: {number:.4f}"
        parts.append(
            f"<g><title>{escape(label)}</title>"
            f'<rect class="{kind}" x="{round(_NAMES + wide * column, 2)}%" '
            f'y="{_TOP + _CELL * (row - 1)}" width="{round(0.92 * wide, 2)}%" height="{_CELL - 4}" '
            f'fill-opacity="{round(max(number, 0.0) / most, 3)}"/></g>'
        )
    row, column = max(pairs, key=lambda pair: table[pair[0]][pair[1]])
    largest = f"the largest number is that of {names[column]} and {names[row]}."
    text = f"{formatting.many(len(pairs), 'pair')}; {largest}"
    height = _TOP + _CELL * (len(names) - 1) + _AXIS
    frame = _Frame("heat", name, title, f"{text} The table has all.")
    return frame.drawing([*parts, *_sides(names, wide, height)], height)


def _sides(names: Sequence[str], wide: float, height: int) -> list[str]:
    """Return the numbered names of the rows, and the numbers of the columns."""
    numbered = [f"{number}. {name}" for number, name in enumerate(names, 1)]
    rows = [
        f'<text class="label" x="0" y="{_TOP + _CELL * row - 11}">{escape(_cut(label))}</text>'
        for row, label in enumerate(numbered[1:], 1)
    ]
    columns = [
        f'<text class="tick" x="{round(_NAMES + wide * (column + 0.46), 2)}%" y="{height - 8}" '
        f'text-anchor="middle"><title>{escape(name)}</title>{column + 1}</text>'
        for column, name in enumerate(names[:-1])
    ]
    first = f'<text class="tick" x="0" y="{height - 8}">{escape(_cut(numbered[0]))}</text>'
    return [*rows, *columns, first]


def thresholds(rows: Sequence[Row], title: str, name: str) -> str:
    """Return a bar for every test, as long as its statistic in parts of its threshold.

    A row has a ``title``, a ``ratio`` of statistic and threshold and whether it is an ``alarm``.
    The line is the threshold.  Ratios beyond three times the threshold end at the edge.
    """
    scale = Scale(0.0, 3.0)
    parts = []
    for number, row in enumerate(rows):
        top = _TOP + _ROW * number
        width = scale.at(min(max(row["ratio"], 0.0), scale.high))
        kind = "bar alarm" if row["alarm"] else "bar"
        label = f"{row['title']}: {row['text']}"
        parts.append(
            f'<g><title>{escape(label)}</title><text class="label" x="0" y="{top + 16}">'
            f"{escape(row['title'])}</text>"
            f'<rect class="{kind}" x="0" y="{top + 22}" width="{width}%" height="{_BAR}"/></g>'
        )
    height = _TOP + _ROW * len(rows) + _AXIS
    limit = scale.at(1.0)
    line = (
        f'<line class="whisker" x1="{limit}%" x2="{limit}%" y1="{_TOP}" y2="{height - _AXIS}"/>'
        f'<text class="tick" x="{limit}%" y="{height - 8}" text-anchor="middle">alarm</text>'
    )
    alarming = [row["title"] for row in rows if row["alarm"]]
    text = f"Beyond the line: {', '.join(alarming) or 'none'}."
    return _Frame("thresholds", name, title, f"{text} The table has all.").drawing(
        [*parts, line], height
    )


def sparkline(counts: Sequence[int], title: str, text: str, name: str) -> str:
    """Return one thin bar for every count; the largest is as tall as the drawing."""
    most, step = max(counts, default=0) or 1, 100 / max(len(counts), 1)
    parts = [f'<line class="zero" x1="0" x2="100%" y1="{_SPARK - 0.5}" y2="{_SPARK - 0.5}"/>']
    for index, number in enumerate(counts):
        if number:
            tall = round(max(2.0, (_SPARK - 2) * number / most), 1)
            parts.append(
                f'<rect class="spark" x="{round(index * step, 2)}%" y="{round(_SPARK - tall, 1)}" '
                f'width="{round(0.8 * step, 2)}%" height="{tall}"/>'
            )
    return _Frame("sparkline", name, title, text).drawing(parts, _SPARK)


def progress(done: float, title: str, name: str) -> str:
    """Return a bar that is filled to a share from 0 to 1."""
    share = round(100 * min(max(done, 0.0), 1.0), 2)
    parts = [
        '<rect class="track" width="100%" height="8" rx="4"/>',
        f'<rect class="done" width="{share}%" height="8" rx="4"/>',
    ]
    return _Frame("progress", name, title).drawing(parts, 8)


@dataclass(frozen=True)
class _Frame:
    """What surrounds a drawing: class, a name that makes ids unique, title and description."""

    kind: str
    name: str
    title: str
    text: str = ""

    def drawing(self, parts: Sequence[str], height: int) -> str:
        """Return the whole drawing."""
        ids = f"{self.name}-title"
        described = ""
        if self.text:
            ids += f" {self.name}-desc"
            described = f'<desc id="{self.name}-desc">{escape(self.text)}</desc>'
        head = (
            f'<svg class="{self.kind}" role="img" aria-labelledby="{ids}" '
            f'width="100%" height="{height}">'
        )
        title = f'<title id="{self.name}-title">{escape(self.title)}</title>'
        return f"{head}{title}{described}{''.join(parts)}</svg>"


def _hatch(name: str) -> str:
    return (
        f'<defs><pattern id="{name}-hatch" width="6" height="6" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><line class="hatch" y2="6" stroke-width="2"/></pattern>'
        "</defs>"
    )


def _bar(row: Row, top: int, scale: Scale, texts: dict[str, str], doubt: str) -> list[str]:
    start, end = sorted((scale.at(0), scale.at(row["estimate"])))
    low, high = scale.at(row["low"]), scale.at(row["high"])
    middle, certain = top + 20 + _BAR / 2, row["significant"]
    value = texts["estimate"] + ("" if certain else f" · {doubt}")
    bounds = f"{row['value']}: {texts['low']} to {texts['high']}"
    kind = "bar" if certain else "bar noise"
    return [
        f"<g><title>{escape(bounds)}</title>",
        *_named(row, top, value),
        f'<rect class="{kind}" x="{start}%" y="{top + 20}" width="{round(end - start, 2)}%" '
        f'height="{_BAR}"/>',
        f'<line class="whisker" x1="{low}%" x2="{high}%" y1="{middle:g}" y2="{middle:g}"/>',
        *(
            f'<line class="whisker" x1="{end}%" x2="{end}%" '
            f'y1="{middle - _CAP:g}" y2="{middle + _CAP:g}"/>'
            for end in (low, high)
        ),
        "</g>",
    ]


def _withheld(row: Row, top: int, start: float, name: str) -> list[str]:
    """Return a mark of fixed size: a length would reveal a number."""
    box = f'x="{start}%" y="{top + 20}" width="{_MARK}" height="{_BAR}"'
    return [*_named(row, top, "suppressed"), f'<rect class="gap" {box} fill="url(#{name}-hatch)"/>']


def _named(row: Row, top: int, value: str) -> list[str]:
    return [
        f'<text class="label" x="0" dx="6" y="{top + 14}">{escape(_cut(row["value"]))}</text>',
        f'<text class="value" x="100%" y="{top + 14}" text-anchor="end">{escape(value)}</text>',
    ]


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _grid(scale: Scale, bottom: int, height: int) -> list[str]:
    lines = []
    for tick in scale.ticks:
        kind = "grid" if tick else "zero"
        position = scale.at(tick)
        lines.append(
            f'<line class="{kind}" x1="{position}%" x2="{position}%" y1="0" y2="{bottom}"/>'
        )
    return [*lines, *_labels(scale, height)]


def _labels(scale: Scale, height: int) -> list[str]:
    labels = []
    for tick, text in _written(scale):
        position = scale.at(tick)
        labels.append(
            f'<text class="tick" x="{position}%" y="{height - 8}" '
            f'text-anchor="{_anchor(position)}">{text}</text>'
        )
    return labels


def _anchor(position: float) -> str:
    """Return how a text is aligned so that it does not leave the drawing."""
    if position < 1.5:
        return "start"
    return "end" if position > 97 else "middle"


def _written(scale: Scale) -> list[tuple[float, str]]:
    """Return the ticks with as many decimals as they all need."""
    ticks = scale.ticks
    enough = (
        count for count in range(_MOST_DECIMALS) if all(_whole(tick * 10**count) for tick in ticks)
    )
    decimals = next(enough, _MOST_DECIMALS)
    return [(tick, f"{tick:,.{decimals}f}".replace("-", "−")) for tick in ticks]


def _whole(number: float) -> bool:
    return abs(number - round(number)) < 1e-6 * max(1.0, abs(number))


def _levels(tall: Scale) -> tuple[list[str], list[str]]:
    """Return the lines behind a band, and the numbers in front of it."""
    lines, numbers = [], []
    for tick, text in _written(tall):
        height = round(_TOP + _BAND * (1 - tall.at(tick) / 100), 2)
        kind = "grid" if tick else "zero"
        lines.append(f'<line class="{kind}" x1="0" x2="100%" y1="{height:g}" y2="{height:g}"/>')
        if tick > 0:
            numbers.append(f'<text class="tick" x="0" y="{height + 14:g}">{text}</text>')
    return lines, numbers


def _runs(rows: Sequence[Row], *, suppressed: bool) -> list[tuple[int, int]]:
    """Return the first and the last index of every run of rows that are suppressed, or are not."""
    runs, start = [], 0
    for kind, group in groupby(row["suppressed"] for row in rows):
        size = len(list(group))
        if kind is suppressed:
            runs.append((start, start + size))
        start += size
    return runs


def _shape(
    rows: Sequence[Row], edges: Sequence[float], run: range, wide: Scale, tall: Scale
) -> list[str]:
    """Return band and line of a run of rows; at both ends they are level up to the edge."""
    chosen = [rows[run[0]], *(rows[index] for index in run), rows[run[-1]]]
    middles = [wide.at((edges[index] + edges[index + 1]) / 2) for index in run]
    positions = [wide.at(edges[run[0]]), *middles, wide.at(edges[run[-1] + 1])]

    def line(key: str) -> list[tuple[float, float]]:
        heights = [round(100 - tall.at(row[key]), 2) for row in chosen]
        return list(zip(positions, heights, strict=True))

    return [
        f'<polygon class="reach" points="{_points([*line("high"), *reversed(line("low"))])}"/>',
        f'<polyline class="line" points="{_points(line("estimate"))}"/>',
    ]


def _points(pairs: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{across:g},{down:g}" for across, down in pairs)
