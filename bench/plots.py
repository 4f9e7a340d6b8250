"""Curves over questions, side by side. Needs matplotlib (extra ``plot``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.suites.results import COLOURS


class Panel(NamedTuple):
    """One set of axes.

    Attributes
    ----------
    title, ylabel : str
    curves : dict of ndarray
        By name.
    lower_is_better : bool
        The lowest is drawn at the top.
    at : sequence of int, optional
        Where the curves are known; from question 1 on, one by one, by default.
    errors : dict of ndarray
        Standard errors of curves, drawn as bands.
    xlabel : str, optional
        In place of that of all panels.
    """

    title: str
    ylabel: str
    curves: Mapping[str, np.ndarray]
    lower_is_better: bool = False
    at: Sequence[int] | None = None
    errors: Mapping[str, np.ndarray] = {}
    xlabel: str | None = None


def plot_panels(
    path: Path, panels: Sequence[Panel], xlabel: str = "questions", columns: int | None = None
) -> None:
    """Draw the panels to a picture file: all in one row, or in rows of `columns` on one scale."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    wide = columns or len(panels)
    high = -(-len(panels) // wide)
    size = (6 * wide, 4.5) if high == 1 else (3.2 * wide, 2.8 * high + 0.5)
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(high, wide, squeeze=False, sharey=columns is not None).ravel()
    names = list(dict.fromkeys(name for panel in panels for name in panel.curves))
    lines = {}
    for axes, panel in zip(grid, panels, strict=False):
        lines |= _draw(axes, panel, xlabel, names)
        if columns is not None:
            axes.label_outer()
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    shown = [lines[name] for name in names]
    figure.legend(shown, names, loc="outside lower center", ncols=len(names), frameon=False)
    save_small(figure, path, dpi=150 if high == 1 else 100)


def save_small(figure: Any, path: Path, dpi: int) -> None:
    """Write a PNG file with a palette, which is a third as large and looks the same."""
    from PIL import Image

    with BytesIO() as buffer:
        figure.savefig(buffer, format="png", dpi=dpi)
        picture = Image.open(buffer).convert("RGB").quantize(64, Image.Quantize.MAXCOVERAGE, kmeans=5)
        picture.save(path, format="png", optimize=True)


def _draw(axes: Any, panel: Panel, xlabel: str, names: Sequence[str]) -> dict[str, Any]:
    """Draw a panel, each curve in the colour of its name; return the lines by name."""
    lines = {}
    for name, curve in panel.curves.items():
        number = names.index(name)
        at = np.arange(1, len(curve) + 1) if panel.at is None else np.asarray(panel.at)
        colour, dash = COLOURS[number % len(COLOURS)], "-" if number < len(COLOURS) else "--"
        [lines[name]] = axes.plot(at, curve, dash, color=colour, label=name, linewidth=1.6)
        if name in panel.errors:
            error = panel.errors[name]
            axes.fill_between(at, curve - error, curve + error, color=colour, alpha=0.2, linewidth=0)
    axes.set(title=panel.title, xlabel=panel.xlabel or xlabel, ylabel=panel.ylabel)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", alpha=0.25)
    if panel.lower_is_better:
        axes.invert_yaxis()
    return lines
