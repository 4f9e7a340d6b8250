"""Files of all kinds are read as the table that was written, and a wrong one ends in one sentence."""

import gzip
import io
import json
import sqlite3
import tarfile
import zipfile

import numpy as np
import polars as pl
import pytest
import scipy.io
import scipy.sparse

from linkwise.data import encode, items_of, read_table
from linkwise.data.reading import Reading
from linkwise.errors import DataError

ITEMS = pl.DataFrame(
    {"name": [f"item {row}" for row in range(60)], "price": [row % 7 + 0.5 for row in range(60)]}
)
CSV = ITEMS.write_csv()


def written(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refusal(path, **how):
    with pytest.raises(DataError) as caught:
        read_table(path, **how)
    return str(caught.value)


def as_arrow():
    out = io.BytesIO()
    ITEMS.write_ipc(out)
    return out.getvalue()


def as_stream():
    out = io.BytesIO()
    ITEMS.write_ipc_stream(out)
    return out.getvalue()


def as_zip(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def as_database(*statements):
    with sqlite3.connect(":memory:") as database:
        for statement in statements:
            database.execute(statement)
        database.executemany("INSERT INTO items VALUES (?, ?)", ITEMS.rows())
        database.commit()
        return database.serialize()


ONE_TABLE = ("CREATE TABLE items(name, price)",)
TWO_TABLES = (*ONE_TABLE, "CREATE TABLE notes(said)")
ARFF = (
    "% made by hand\n@RELATION items\n@attribute 'name' string\n@attribute price numeric\n@data\n"
    + "".join(f"'item {row}',{row % 7 + 0.5}\n" for row in range(60))
)
SPACED = "name   price\n" + "".join(f'"item {row}"   {row % 7 + 0.5}\t\n' for row in range(60))
KINDS = {
    "t.arrow": as_arrow,
    "t.feather": as_arrow,
    "t.ipc": as_stream,
    "t.csv.gz": lambda: gzip.compress(CSV.encode()),
    "t.zip": lambda: as_zip({"t.csv": CSV, "__MACOSX/t.csv": "x"}),
    "t.dat": lambda: CSV.encode(),
    "noending": lambda: CSV.encode(),
    "t.data": lambda: CSV.replace(",", ";").encode(),
    "spaces.dat": SPACED.encode,
    "t.db": lambda: as_database(*ONE_TABLE),
    "t.sqlite3": lambda: as_database(*ONE_TABLE),
    "t.arff": ARFF.encode,
    "arff.unknown": ARFF.encode,
    "columns.json": lambda: json.dumps(ITEMS.to_dict(as_series=False)).encode(),
    "pandas.json": lambda: ITEMS.to_pandas().to_json().encode(),
    "split.json": lambda: ITEMS.to_pandas().to_json(orient="split").encode(),
    "data.json": lambda: json.dumps({"n": 60, "data": ITEMS.to_dicts()}, indent=1).encode(),
}


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_holds_the_same_table(tmp_path, name):
    path = written(tmp_path, name, KINDS[name]())
    table = read_table(path)
    assert table.frame.to_native().equals(ITEMS), table.frame.to_native()
    again = read_table(path, Reading.of(**table.reading.to_json()))
    assert again.frame.to_native().equals(ITEMS)


def test_a_file_is_what_its_content_says(tmp_path):
    assert len(read_table(written(tmp_path, "packed.csv", gzip.compress(CSV.encode())))) == 60
    assert "its content is no table" in refusal(written(tmp_path, "words.md", "# hello\nhow\nare\nyou\n"))
    assert "is not text" in refusal(written(tmp_path, "bytes.bin", b"\1\2\0\3" * 50))
    assert "The file is a pickle" in refusal(written(tmp_path, "model.pkl", b"\x80\x04\x95abc"))
    for name in ("text.xlsx", "text.xls"):
        table = read_table(written(tmp_path, name, CSV))
        assert table.frame.to_native().equals(ITEMS)
        assert read_table(tmp_path / name, **table.choices).frame.to_native().equals(ITEMS)
    assert "an older spreadsheet" in refusal(written(tmp_path, "old.xls", b"\xd0\xcf\x11\xe0" + bytes(99)))
    for name in ("page.html", "page.csv", "page.xls"):
        page = "\ufeff\n<!DOCTYPE html><html><table><tr><td>1</td></tr></table></html>"
        assert "The file is a web page. Open it in" in refusal(written(tmp_path, name, page))


def test_an_archive_of_rows_is_refused_with_the_way_out(tmp_path):
    pictures = {f"in/p{n}.JPG": b"x" for n in range(3)} | {"Thumbs.db": b"x" * 99, "list.pdf": b"x" * 99}
    message = refusal(written(tmp_path, "pictures.zip", as_zip(pictures)))
    assert "holds 3 pictures and no table. Unpack it, and pass the folder." in message
    texts = {f"t{n}.txt": b"a b c" for n in range(12)}
    assert "holds 12 texts and no table." in refusal(written(tmp_path, "texts.zip", as_zip(texts)))
    assert len(read_table(written(tmp_path, "both.zip", as_zip(texts | {"t.csv": CSV})))) == 60
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo("a.csv"))
    assert "an archive of files. Unpack it" in refusal(written(tmp_path, "a.tar.gz", out.getvalue()))


def test_an_array_of_texts_is_a_column(tmp_path):
    words = [
        f"the {'red' if n % 2 else 'blue'} lamp of room {n} is {'old' if n % 3 else 'new'}" for n in range(20)
    ]
    table = read_table(written(tmp_path, "words.json", json.dumps(words)), propose=True)
    assert table.frame["text"].to_list() == words
    assert table.roles == {"text": "document"}
    for mixed in ('["a", 1]', '["a", {"b": 1}]'):
        assert "Element 0 (counted from 0) is a JSON str" in refusal(written(tmp_path, "mixed.json", mixed))


def test_a_choice_within_an_archive(tmp_path):
    path = written(
        tmp_path, "t.zip", as_zip({"a.csv": CSV, "sub/b.csv": "x,y\n1,2\n2,1\n", "read.me": "hello"})
    )
    largest = read_table(path)
    assert largest.frame.to_native().equals(ITEMS)
    assert largest.reading.sheet == "a.csv"
    assert largest.notes[0] == (
        "File 'a.csv' is read, the largest of 2. Add --sheet NAME to read another one (in Python,"
        " sheet=\"...\"), such as 'sub/b.csv'."
    )
    table = read_table(path, sheet="sub/b.csv")
    assert table.frame.columns == ["x", "y"]
    assert table.reading.sheet == "sub/b.csv"
    assert "The archive has no file 'c.csv'" in refusal(path, sheet="c.csv")
    alone = written(tmp_path, "one.zip", as_zip({"a.csv": CSV, "read.me": "hello"}))
    assert "File 'a.csv' of the archive is read." in read_table(alone).notes


def test_damaged_and_nested_archives(tmp_path):
    packed = gzip.compress(CSV.encode())
    assert "cannot be unpacked" in refusal(written(tmp_path, "cut.csv.gz", packed[:-20]))
    assert "cannot be unpacked" in refusal(written(tmp_path, "t.zip", as_zip({"t.csv": CSV})[:-30]))
    assert "is packed, too" in refusal(written(tmp_path, "t.csv.gz.gz", gzip.compress(packed)))
    bomb = gzip.compress(b"a,b\n" + b"1,2\n" * 80_000_000)
    assert "more than 250 times as many" in refusal(written(tmp_path, "bomb.csv.gz", bomb))


def test_a_choice_within_a_database(tmp_path):
    path = written(tmp_path, "t.db", as_database(*TWO_TABLES))
    largest = read_table(path)
    assert largest.frame.to_native().equals(ITEMS)
    assert largest.reading.sheet == "items"
    assert largest.notes[0].startswith("Table 'items' is read, the largest of 2. Add --sheet NAME")
    assert read_table(path, sheet="items").frame.to_native().equals(ITEMS)
    query = "SELECT name, price * 2 AS twice FROM items WHERE price > 3 ORDER BY twice"
    table = read_table(path, sheet=query)
    assert table.frame["twice"].to_list() == sorted(2 * price for price in ITEMS["price"] if price > 3)
    assert table.reading.sheet == query
    assert "no such column: other" in refusal(path, sheet="SELECT other FROM items")
    assert "There is no table 'DROP TABLE items'" in refusal(path, sheet="DROP TABLE items")


def test_a_query_neither_writes_nor_opens_files_nor_runs_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr("linkwise.data.read.databases._MOST_STEPS", 2)
    path = written(tmp_path, "t.db", as_database(*ONE_TABLE))
    for query in ("WITH a AS (SELECT 1) DELETE FROM items", "SELECT load_extension('x')"):
        assert "cannot be read" in refusal(path, sheet=query)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    assert "interrupted" in refusal(path, sheet=endless)


def test_cells_of_databases(tmp_path):
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE t(a, b, c, d)")
    database.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", [(1, "x", b"\1", "1.5"), (None, 2, b"", "2")])
    database.commit()
    table = read_table(written(tmp_path, "t.db", database.serialize()))
    assert table.frame.rows() == [(1, "x", 1.5), (None, "2", 2.0)]
    assert any("1 column of bytes left out: c." in note for note in table.notes)


def test_geojson(tmp_path):
    square = [[[0, 0], [2, 0], [2, 2], [0, 2]]]
    features = [
        {"type": "Feature", "properties": {"a": 1}, "geometry": {"type": "Point", "coordinates": [8.5, 47]}},
        {"type": "Feature", "properties": {"a": 2}, "geometry": {"type": "Polygon", "coordinates": square}},
        {"type": "Feature", "properties": {"a": 3}, "geometry": None},
    ]
    content = json.dumps({"type": "FeatureCollection", "features": features})
    table = read_table(written(tmp_path, "t.geojson", content), impute="median")
    assert table.frame.to_dict(as_series=False) == {
        "a": [1, 2, 3], "longitude": [8.5, 1.0, None], "latitude": [47.0, 1.0, None],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a": [1, 2], "b": [1]}', "differ in length: a 2, b 1"),
        ('{"a": [{"x": 1}], "b": [{"x": 2}]}', "several lists of objects: 'a', 'b'"),
        ('{"columns": ["a", "b"], "data": [[1]]}', 'Row 0 (counted from 0) of "data" has 1 values'),
        ('{\n"a": 1,\n"b": 2\n}', "holds neither columns nor a list of objects"),
    ],
)
def test_objects_that_hold_no_table(tmp_path, content, message):
    assert message in refusal(written(tmp_path, "t.json", content))


