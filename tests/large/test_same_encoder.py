"""Rows in files become the same numbers as the same table in memory."""

import numpy as np
import polars as pl
import pytest

from encoder_stub import encoder  # noqa: F401  # used by name
from item_files import small_blocks  # noqa: F401  # used by name
from linkwise.data import Reading, encode, from_frame
from linkwise.errors import DataError
from linkwise.large.group_table import read_groups
from linkwise.large.table_files import TableFiles
from linkwise.large.table_passes import summarize_tables

N_ROWS = 300
WORDS = [
    "rice",
    "tea",
    "oil",
    "salt",
    "corn",
    "milk",
    "beans",
    "bread",
    "soap",
    "paper",
    "lamp",
    "nails",
    "paint",
    "wood",
]
ALL = 50  # groups, so that the sample of 50 rows for each has all rows


def make_frame():
    rng = np.random.default_rng(0)
    size = rng.lognormal(3, 1, N_ROWS)
    shop = rng.choice(["Retail", "retail ", "RETAIL", "Trade", "trade"], N_ROWS)
    return pl.DataFrame(
        {
            "key": [f"k{n}" for n in range(N_ROWS)],
            "size": [
                None if n % 31 == 4 else 0.0 if n == 7 else value for n, value in enumerate(size.tolist())
            ],
            "shop": [None if n % 41 == 3 else word for n, word in enumerate(shop.tolist())],
            "place": rng.normal(size=(N_ROWS, 3)).tolist(),
            "age": rng.integers(20, 70, N_ROWS),
            "said": [None if n % 50 == 9 else " ".join(rng.choice(WORDS, 6)) for n in range(N_ROWS)],
        }
    )


def open_files(folder, frame):
    for at in range(3):
        frame[at::3].write_parquet(folder / f"part-{at}.parquet")
    return TableFiles(sorted(folder.glob("*.parquet")))


@pytest.mark.parametrize(
    "options",
    [
        {"log": ["size"], "drop": ["place"]},
        {"log": ["size"], "drop": ["place"], "scale": "standard"},
        {"merge_variants": True, "drop": ["place"]},
        {"merge_variants": True, "drop": ["place"], "impute": None},
        {"columns": ["place", "age", "shop"], "merge_variants": True},
        {"columns": ["place"], "metric": "cosine"},
        {"text": ["said"], "impute": None},
        {"text": ["said"], "text_by": "letters", "columns": ["age", "shop"], "weights": {"said": 2.0}},
        {"columns": ["place", "age"], "weights": {"place": 2.0, "age": 0.5}},
        {"text": ["said"], "text_by": "meaning", "impute": None},
        {"text": ["said"], "text_by": "words,meaning", "columns": ["age"]},
    ],
)
@pytest.mark.usefixtures("encoder")
def test_the_same_numbers_as_in_memory(tmp_path, options):
    frame = make_frame()
    reading = Reading.of(**{"id_column": "key", "impute": "median", **options})
    groups = summarize_tables(open_files(tmp_path, frame), reading, ALL, 0, tmp_path / "groups")
    rows = pl.concat([frame[at::3] for at in range(3)])
    in_memory_table = from_frame(rows, reading)
    in_memory = encode(in_memory_table)
    found = groups.encoding.apply(rows, str)
    assert groups.summary.columns == in_memory.feature_names
    is_meant = "meaning" in options.get("text_by", "")  # rounded to five digits, as float32
    np.testing.assert_allclose(found, in_memory.X, atol=2e-5 if is_meant else 1e-9)
    shown = groups.rows
    assert shown.table.kind == in_memory_table.kind
    assert shown.encoded.X.shape == (len(groups.ids), found.shape[1])


@pytest.mark.parametrize("scale", [None, "unit", "none"])
@pytest.mark.parametrize("as_lists", [False, True])
def test_curves_are_scaled_one_by_one(tmp_path, scale, as_lists):
    rng = np.random.default_rng(0)
    curves = rng.normal(size=(N_ROWS, 6)).cumsum(axis=1)
    curves[4, 2], curves[9] = np.nan, 3.0
    given = [[None if np.isnan(v) else v for v in curve] for curve in curves.tolist()]
    columns = {"curve": given} if as_lists else {f"t{at}": [one[at] for one in given] for at in range(6)}
    frame = pl.DataFrame({"key": [f"k{n}" for n in range(N_ROWS)], **columns})
    reading = Reading.of(id_column="key", series=True, scale=scale)
    groups = summarize_tables(open_files(tmp_path, frame), reading, ALL, 0, tmp_path / "groups")
    rows = pl.concat([frame[at::3] for at in range(3)])
    in_memory = encode(from_frame(rows, reading))
    np.testing.assert_allclose(groups.encoding.apply(rows, str), in_memory.X, atol=1e-12)
    assert groups.rows.items.kind == "series"


@pytest.mark.parametrize("unit", ["words", "meaning", "words,meaning"])
def test_the_directions_of_texts_are_stored(tmp_path, encoder, unit):  # noqa: F811
    frame = make_frame()
    reading = Reading.of(id_column="key", text="said", text_by=unit)
    groups = summarize_tables(open_files(tmp_path, frame), reading, ALL, 0, tmp_path / "groups")
    again = read_groups(tmp_path / "groups")
    assert again.hash == groups.hash
    assert np.array_equal(again.encoding.apply(frame, str), groups.encoding.apply(frame, str))
    if unit != "words":
        encoder.install(b"other weights", own=0.3)
        with pytest.raises(DataError, match="compared with other weights"):
            again.encoding.apply(frame, str)


def test_what_cannot_be_encoded_later_is_located(tmp_path):
    frame = make_frame().drop("place", "shop", "said")
    reading = Reading.of(id_column="key", impute="median", log="size")
    groups = summarize_tables(open_files(tmp_path, frame), reading, ALL, 0, tmp_path / "groups")
    later = frame[:3].with_columns(size=pl.Series([1.0, -500.0, 2.0]))
    with pytest.raises(
        DataError, match=r"row 1 holds a value in column 'size' that is not above .* no logarithm"
    ):
        groups.encoding.apply(later, lambda row: f"row {row}")
