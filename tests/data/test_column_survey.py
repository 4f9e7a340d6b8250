"""The share that each column takes of the distance, and the options that the values alone suggest."""

import calendar
import datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from linkwise.data import encode, from_frame, survey_columns
from linkwise.data.column_survey import ColumnSurvey
from linkwise.data.columns import proposals
from linkwise.data.columns.proposals import propose_options
from linkwise.data.columns.roles import decide_column
from linkwise.data.reading import Reading
from linkwise.errors import DataError

TEXTS = ["the lamp is broken again", "my lamp is late", "a late parcel again", "the parcel is broken"]


def survey(frame, **how):
    table = from_frame(frame, **how)
    return survey_columns(table, encode(table))


def propose_for(frame, **how):
    """What is proposed for a frame, as a dictionary; `how` it is read so far."""
    table = from_frame(frame, **how)
    return {one.option: one.value for one in propose_options(table.frame, Reading.of(**how))}


def propose(**columns):
    return propose_for(pl.DataFrame({"a": np.arange(40) % 7 / 3, **columns}))


def mean_squared_distance(X):
    return np.mean([np.sum((a - b) ** 2) for i, a in enumerate(X) for b in X[:i]])


def test_shares_are_those_of_the_mean_squared_distance_between_rows():
    draw = np.random.default_rng(0)
    table = from_frame(
        pl.DataFrame({"size": draw.normal(size=30), "kind": list("abc") * 10, "day": draw.uniform(size=30)})
    )
    encoded = encode(table)
    found = survey_columns(table, encoded).shares
    whole = mean_squared_distance(encoded.X)
    for name, share in found.items():
        mine = [at for at, feature in enumerate(encoded.features) if feature.source == name]
        assert share == pytest.approx(mean_squared_distance(encoded.X[:, mine]) / whole)
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert sum(found.values()) == pytest.approx(1)


def test_blocks_count_as_one():
    frame = pl.DataFrame({"body": TEXTS * 5, "a": np.arange(20) % 3, "b": np.arange(20) % 7})
    shares = survey(frame, text="body", columns=["a", "b"]).shares
    assert shares == pytest.approx({"body": 0.5, "a": 0.25, "b": 0.25})


def test_a_column_that_takes_more_than_half_is_warned_of():
    notes = survey(pl.DataFrame({"kind": list("abcd") * 5, "a": np.linspace(0, 1, 20)})).notes
    assert notes[0].startswith("Influence of each column: kind 8")
    assert notes[1].startswith("Column 'kind' takes more than half of the distance")


@pytest.mark.parametrize("share", [0.5 + 1e-9, 0.5049])
def test_half_with_a_rounding_error_is_not_more_than_half(share):
    assert len(ColumnSurvey({"body": share, "price": 1 - share}, frozenset({"body"})).notes) == 1


@pytest.mark.parametrize("n_rows", [7, 12, 20])
def test_two_blocks_of_equal_weight_are_not_warned_of(n_rows):
    draw = np.random.default_rng(n_rows)
    frame = pl.DataFrame({"body": (TEXTS * 5)[:n_rows], "price": draw.lognormal(size=n_rows)})
    assert len(survey(frame, text="body", columns=["price"]).notes) == 1


def test_a_block_that_takes_more_than_half_is_called_a_block():
    frame = pl.DataFrame({"body": TEXTS * 5, "price": np.arange(20) % 3})
    notes = survey(frame, text="body", columns=["price"], weights={"body": 4}).notes
    assert notes[1] == (
        "Block 'body' takes more than half of the distance and so decides most. "
        "--weight lowers the weight of a block (in Python, weights={...})."
    )


def test_columns_that_count_alike_are_one_line():
    notes = survey(pl.DataFrame(np.random.default_rng(0).uniform(size=(50, 20)))).notes
    assert len(notes) == 1
    assert notes[0].startswith("Each of 20 columns has ")


def test_small_columns_are_summed():
    draw = np.random.default_rng(0)
    columns = {f"c{name}": draw.uniform(size=60) for name in "bcdefghijk"}
    (note, *_) = survey(pl.DataFrame({**columns, "kind": list("xyz") * 20})).notes
    assert note.count("%") == 8
    assert "4 others" in note


def test_one_column_needs_no_share():
    assert survey(pl.DataFrame({"body": TEXTS * 5}), text="body").notes == ()


def test_values_that_overflow_have_no_shares():
    table = from_frame(pl.DataFrame({"a": [1e200, -1e200, 0.0], "b": [0.0, 1.0, 3.0]}))
    assert survey_columns(table, encode(table, scale="none")).notes == ()


