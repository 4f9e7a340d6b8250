"""The tree of an explanation as text, for people, programs, Mermaid and Graphviz."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from linkwise.reasons.cluster_names import call_cluster
from linkwise.reasons.rule_set import RuleSet
from linkwise.reasons.rules import Rule
from linkwise.wording import count_noun


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
