"""Presenters for what the command line opens: a data file with its session, or a demo."""

from __future__ import annotations

from pathlib import Path

from linkwise import datasets
from linkwise.data import Encoded, Feature, image_items
from linkwise.datasets import scale_to_unit
from linkwise.page.cards import RowView, view_numbers
from linkwise.page.presenter import Presenter
from linkwise.page.project_view import project_columns, view_project
from linkwise.session.session import Session
from linkwise.workspace.project import Project


def present_project(
    project: Project, *, budget: int | None = None, overlap: float = 0.0, gold: str = ""
) -> Presenter:
    """Return the presenter of a data file and its session."""
    return Presenter(
        project.session,
        project.encoded.X,
        view_project(project),
        title=project.title,
        place=str(project.path),
        columns=project_columns(project),
        notes=(*project.rows.notes, *project.advice.sentences),
        budget=budget,
        overlap=overlap,
        gold=gold,
        project=project,
    )


def present_demo(
    session: Session, data: datasets.Dataset, *, path: Path | None = None, budget: int | None = None
) -> Presenter:
    """Return the presenter of bundled data."""
    view = view_numbers(data.X, data.names) if data.images is None else RowView(image_items(data.images))
    features = tuple(Feature(name, name, None, "numeric") for name in data.names)
    return Presenter(
        session,
        scale_to_unit(data.X),
        view,
        title=data.name,
        place=None if path is None else str(path),
        columns=Encoded(data.X, features, ()) if data.images is None else None,
        budget=budget,
        classes=data.y,
    )