# ---------------------------------------------------------------- proposals
@pytest.mark.parametrize(
    ("column", "proposed"),
    [
        ([f"T{n:03}" for n in range(40)], {"id_column": "b"}),
        (list(range(100, 140)), {"id_column": "b"}),
        ([f"T {n:03}" for n in range(40)], {"id_column": "b"}),
        ([f"{text} {n}" for n, text in enumerate(TEXTS * 10)], {"text": ["b"]}),  # words that others have
        ([f"T{n // 2:03}" for n in range(40)], {}),  # not unique
        (TEXTS * 10, {}),  # four different texts are categories
        (["Retail", "retail", "Bank", "bank "] * 10, {"merge_variants": True}),
        ([None, None, None, 4, None, 8, None, 9] * 5, {"show": ["b"]}),
        ([None, None, "y", None] * 10, {}),  # a constant
        ([None, None, "y", None, "x"] * 8, {"show": ["b"]}),
    ],
)
def test_the_values_of_a_column_suggest_an_option(column, proposed):
    assert propose(b=column) == proposed


def test_numbers_that_count_the_rows_are_left_out_beside_an_id():
    assert propose(id=[f"i{n}" for n in range(40)], place=list(range(40))) == {"drop": ["place"]}


def test_a_counter_may_have_a_few_gaps():
    counter = [n for n in range(1, 44) if n % 15 != 7]
    assert propose(place=counter)["id_column"] == "place"
    assert propose(place=[3 * n for n in range(40)]) == {}
    assert propose(place=[*counter[20:], *counter[:20]]) == {}


def test_names_of_people_are_no_texts():
    draw = np.random.default_rng(0)
    table = {name: draw.permutation(60) % 7 for name in "bcd"}
    surnames = ["".join(draw.choice(list("aeioumnrst"), 7)).capitalize() for _ in range(60)]
    names = [f"{surname}, {('Mr.', 'Mrs.')[n % 2]} Anna Rose" for n, surname in enumerate(surnames)]
    assert "text" not in propose_for(pl.DataFrame({**table, "name": names}))
    sentences = [name.lower() for name in names]
    assert propose_for(pl.DataFrame({**table, "name": sentences}))["text"] == ["name"]


def test_texts_beside_a_real_table_leave_the_table_in():
    some = {name: np.random.default_rng(0).permutation(40) % 7 for name in "bcde"}
    found = propose(**some, note=[f"{text} {n}" for n, text in enumerate(TEXTS * 10)])
    assert found["text"] == ["note"]
    assert found["columns"] == ["all"]


CHOICES = ["mail", "games", "maps", "chess club"]
CHOSEN = [[one for at, one in enumerate(CHOICES) if row >> at & 1] for row in range(1, 16)] * 6


@pytest.mark.parametrize("mark", ["; ", ", ", ",", "|"])
def test_several_choices_in_a_cell_are_compared_by_words(mark):
    chosen = [mark.join(some) for some in CHOSEN]
    ages = [row % 7 for row in range(90)]
    assert propose_for(pl.DataFrame({"chosen": chosen, "age": ages})) == {
        "text": ["chosen"],
        "columns": ["all"],
    }
    assert propose_for(pl.DataFrame({"chosen": chosen})) == {"text": ["chosen"]}
    assert encode(from_frame(pl.DataFrame({"chosen": chosen, "age": ages}), propose=True)).X.shape[0] == 90


@pytest.mark.parametrize(
    "cells",
    [
        [
            mark for mark in ("north; west", "south; east", "south; west") for _ in range(30)
        ],  # three categories
        [f"Street {row % 9}, Town {row % 10}" for row in range(90)],
        [f"Meier, {name}" for name in ("Anna", "Hugo", "Ida") for _ in range(30)],
    ],
    ids=["categories", "addresses", "names"],
)
def test_parts_that_are_no_choices_leave_the_column_as_it_is(cells):
    assert "text" not in propose_for(pl.DataFrame({"cells": cells, "age": [row % 7 for row in range(90)]}))


def test_names_and_paths_are_no_texts():
    paths = [f"pictures/p{n}.png" for n in range(40)]
    names = [f"{a}{b}a {b}{a}o" for a in "bcdfghkl" for b in "mnprt"]
    assert propose(path=paths, name=names) == {"id_column": "path"}
    assert propose(path=paths, key=[f"k{n}" for n in range(40)], b=range(40))["drop"] == ["b"]


def test_a_run_of_smooth_columns_is_a_curve_and_pixels_are_none():
    t = np.linspace(0, 1, 24)
    curves = np.sin(2 * np.pi * (t + np.random.default_rng(0).uniform(size=(30, 1))))
    frame = pl.DataFrame({f"t{at:02}": curves[:, at] for at in range(24)})
    assert propose_for(frame) == {"series": True}
    shuffled = frame.select(np.random.default_rng(0).permutation(frame.columns).tolist())
    assert propose_for(shuffled) == {}
    days = [datetime.date(2023, 12, 20) + datetime.timedelta(days=at) for at in range(24)]
    for form in ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%y", "sales %d %b %Y"):
        dated = frame.rename(
            {name: day.strftime(form) for name, day in zip(frame.columns, days, strict=True)}
        )
        assert propose_for(dated) == {"series": True}, form
    months = [f"{name} {year}" for year in (2022, 2023) for name in calendar.month_name[1:]]
    assert propose_for(frame.rename(dict(zip(frame.columns, months, strict=True)))) == {"series": True}
    assert propose_for(frame.rename(dict(zip(frame.columns, sorted(months), strict=True)))) == {}
    assert propose_for(load_digits().data) == {}


