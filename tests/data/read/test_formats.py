"""JSON lines, Parquet and NumPy files: what they hold, and what is wrong with them."""

import contextlib
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwise.data import encode, read_table
from linkwise.errors import DataError


def written(tmp_path, content, name="rows.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refusal(path, **how):
    with pytest.raises(DataError) as caught:
        read_table(path, **how)
    return str(caught.value)


def test_json_faults_name_the_line(tmp_path):
    assert "Line 3 is not JSON" in refusal(written(tmp_path, '{"a": 1}\n\n{"a": }\n', "rows.jsonl"))
    assert "Line 2 is a JSON list" in refusal(written(tmp_path, '{"a": 1}\n[1]\n', "rows.ndjson"))
    assert "Line 1 is a JSON int" in refusal(written(tmp_path, '1\n{"a": 1}', "rows.json"))


@pytest.mark.parametrize("content", [r'{"a": "\ud800"}', r'{"\ud800": 1}', r'{"a": ["\udc00"]}'])
def test_json_escapes_of_no_character(tmp_path, content):
    message = refusal(written(tmp_path, '{"a": "\\u00e9"}\n' + content, "rows.jsonl"))
    assert "Line 2 has an escape that is no character" in message


def test_json_of_mixed_kinds(tmp_path):
    lines = '{"a": 1, "b": 1, "d": 1}\n{"a": 2.5, "b": "x", "c": true}\n{"c": false, "a": null, "d": "1"}\n'
    table = read_table(written(tmp_path, lines, "rows.jsonl"), columns=["a", "b", "c"])
    assert table.roles == {"a": "numeric", "b": "category", "d": "left out", "c": "category"}
    assert [list(table.item(row).values()) for row in range(3)] == [
        ["1", "1", "missing", "1"], ["2.5", "x", "true", "missing"], ["missing", "missing", "false", "1"],
    ]  # fmt: skip


def test_json_numbers_out_of_range_are_infinite(tmp_path):
    content = '{"a": 1.5}\n{"a": -1' + "0" * 400 + '}\n{"a": 1e999}\n'
    assert read_table(written(tmp_path, content, "rows.jsonl")).frame["a"].to_list() == [1.5, -np.inf, np.inf]


@pytest.mark.parametrize("day", ["Jun {} 1998", "{}.6.1998"])
def test_json_dates_as_people_write_them(tmp_path, day):
    lines = [{"day": day.format(30), "code": "12"}, {"day": day.format(2), "code": "13"}] * 2
    table = read_table(written(tmp_path, "\n".join(map(json.dumps, lines)), "rows.jsonl"))
    assert table.roles == {"code": "category", "day": "date"}
    assert list(map(str, table.frame["day"].to_list()[:2])) == ["1998-06-30", "1998-06-02"]


def test_json_texts_stay_texts_but_dates_are_dates(tmp_path):
    lines = [{"code": "12", "day": "2024-01-31"}, {"code": "13", "day": "2024-02-01"}] * 2
    table = read_table(written(tmp_path, "\n".join(map(json.dumps, lines)), "rows.jsonl"))
    assert table.roles == {"code": "category", "day": "date"}


def test_lists_are_left_out(tmp_path):
    table = read_table(written(tmp_path, '{"a": 1, "b": [1]}\n{"a": 2, "b": [2, 3]}\n', "rows.jsonl"))
    assert table.roles["b"] == "left out"
    assert table.item(1) == {"a": "2", "b": "[2, 3]"}
    assert any("'b' is left out: values of type Object, such as [1]" in note for note in table.notes)
    rows = [{"a": row, "tags": ["red", "old"][: row % 3]} for row in range(9)]
    tags = read_table(written(tmp_path, json.dumps([*rows, {"a": 9}]), "tags.json")).frame["tags"].to_list()
    assert tags == [*[None, "red", "red; old"] * 3, None]


ORDERS = [
    {"n": 1, "to": {"town": "Bern", "geo": {"lat": 46.9}}, "tags": {}},
    {"n": 2, "to": None},
    {"n": 4, "to": {"town": "Basel", "geo": {"lat": 47.6}}},
    {"n": 3, "to": {"town": "Bern", "geo": {"lat": 46.8}}},
]


def test_nested_fields_become_columns(tmp_path):
    lines = "\n".join(map(json.dumps, ORDERS))
    path = written(tmp_path, lines, "rows.jsonl")
    table = read_table(path)
    assert table.frame.columns == ["n", "to.town", "to.geo.lat", "tags"]
    assert table.frame["to.geo.lat"].to_list() == [46.9, None, 47.6, 46.8]
    assert table.roles["to.town"] == "category"
    assert table.roles["to.geo.lat"] == "numeric"
    assert any("Nested fields are columns of their own: to.town, to.geo.lat." in note for note in table.notes)
    assert read_table(path, **table.choices).notes == table.notes


def test_nested_objects_stay_as_they_are_when_asked(tmp_path):
    path = written(tmp_path, "\n".join(map(json.dumps, ORDERS)), "rows.jsonl")
    table = read_table(path, keep_nested=True)
    assert table.frame.columns == ["n", "to", "tags"]
    assert table.frame["to"].to_list()[0] == ORDERS[0]["to"]
    assert table.choices["keep_nested"] is True
    assert not any("Nested" in note for note in table.notes)


def test_an_option_for_other_files_is_refused(tmp_path):
    path = written(tmp_path, "a\n1\n2\n", "rows.csv")
    with pytest.raises(DataError, match=r"rows.csv: --keep-nested is for files such as \.jsonl"):
        read_table(path, keep_nested=True)
    path = written(tmp_path, "\n".join(map(json.dumps, ORDERS)), "rows.jsonl")
    with pytest.raises(DataError, match=r"--delimiter is for files .* \(in Python, delimiter=\)"):
        read_table(path, delimiter=";")


def test_a_json_array_is_the_same_table_as_its_lines(tmp_path):
    lines = read_table(written(tmp_path, "\n".join(map(json.dumps, ORDERS)), "rows.jsonl"))
    array = read_table(written(tmp_path, "\n " + json.dumps(ORDERS, indent=2), "rows.json"))
    assert array.frame.to_native().equals(lines.frame.to_native())
    assert array.notes == lines.notes


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"a": 1}, 2]', "Element 1 (counted from 0) is a JSON int"),
        ('[{"a": 1}', "The file is not JSON: "),
        ('[{"a": 1}]\n[{"a": 2}]', "The file is not JSON: Extra data"),
        ('[{"a": 1}, {"a": "\\ud800"}]', "Element 1 (counted from 0) has an escape that is no character"),
        ("[]", "The file is empty"),
        ('[{"a": 1, "a": 2}]', "Column names must differ"),
        ('{"a.b": 1, "a": {"b": 2}}', "Two fields are called 'a.b', one of them nested"),
        ('{"a": ' * 900 + "1" + "}" * 900, "at most 1000 are allowed"),
        ("[" * 100_000, "The file is not JSON: "),
    ],
)
def test_faults_of_arrays_and_nested_fields(tmp_path, content, message):
    assert message in refusal(written(tmp_path, content, "rows.json"))


