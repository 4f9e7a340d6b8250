"""The splits of COBRA and COBRAS, drawn by matplotlib as a dendrogram."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT = 0.35, 4.0  # inches of a leaf, and of the figure
MOST_NAMED = 60  # leaves; the names of more would overlap


def plot_splits(tree: Any, ax: Axes | None = None) -> Axes:
    """Draw the nodes of a SplitTree from the question that made them, leaves in colours of clusters."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('Plots need matplotlib. Install it: pip install "linkwise[plot]"') from error
    children = tree.children
    x = place_nodes(children)
    leaves = [node for node, parts in enumerate(children) if not parts]
    if ax is None:
        _, ax = plt.subplots(figsize=(max(4.0, WIDTH * len(leaves)), HEIGHT), layout="constrained")
    end = int(tree.question.max()) + 1
    colours = plt.get_cmap("tab10" if tree.cluster.max() < 10 else "tab20")
    for node, parts in enumerate(children):
        made = int(tree.question[node])
        if not parts:
            colour = colours(int(tree.cluster[node]) % colours.N)
            ax.plot([x[node], x[node]], [made, end], color=colour, linewidth=2)
            continue
        split = int(tree.question[parts[0]])
        ax.plot([x[node], x[node]], [made, split], color="0.5", linewidth=1)
        ax.plot([x[parts[0]], x[parts[-1]]], [split, split], color="0.5", linewidth=1)
    leaves.sort(key=lambda node: x[node])
    if len(leaves) <= MOST_NAMED:
        names = [f"{tree.representative[node]} ({tree.size[node]})" for node in leaves]
        ax.set_xticks([x[node] for node in leaves], names, rotation=90, size=7)
        ax.set_xlabel("representative (number of rows)")
    else:
        ax.set_xticks([])
        ax.set_xlabel(f"{len(leaves)} super-instances")
    ax.set_ylabel("questions answered")
    ax.set_ylim(end, -0.5)
    return ax


def place_nodes(children: list[list[int]]) -> list[float]:
    """Place leaves side by side, and each other node above the middle of its first and last part."""
    x, open_, n_leaves = [0.0] * len(children), [0], 0
    while open_:
        node = open_.pop()
        open_.extend(reversed(children[node]))
        if not children[node]:
            x[node], n_leaves = float(n_leaves), n_leaves + 1
    for node in reversed(range(len(children))):  # parts have higher numbers than what they are parts of
        if children[node]:
            x[node] = float(np.mean([x[children[node][0]], x[children[node][-1]]]))
    return x
