"""Where a table begins, whether its first line is a row, and how a table is reshaped and written again."""

import shlex

import numpy as np
import polars as pl
import pytest

from linkwise.data import read_table
from linkwise.data.joining import ClusterColumns, join_file
from linkwise.data.reading import Reading
from linkwise.errors import DataError

RNG = np.random.default_rng(2)
BANK = (
    '"Data Source","World Indicators",\n\n"Updated","2018-02",\n\n"Country Name","Code","1960","1961"\n'
    + "".join(f'"Land {row}","L{row:02}","{row * 7 % 90}","{row * 11 % 80}"\n' for row in range(30))
)
BARE = "".join(",".join(f"{value:.4f}" for value in row) + "\n" for row in RNG.random((60, 4)) * 10)
CURVES = "".join(
    f"{1 + row % 2}\t" + "\t".join(f"{np.sin(at / 4 + row):.4f}" for at in range(30)) + "\n"
    for row in range(40)
)
FALLING = "5.1 3.5 1.4 0.2\n4.9 3.0 1.4 0.2\n7.0 3.2 4.7 1.4\n6.4 3.1 4.5 1.5\n4.7 3.3 1.6 0.2\n"
LOG = "".join(f"2024-01-0{1 + n % 9} 10:0{n % 7}:00,{20 + n % 5},hall {n % 2}\n" for n in range(20))
IRIS = "5.1,3.5,setosa\n4.9,3.0,setosa\n7.0,3.2,versicolor\n6.4,3.1,versicolor\n4.7,3.3,setosa\n"
SENTINELS = "co,no2,temp\n" + "".join(
    f"{-200 if row % 9 == 4 else row % 9},{-200 if row % 13 == 5 else 50 + row % 40},{row % 31}\n"
    for row in range(60)
)


def written(tmp_path, content, name="rows.csv"):
    path = tmp_path / name
    path.write_text(content)
    return path


def refusal(path, **how):
    with pytest.raises(DataError) as caught:
        read_table(path, **how)
    return str(caught.value)


def clusters(n_rows):
    return ClusterColumns(np.arange(n_rows) % 2, [None] * n_rows, None)


def test_lines_before_a_table_are_skipped(tmp_path):
    path = written(tmp_path, BANK)
    table = read_table(path)
    assert table.frame.columns == ["Country Name", "Code", "1960", "1961"]
    assert (len(table), table.reading.skip_lines) == (30, 4)
    assert any(
        "Lines 1 to 4 are skipped, because the table begins in line 5." in note for note in table.notes
    )
    assert read_table(path, skip_lines=4).frame.to_native().equals(table.frame.to_native())
    assert "Line 5 has 4 fields, but the first line names 3 columns" in refusal(path, skip_lines=0)
    assert "100 are to be skipped" in refusal(path, skip_lines=100)
    joined = join_file(path, table.reading, clusters(30), ".csv")
    assert (
        joined.content.decode().splitlines()[0]
        == "Country Name,Code,1960,1961,cluster,cluster_name,confidence"
    )
    assert "The new file is without the first 4 lines of the data." in joined.notes


def test_errors_behind_skipped_lines_name_the_line(tmp_path):
    assert "Line 4 has 1 field" in refusal(written(tmp_path, "x\ny\na,b\n1\n2,3\n"), skip_lines=2)


@pytest.mark.parametrize(
    ("content", "n_rows", "columns"),
    [(BARE, 60, 4), (IRIS, 5, 3), (FALLING, 5, 4), (LOG, 20, 3)],
    ids=["bare", "iris", "falling", "log"],
)
def test_a_first_line_of_values_is_a_row(tmp_path, content, n_rows, columns):
    path = written(tmp_path, content)
    table = read_table(path)
    assert table.frame.shape == (n_rows, columns)
    assert table.frame.columns[0] == "field 1"
    assert table.reading.no_header is True
    assert any("The first line is a row" in note for note in table.notes)
    assert read_table(path, skip_lines=0).frame.shape == (n_rows - 1, columns)
    joined = join_file(path, table.reading, clusters(n_rows), ".csv")
    assert len(joined.content.splitlines()) == n_rows + 1
    assert "The new file has a line of column names, unlike the data." in joined.notes


