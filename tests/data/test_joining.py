"""The cluster of each row beside the columns of its table: nothing that was there before changes."""

import io
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import linkwise as lw
from linkwise.data import read_table
from linkwise.data.joining import COLUMNS, ClusterColumns, join_file, join_frame
from linkwise.errors import DataError

CLUSTERS = ClusterColumns(np.array([0, 1, -1]), ["a,b", None, "=evil"], np.array([1.0, 0.123456, 0.5]))
ROWS = [{"id": "r0", "n": 1, "w": "x"}, {"id": "r1", "n": 22, "w": None}, {"id": "r2", "n": 3, "w": "zü"}]


def joined(path, ending, columns=CLUSTERS, **options):
    table = read_table(path, **options)
    return join_file(path, table.reading, columns, ending, table.frame)


def write(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("delimiter", [",", ";", "|"])
@pytest.mark.parametrize("begin", [b"", b"\xef\xbb\xbf"])
def test_every_byte_of_a_text_file_stays(tmp_path, end, delimiter, begin):
    lines = ["id|n|w", 'r0|007|"1.50"', "r1|NA| 2", 'r2|3e0|"two | lines' + end + 'and ""quotes"""']
    lines = [line.replace("|", delimiter) for line in lines]
    lines = [line + delimiter + str(row) for row, line in enumerate(lines)]
    raw = begin + end.join(lines).encode()  # without an end of the last line
    path = write(tmp_path, "t.csv", raw)
    out = joined(path, ".csv", delimiter=delimiter).content
    name = '"a,b"' if delimiter == "," else "a,b"
    new = [delimiter.join(["", *COLUMNS]), f"|0|{name}|1.0", "|1||0.1235", "|-1|'=evil|0.5"]
    new = [cells.replace("|", delimiter) for cells in new]
    assert out == begin + end.join(old + more for old, more in zip(lines, new, strict=True)).encode()


def test_blank_lines_stay_where_they_are(tmp_path):
    path = write(tmp_path, "t.csv", '\n"n",w\n\n1,x\n2,\n\n3,y\n\n')
    out = joined(path, ".csv").content.decode().split("\n")
    assert out[:4] == ["", '"n",w,cluster,cluster_name,confidence', "", '1,x,0,"a,b",1.0']
    assert out[4:] == ["2,,1,,0.1235", "", "3,y,-1,'=evil,0.5", "", ""]


def test_tabs_are_chosen_by_the_ending(tmp_path):
    path = write(tmp_path, "t.csv", "n,w\n1,x\n2,\n3,y\n")
    assert joined(path, ".tsv").content.decode().startswith("n\tw\tcluster\t")
    path = write(tmp_path, "t.tsv", "n\tw\n1\tx\n2\t\n3\ty\n")
    assert (
        joined(path, ".csv").content.decode().startswith('n,w,cluster,cluster_name,confidence\n1,x,0,"a,b"')
    )
    assert joined(path, ".txt").content.decode().startswith("n\tw\tcluster\t")


@pytest.mark.parametrize("ending", [".csv", ".txt", ".tsv"])
@pytest.mark.parametrize(
    ("cells", "mark"), [("1,5 2 1,25", ","), ("1.5 2 1.25", "."), ("1,5 2 x", "."), ("3 2 1", ".")]
)
def test_confidences_have_the_decimal_mark_of_the_table(tmp_path, ending, cells, mark):
    one, two, three = cells.split()
    path = write(tmp_path, "t.csv", f"id;n;k\nr0;{one};1\nr1;{two};2\nr2;{three};3\n")
    lines = joined(path, ending).content.decode().splitlines()
    assert [line.split(line[2])[-1] for line in lines[1:]] == [f"1{mark}0", f"0{mark}1235", f"0{mark}5"]


def test_a_table_that_mixes_decimal_marks_gets_points(tmp_path):
    path = write(tmp_path, "t.csv", "n;m\n1,5;1.5\n2;2\n1,25;4\n")
    assert joined(path, ".csv").content.decode().splitlines()[2].endswith(";0.1235")


def test_every_byte_of_json_lines_stays(tmp_path):
    lines = ['{"n": 1.50, "deep": {"a": [1]}}  ', "", '{"n":2e0 }', '{"n": 3, "w": "\\u00fc"}\r']
    path = write(tmp_path, "t.jsonl", "\n".join(lines))
    out = joined(path, ".jsonl").content.decode().split("\n")
    new = '"cluster": 0, "cluster_name": "a,b", "confidence": 1.0}'
    assert out[0] == f'{{"n": 1.50, "deep": {{"a": [1]}}, {new}  '
    assert out[1] == ""
    assert out[2].startswith('{"n":2e0, "cluster": 1, "cluster_name": null')
    assert out[3].startswith('{"n": 3, "w": "\\u00fc", ')
    assert out[3].endswith("}\r")


def test_text_cells_stay_texts_in_other_kinds_of_files(tmp_path):
    path = write(tmp_path, "t.csv", "id,n,m\nr0,007,1\nr1,,2\nr2,1e3,5\n")
    frame = pl.read_parquet(io.BytesIO(joined(path, ".parquet").content))
    assert frame["n"].to_list() == ["007", None, "1e3"]
    assert frame["cluster"].to_list() == [0, 1, -1]
    assert frame["cluster_name"].to_list() == ["a,b", None, "=evil"]  # no spreadsheet takes it for a formula
    assert frame["confidence"].to_list() == [1.0, 0.1235, 0.5]
    lines = joined(path, ".jsonl").content.decode().splitlines()
    found = {"id": "r1", "n": None, "m": "2", "cluster": 1, "cluster_name": None, "confidence": 0.1235}
    assert json.loads(lines[1]) == found


def test_parquet_keeps_types(tmp_path):
    frame = pl.DataFrame(ROWS).with_columns(pl.lit([1, 2]).alias("list"), pl.col("n").cast(pl.Int8))
    path = tmp_path / "t.parquet"
    frame.write_parquet(path)
    out = pl.read_parquet(io.BytesIO(joined(path, ".parquet").content))
    assert out.drop(COLUMNS).equals(frame)
    assert out.schema["n"] == pl.Int8
    with pytest.raises(DataError, match=r"\.csv cannot hold lists.*'?list'?\. .*\.parquet or \.jsonl"):
        joined(path, ".csv")
    assert json.loads(joined(path, ".jsonl").content.splitlines()[0])["list"] == [1, 2]


def test_json_refuses_what_it_would_lose(tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"x": [1.0, float("nan"), 2.0], "y": [1, 2, 3]}).write_parquet(path)
    with pytest.raises(DataError, match=r"JSON cannot hold NaN.* in x"):
        joined(path, ".jsonl")
    assert "NaN" in joined(path, ".csv").content.decode()


