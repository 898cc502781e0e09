"""Figures of answers: every bar with its interval, the truth beside it where it is known."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.answers.answer import Answer
from sottovoce.answers.answers import Answers
from sottovoce.answers.number_answer import NumberAnswer
from sottovoce.answers.side_views import DARK_INFORMATION
from sottovoce.answers.summary import Row, shown
from sottovoce.errors import MissingExtraError, ParameterError

MAX_VALUES = 30
_LONGEST = 32  # characters of a value's name
_BAR, _FRAME = 0.27, 1.3  # inches of a bar, and of a panel's title and axis
_CLEAR, _FAINT, _INK, _TRUTH, _MENDED = "#4c84b6", "#c5d6e6", "#22313f", "#e4572e", "#2a9d5c"
_PALE_INK = "#5b6b7a"
_MARGIN = 0.12  # inches around a figure
_NUMBERED = 12  # names of a map whose cells have room for numbers

Truth = Mapping[str, float]


def bars(
    answer: Answer, path: str | Path | None = None, truth: Truth | None = None, ax: Any = None
) -> Any:
    """Draw the most frequent values or bands; ``truth`` counts people per value."""
    panel = _Panel(answer, shown(answer, MAX_VALUES), truth)
    figure, axes = _axes(8, panel.height, ax)
    panel.draw(axes)
    return _saved(figure, path)


def grid(
    answers: Answers,
    path: str | Path | None = None,
    truths: Mapping[str, Truth] | None = None,
    ax: Any = None,
) -> Any:
    """Draw the answers to several questions in two columns of about equal height.

    If axes are given, the charts replace them, below each other.
    """
    panels = [
        _Panel(part, shown(part, MAX_VALUES), (truths or {}).get(name))
        for name, part in answers.items()
    ]
    if ax is not None:
        heights = [panel.height for panel in panels]
        for axes, panel in zip(_stacked_axes(ax, heights), panels, strict=True):
            panel.draw(axes)
        return _saved(ax.figure, path)
    stacks = _stacked(panels) if len(panels) > 1 else [panels]
    tallest = max(sum(panel.height for panel in stack) for stack in stacks)
    figure = _figure(7 * len(stacks), tallest)
    subfigures = figure.subfigures(1, len(stacks), squeeze=False)[0]
    for subfigure, stack in zip(subfigures, stacks, strict=True):
        spare = (tallest - sum(panel.height for panel in stack)) / _BAR
        heights = [*(len(panel.rows) for panel in stack), spare + 0.01]
        axes = subfigure.subplots(len(stack) + 1, 1, height_ratios=heights)
        axes[-1].set_axis_off()
        for axis, panel in zip(axes, stack, strict=False):
            panel.draw(axis)
    return _saved(figure, path)


def beside(answer: Answer, path: str | Path | None = None, truth: Truth | None = None) -> Any:
    """Draw raw and consistent estimates of the most frequent values beside the truth."""
    rows, consistent = shown(answer.raw, MAX_VALUES), answer.raw.consistent()
    mended = {row["value"]: row for row in consistent.rows()}
    panel = _Panel(answer.raw, rows, truth)
    figure = _figure(8, panel.height)
    axes = figure.subplots()
    panel.draw(axes)
    totals = [sum(mended[member]["estimate"] for member in row["members"]) for row in rows]
    percent = [100 * total / answer.estimate.population for total in totals]
    axes.plot(
        percent,
        range(len(rows)),
        "o",
        color=_MENDED,
        markeredgecolor="white",
        label="consistent",
        zorder=4,
    )
    axes.legend(
        loc="lower right",
        bbox_to_anchor=(1.01, 1.0),
        ncols=3,
        frameon=False,
        fontsize=9,
        borderaxespad=0.2,
    )
    return _saved(figure, path)


def figures(
    answer: NumberAnswer,
    path: str | Path | None = None,
    truth: Truth | None = None,
    ax: Any = None,
) -> Any:
    """Draw every figure of a number with its interval, each on a scale of its own."""
    rows = answer.rows()
    if ax is None:
        canvas = _figure(8, _FRAME + 0.85 * len(rows))
        panels = list(canvas.subplots(len(rows), 1, squeeze=False)[:, 0])
    else:
        canvas = ax.figure
        panels = _stacked_axes(ax, [1.0] * len(rows))
    for axes, row in zip(panels, rows, strict=True):
        reach = [[row["estimate"] - row["low"]], [row["high"] - row["estimate"]]]
        axes.errorbar(
            [row["estimate"]], [0], xerr=reach, fmt="o", color=_CLEAR, ecolor=_INK, capsize=3
        )
        if truth and row["value"] in truth:
            axes.plot([truth[row["value"]]], [0], "D", color=_TRUTH, markersize=5)
        axes.set_yticks([0], [_short(row["value"])], parse_math=False)
        axes.set_ylim(-1, 1)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.tick_params(labelsize=9, colors=_INK)
        _plain_numbers(axes.xaxis)
        axes.set_xlabel("on the scale of the task", fontsize=8, color=_INK)
    level = f"{100 * answer.level:g} % intervals"
    facts = f"{answer.users:,} users, epsilon {answer.epsilon:g}, {answer.mechanism}, {level}"
    _head(panels[0], answer.name, facts)
    return _saved(canvas, path)


def heat(
    names: Sequence[str],
    tables: Mapping[str, Any],
    path: str | Path | None = None,
    edges: Sequence[Any] = (),
    ax: Any = None,
) -> Any:
    """Draw a number for every pair of names, one panel per table; ``edges`` are framed pairs.

    If axes are given, the panels replace them, beside each other.  The colours reach at least to
    0.1 nats, so that a map of noise alone stays pale.
    """
    if ax is None:
        figure = _figure(1 + 4.2 * len(tables), 4.9)
        panels = list(figure.subplots(1, len(tables), squeeze=False)[0])
    else:
        figure = ax.figure
        panels = [ax] if len(tables) == 1 else _axes_beside(ax, len(tables))
    most = max(DARK_INFORMATION, *(float(np.nanmax(table)) for table in tables.values()))
    for axes, (title, table) in zip(panels, tables.items(), strict=True):
        image = axes.imshow(table, cmap="Blues", vmin=0, vmax=most)
        axes.set_title(title, loc="left", fontsize=11, color=_INK)
        axes.set_xlabel("attribute", fontsize=9, color=_INK)
        axes.set_xticks(
            range(len(names)), [_short(name) for name in names], rotation=60, ha="right", fontsize=8
        )
        axes.set_yticks(range(len(names)), [_short(name) for name in names], fontsize=8)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        _write_numbers(axes, table, most)
        for first, second in edges:
            for column, row in ((first, second), (second, first)):
                axes.add_patch(_frame(column, row))
    if edges:
        tree = [_frame(0, 0)]
        panels[0].legend(
            tree,
            ["pair of the tree"],
            loc="lower left",
            bbox_to_anchor=(0, 1.07),
            frameon=False,
            fontsize=9,
            handlelength=1,
            handleheight=1,
        )
    figure.colorbar(image, ax=panels, shrink=0.8, label="mutual information (nats)")
    return _saved(figure, path)


@dataclass(frozen=True)
class GroupedNumbers:
    """One number for each of several groups, and the facts behind them."""

    name: str
    rows: Sequence[tuple[str, Any]]
    level: float
    facts: str


def groups(
    numbers: GroupedNumbers,
    path: str | Path | None = None,
    truth: Truth | None = None,
    ax: Any = None,
) -> Any:
    """Draw one number of several groups, each with its interval; unstable ones are faint."""
    rows, level = numbers.rows, numbers.level
    figure, axes = _axes(8, _FRAME + _BAR * len(rows), ax)
    places = range(len(rows))
    values = [number.value for _, number in rows]
    intervals = [number.interval(level) for _, number in rows]
    reach: list[list[float]] = [[], []]
    for value, (low, high) in zip(values, intervals, strict=True):
        bounded = isfinite(low) and isfinite(high)  # an interval that is everything is not drawn
        reach[0].append(max(0.0, value - low) if bounded else 0.0)
        reach[1].append(max(0.0, high - value) if bounded else 0.0)
    colours = [_FAINT if number.unstable else _CLEAR for _, number in rows]
    axes.barh(places, values, color=colours, height=0.72, zorder=2)
    label = f"{100 * level:g} % interval"
    axes.errorbar(
        values,
        places,
        xerr=reach,
        fmt="none",
        ecolor=_INK,
        elinewidth=1.1,
        capsize=2.5,
        label=label,
    )
    if truth is not None:
        known = [truth.get(group, float("nan")) for group, _ in rows]
        axes.plot(
            known,
            places,
            "D",
            color=_TRUTH,
            markeredgecolor="white",
            markersize=5.5,
            label="truth",
            zorder=4,
        )
    axes.set_yticks(places, [_short(group) for group, _ in rows], parse_math=False)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    _clean(axes, numbers.name)
    _plain_numbers(axes.xaxis)
    _head(axes, numbers.name, numbers.facts)
    return _saved(figure, path)


def density(answer: Any, path: str | Path | None = None, truth: Any = None, ax: Any = None) -> Any:
    """Draw the density of a number with a band; ``truth`` counts people per interval."""
    figure, axes = _axes(8, 4.2, ax)
    low, high = answer.estimate.interval(answer.level)
    scale = 1 / (answer.edges[1:] - answer.edges[:-1]) / answer.estimate.population
    band = f"{100 * answer.level:g} % band"
    axes.fill_between(answer.middles, low * scale, high * scale, color=_FAINT, label=band, zorder=1)
    axes.plot(
        answer.middles,
        answer.estimate.totals * scale,
        color=_CLEAR,
        linewidth=1.8,
        label="estimate",
        zorder=3,
    )
    if truth is not None:
        axes.step(
            answer.middles,
            truth * scale,
            where="mid",
            color=_TRUTH,
            linewidth=1.0,
            label="truth",
            zorder=2,
        )
    _head(axes, answer.name, _Panel(answer, [], None).facts)
    _clean(axes, _short(answer.name), "y")
    axes.set_ylabel("density", fontsize=9, color=_INK)
    _plain_numbers(axes.xaxis)
    _plain_numbers(axes.yaxis)
    axes.set_ylim(bottom=0)
    return _saved(figure, path)


@dataclass(frozen=True)
class ErrorCurve:
    """The error of one mechanism by epsilon, measured and expected, as shares."""

    name: str
    epsilons: Sequence[float]
    measured: Sequence[float]
    expected: Sequence[float]


def error_curves(
    curves: Sequence[ErrorCurve], facts: str, path: str | Path | None = None, ax: Any = None
) -> Any:
    """Draw errors by epsilon on logarithmic scales: points are measured, lines expected."""
    from matplotlib.ticker import NullFormatter

    figure, axes = _axes(8, 4.6, ax)
    for curve in curves:
        (line,) = axes.plot(
            curve.epsilons, [100 * error for error in curve.expected], linewidth=1.4
        )
        measured = [100 * error for error in curve.measured]
        axes.plot(curve.epsilons, measured, "o", color=line.get_color(), label=curve.name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(sorted({epsilon for curve in curves for epsilon in curve.epsilons}))
    for axis in (axes.xaxis, axes.yaxis):
        _plain_numbers(axis)
        axis.set_minor_formatter(NullFormatter())
    axes.tick_params(which="both", length=0, labelsize=9, colors=_INK)
    axes.grid(which="both", color="#e3e8ed")
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("epsilon", fontsize=9, color=_INK)
    axes.set_ylabel("standard error of a share, %", fontsize=9, color=_INK)
    axes.legend(frameon=False, fontsize=9)
    _head(axes, "Error by mechanism", f"{facts}; points: measured, lines: expected")
    return _saved(figure, path)


@dataclass(frozen=True, eq=False)
class _Panel:
    """One question: its rows, drawn as bars."""

    answer: Answer
    rows: list[Row]
    truth: Truth | None

    @property
    def height(self) -> float:
        """Return the inches that the panel needs."""
        return _FRAME + _BAR * len(self.rows)

    def draw(self, axes: Any) -> None:
        """Put bars, intervals, truth and names on the axes."""
        percent = [100 * row["share"] for row in self.rows]
        reach = [self._percent(row["high"] - row["low"]) / 2 for row in self.rows]
        colours = [_CLEAR if row["significant"] else _FAINT for row in self.rows]
        places, label = range(len(self.rows)), f"{100 * self.answer.level:g} % interval"
        axes.barh(places, percent, color=colours, height=0.72, zorder=2)
        axes.errorbar(
            percent,
            places,
            xerr=reach,
            fmt="none",
            ecolor=_INK,
            elinewidth=1.1,
            capsize=2.5,
            label=label,
        )
        if self.truth is not None:
            people = [
                sum(self.truth.get(value, 0) for value in row["members"]) for row in self.rows
            ]
            known = [self._percent(count) for count in people]
            axes.plot(
                known,
                places,
                "D",
                color=_TRUTH,
                markeredgecolor="white",
                markersize=5.5,
                label="truth",
                zorder=4,
            )
        self._name(axes)
        _clean(axes)

    def _percent(self, people: float) -> float:
        return 100 * people / self.answer.estimate.population

    def _name(self, axes: Any) -> None:
        axes.set_yticks(
            range(len(self.rows)), [_short(row["value"]) for row in self.rows], parse_math=False
        )
        axes.set_ylim(len(self.rows) - 0.4, -0.6)
        _head(axes, self.answer.name, self.facts)

    @property
    def facts(self) -> str:
        """Return a caption with the facts behind the answer."""
        estimate = self.answer.estimate
        scaled = f" of {estimate.population:,}" if estimate.population > estimate.users else ""
        users = f"{estimate.users:,}{scaled} users"
        return f"{users}, epsilon {estimate.epsilon:g}, {self.answer.mechanism}"


def _head(axes: Any, title: str, facts: str) -> None:
    """Put a title above the axes, and the facts behind the drawing below the title."""
    axes.set_title(
        _short(title),
        loc="left",
        fontsize=12,
        fontweight="bold",
        color=_INK,
        pad=22,
        parse_math=False,
    )
    axes.annotate(
        facts, (0, 1), (0, 8), "axes fraction", "offset points", fontsize=9, color=_PALE_INK
    )


def _plain_numbers(axis: Any) -> None:
    """Write ticks as whole numbers with commas, never as a remainder beside an offset."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:,.10g}"))