def test_objects_by_name_are_rows(tmp_path):
    content = '{"Anna": {"age": 30, "town": "Bern"}, "Ben": {"age": 40, "town": "Rome"}}'
    table = read_table(written(tmp_path, "t.json", content))
    assert table.frame.rows() == [("Anna", 30, "Bern"), ("Ben", 40, "Rome")]


def test_nested_parquet(tmp_path):
    nested = pl.DataFrame(
        {"price": [1.0, 2.0], "addr": [{"town": "X", "geo": {"lat": 1.5}}, {"town": "Y", "geo": None}]}
    )
    nested.write_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet", impute="median")
    assert table.frame.columns == ["price", "addr.town", "addr.geo.lat"]
    assert table.reading.keep_nested is False
    kept = read_table(tmp_path / "t.parquet", keep_nested=True)
    assert kept.frame.columns == ["price", "addr"]


# ---------------------------------------------------------------- arrays
def test_sparse_matrices(tmp_path):
    X = scipy.sparse.random(60, 30, density=0.05, random_state=np.random.default_rng(1), format="csr")
    scipy.sparse.save_npz(tmp_path / "m.npz", X)
    scipy.io.mmwrite(tmp_path / "m.mtx", X)
    for name in ("m.npz", "m.mtx"):
        read = read_table(tmp_path / name).frame.to_numpy()
        np.testing.assert_allclose(read, X.toarray())
    symmetric = X[:30] @ X[:30].T
    scipy.io.mmwrite(tmp_path / "s.mtx", symmetric, symmetry="symmetric")
    scipy.io.mmwrite(tmp_path / "d.mtx", X.toarray())
    np.testing.assert_allclose(read_table(tmp_path / "s.mtx").frame.to_numpy(), symmetric.toarray())
    np.testing.assert_allclose(read_table(tmp_path / "d.mtx").frame.to_numpy(), X.toarray())
    wide = scipy.sparse.csr_array((20_000, 60_000))
    scipy.sparse.save_npz(tmp_path / "wide.npz", wide)
    assert "TruncatedSVD" in refusal(tmp_path / "wide.npz")