def test_objects_among_other_values_stay_as_they_are(tmp_path):
    lines = '{"a": 5, "n": 1}\n{"a": {"b": 6}, "n": 2}\n'
    table = read_table(written(tmp_path, lines, "rows.jsonl"))
    assert table.frame["a"].to_list() == [5, {"b": 6}]
    assert table.roles["a"] == "left out"


def test_not_parquet(tmp_path):
    assert "read as Parquet" in refusal(written(tmp_path, "a,b\n1,2\n", "rows.parquet"))


def test_arrays(tmp_path):
    X = np.array([[1.0, 2.0], [3.0, 5.0], [4.0, 4.0]])
    np.save(tmp_path / "rows.npy", X)
    np.savez(tmp_path / "named.npz", X=X, other=np.ones((2, 2)), ids=np.array(["a", "b", "c"]))
    np.savez(tmp_path / "only.npz", points=X, y=np.zeros(3), id=np.array([3, 2, 1]))
    plain = read_table(tmp_path / "rows.npy")
    assert plain.features == ("x0", "x1")
    assert plain.ids is None
    np.testing.assert_array_equal(encode(plain, scale="none").X, X)
    named = read_table(tmp_path / "named.npz")
    assert named.ids == ("a", "b", "c")
    assert "Arrays in the file that are not used: other." in named.notes
    np.testing.assert_array_equal(encode(named, scale="none").X, X)
    only = read_table(tmp_path / "only.npz")
    assert only.ids == ("3", "2", "1")
    assert "Rows are those of the array 'points'." in only.notes
    assert read_table(tmp_path / "only.npz", **only.choices).ids == only.ids
    assert read_table(tmp_path / "only.npz", drop=["id"]).ids is None


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"a": np.ones(3)}, "no array of rows: a (3,)"),
        ({"X": np.ones((2, 2, 0))}, "0 feature(s)"),
        ({"X": np.array([["a", "b"]])}, "Pass an array of numbers"),
        ({"X": np.ones((2, 2), dtype=complex)}, "Pass an array of numbers"),
        ({"X": np.eye(3), "ids": np.arange(2)}, "2 ids for 3 rows"),
        ({"X": np.ones((3, 0))}, "0 feature(s)"),
        ({"X": np.ones((0, 3))}, "0 rows, but at least 2 are needed"),
        ({"X": np.eye(2), "ids": np.array(["a", "a"])}, "cannot be the id: 'a' in rows 0 and 1"),
    ],
)
def test_archives_that_hold_no_table(tmp_path, arrays, message):
    np.savez(tmp_path / "rows.npz", **arrays)
    assert message in refusal(tmp_path / "rows.npz")


def test_arrays_that_cannot_be_read(tmp_path):
    np.save(tmp_path / "objects.npy", np.array([[1, "a"]], dtype=object), allow_pickle=True)
    np.save(tmp_path / "flat.npy", np.arange(3))
    assert "NumPy array" in refusal(tmp_path / "objects.npy")
    assert "shape (3,)" in refusal(tmp_path / "flat.npy")
    assert "NumPy array" in refusal(written(tmp_path, "a,b\n", "text.npy"))
    assert "NumPy array" in refusal(written(tmp_path, "PK\x03\x04 broken", "broken.npz"))
    np.savez(tmp_path / "some.npz", X=np.eye(2), names=np.array([None, "a"], dtype=object))
    assert any("not used: names" in note for note in read_table(tmp_path / "some.npz").notes)


PIECES = b', ; \n \r\n " a id 1 2.5 NA 2024-01-31 {"a": } [ \xff'.split(b" ")


@pytest.mark.slow
@settings(max_examples=5 * settings.default.max_examples, deadline=None)
@given(
    raw=st.one_of(
        st.binary(min_size=1, max_size=40),
        st.lists(st.sampled_from(PIECES), min_size=1, max_size=25).map(b"".join),
    ),
    ending=st.sampled_from(["csv", "tsv", "jsonl", "npy", "npz", "parquet"]),
)
def test_any_bytes_are_a_table_or_refused_with_a_data_error(tmp_path_factory, raw, ending):
    path = written(tmp_path_factory.getbasetemp(), raw, f"any.{ending}")
    with contextlib.suppress(DataError):
        table = read_table(path)
        assert len(table.item(0)) >= len(table.features) > 0