BELOW = "item,spring,autumn\na,1,2\nb,4,5\n,7,\nd,,\n"


@pytest.mark.parametrize(
    "rest", [",,\nSource: desk,,\n", "\nSource: desk\n", "\nSource: desk\n\n2024\n", ",,\n,,\n"]
)
def test_what_stands_below_a_table_is_no_row(tmp_path, rest):
    path = written(tmp_path, BELOW + rest)
    table = read_table(path)
    assert table.frame["item"].to_list() == ["a", "b", None, "d"]
    n_lines = ("Source" in rest) + ("2024" in rest)
    assert any(f"{n_lines} line" in note and "'Source: desk'" in note for note in table.notes) == bool(
        n_lines
    )
    joined = join_file(path, table.reading, clusters(4), ".csv")
    assert joined.content.decode().splitlines()[1:] == ["a,1,2,0,,", "b,4,5,1,,", ",7,,0,,", "d,,,1,,"]
    assert any("below the table" in note for note in joined.notes) == bool(n_lines)


def test_lines_that_are_no_rows_within_a_table(tmp_path):
    assert "Line 7 has 1 field" in refusal(written(tmp_path, BELOW + "\nSource: desk\ne,1,3\n"))
    assert "Line 6 has 1 field" in refusal(written(tmp_path, BELOW + "cut off"))
    assert "Line 3 has 1 field" in refusal(written(tmp_path, "a,b\n\nSource: desk\n"))
    assert len(read_table(written(tmp_path, BELOW + ",,\ne,,3\n"))) == 6


SENTENCES = [f"the {color} lamp of room {n} is broken" for n, color in enumerate(["red", "blue", "old"] * 5)]


def test_a_first_line_of_a_sentence_is_a_row(tmp_path):
    scored = "".join(f"{text}.\t{row % 2}\n" for row, text in enumerate(SENTENCES))
    assert len(read_table(written(tmp_path, scored, "rows.tsv"))) == 15
    classes = "".join(f"{'good' if row % 2 else 'bad'}\t{text}\n" for row, text in enumerate(SENTENCES))
    assert len(read_table(written(tmp_path, classes, "rows.tsv"))) == 15
    named = written(tmp_path, "opinion\tWhat did they say?\n" + classes, "rows.tsv")
    assert read_table(named).frame.columns == ["opinion", "What did they say?"]


def test_each_line_of_a_file_without_columns_is_a_text(tmp_path):
    lines = "\n".join(text + (", again" if row % 3 else "") for row, text in enumerate(SENTENCES)) + "\n"
    for name in ("rows.txt", "rows"):
        table = read_table(written(tmp_path, lines.replace("\n", "\n\n", 1), name), propose=True)
        assert len(table) == 15
        assert table.roles == {"text": "document"}
        assert table.notes[:2] == (
            "Each line is a text, because no character cuts the lines into columns. Add --delimiter if one"
            ' does (in Python, delimiter="...").',
            "1 empty line skipped.",
        )
        joined = join_file(tmp_path / name, table.reading, clusters(15), ".csv").content.decode()
        assert joined.startswith("text,cluster")
    named = written(tmp_path, "message\n" + lines, "rows.txt")
    assert read_table(named, propose=True).frame.columns == ["message"]
    assert len(read_table(named, propose=True, no_header=True)) == 16
    assert "unknown" in refusal(written(tmp_path, lines, "rows.md"))
    assert "Line 2 has 1 field" in refusal(written(tmp_path, "a;b\n1\n2;3\n" + "4;5\n" * 9, "rows.txt"))


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        ("name,what they said\n" + "".join(f"a{n},{text}\n" for n, text in enumerate(SENTENCES)), 2),
        ("".join(f"{n} {n % 5} {n % 3} {n % 7}\n" for n in range(20)), 4),
    ],
    ids=["commas", "spaces"],
)
def test_lines_that_are_cut_evenly_are_a_table(tmp_path, content, columns):
    path = written(tmp_path, content, "rows.txt")
    assert len(read_table(path, propose=True).frame.columns) == columns


