"""No sentence of a page ends twice, though names, values and columns end in a full stop."""

from __future__ import annotations

import datetime as dt
import json
import re

import polars as pl
import pytest

import linkwise as lw
from linkwise.app.page.opening import present_project
from linkwise.app.project.exit_codes import error_sentence
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.project import open_project
from linkwise.data.columns.proposals import NOTHING_GIVEN
from linkwise.data.reading import Reading
from linkwise.errors import DataError
from linkwise.reasons.near_rows import describe_near_rows
from linkwise.wording import merge_full_stops

N = 40
ENDS = ("Inc.", "Who?", "Now!")
DOUBLED = re.compile(r"(?<!\.)\.\.(?!\.)|[?!]\.(?=\s|$)|\. \.(?=\s|$)|\.{4}")
ASKED = [
    *({"do": do} for do in ("history", "suspects", "review", "team", "table", "results", "rules")),
    {"do": "profiles"},
    {"do": "members", "cluster": 0}, {"do": "find", "text": "Inc"},
    *({"do": "why", "first": first, "second": second} for first, second in ((0, 1), (0, 2), (0, 5), (9, 30))),
    {"do": "merge", "first": 0, "second": 99}, {"do": "change", "event": 1, "answer": "no"},
    {"do": "name", "cluster": 0, "name": "A."}, {"do": "move", "rows": [3], "to": "new", "labels": -1},
    {"do": "read", "columns": [{"name": "Nr.", "use": "compare", "kind": "number"}]},
    {"do": "take_back", "event": 2}, {"do": "undo"}, {"do": "take_back", "event": 99},
]  # fmt: skip


def write_table(path, end):
    """A table of which every name ends as a sentence does."""
    kind = [i % 2 for i in range(N)]
    pl.DataFrame(
        {
            f"Nr. {end}": [f"Acme {i} {end}" for i in range(N)],
            f"Age {end}": [20 + 40 * one + i % 7 for i, one in enumerate(kind)],
            f"Pay {end}": [float(2**(i % 20) + i) for i in range(N)],
            f"Plan {end}": [f"{'pro' if one else 'basic'} {end}" for one in kind],
            f"Gap {end}": [None if i % 5 else i for i in range(N)],
            f"Same {end}": ["x"] * N,
            f"Sent {end}": [str(dt.datetime(2024, 1, 1) + dt.timedelta(hours=7 * i)) for i in range(N)],
            f"Zip {end}": [8001, 8002, 8003, 8004] * (N // 4),
        }
    ).write_csv(path)  # fmt: skip


def list_readings(end):
    yield NOTHING_GIVEN
    yield Reading(log=(f"Pay {end}",), weights={f"Age {end}": 2.0}, drop=(f"Gap {end}",))
    yield Reading(cycles=(f"Sent {end}",), as_categories=(f"Zip {end}",), impute="median")
    yield Reading(text=(f"Plan {end}",), columns=(f"Age {end}",), show=(f"Pay {end}",))


def list_texts(value):
    """All texts in values for JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from list_texts(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from list_texts(each)


def find_doubled(value):
    return [text for text in list_texts(value) if DOUBLED.search(text)]


@pytest.mark.parametrize(
    "end",
    [ENDS[0], *(pytest.param(end, marks=pytest.mark.slow(nightly=True)) for end in ENDS[1:])],
    ids=["stop", "question", "call"],
)
@pytest.mark.parametrize("at", range(4), ids=["proposals", "weights", "cycles", "texts"])
def test_no_sentence_of_a_page_ends_twice(tmp_path, end, at):
    data = tmp_path / "people.csv"
    write_table(data, end)
    reading = list(list_readings(end))[at]
    project = open_project(data, tmp_path / "people.linkwise", reading, MethodChoice())
    session, presenter = project.session, present_project(project)
    said = []

    def ask(request):
        reply = presenter.handle({"id": "a", **request})
        json.dumps(reply.body)
        said.append(reply.body)

    for row in (1, 2, 3):
        session.add(0, row, "cannot-link" if row % 2 else "must-link", source=f"Ann {end}")
    session.add(2, 4, "must-link", source=f"Bob {end}")
    session.add(0, 4, "cannot-link", source=f"Bob {end}")
    for cluster in presenter.state()["clusters"]:
        ask({"do": "name", "cluster": cluster["cluster"], "name": f"Ltd {end}"})
    for request in ASKED:
        ask(request)
        said.append(presenter.state())
    said += [repr(project.rows), project.notes, project.advice.notes, project.advice.sentences]
    said.append(describe_near_rows(session.labels, session.X, 0, 1, session.ids.__getitem__))
    for options in (
        {"drop": ["Nr"]},
        {"weights": {f"Pay{end}": 2}},
        {"columns": [f"Nr. {end}"]},
        {"id": f"Same {end}"},
    ):
        with pytest.raises(DataError) as caught:
            lw.read(data, **options)
        said.append(error_sentence(caught.value))
    presenter.close()
    assert any(text.endswith((end, f"{end}.")) for text in list_texts(said))
    assert find_doubled(said) == []


@pytest.mark.parametrize(
    ("text", "merged"),
    [
        ("It is Acme Inc..", "It is Acme Inc."),
        ("Who?. Me.. So it is.", "Who? Me. So it is."),
        ("And so on....", "And so on..."),
        ("Wait… It is...", "Wait… It is..."),
        ("See ../data and a..b, 'x..'.", "See ../data and a..b, 'x..'."),
    ],
    ids=["name", "two", "dots", "ellipsis", "paths"],
)  # fmt: skip
def test_full_stops_that_meet_are_merged(text, merged):
    assert merge_full_stops(text) == merged