def _frame(column: int, row: int) -> Any:
    """Return a frame around one cell of a map."""
    from matplotlib.patches import Rectangle

    return Rectangle((column - 0.45, row - 0.45), 0.9, 0.9, fill=False, edgecolor=_TRUTH, lw=1.6)


def _write_numbers(axes: Any, table: Any, most: float) -> None:
    """Write the number of every pair into its cell, if there is room."""
    if len(table) > _NUMBERED:
        return
    for row, column in zip(*np.nonzero(~np.eye(len(table), dtype=bool)), strict=True):
        number = float(table[row, column])
        if isfinite(number):
            colour = "white" if number > most / 2 else _INK
            axes.text(column, row, f"{number:.2f}", ha="center", va="center", color=colour)


def _clean(axes: Any, label: str = "share of people, %", lines: str = "x") -> None:
    axes.set_xlabel(label, fontsize=9, color=_INK)
    axes.tick_params(length=0, labelsize=9, colors=_INK)
    (axes.axvline if lines == "x" else axes.axhline)(0, color=_INK, linewidth=0.8, zorder=3)
    axes.grid(axis=lines, color="#e3e8ed")
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    axes.legend(
        loc="lower right",
        bbox_to_anchor=(1.01, 1.0),
        ncols=3,
        frameon=False,
        fontsize=9,
        borderaxespad=0.2,
    )


