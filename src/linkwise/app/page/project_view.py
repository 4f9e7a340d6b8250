"""How the rows of a data file are shown, and the columns of their rules."""

from __future__ import annotations

from dataclasses import replace

from linkwise.app.page.cards import RowView, create_namer, locate_numbers, numeric_columns
from linkwise.app.project.project import Project
from linkwise.app.project.reading import columns_of_rules
from linkwise.data import Encoded


def view_project(project: Project) -> RowView:
    """Return how the rows of a data file are shown."""
    view, numbers = RowView(project.items, create_namer(project.table.ids)), project.rows.shown_numbers
    if numbers is None:
        return view
    return replace(view, places=locate_numbers(numbers.X, numeric_columns(numbers)))


def project_columns(project: Project) -> Encoded | None:
    """Return the columns in their own units in which rules are made."""
    return columns_of_rules(project.rows, project.session.source.get("impute"))