def test_objects_of_json_fit_into_json_alone(tmp_path):
    path = write(tmp_path, "t.jsonl", '{"n": 1, "o": {"a": 1}}\n{"n": 2}\n{"n": 3}\n')
    for ending in (".csv", ".parquet"):
        with pytest.raises(DataError, match=r"Use a file that ends in .*\.jsonl"):
            joined(path, ending, keep_nested=True)
    assert joined(path, ".csv").content.decode().startswith("n,o.a,cluster,")  # with a column for each field


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet"])
def test_names_that_clash_are_changed_and_reported(tmp_path, name):
    frame = pl.DataFrame({"cluster": [1, 2, 3], "cluster_2": [3, 1, 2], "confidence": [7, 8, 9]})
    path = tmp_path / name
    {"t.csv": frame.write_csv, "t.jsonl": frame.write_ndjson, "t.parquet": frame.write_parquet}[name](path)
    out = joined(path, path.suffix, columns=CLUSTERS, id_column="cluster")
    assert out.notes == [
        "The table has a column 'cluster' already, so the new one is called 'cluster_3'.",
        "The table has a column 'confidence' already, so the new one is called 'confidence_2'.",
    ]
    read = {"t.csv": pl.read_csv, "t.jsonl": pl.read_ndjson, "t.parquet": pl.read_parquet}[name]
    found = read(io.BytesIO(out.content))
    assert found.columns == [*frame.columns, "cluster_3", "cluster_name", "confidence_2"]
    assert found[frame.columns].equals(frame)


def test_a_file_that_has_changed_meanwhile_is_an_error(tmp_path):
    path = write(tmp_path, "t.csv", "n,w\n1,x\n2,y\n3,z\n")
    table = read_table(path)
    for text in ("n,w\n1,x\n2,y\n", "n,w\n1,x\n2,y\n3,z\n4,x\n5,x\n"):
        path.write_text(text)
        with pytest.raises(DataError, match="but the session has 3"):
            join_file(path, table.reading, CLUSTERS, ".csv")


