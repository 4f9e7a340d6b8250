"""Presenters for what the command line opens: a data file with its session, or a demo."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from linkwise.app.page.cards import RowView, project_columns, project_notes, view_numbers, view_project
from linkwise.app.page.presenter import Presenter
from linkwise.app.project.project import Project
from linkwise.data.demo_sets import DemoSet
from linkwise.session.session import Session


def present_project(
    project: Project, *, budget: int | None = None, overlap: float = 0.0, gold: str = ""
) -> Presenter:
    """Return the presenter of a data file and its session."""
    return Presenter(
        project.session,
        project.encoded.X,
        view_project(project),
        title=project.title,
        columns=project_columns(project),
        notes=project_notes(project),
        budget=budget,
        overlap=overlap,
        gold=gold,
        project=project,
    )


def present_demo(
    session: Session, data: DemoSet, *, path: Path | None = None, budget: int | None = None
) -> Presenter:
    """Return the presenter of bundled data."""
    units = data.units
    if data.items is not None:
        view = RowView(data.items, compared=data.rows)
    else:
        assert units is not None
        view = replace(view_numbers(units.X, units.feature_names), compared=data.rows)
    return Presenter(
        session,
        data.X,
        view,
        title=data.name,
        place=None if path is None else str(path),
        columns=units,
        budget=budget,
        classes=data.y,
    )