def test_damaged_sparse_matrices(tmp_path):
    head = "%%MatrixMarket matrix coordinate real general\n"
    assert "outside of the matrix" in refusal(written(tmp_path, "m.mtx", head + "2 2 1\n5 5 1.0\n"))
    dense = "%%MatrixMarket matrix array real general\n"  # on which SciPy's own reader crashes
    assert "3 values for a matrix" in refusal(written(tmp_path, "d.mtx", dense + "2 1\n1\n2\n3\n"))
    assert "Matrix Market" in refusal(written(tmp_path, "e.mtx", head + "2 2 1\n1 x 1.0\n"))
    assert "promises 99999999 values" in refusal(written(tmp_path, "n.mtx", head + "9 9 99999999\n1 1 1.0\n"))
    parts = {"format": b"csr", "shape": [2, 2], "data": [1.0], "indices": [7], "indptr": [0, 1, 1]}
    np.savez(tmp_path / "m.npz", **{name: np.array(part) for name, part in parts.items()})
    assert "cannot be read as a sparse matrix" in refusal(tmp_path / "m.npz")


def test_an_array_is_chosen_by_its_name(tmp_path):
    np.savez(
        tmp_path / "t.npz", train=np.eye(3), test=np.ones((4, 2)) * np.arange(4)[:, None], y=np.arange(3)
    )
    largest = read_table(tmp_path / "t.npz")
    assert largest.frame.shape == (4, 2)
    assert largest.reading.sheet == "test"
    assert largest.notes[0].startswith("Array 'test' is read, the largest of 2. Add --sheet NAME")
    table = read_table(tmp_path / "t.npz", sheet="test")
    assert table.frame.shape == (4, 2)
    assert table.reading.sheet == "test"
    assert "There is no array 'z'" in refusal(tmp_path / "t.npz", sheet="z")


