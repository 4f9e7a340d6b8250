"""Desks for what the command line opens: a data file with its session, a demo."""

from __future__ import annotations

from pathlib import Path

from linkwise import datasets
from linkwise.data import Encoded, Feature, encode, image_items
from linkwise.datasets import scale_to_unit
from linkwise.page.cards import View, named, numbers_of, of_numbers, places_in
from linkwise.page.presenter import Desk
from linkwise.session.session import Session
from linkwise.workspace.project import Project


def of_project(project: Project, *, budget: int | None = None) -> Desk:
    """The desk of a data file and its session."""
    table, encoded = project.table, project.encoded
    view, columns = View(project.items, named(table.ids)), None
    if project.items.kind == "record":
        view = View(project.items, named(table.ids), places_in(encoded.X, numbers_of(encoded)))
        impute = project.session.source.get("impute")
        columns = encode(table, scale="none", impute=impute, categories="codes")
    return Desk(
        project.session,
        encoded.X,
        view,
        title=project.data.name,
        place=str(project.path),
        columns=columns,
        notes=(*table.notes, *encoded.notes),
        budget=budget,
    )


def of_demo(
    session: Session, data: datasets.Dataset, *, path: Path | None = None, budget: int | None = None
) -> Desk:
    """The desk of bundled data."""
    view = of_numbers(data.X, data.names) if data.images is None else View(image_items(data.images))
    features = tuple(Feature(name, name, None, "numeric") for name in data.names)
    return Desk(
        session,
        scale_to_unit(data.X),
        view,
        title=data.name,
        place=None if path is None else str(path),
        columns=Encoded(data.X, features, ()) if data.images is None else None,
        budget=budget,
        classes=data.y,
    )
