"""Tables of records that describe the same few things are told from tables of many kinds of things."""

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

from linkwise.data import encode, from_frame, survey_columns
from linkwise.data.columns import near_copies
from linkwise.data.columns.near_copies import find_near_copies
from linkwise.data.columns.roles import to_words
from linkwise.errors import DataError

LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz"))


def name(draw, length=12):
    return "".join(draw.choice(LETTERS, length))


def mistype(text, draw):
    at = int(draw.integers(1, len(text) - 1))
    return text[:at] + text[at + 1 :]


def records(sizes, seed=0, **further):
    """Rows of a name and a street, for each of several people as many as `sizes` says, in random order."""
    draw = np.random.default_rng(seed)
    people = [(f"{name(draw)} {name(draw)}", f"{name(draw, 16)} {draw.integers(99)}") for _ in sizes]
    rows = [tuple(mistype(cell, draw) for cell in people[p]) for p, n in enumerate(sizes) for _ in range(n)]
    names, streets = zip(*(rows[at] for at in draw.permutation(len(rows))), strict=True)
    return pl.DataFrame({"name": names, "street": streets, **further})


def find(frame, id_column=None):
    return find_near_copies(nw.from_native(frame, eager_only=True), id_column)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_the_share_of_rows_with_copies_and_the_size_of_their_groups_are_found(size):
    found = find(records([size] * 60 + [1] * 100))
    share = 60 * size / (60 * size + 100)
    assert found.group_size == size
    assert found.share == pytest.approx(share, abs=0.08)


@pytest.mark.parametrize(
    "sizes",
    [
        pytest.param([1] * 200, id="no copies"),
        pytest.param([2] * 20 + [1] * 160, id="few copies"),
        pytest.param([40] * 5, id="large groups"),
        pytest.param([2] * 40, id="few rows"),
    ],
)
def test_other_tables_are_not_records_of_the_same_things(sizes):
    assert find(records(sizes)) is None


def test_only_columns_that_can_identify_something_count():
    draw = np.random.default_rng(0)
    kinds = [f"{kind} kind of thing" for kind in draw.choice(LETTERS[:9], 200)]
    assert find(pl.DataFrame({"kind": kinds, "size": draw.normal(size=200)})) is None
    assert find(pl.DataFrame({"size": draw.integers(0, 1000, 200)})) is None
    assert find(records([2] * 100).select(pl.col("name").alias("id")), "id") is None


def test_numbers_that_copies_have_in_common_identify():
    """A phone as digits does, a sum that each record has of its own does not."""
    draw = np.random.default_rng(1)
    people = [(f"{name(draw)} {name(draw)}", int(draw.integers(10**6, 10**7))) for _ in range(100)]
    rows = [(mistype(person, draw), phone) for person, phone in people for _ in range(2)]
    frame = pl.DataFrame(
        {
            "name": [person for person, _ in rows],
            "phone": [phone for _, phone in rows],
            "sum": draw.integers(0, 10**6, 200),
        }
    )
    assert find(frame).columns == ("name", "phone")


def test_documents_and_long_or_wide_tables_are_not_looked_at(monkeypatch):
    copies = records([2] * 100)
    long = copies.with_columns(pl.concat_str([pl.col("name"), pl.lit(" and so on" * 10)]).alias("name"))
    assert find(long) is None
    assert find(copies) is not None
    assert find(copies.with_columns(**{f"x{n}": pl.lit(1) for n in range(99)})) is None  # 101 columns
    monkeypatch.setattr(near_copies, "MOST_ROWS", 199)
    assert find(copies) is None


def test_things_of_one_name_that_differ_in_their_numbers_are_no_records():
    """Cars of one model are not one car."""
    draw, frame = np.random.default_rng(1), records([3] * 70)
    of_person = {name[:3]: at for at, name in enumerate(frame["name"].sort())}
    height = [of_person[name[:3]] + draw.normal() for name in frame["name"]]
    assert find(frame.with_columns(height=pl.Series(height))) is not None
    other = {name: pl.Series(draw.normal(size=len(frame))) for name in ("power", "weight", "price")}
    assert find(frame.with_columns(**other)) is None


def test_a_mostly_empty_column_identifies_nothing():
    frame = records([2] * 100)
    sparse = pl.Series([f"note {n}" if n % 4 == 0 else None for n in range(200)])
    assert find(frame.with_columns(note=sparse)).columns == ("name", "street")


def test_missing_cells_and_cells_without_letters_are_no_copies():
    assert find(pl.DataFrame({"name": [None] * 190 + ["a", "b", "c", "d", "e"] * 4})) is None
    assert find(pl.DataFrame({"name": [f"{a}{b}" for a in LETTERS for b in LETTERS[:8]]})) is None


@pytest.mark.parametrize(("size", "few"), [(2, "one other row that is"), (4, "about 3 other rows that are")])
def test_the_survey_names_the_task_before_the_shares(size, few):
    frame = records([size] * 60)
    table = from_frame(frame, text=["name", "street"])
    notes = survey_columns(table, encode(table)).notes
    assert f"rows have {few} written nearly alike" in notes[0]
    assert "record linkage" in notes[0]
    assert "--method records with --text-by letters" in notes[0]
    assert notes[1].startswith("Influence of")


@pytest.mark.parametrize("gaps", [0, 5], ids=["integers", "with gaps"])
@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame])
def test_whole_numbers_of_a_frame_are_compared_by_their_digits(make, gaps):
    draw = np.random.default_rng(0)
    people = [(f"{name(draw)} {name(draw)}", int(draw.integers(2_000_000, 9_999_999))) for _ in range(80)]
    rows = [(mistype(who, draw), phone) for who, phone in people for _ in range(2)]
    names, phones = map(list, zip(*rows, strict=True))
    phones[:gaps] = [None] * gaps  # pandas turns the others into floats
    table = from_frame(make({"name": names, "phone": phones}), propose=True)
    assert table.reading.text == ("name", "phone")
    texts = to_words(table.frame["phone"])
    assert texts[:gaps] == [None] * gaps
    assert texts[gaps:] == [str(phone) for phone in phones[gaps:]]
    assert encode(table).X.shape[0] == 160
    with pytest.raises(DataError, match="'phone' holds numbers"):
        from_frame(make({"name": names, "phone": phones}), text="phone")
