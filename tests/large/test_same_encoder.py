"""Rows in files become the same numbers as the same table in memory."""

import numpy as np
import polars as pl
import pytest

from item_files import small_blocks  # noqa: F401  # used by name
from linkwise.data import Reading, encode, from_frame
from linkwise.errors import DataError
from linkwise.large.table_files import TableFiles
from linkwise.large.table_passes import summarize_tables

N_ROWS = 300
ALL = 50  # items, so that the sample of 50 rows for each has all rows


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
        {"merge_variants": True, "drop": ["place"], "impute": "category"},
        {"columns": ["place", "age", "shop"], "merge_variants": True},
        {"columns": ["place"], "metric": "cosine"},
        {"columns": ["place", "age"], "weights": {"place": 2.0, "age": 0.5}},
    ],
)
def test_the_same_numbers_as_in_memory(tmp_path, options):
    frame = make_frame()
    reading = Reading.of(**{"id_column": "key", "impute": "median", **options})
    items = summarize_tables(open_files(tmp_path, frame), reading, ALL, 0, tmp_path / "items")
    rows = pl.concat([frame[at::3] for at in range(3)])
    in_memory = encode(from_frame(rows, reading))
    found = items.encoding.apply(rows, str)
    assert items.summary.columns == in_memory.feature_names
    np.testing.assert_allclose(found, in_memory.X, atol=1e-9)
    shown = items.rows
    assert shown.table.kind == "record"
    assert shown.encoded.X.shape == (len(items.ids), found.shape[1])


def test_what_cannot_be_encoded_later_is_located(tmp_path):
    frame = make_frame().drop("place", "shop")
    reading = Reading.of(id_column="key", impute="median", log="size")
    items = summarize_tables(open_files(tmp_path, frame), reading, ALL, 0, tmp_path / "items")
    later = frame[:3].with_columns(size=pl.Series([1.0, -500.0, 2.0]))
    with pytest.raises(
        DataError, match=r"row 1 holds a value in column 'size' that is not above .* no logarithm"
    ):
        items.encoding.apply(later, lambda row: f"row {row}")
