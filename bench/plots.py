"""Curves after each question, side by side. Needs matplotlib (extra ``plot``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#555555", "#e69f00", "#56b4e9")  # Okabe and Ito


class Panel(NamedTuple):
    """One set of axes: a curve by name, and whether the best is the lowest."""

    title: str
    ylabel: str
    curves: Mapping[str, np.ndarray]
    lower_is_better: bool = False


def plot_panels(path: Path, panels: Sequence[Panel], xlabel: str = "questions") -> None:
    """Draw the panels to a picture file; each curve starts at question 1."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6 * len(panels), 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, panel in zip(np.atleast_1d(figure.subplots(1, len(panels))), panels, strict=True):
        for colour, (name, curve) in zip(COLOURS, panel.curves.items(), strict=False):
            axes.plot(np.arange(1, len(curve) + 1), curve, color=colour, label=name, linewidth=1.6)
        axes.set(title=panel.title, xlabel=xlabel, ylabel=panel.ylabel)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", alpha=0.25)
        if panel.lower_is_better:
            axes.invert_yaxis()
    names = axes.get_legend_handles_labels()
    figure.legend(*names, loc="outside lower center", ncols=len(names[1]), frameon=False)
    figure.savefig(path, dpi=150)
