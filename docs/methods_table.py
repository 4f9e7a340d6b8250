"""A directive for Sphinx: the methods of one kind as a table, from the one list of all methods."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from linkwise.methods import METHODS, N_CLUSTERS, Method


class MethodsTable(SphinxDirective):
    """``.. methods-table:: learner`` lists all learners."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Build the table."""
        kind = self.arguments[0]
        rows = [method for method in METHODS if method.kind == kind]
        if not rows:
            raise self.error(
                f"There is no kind of method called {kind!r}. Take learner, clusterer or search."
            )
        on_command_line = kind != "search"
        head = [
            "Class",
            *(["On the command line", "Number of clusters"] if on_command_line else []),
            "In short",
        ]
        lines = [".. list-table::", "   :header-rows: 1", ""]
        for cells in (head, *(_cells(method, on_command_line=on_command_line) for method in rows)):
            lines += [f"   {'*' if at == 0 else ' '} - {cell}" for at, cell in enumerate(cells)]
        return self.parse_text_to_nodes("\n".join(lines))


def _cells(method: Method, *, on_command_line: bool) -> list[str]:
    about = [f"``--method {method.name}``", _clusters_in_words(method)] if on_command_line else []
    return [f":class:`~linkwise.{method.class_name}`", *about, method.summary]


def _clusters_in_words(method: Method) -> str:
    if N_CLUSTERS not in method.options:
        return "found"
    return "required" if method.needs == (N_CLUSTERS.parameter,) else "optional"


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("methods-table", MethodsTable)
    return {"parallel_read_safe": True}
