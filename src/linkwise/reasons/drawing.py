"""The tree of an explanation as text, for people, programs, Mermaid and Graphviz, and as a picture."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.reasons.cluster_names import call_cluster
from linkwise.reasons.rule_set import RuleSet
from linkwise.reasons.rules import Rule
from linkwise.wording import count_noun

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def to_text(found: RuleSet) -> str:
    """The tests as lines, their answers indented below."""
    rules = _by_leaf(found)
    lines: list[str] = []
    stack = [(0, "", "")]  # node, text before it, text before its answers
    while stack:
        node, lead, indent = stack.pop()
        test = found.tree.tests[node]
        if test is None:
            lines.append(f"{lead}{_leaf_in_words(rules[node])}")
            continue
        lines.append(f"{lead}{found.clauses[node]}?")
        stack += [
            (int(found.tree.no[node]), f"{indent}└─ no:  ", f"{indent}   "),
            (int(found.tree.yes[node]), f"{indent}├─ yes: ", f"{indent}│  "),
        ]
    return "\n".join(lines)


def to_mermaid(found: RuleSet) -> str:
    """A flowchart; text in boxes is escaped, so that data cannot end a box."""

    def quoted(text: str) -> str:
        safe = "".join(f"#{ord(c)};" if c in '"#;<>&`\\' else c for c in " ".join(text.split()))
        return f'"{safe}"'

    def box(node: int, text: str, leaf: bool) -> str:
        return f"  n{node}({quoted(text)})" if leaf else f"  n{node}[{quoted(text)}]"

    return "\n".join(["flowchart TD", *_graph(found, box, lambda a, b, answer: f"  n{a} -->|{answer}| n{b}")])


def to_dot(found: RuleSet) -> str:
    """A directed graph for Graphviz."""

    def quoted(text: str) -> str:
        text = " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
        return f'"{text}"'

    def box(node: int, text: str, leaf: bool) -> str:
        return f"  n{node} [label={quoted(text)}{', style=rounded' if leaf else ''}];"

    edges = _graph(found, box, lambda a, b, answer: f'  n{a} -> n{b} [label="{answer}"];')
    return "\n".join(["digraph clusters {", "  node [shape=box];", *edges, "}"])


def _graph(
    found: RuleSet, box: Callable[[int, str, bool], str], edge: Callable[[int, int, str], str]
) -> list[str]:
    """Boxes and edges of all nodes, from the root on."""
    rules = _by_leaf(found)
    lines = []
    for node, test in enumerate(found.tree.tests):
        if test is None:
            lines.append(box(node, _leaf_in_words(rules[node]), True))
            continue
        lines.append(box(node, f"{found.clauses[node]}?", False))
        lines.append(edge(node, int(found.tree.yes[node]), "yes"))
        lines.append(edge(node, int(found.tree.no[node]), "no"))
    return lines


def to_dict(found: RuleSet) -> list[dict[str, Any]]:
    """Nodes from the root on; `above` is the threshold that decides, in the units of X."""
    rules = _by_leaf(found)
    nodes: list[dict[str, Any]] = []
    for node, test in enumerate(found.tree.tests):
        if test is None:
            rule = rules[node]
            nodes.append({"cluster": rule.cluster, "rows": rule.n_rows, "right": rule.n_right})
            continue
        nodes.append(
            {
                "test": str(found.clauses[node]),
                "column": test.column,
                "equals" if test.equals else "above": test.value,
                "yes": int(found.tree.yes[node]),
                "no": int(found.tree.no[node]),
            }
        )
    return nodes


def _by_leaf(found: RuleSet) -> dict[int, Rule]:
    return {rule.leaf: rule for rule in found.rules}


def _leaf_in_words(rule: Rule) -> str:
    right = f", {rule.n_right} right" if rule.n_right < rule.n_rows else ""
    return f"{call_cluster(rule.cluster)} ({count_noun(rule.n_rows, 'row')}{right})"


# ---------------------------------------------------------------- pictures
# The tree of an explanation, drawn by matplotlib.
WIDTH, HEIGHT = 1.9, 1.3  # inches of a leaf, and of a level
LINE = 18  # characters


def plot(found: RuleSet, ax: Axes | None = None) -> Axes:
    """Tests as boxes, yes to the left; leaves in the colours of their clusters, paler where less pure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('Plots need matplotlib. Install it: pip install "linkwise[plot]"') from error
    tree, at = found.tree, node_positions(found)
    if ax is None:
        n_leaves, depth = len(found.rules), 1 + max(level for _, level in at.values())
        _, ax = plt.subplots(figsize=(WIDTH * max(n_leaves, 2), HEIGHT * depth), layout="constrained")
    colours = plt.get_cmap("tab10" if len(found.clusters) <= 10 else "tab20")
    for node, (x, level) in at.items():
        for child, answer in ((int(tree.yes[node]), "yes"), (int(tree.no[node]), "no")):
            if child >= 0:
                there = at[child]
                ax.plot([x, there[0]], [-level, -there[1]], color="0.6", linewidth=1, zorder=1)
                middle = ((x + there[0]) / 2, -(level + there[1]) / 2)
                ax.text(
                    *middle, answer, size=8, color="0.4", ha="center", va="center", backgroundcolor="white"
                )
        if tree.tests[node] is not None:
            text, face = fill(f"{found.clauses[node]}?", LINE), np.ones(3)
        else:
            rule = next(rule for rule in found.rules if rule.leaf == node)
            right = f"\n{rule.n_right} right" if rule.n_right < rule.n_rows else ""
            name = fill(call_cluster(rule.cluster), LINE)
            text = f"{name}\n{count_noun(rule.n_rows, 'row')}{right}"
            purity = rule.n_right / rule.n_rows if rule.n_rows else 0.0
            full = np.array(colours(int(tree.label[node]) % colours.N)[:3])
            face = 1 - (0.15 + 0.45 * purity) * (1 - full)
        box = {"boxstyle": "round,pad=0.5", "facecolor": tuple(face), "edgecolor": "0.5"}
        ax.text(x, -level, text, size=9, ha="center", va="center", bbox=box, zorder=2, parse_math=False)
    ax.set_xlim(-0.6, max(x for x, _ in at.values()) + 0.6)
    ax.set_ylim(-max(level for _, level in at.values()) - 0.5, 0.5)
    ax.set_axis_off()
    return ax


def node_positions(found: RuleSet) -> dict[int, tuple[float, int]]:
    """The place and level of each node: leaves side by side from yes to no, parents above their middle."""
    tree = found.tree
    at: dict[int, tuple[float, int]] = {}
    for number, (leaf, way) in enumerate(tree.ways()):
        at[leaf] = (float(number), len(way))
    level = np.zeros(len(tree.tests), dtype=int)
    for node in range(len(tree.tests)):
        for child in (tree.yes[node], tree.no[node]):
            if child >= 0:
                level[child] = level[node] + 1
    for node in reversed(range(len(tree.tests))):  # children have higher numbers than their parents
        if tree.tests[node] is not None:
            yes, no = at[int(tree.yes[node])], at[int(tree.no[node])]
            at[node] = ((yes[0] + no[0]) / 2, int(level[node]))
    return at
