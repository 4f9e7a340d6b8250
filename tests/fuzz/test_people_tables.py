"""A table is read as the person means it, however the kinds of writing are mixed."""

import csv
import gzip
import io
import tempfile
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings

from fuzz.people_tables import Writing, write_table, writings
from linkwise.data import encode, from_frame, read_table

FOUND = [  # mixtures that were once misread
    Writing(
        ("amount", "amount"), ids="counter", delimiter="\t", encoding="cp1252", decimal=",", units=("€ |",)
    ),
    Writing(("amount", "whole"), encoding="cp1252", decimal=",", seed=1),
    Writing(
        ("whole", "place", "date", "date"), encoding="cp1252", thousands="\xa0", units=("US$ |",), seed=41600
    ),
    Writing(
        ("place", "whole", "place"), ids="pandas", delimiter=";", encoding="cp1252", missing="NaN", seed=2016
    ),
    Writing(("date", "date", "amount", "date", "date", "amount"), ids="code", encoding="cp1252", seed=416),
    Writing(("place", "date", "amount"), delimiter=";", encoding="cp1252", thousands="\xa0", seed=1385),
]


def check_reading(how):
    with tempfile.TemporaryDirectory() as folder:
        path, meaning = write_table(how, Path(folder))
        table = read_table(path, propose=True)
    frame = pl.DataFrame(table.frame.to_native())
    roles = {column.name: column.role for column in table.columns}
    for name, values in meaning.values.items():
        read = frame[name].to_list()
        if meaning.roles[name] == "numeric":
            assert [one is None for one in read] == [one is None for one in values], (name, read)
            known = [(a, b) for a, b in zip(read, values, strict=True) if b is not None]
            assert [a for a, _ in known] == pytest.approx([b for _, b in known]), (name, roles[name])
        else:
            bare = [one.strip() if isinstance(one, str) else one for one in read]
            assert bare == values, (name, roles[name])
        assert roles[name] == meaning.roles[name], (name, table.notes)
    if meaning.ids is not None:
        assert table.ids is not None, table.notes
        assert list(table.ids) == meaning.ids
    else:
        assert table.ids is None
    used = {feature.source for feature in encode(table).features if feature.role != "cycle"}
    assert used == set(meaning.values), table.notes


@pytest.mark.parametrize("how", FOUND, ids=range(len(FOUND)))
def test_what_was_found_once_stays_mended(how):
    check_reading(how)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(writings())
def test_mixtures_are_read_as_they_are_meant(how):
    check_reading(how)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(writings())
def test_texts_of_a_frame_are_read_as_those_of_a_file(how):
    """All but whole numbers, which a frame has a type for."""
    how = replace(how, columns=(*how.columns, "amount"))
    with tempfile.TemporaryDirectory() as folder:
        path, meaning = write_table(how, Path(folder))
        raw = gzip.decompress(path.read_bytes()) if how.is_packed else path.read_bytes()
    names, *rows = csv.reader(io.StringIO(raw.decode(how.encoding), newline=""), delimiter=how.delimiter)
    texts = {name: [row[at] or None for row in rows] for at, name in enumerate(names)}
    found = from_frame(pl.DataFrame([pl.Series(name or "index", texts[name], pl.String) for name in names]))
    for name, values in meaning.values.items():
        is_whole = all(text is None or text.strip().isdigit() for text in texts[name])
        if meaning.roles[name] != "category" and not is_whole:
            read = found.frame[name].to_list()
            assert [one is None for one in read] == [one is None for one in values], name
            known = [(a, b) for a, b in zip(read, values, strict=True) if b is not None]
            assert all(a == pytest.approx(b) for a, b in known), (name, found.notes)