@pytest.mark.parametrize(
    "content",
    [
        "Country,1960,1961,1962\nA,1,2,3\nB,3000,4,5\nC,5,6,7\nD,4,4,4\n",  # years
        "400.5,401,401.5\n0.1,0.2,0.3\n0.2,0.1,0.5\n0.4,0.4,0.1\n0.3,0.3,0.2\n",  # wavelengths
        "401.5,401,400.5\n380,420,390\n410,425,415\n405,400,380\n390,395,420\n",
        "0,1,2\n1,2,3\n0,5,5\n2,0,0\n",  # counted columns
        "a,b\n1,2\n3,4\n5,6\n",
        "call,1,call,2\nx,4,y,5\nx,5,y,6\nx,4,y,4\n",
    ],
    ids=["years", "wavelengths", "falling", "counts", "names", "twice"],
)
def test_names_that_are_numbers_stay_names(tmp_path, content):
    table = read_table(written(tmp_path, content))
    assert table.reading.no_header is None
    assert len(table) == content.count("\n") - 1


def test_no_header_is_taken_at_its_word(tmp_path):
    table = read_table(written(tmp_path, "red,big\n" * 2 + "blue,small\n" * 2), no_header=True)
    assert table.frame.rows() == 2 * [("red", "big")] + 2 * [("blue", "small")]


def test_curves_of_archives_have_a_class_first(tmp_path):
    table = read_table(written(tmp_path, CURVES, "train.tsv"))
    assert table.frame.shape == (40, 31)
    assert table.roles["class"] == "label"
    assert table.frame.columns[1:3] == ["t1", "t2"]


def test_a_column_is_added_to_lines_that_are_quoted_as_a_whole(tmp_path):
    path = written(tmp_path, '"name;risk"\n"a;1"\n"b;2"\n"c;3"\n')
    table = read_table(path)
    assert table.frame.rows() == [("a", 1), ("b", 2), ("c", 3)]
    joined = join_file(path, table.reading, clusters(3), ".csv").content.decode().splitlines()
    assert [line.split(";")[:3] for line in joined] == [
        ["name", "risk", "cluster"], ["a", "1", "0"], ["b", "2", "1"], ["c", "3", "0"],
    ]  # fmt: skip


def test_tables_of_r_name_their_rows(tmp_path):
    table = read_table(written(tmp_path, '"a","b"\n"r1",2,3\n"r2",4,5\n"r3",6,5\n"r4",7,8\n'))
    assert table.frame.columns == ["row", "a", "b"]
    assert table.frame["a"].to_list() == [2, 4, 6, 7]


@pytest.mark.parametrize(
    "content",
    ["title\ntitle 1\ntitle 2\ntitle 3\n", "Street name\nMain 12\nOak 5\nElm 7\n"],
    ids=["one", "two"],
)
def test_texts_are_not_cut_at_their_spaces(tmp_path, content):
    assert (
        len(read_table(written(tmp_path, content, "t.txt"), text=content.split("\n")[0]).frame.columns) == 1
    )


def test_transposed(tmp_path):
    path = written(tmp_path, "gene,s1,s2,s3\nBRCA,1,2,3\nTP53,4,5,7\n")
    table = read_table(path, transpose=True)
    assert table.frame.columns == ["gene", "BRCA", "TP53"]
    assert table.frame.rows() == [("s1", 1, 4), ("s2", 2, 5), ("s3", 3, 7)]
    joined = join_file(path, table.reading, clusters(3), ".csv")
    assert joined.content.decode().splitlines()[1] == "s1,1,4,0,,"
    assert "too few to be transposed" in refusal(written(tmp_path, "a\n1\n"), transpose=True)


def test_rows_that_meet_a_condition(tmp_path):
    path = written(tmp_path, "name,the amount\na,5\nb,-1\nc,7\nTotal,11\n")
    table = read_table(path, where="\"the amount\" > 0 AND name <> 'Total'")
    assert table.frame.rows() == [("a", 5), ("c", 7)]
    assert any("2 of 4 rows meet the condition" in note for note in table.notes)
    joined = join_file(path, table.reading, clusters(2), ".csv")
    assert joined.content.decode().splitlines()[1:] == ["a,5,0,,", "c,7,1,,"]


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("amont > 0", "Did you mean 'amount'?"),
        ("amount >", "cannot be used"),
        ("amount + 1", "is no condition"),
        ("amount > 99", "No row meets the condition"),
        ("", "has 0 characters"),
        ("count(*) > 1", ""),
    ],
)
def test_conditions_that_are_none(tmp_path, where, message):
    assert message in refusal(written(tmp_path, "name,amount\na,5\nb,-1\nc,7\n"), where=where)


