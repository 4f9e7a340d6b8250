"""Both ways of parsing delimited text agree, and agree with what was written."""

import csv
import io

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwise.data.read import delimited
from linkwise.errors import DataError

PLAIN = st.text(st.characters(exclude_categories=["Cs"], exclude_characters='",\r\n'), max_size=5)
ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


def tables(cells):
    return st.integers(2, 4).flatmap(
        lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=8)
    )


def as_csv(rows, names, end):
    out = io.StringIO()
    csv.writer(out, lineterminator=end).writerows([names, *rows])
    return out.getvalue().encode()


def empty_as_none(rows):
    return [tuple(cell or None for cell in row) for row in rows]


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(rows=tables(PLAIN), end=st.sampled_from(["\n", "\r\n"]))
def test_fast_and_careful_parsers_agree(rows, end):
    names = [f"c{j}" for j in range(len(rows[0]))]
    raw = as_csv(rows, names, end)
    careful, *_ = delimited._careful_frame(raw.decode(), ",", names)
    assert careful.rows() == empty_as_none(rows)
    if delimited._is_plain(raw, ",", len(names)):
        assert delimited._plain_frame(raw, ",", names).equals(careful)
    frame = delimited.read_delimited(raw, ",", False, skip_lines=0).frame
    assert frame.equals(delimited._cut_below(careful)[0])


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(rows=tables(ANY))
def test_what_was_written_is_read(rows):
    names = [f"c{j}" for j in range(len(rows[0]))]
    frame, delimiter, *_ = delimited.read_delimited(as_csv(rows, names, "\r\n"), ",", False)
    assert delimiter == ","
    assert frame.columns == names
    whole = pl.DataFrame(empty_as_none(rows), schema=dict.fromkeys(names, pl.String), orient="row")
    assert frame.equals(delimited._cut_below(whole)[0])


def test_lines_alike_take_the_fast_way():
    assert delimited._is_plain(b"a,b\n1,2\n3,4", ",", 2)
    assert delimited._is_plain(b"a,b\r\n1,2\r\n", ",", 2)
    assert not delimited._is_plain(b"a,b\n1,2\n3\n", ",", 2)
    assert not delimited._is_plain(b"a,b\n1,2,3\n4\n", ",", 2)
    assert not delimited._is_plain(b'a,b\n1,"2"\n', ",", 2)
    assert not delimited._is_plain(b"a,b\r1,2\r", ",", 2)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n", ";"),
        ("a\tb c, d\n1\t2\n", "\t"),
        ("a|b|c\n1|2|3\n", "|"),
        ('"a;x","b;y"\n"1;2","3"\n', ","),
        ("just\none\n", ","),
    ],
)
def test_sniffing(text, found):
    assert delimited.detect_delimiter(text, tabs_first=False) == found


def test_only_the_beginning_of_a_long_text_is_looked_at(monkeypatch):
    monkeypatch.setattr(delimited, "_DETECTION_CHARACTERS", 8)
    assert delimited.detect_delimiter("a;b\n1;2\n,,,,,,\n", tabs_first=False) == ";"
    assert delimited.detect_delimiter("a;long line without end", tabs_first=False) == ";"
    assert delimited.detect_delimiter("\n" * 200 + "a;b", tabs_first=False) == ","


def test_tabs_come_first_where_the_name_says_so():
    text = "a,b\tc\n1,2\t3\n"
    assert delimited.detect_delimiter(text, tabs_first=True) == "\t"
    assert delimited.detect_delimiter(text, tabs_first=False) == ","


def test_names_are_trimmed_and_get_numbers_where_they_are_equal():
    assert delimited.read_delimited(b"a, b\n1,2\n", ",", False).frame.columns == ["a", "b"]
    table = delimited.read_delimited(b"a, a,a_2,a,b\n1,2,3,4,5\n", ",", False)
    assert table.frame.columns == ["a", "a_3", "a_2", "a_4", "b"]
    assert "Names that occur twice have a number: a_3, a_4." in table.notes[1]


def test_a_name_of_several_lines_is_in_one():
    table = delimited.read_delimited(b'name,"size \r\n(cm)"\na,1\nb,2\n', ",", False)
    assert table.frame.columns == ["name", "size (cm)"]


def test_a_first_line_of_excel_names_the_delimiter():
    frame, delimiter, notes, *_ = delimited.read_delimited(b"sep=;\r\na;b\r\n1,5;2\r\n3,5;4\r\n", None, False)
    assert (delimiter, frame.rows()) == (";", [("1,5", "2"), ("3,5", "4")])
    assert notes == ["The first line names the delimiter: ';'.", "Columns are separated by semicolons."]
    with pytest.raises(DataError, match="Line 3 has 1 field"):
        delimited.read_delimited(b"sep=;\na;b\n1\n", None, False)


@pytest.mark.parametrize("delimiter", [None, ";"])
def test_lines_that_are_quoted_as_a_whole_lose_these_quotes(delimiter):
    raw = b'"name; risk"\n"a ""b""; 0.5"\n\n"c; 1"\n"d;0"\n'
    frame, found, notes, *_, is_plain = delimited.read_delimited(raw, delimiter, False)
    assert (found, is_plain) == (";", False)
    assert frame.rows() == [('a "b"', " 0.5"), ("c", " 1"), ("d", "0")]
    assert notes[0] == "Each line is a single quoted field, so it is read without these quotes."


@pytest.mark.parametrize(
    "text",
    [
        '"text"\n"well, yes"\n"no, not"\n"so, so"\n',  # one column of texts with commas
        '"a","b"\n"1","2"\n"3","4"\n"5","6"\n',
        '"a,b"\n1,2\n"3,4"\n"5,6"\n',
    ],
)
def test_other_quotes_stay_what_they_are(text):
    assert delimited._unwrap_lines(text) is None