def test_the_names_of_a_wide_table_are_listed_once(monkeypatch):
    """Not for each column, which takes time in the square of their number."""
    lists = []

    def decide(series, name, names, named):
        lists.append(names)
        return decide_column(series, name, names, named)

    monkeypatch.setattr(proposals, "decide_column", decide)
    propose_options(from_frame(np.random.default_rng(0).normal(size=(5, 30))).frame)
    assert len(lists) == 30
    assert len({id(names) for names in lists}) == 1


def test_what_is_given_is_not_proposed():
    frame = pl.DataFrame(
        {"t": [f"T{n:03}" for n in range(40)], "kind": ["x", "X", None, "y"] * 10, "n": range(3, 123, 3)}
    )
    assert propose_for(frame, id_column="t", merge_variants=True) == {}
    assert propose_for(frame, columns=["n"]) == {"id_column": "t"}
    assert propose_for(frame, columns=["n"], drop=["t"]) == {}


@pytest.mark.parametrize(
    "how",
    [{"hide": ["c"]}, {"log": ["c"]}, {"weights": {"c": 2.0}}],
    ids=lambda how: next(iter(how)),
)
def test_a_counter_that_an_option_names_is_not_left_out(how):
    frame = pl.DataFrame({"c": range(1, 41), "d": range(40), "e": ["p", "q", "r", "q"] * 10})
    assert propose_for(frame, **how) == {"id_column": "d"}
    assert encode(from_frame(frame, propose=True, **how)).X.shape[0] == 40


def test_counters_may_be_samples_and_merged_spellings_may_be_one_value():
    numbers = {"c": [3, 1, 2, 0] * 3, "d": range(12), "e": range(12)}
    assert propose_for(pl.DataFrame(numbers), series=True) == {}
    words = {"c": range(12), "d": range(12), "e": ["a", "A"] * 6}
    table = from_frame(pl.DataFrame(words), propose=True, merge_variants=True)
    assert table.features == ("d",)


CELLS = st.one_of(
    st.lists(st.sampled_from(["a", "A", "b ", "", None, "x y", "x z"]), min_size=12, max_size=12),
    st.lists(st.sampled_from([*TEXTS, None]), min_size=12, max_size=12),
    st.lists(st.integers(0, 9) | st.none(), min_size=12, max_size=12),
    st.permutations(range(12)),
    st.permutations([f"k{n}" for n in range(12)]),
    st.permutations([f"{text} {n}" for n, text in enumerate(TEXTS * 3)]),
)


GIVEN = st.one_of(
    st.just({}),
    st.sampled_from(
        [
            {"scale": "standard"},
            {"impute": "median"},
            {"metric": "euclidean"},
            {"weights": "none"},
            {"series": True},
            {"merge_variants": True},
            {"weights": {"c0": 2.0}},
        ]
    ),
    st.builds(
        lambda use, column: {use: [column]},
        st.sampled_from(["drop", "show", "hide", "columns", "text", "as_categories", "log"]),
        st.sampled_from(["c0", "c1", "c2"]),
    ),
)


@given(st.lists(CELLS, min_size=1, max_size=5), GIVEN)
def test_what_is_proposed_can_be_read(columns, options):
    """Wherever a table can be read at all, it can be read as proposed, whatever else is given."""
    frame = pl.DataFrame({f"c{at}": column for at, column in enumerate(columns)}, strict=False)
    try:
        table = from_frame(frame, **options)
        encode(table)
    except DataError:
        return
    again = from_frame(frame, propose=True, **options)
    encode(again)
    assert propose_options(again.frame, again.reading) == ()
    given_ones = Reading.of(**options).settings()
    for name, value in given_ones.items():
        kept = getattr(again.reading, name)
        assert kept == value or set(value) <= set(kept)


def test_a_column_that_differs_in_one_late_row_repeats_no_other():
    """The first rows alone do not tell whether two columns say the same."""
    rng = np.random.default_rng(0)
    first = rng.choice(["a", "b", "c"], 200).tolist()
    other = [f"{word}!" for word in first]
    late = [*other[:-1], next(word for word in ("a!", "b!") if word != other[-1])]
    frame = pl.DataFrame({"x": rng.normal(size=200), "one": first, "late": late, "again": other})
    assert propose_for(frame)["show"] == ["again"]