def test_values_that_mean_missing(tmp_path):
    path = written(tmp_path, SENTINELS)
    table = read_table(path, missing="-200", impute="median")
    assert table.frame["co"].null_count() == sum(row % 9 == 4 for row in range(60))
    assert table.frame["no2"].null_count() == sum(row % 13 == 5 for row in range(60))
    alone = read_table(path, missing=["co=-200"], impute="median")
    assert alone.frame["no2"].null_count() == 0
    assert b"-200" in join_file(path, table.reading, clusters(60), ".csv").content
    assert "No cell holds '-300'" in refusal(path, missing="-300")
    assert "There is no column 'c0'" in refusal(path, missing="c0=1")


def test_proposed_where_the_values_say_so(tmp_path):
    table = read_table(written(tmp_path, SENTINELS), propose=True)
    assert table.reading.missing == ("-200",)
    assert next(one.option for one in table.proposals) == "missing"
    total = (
        "town,sales,cost\n" + "".join(f"t{row},{row},{2 * row}\n" for row in range(1, 20)) + "Total,190,380\n"
    )
    table = read_table(written(tmp_path, total), propose=True)
    assert len(table) == 19
    years = "title,year,n\n" + "".join(
        f"t{row},{0 if row % 9 == 1 else 1950 + row},{row % 3}\n" for row in range(40)
    )
    assert read_table(written(tmp_path, years), propose=True).reading.missing == ("year=0",)
    genes = "gene,a,b,c\n" + "".join(f"g{row},{row % 7},{row % 5},{row % 3}\n" for row in range(80))
    assert read_table(written(tmp_path, genes), propose=True).frame.shape == (3, 81)


def test_a_sign_of_one_column_holds_for_others_in_which_it_stands_apart(tmp_path):
    lines = [f"{row % 9},{row % 31 - 20},{200 + 7 * row},{row - 30}" for row in range(60)]
    lines[4] = lines[11] = "-200,-200,-200,-29"
    table = read_table(written(tmp_path, "co,temp,load,low\n" + "\n".join(lines) + "\n"), propose=True)
    assert table.reading.missing == ("-200",)
    assert table.frame.select("co", "temp", "load", "low").to_native().null_count().row(0) == (2, 2, 2, 0)
    ages = [f"{99 if row % 9 == 4 else row % 5},{99 if row in (3, 8) else row % 97}" for row in range(100)]
    table = read_table(written(tmp_path, "answer,age\n" + "\n".join(ages) + "\n"), propose=True)
    assert table.reading.missing == ("answer=99",)


def test_words_between_numbers_are_gaps(tmp_path):
    words = {3: "on request", 8: "on request", 20: "NA"}
    lines = [f'"{words.get(row, f"{1 + row % 8},{100 + row:03}")}",{row % 7}' for row in range(60)]
    content = "price,kind\n" + "\n".join(lines) + "\n"
    table = read_table(written(tmp_path, content), propose=True)
    assert table.reading.missing == ("price=on request",)
    assert table.roles["price"] == "numeric"
    assert table.frame["price"].null_count() == 3
    again = read_table(written(tmp_path, content), table.reading).frame["price"]
    assert again.to_list() == table.frame["price"].to_list()
    once = content.replace("on request", "sold", 1)
    assert read_table(written(tmp_path, once), propose=True).reading.missing is None
    few = "size,n\n" + "".join(f"{'studio' if row % 5 == 0 else row % 4},{row % 7}\n" for row in range(60))
    assert read_table(written(tmp_path, few), propose=True).roles["size"] == "category"