def test_square_arrays_are_pictures(tmp_path):
    X = np.random.default_rng(0).random((60, 28, 28))
    np.save(tmp_path / "cube.npy", X)
    table = read_table(tmp_path / "cube.npy")
    assert "Each row is a picture of 28 by 28 pixels." in table.notes
    assert table.frame.columns[28] == "pixel 1,0"
    np.testing.assert_array_equal(encode(table, scale="none").X, X.reshape(60, -1))
    items = items_of(table)
    assert items.fields(0) == {}
    np.testing.assert_array_equal(items.pixels(3), np.rint(255 * (X[3] - X.min()) / np.ptp(X)))


def test_long_arrays_are_curves_one_after_the_other(tmp_path):
    X = np.random.default_rng(0).random((5, 40, 3))  # samples first
    np.save(tmp_path / "a.npy", X)
    np.save(tmp_path / "b.npy", X.transpose(0, 2, 1))
    first, second = (read_table(tmp_path / name) for name in ("a.npy", "b.npy"))
    assert "Each row is 3 curves of 40 samples, whose values follow one another." in first.notes
    assert first.frame.to_native().equals(second.frame.to_native())
    np.testing.assert_array_equal(first.frame["x40"].to_numpy(), X[:, 0, 1])


def test_a_single_curve_is_not_counted(tmp_path):
    np.save(tmp_path / "a.npy", np.random.default_rng(0).random((5, 40, 1)))
    table = read_table(tmp_path / "a.npy")
    assert table.frame.shape == (5, 40)
    assert not any("follow one another" in note for note in table.notes)


def test_colours_are_read_as_grey(tmp_path):
    X = np.random.default_rng(0).integers(0, 256, (4, 9, 12, 3), dtype=np.uint8)
    np.save(tmp_path / "a.npy", X)
    table = read_table(tmp_path / "a.npy")
    assert table.frame.shape == (4, 108)
    np.testing.assert_allclose(table.frame["pixel 8,11"].to_numpy(), X[:, 8, 11].mean(axis=1), rtol=1e-6)