# ---------------------------------------------------------------- tables in memory
def test_frames_keep_kind_cells_and_index():
    frame = pd.DataFrame({"n": [1, 2, 3], "o": ["a", None, "c"]}, index=[7, 3, 5])
    before = frame.copy()
    out = join_frame(frame, CLUSTERS)
    pd.testing.assert_frame_equal(frame, before)
    pd.testing.assert_frame_equal(out[["n", "o"]], before)
    assert out["cluster"].tolist() == [0, 1, -1]
    assert out["confidence"].tolist() == CLUSTERS.confidence.tolist()  # not rounded
    assert join_frame(pl.DataFrame(ROWS), CLUSTERS).columns == ["id", "n", "w", *COLUMNS]
    assert join_frame(np.eye(3), CLUSTERS).shape == (3, 6)


def test_a_session_joins_by_position_or_by_id():
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    session = lw.Session(X, ids=["a", "b", "c", "d"])
    assert session.confidence is None
    frame = pl.DataFrame({"key": ["d", "a", "b"]})
    assert session.join(frame, id_column="key")["confidence"].to_list() == [None] * 3
    while (q := session.question) is not None:
        session.answer((q.first < 2) == (q.second < 2))
    session.set_name(3, "far")
    out = session.join(frame, id_column="key")
    assert out["cluster"].to_list() == session.labels[[3, 0, 1]].tolist()
    assert out["cluster_name"].to_list() == ["far", None, None]
    assert out["confidence"].to_list() == session.confidence[[3, 0, 1]].tolist()
    assert session.join(X).shape == (4, 4)
    with pytest.raises(DataError, match="3 rows, but the session has 4"):
        session.join(frame)
    with pytest.raises(DataError, match="no row 'e'"):
        session.join(pl.DataFrame({"key": ["a", "e"]}), id_column="key")
    with pytest.raises(DataError, match="no column 'kye'"):
        session.join(frame, id_column="kye")
    with pytest.raises(TypeError, match="Pass a pandas or polars DataFrame"):
        session.join([1, 2, 3, 4])


def test_a_learner_without_confidence_gives_an_empty_column():
    session = lw.Session(np.array([[0.0], [1.0]]), lw.COBRAS(random_state=0))
    assert session.join(pl.DataFrame({"a": [1, 2]}))["confidence"].to_list() == [None, None]


def test_an_array_of_json_keeps_its_layout(tmp_path):
    path = write(tmp_path, "t.json", '[\n  {"n": 1.50, "o": {"a": 1}},\n  { }, {"n": 3}\n]\n')
    out = joined(path, ".json").content.decode()
    assert out.startswith('[\n  {"n": 1.50, "o": {"a": 1}, "cluster": 0')
    assert out.endswith("}\n]\n")
    assert [record["cluster"] for record in json.loads(out)] == [0, 1, -1]
    assert json.loads(out)[1].keys() == {"cluster", "cluster_name", "confidence"}


def test_another_encoding_becomes_utf8(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("name,n\nCafé,1\nBär,2\nÇa,3\n".encode("latin-1"))
    found = joined(path, ".csv", encoding="latin-1")
    assert found.content.decode("utf-8").splitlines()[1].startswith("Café,1,")
    assert found.notes == ["The new file is in UTF-8, unlike the data (iso8859-1)."]


def test_a_table_in_another_order_is_not_joined_by_position():
    frame = pl.DataFrame({"key": ["a", "b", "c"], "size": [0.0, 5.0, 0.1]})
    session = lw.Session(frame[["size"]], ids=frame["key"])
    with pytest.raises(DataError, match=r"Column 'key' has the ids .* from 'c' on\. Add id_column='key'"):
        session.join(frame.sort("size"))
    again = session.join(frame.sort("size"), id_column="key").sort("key")
    assert again["cluster"].to_list() == session.join(frame)["cluster"].to_list()
    other = frame.with_columns(before=pl.Series(["c", "a", "b"]))  # the key is in order
    assert session.join(other)["cluster"].to_list() == session.labels.tolist()


def test_the_line_of_excel_that_names_the_delimiter_stays(tmp_path):
    path = write(tmp_path, "t.csv", "sep=;\nn;w\n1;a\n2;b\n3;c\n")
    lines = joined(path, ".csv").content.decode().splitlines()
    assert lines[:2] == ["sep=;", ";".join(["n", "w", *COLUMNS])]
