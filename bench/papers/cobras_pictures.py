"""The figures of the COBRAS paper, drawn from what was measured. Needs matplotlib (extra ``plot``)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bench.papers.cobras_claims import ENOUGH, ratios
from bench.papers.cobras_measured import METHODS, VERSIONS, Measured
from bench.papers.cobras_rivals import RIVALS
from bench.plots import Panel, plot_panels, save_small
from bench.suites.results import COLOURS


def draw_ranks(path: Path, m: Measured, title: str) -> None:
    """Figure 3: average aligned ranks, one panel for each version of COBRAS, on the tasks that all have.

    Methods that were run on less than half of the tasks are left out.
    """
    panels = []
    for version in VERSIONS:
        named = m.as_version(version)
        found = named.shared(named.common(ENOUGH))
        if "COBRAS" in found.learners and len(found.tasks):
            curves = dict(zip(found.learners, found.ranks(), strict=True))
            panels.append(Panel(f"{version}: {len(found.tasks)} {title}", "aligned rank", curves, True))
    if panels:
        plot_panels(path, panels)


def draw_ari(path: Path, m: Measured) -> None:
    """Figure 3(a): average ARI of the same methods."""
    panels = []
    for version in VERSIONS:
        named = m.as_version(version)
        found = named.shared(named.common(ENOUGH))
        if "COBRAS" in found.learners:
            title = f"{version}: {len(found.tasks)} tasks"
            curves = dict(zip(found.learners, found.mean(), strict=True))
            panels.append(Panel(title, "average ARI on test rows", curves))
    if panels:
        plot_panels(path, panels)


def draw_ratios(path: Path, m: Measured) -> None:
    """Figure 4: run time of COBRAS over that of its rivals for each task; above 1 COBRAS is slower."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.8), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    named = m.as_version("letter")
    order = np.argsort(named.sizes, kind="stable")
    for rival in ("COBRA-25", *RIVALS):
        ratio = ratios(named, rival)[order]
        colour = COLOURS[METHODS.index(rival) % len(COLOURS)]
        axes.plot(range(len(order)), ratio, "o", color=colour, label=rival, markersize=5)
    axes.axhline(1, color="grey", linewidth=1)
    axes.set_yscale("log")
    axes.set(ylabel="run time of COBRAS / of the rival")
    axes.set_xticks(range(len(order)), [named.tasks[at] for at in order], rotation=60, ha="right", fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", alpha=0.25)
    figure.legend(loc="outside upper center", ncols=4, frameon=False)
    save_small(figure, path, dpi=100)