def test_numbered_pixels_of_a_table_are_pictures(tmp_path):
    X = np.arange(3 * 64).reshape(3, 64) % 251
    lines = [",".join(["label", *(f"pixel{at}" for at in range(64))])]
    lines += [",".join(map(str, [row, *cells])) for row, cells in enumerate(X.tolist())]
    items = items_of(read_table(written(tmp_path, "digits.csv", "\n".join(lines))))
    assert items.fields(1) == {"label": "1"}
    assert items.pixels(1).shape == (8, 8)


# ---------------------------------------------------------------- files with a header of attributes
def test_arff_of_all_forms(tmp_path):
    content = (
        "\n@relation x\n@attribute \"long name\" REAL\n@attribute it\\'s {a, 'b c'}\n@attribute day date\n"
        "@attribute n integer\n@data\n1.5, 'b c', 2024-01-31, ?\n?,a,2024-02-01,7 % no comment\n"
    )
    message = refusal(written(tmp_path, "t.arff", content))
    assert "Attribute 'n' is numeric, but a row holds '7 % no comment'" in message
    table = read_table(written(tmp_path, "t.arff", content.replace(" % no comment", "")), impute="median")
    assert table.frame.columns == ["long name", "it\\'s", "day", "n"]
    assert table.roles["day"] == "date"
    assert table.frame["long name"].to_list() == [1.5, None]
    sparse = "@relation x\n@attribute a numeric\n@attribute b numeric\n@data\n{1 3.5}\n{0 1, 1 2}\n"
    assert read_table(written(tmp_path, "s.arff", sparse)).frame.rows() == [(0.0, 3.5), (1.0, 2.0)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("@relation x\n@data\n1\n", "declares no attribute"),
        ("@relation x\n@attribute a numeric\n1\n", "Line 3 is no line of ARFF"),
        ("@relation x\n@attribute a numeric\n", "has no line @data"),
        ("@relation x\n@attribute a numeric\n@data\n1\n1,2\n", "Line 5 has 2 values for 1 attribute"),
        ("@relation x\n@attribute a relational\n@data\n", "relational attribute"),
        ("@relation x\n@attribute a numeric\n@data\n{7 1}\n", "names attribute '7' of 1"),
        ("@relation x\n@attribute a string\n@data\n'x\n", "Line 4 cannot be read"),
    ],
)
def test_arff_that_is_wrong(tmp_path, content, message):
    assert message in refusal(written(tmp_path, "t.arff", content))


def test_time_series_archives(tmp_path):
    head = "# about\n@problemName x\n@univariate true\n@classLabel true up down\n@data\n"
    table = read_table(written(tmp_path, "t.ts", head + "1,2,?:up\n3,2,1:down\n2,3,4:up\n"), impute="median")
    assert table.frame.columns == ["class", "t1", "t2", "t3"]
    assert table.frame["t3"].to_list() == [None, 1.0, 4.0]
    assert table.roles["class"] == "label"
    two = head.replace("true up down", "false")
    table = read_table(written(tmp_path, "two.ts", two + "1,2:5,6\n3,2:7,9\n"))
    assert table.frame.columns == ["d1 t1", "d1 t2", "d2 t1", "d2 t2"]
    assert "Each curve has 2 dimensions, whose samples follow one another." in table.notes
    assert "line 7 has 2 samples, and the first has 3" in refusal(
        written(tmp_path, "cut.ts", head + "1,2,3:up\n1,2:up\n")
    )
    assert "no line of a .ts file" in refusal(written(tmp_path, "code.ts", "const a: number = 1\n"))


def test_options_are_for_some_kinds_of_files(tmp_path):
    path = written(tmp_path, "t.arff", ARFF)
    assert "--no-header is for files such as .csv" in refusal(path, no_header=True)
    assert "--sheet is for files such as .xlsx" in refusal(path, sheet="x")
    assert "--skip-lines is for files such as .csv" in refusal(
        written(tmp_path, "t.db", as_database(*ONE_TABLE)), skip_lines=2
    )