def _stacked(panels: list[_Panel]) -> list[list[_Panel]]:
    """Return the panels in two columns of about equal height."""
    columns: list[list[int]] = [[], []]
    for index in sorted(range(len(panels)), key=lambda index: -panels[index].height):
        shorter = min(columns, key=lambda column: sum(panels[number].height for number in column))
        shorter.append(index)
    return [[panels[index] for index in sorted(column)] for column in sorted(columns, key=min)]


def _figure(width: float, height: float) -> Any:
    try:
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError:
        raise MissingExtraError(
            "matplotlib is not installed: pip install 'sottovoce[plot]'"
        ) from None
    layout = ConstrainedLayoutEngine(w_pad=_MARGIN, h_pad=_MARGIN)
    return Figure(figsize=(width, max(height, 2.6)), layout=layout)


def _axes(width: float, height: float, ax: Any) -> tuple[Any, Any]:
    """Return a new figure with axes, or the given axes with their figure."""
    if ax is not None:
        return ax.figure, ax
    figure = _figure(width, height)
    return figure, figure.subplots()


def _stacked_axes(ax: Any, heights: Sequence[float]) -> list[Any]:
    """Replace axes by several axes below each other."""
    figure = ax.figure
    parts = _divided(ax).subgridspec(len(heights), 1, height_ratios=heights)
    return [figure.add_subplot(part) for part in parts]


def _axes_beside(ax: Any, count: int) -> list[Any]:
    """Replace axes by several axes beside each other."""
    figure = ax.figure
    parts = _divided(ax).subgridspec(1, count)
    return [figure.add_subplot(part) for part in parts]


def _divided(ax: Any) -> Any:
    """Remove axes, and return their grid cell in the figure."""
    cell_of_grid = ax.get_subplotspec()
    if cell_of_grid is None:
        raise ParameterError(
            "`ax` must be made by subplots(), because it is divided into several axes"
        )
    ax.remove()
    return cell_of_grid


def _saved(figure: Any, path: str | Path | None) -> Any:
    if path is None:
        return figure
    known = figure.canvas.get_supported_filetypes()
    if Path(path).suffix[1:].lower() not in known:
        raise ParameterError(f"a figure is saved to a name that ends in one of: {', '.join(known)}")
    with warnings.catch_warnings():
        # Values may be in any script, and no font has the characters of all of them.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure.savefig(path, dpi=140)
    return figure


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