@pytest.mark.parametrize(
    ("cells", "proposed"),
    [
        (["#DIV/0!"], ("price=#DIV/0!",)),
        (["#N/A", "#BEZUG!", "#NAME?"], ("price=#N/A", "price=#BEZUG!", "price=#NAME?")),
        (["#12"], None),
        (["n.a."], ("price=n.a.",)),
        (["sold!"], None),
    ],
)
def test_errors_of_a_spreadsheet_are_gaps(tmp_path, cells, proposed):
    prices = [*cells, *(f"{row}.5" for row in range(60))]
    content = "price,kind\n" + "".join(f"{price},{row % 7}\n" for row, price in enumerate(prices))
    table = read_table(written(tmp_path, content), propose=True)
    assert table.reading.missing == proposed
    assert (table.roles["price"] == "numeric") == (proposed is not None)


UNITS = "sample,heat,force,note\n{}\n" + "".join(
    f"S{row},{row % 7}.5,{row % 5 + 0.25},n{row}\n" for row in range(40)
)


@pytest.mark.parametrize(
    ("units", "n_rows"),
    [(",°C,kPa,", 40), ("unit,°C,kPa,free text", 40), (",°C,,", 40), ("S,°C,,", 41), ("S,1.5,kPa,", 41)],
)
def test_a_first_row_of_units_is_no_row(tmp_path, units, n_rows):
    table = read_table(written(tmp_path, UNITS.format(units)), propose=True)
    assert len(table) == n_rows
    is_left_out = n_rows == 40
    assert (table.reading.where is not None) == is_left_out
    if is_left_out:
        assert table.roles["heat"] == table.roles["force"] == "numeric"
        assert len(read_table(written(tmp_path, UNITS.format(units)), table.reading)) == n_rows


@pytest.mark.parametrize(
    ("gaps", "proposed"),
    [
        (["?", "n/a", "", "NA"], ("kind=?", "kind=n/a", "kind=NA")),
        (["unknown", ""], ("kind=unknown",)),
        (["unknown"], None),
        (["NA", ""], None),  # may be North America
        (["none", ""], None),
    ],
)
def test_several_words_for_a_missing_category_are_one(tmp_path, gaps, proposed):
    kinds = [*gaps * 3, *["red", "blue"] * 20]
    content = "kind,size\n" + "".join(f"{kind},{row % 7}\n" for row, kind in enumerate(kinds))
    assert read_table(written(tmp_path, content), propose=True).reading.missing == proposed


def test_a_hint_at_other_cells_can_be_followed(tmp_path):
    content = "my price,kind\n" + "".join(
        f"{'sold' if row == 3 else row + 0.5},{row % 7}\n" for row in range(60)
    )
    table = read_table(written(tmp_path, content))
    said = next(note for note in table.notes if "taken as text" in note)
    options = shlex.split(said.partition("or add ")[2].partition(" (in Python")[0])
    assert options == ["--missing", "my price=sold"]
    again = read_table(written(tmp_path, content), Reading.of(missing=options[1::2]))
    assert again.roles["my price"] == "numeric"


def test_nothing_is_proposed_for_values_in_their_range(tmp_path):
    plain = "a,b\n" + "".join(f"{row % 40 - 20},{99 if row % 9 == 0 else row % 98}\n" for row in range(90))
    assert read_table(written(tmp_path, plain), propose=True).reading.missing is None


def test_a_reading_is_stored_and_recalled():
    reading = Reading.of(no_header=True, skip_lines=0, transpose=True, where="a > 0", missing=["-200", "y=0"])
    stored = reading.to_json()
    assert Reading.of(**stored) == reading
    assert "Set it to the number of lines" in Reading(skip_lines=-1).find_misfit().message


def test_arrow_files_are_written(tmp_path):
    frame = pl.DataFrame({"a": [1, 2, 5], "b": [{"c": 1}, {"c": 2}, {"c": 2}]})
    frame.write_ipc(tmp_path / "t.arrow")
    table = read_table(tmp_path / "t.arrow")
    joined = join_file(tmp_path / "t.arrow", table.reading, clusters(3), ".arrow")
    assert pl.read_ipc(joined.content).select("a", "b").equals(frame)
    flat = join_file(tmp_path / "t.arrow", table.reading, clusters(3), ".csv")
    assert flat.content.decode().splitlines()[0] == "a,b.c,cluster,cluster_name,confidence"
