"""The columns as a person sees them, and the reading by what they choose."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise.data import encode, from_frame, survey_columns
from linkwise.data.show.column_views import USES, read_by_views, view_columns
from linkwise.errors import DataError

N = 40
rng = np.random.default_rng(0)
PEOPLE = pl.DataFrame(
    {
        "customer": [f"C{n:03}" for n in range(N)],
        "age": rng.integers(18, 90, N),
        "income": np.exp(np.linspace(1, 5, N) ** 1.3).round(2),
        "plan": ["basic", "Basic", "pro", "team"] * 10,
        "zip": [8001, 8002, 8001, 8004] * 10,
        "fax": [None, None, None, 5, 6] * 8,
        "class": ["a", "b"] * 20,
    }
)
TEXTS = ["the lamp is broken again", "my lamp is late", "a late parcel again", "the parcel is broken"]


def look(table):
    encoded = encode(table, impute="median" if table.kind == "record" else None)
    return {view.name: view for view in view_columns(table, survey_columns(table, encoded).shares)}


def describe(table):
    """All that decides how rows are compared and seen."""
    return {c.name: c.role for c in table.columns}, table.reading.log, table.reading.cycles, table.shown


def test_what_a_person_sees_of_a_table():
    views = look(from_frame(PEOPLE, propose=True))
    assert [(v.kind, v.use) for v in views.values()] == [
        ("text", "id"), ("number", "compare"), ("amount", "compare"), ("category", "compare"),
        ("category", "compare"), ("number", "show"), ("category", "show"),
    ]  # fmt: skip
    assert {name for name, view in views.items() if view.is_proposed} == {"customer", "income", "zip", "fax"}
    assert views["fax"].missing == 0.6
    assert views["fax"].influence is None
    assert sum(v.influence for v in views.values() if v.influence is not None) == pytest.approx(1)
    assert (views["age"].example, views["age"].kinds) == (
        str(PEOPLE["age"][0]),
        ("number", "amount", "category"),
    )
    assert "more than half is missing" in views["fax"].reason


def test_each_proposal_can_be_rejected():
    table = from_frame(PEOPLE, propose=True)
    views = look(table)
    otherwise = {name: view.otherwise for name, view in views.items() if view.is_proposed}
    assert otherwise == {
        "customer": ("show", "text"), "income": ("compare", "number"), "zip": ("compare", "number"),
        "fax": ("compare", "number"),
    }  # fmt: skip
    chosen = [
        replace(v, use=v.otherwise[0], kind=v.otherwise[1]) if v.otherwise else v for v in views.values()
    ]
    again = look(from_frame(PEOPLE, read_by_views(table, chosen)))
    assert {name: (again[name].use, again[name].kind) for name in otherwise} == otherwise
    assert not any(view.is_proposed for view in again.values())


def test_a_column_with_gaps_can_be_compared():
    frame = PEOPLE.select("age", "fax")
    table = from_frame(frame)
    views = [replace(view, use="compare") for view in look(from_frame(frame, propose=True)).values()]
    assert encode(from_frame(frame, read_by_views(table, views))).X.shape == (N, 2)


def test_a_person_changes_uses_and_kinds():
    table = from_frame(PEOPLE, propose=True)
    views = look(table)
    chosen = [
        replace(views["customer"], use="ignore"),
        views["age"],
        replace(views["income"], kind="number"),
        replace(views["plan"], use="show"),
        replace(views["zip"], kind="number"),
        replace(views["fax"], use="compare"),
        replace(views["class"], use="compare"),
    ]
    again = from_frame(PEOPLE, read_by_views(table, chosen))
    roles = {c.name: c.role for c in again.columns}
    assert roles == {
        "customer": "left out", "age": "numeric", "income": "numeric", "plan": "left out", "zip": "numeric",
        "fax": "numeric", "class": "category",
    }  # fmt: skip
    assert again.ids is None
    assert again.reading.log is None
    assert again.shown == ("plan",)
    assert [(v.name, v.kind, v.use) for v in look(again).values()] == [
        (v.name, v.kind, v.use) for v in chosen
    ]


def test_texts_with_and_without_other_columns():
    frame = pl.DataFrame(
        {"body": [f"{text} {n}" for n, text in enumerate(TEXTS * 10)], "size": rng.normal(size=N)}
    )
    table = from_frame(frame, propose=True)
    views = look(table)
    assert (views["body"].kind, views["body"].use, views["size"].use) == ("text", "compare", "show")
    both = from_frame(frame, read_by_views(table, [views["body"], replace(views["size"], use="compare")]))
    assert both.features == ("body", "size")
    alone = from_frame(frame, read_by_views(both, [replace(views["body"], use="show"), look(both)["size"]]))
    assert alone.features == ("size",)


def test_curves_are_one_column():
    curves = np.sin(np.linspace(0, 6, 24) + rng.uniform(0, 6, (30, 1)))
    frame = pl.DataFrame(
        {"place": [f"p{n}" for n in range(30)], **{f"t{n:02}": curves[:, n] for n in range(24)}}
    )
    table = from_frame(frame, propose=True)
    views = look(table)
    assert list(views) == ["place", "curve"]
    assert views["curve"].influence == pytest.approx(1)
    assert describe(from_frame(frame, read_by_views(table, list(views.values())))) == describe(table)
    with pytest.raises(DataError, match="Set 'place' to show"):
        read_by_views(table, [replace(views["place"], use="compare"), views["curve"]])
    with pytest.raises(DataError, match="No column is left"):
        read_by_views(table, [views["place"], replace(views["curve"], use="ignore")])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda views: [*views, views[0]], "there twice"),
        (lambda views: [replace(views[0], name="other")], "is not in the table"),
        (lambda views: [replace(view, use="show") for view in views], "No column is left to compare"),
        (
            lambda views: [replace(view, use="id") for view in views],
            "'customer' and 'age' are both to be the id",
        ),
        (lambda views: [replace(views[1], kind="date")], "'age' cannot be a date. Set it to one of: number"),
    ],
    ids=["twice", "unknown", "nothing", "two ids", "kind"],
)
def test_what_cannot_be_chosen(change, message):
    table = from_frame(PEOPLE, propose=True)
    with pytest.raises(DataError, match=message):
        read_by_views(table, change(list(look(table).values())))


CELLS = st.one_of(
    st.lists(st.sampled_from(["a", "A", "b ", "", None, "x y", "x z"]), min_size=12, max_size=12),
    st.lists(st.sampled_from([*TEXTS, None]), min_size=12, max_size=12),
    st.lists(st.integers(0, 9) | st.none(), min_size=12, max_size=12),
    st.permutations([f"k{n}" for n in range(12)]),
    st.permutations([f"{text} {n}" for n, text in enumerate(TEXTS * 3)]),
)


@given(st.lists(CELLS, min_size=1, max_size=5), st.booleans(), st.data())
def test_what_a_person_sees_is_what_is_read(columns, propose, data):
    frame = pl.DataFrame({f"c{at}": column for at, column in enumerate(columns)}, strict=False)
    try:
        table = from_frame(frame, propose=propose)
    except DataError:
        return
    views = list(view_columns(table, {}))
    assert describe(from_frame(frame, read_by_views(table, views))) == describe(table)
    chosen = [
        replace(v, use=data.draw(st.sampled_from(USES)), kind=data.draw(st.sampled_from(v.kinds)))
        for v in views
    ]
    try:
        again = from_frame(frame, read_by_views(table, chosen))
    except DataError:  # such as an id that repeats
        return
    assert [(v.name, v.use) for v in view_columns(again, {})] == [(v.name, v.use) for v in chosen]
    problem = ""
    try:
        assert len(encode(again).X) == len(frame)
    except DataError as error:  # such as texts without words
        problem = str(error)
    assert "impute" not in problem
