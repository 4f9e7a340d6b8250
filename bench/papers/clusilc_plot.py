"""Draw Figure 5 of the paper: a panel for each data set, all rows solid and the tenth fold dashed.

The dotted line, on the right scale, is the share of sets of constraints for which the authors' COP-k-means
finds no solution.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bench.papers.clusilc_curves import Found, counts_in, means, refused_share, tasks_in, values
from bench.papers.clusilc_runs import AUTHORS, COP_AUTHORS, LETTER, OURS
from bench.plots import COLOURS, save_small

COLUMNS = 4
DRAWN = (LETTER, AUTHORS, OURS, COP_AUTHORS)  # the other versions of COP-k-means lie beside this one


def plot_curves(path: Path, found: Found) -> None:
    """Draw a picture file. Needs matplotlib (extra ``plot``)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    tasks = tasks_in(found)
    high = -(-len(tasks) // COLUMNS)
    figure = Figure(figsize=(3.0 * COLUMNS, 2.4 * high + 0.8), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(high, COLUMNS, squeeze=False).ravel()
    for axes, task in zip(grid, tasks, strict=False):
        draw(axes, found, task)
    for axes in grid[max(0, len(tasks) - COLUMNS) : len(tasks)]:
        axes.set_xlabel("constraints")
    for axes in grid[len(tasks) :]:
        axes.set_axis_off()
    names = {
        name: line for axes in grid for line, name in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        names.values(), names.keys(), loc="outside lower center", ncols=4, frameon=False, fontsize=8
    )
    figure.supylabel("Rand index")
    save_small(figure, path, dpi=80)


def draw(axes: Any, found: Found, task: str) -> None:
    """All methods on one set."""
    at = counts_in(found, task)
    for colour, method in zip(COLOURS, DRAWN, strict=False):
        if task not in tasks_in(found, (method,)):
            continue
        for field, style, where in (("rand", "-", "all rows"), ("cv", "--", "tenth fold")):
            curve = means(values(found, task, method, field))
            height, error = np.array([m.value for m in curve]), np.array([m.error for m in curve])
            axes.plot(at, height, style, color=colour, label=f"{method}, {where}", linewidth=1.3)
            axes.fill_between(at, height - error, height + error, color=colour, alpha=0.2, linewidth=0)
    if task in tasks_in(found, (COP_AUTHORS,)):
        share = axes.twinx()
        share.plot(at, refused_share(found, task, COP_AUTHORS), ":", color="black", linewidth=1.0)
        share.set(ylim=(-0.02, 1.02), yticks=[0, 1])
        share.spines[["top"]].set_visible(False)
    axes.set_title(task, fontsize=10)
    axes.spines[["top"]].set_visible(False)
    axes.grid(axis="y", alpha=0.25)
