"""Text becomes numbers, truth values or dates only where all of it is such."""

import datetime

import polars as pl
import pytest

from linkwise.data.read.parse import parse_columns


def parsed(values, **how):
    frame, notes, _ = parse_columns(pl.DataFrame({"a": pl.Series(values, dtype=pl.String)}), **how)
    return frame["a"], notes


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["1", " 2 ", "-3", "+4"], [1, 2, -3, 4]),
        (["1", "2.5", "1e3", ".5"], [1.0, 2.5, 1000.0, 0.5]),
        (["0", "0.5", "-0.25"], [0.0, 0.5, -0.25]),
        (["1", "", "  ", "3"], [1, None, None, 3]),
        (["99999999999999999999", "1"], [1e20, 1.0]),
        (["True", "false", "TRUE", None], [True, False, True, None]),
        (["a", "1", " b "], ["a", "1", " b "]),
        (["a", "NA", "?"], ["a", "NA", "?"]),
        (["007", "08", "9"], ["007", "08", "9"]),
        (["1_000", "2"], ["1_000", "2"]),
        (["1,5", "2,5"], ["1,5", "2,5"]),
        (["01/02/2024", "02/02/2024"], ["01/02/2024", "02/02/2024"]),
        (["2024-02-30", "2024-02-01"], ["2024-02-30", "2024-02-01"]),
        ([None, ""], [None, None]),
        (["NA", "NA"], ["NA", "NA"]),
    ],
)
def test_values(texts, values):
    assert parsed(texts)[0].to_list() == values


def test_infinity_is_a_number():
    assert parsed(["1", "inf", "-inf"])[0].to_list() == [1.0, float("inf"), float("-inf")]


def test_dates():
    assert parsed(["2024-01-31", "", "2024-02-01"])[0].to_list() == [
        datetime.date(2024, 1, 31), None, datetime.date(2024, 2, 1),
    ]  # fmt: skip
    assert parsed(["2024/01/31", "2024/02/01"])[0].dtype == pl.Date


def test_moments_of_many_forms():
    texts = [
        "2024-01-31", "2024-01-31 10:20", "2024-01-31T10:20:30", "2024-01-31T10:20:30.5Z",
        "2024-01-31 10:20:30+02:00", "2024-01-31 10:20-0130",
    ]  # fmt: skip
    at = datetime.datetime
    assert parsed(texts)[0].to_list() == [
        at(2024, 1, 31), at(2024, 1, 31, 10, 20), at(2024, 1, 31, 10, 20, 30),
        at(2024, 1, 31, 10, 20, 30, 500_000), at(2024, 1, 31, 8, 20, 30), at(2024, 1, 31, 11, 50),
    ]  # fmt: skip


def test_markers_among_numbers_are_missing_and_reported():
    series, notes = parsed(["1", "?", "NA", "2", "NA", "nan"])
    assert series.to_list() == [1, None, None, 2, None, None]
    assert notes == ["Column 'a': 4 values written '?', 'NA', 'nan' read as missing."]
    series, notes = parsed(["2024-01-31", "n/a", "2024-02-01"])
    assert series.null_count() == 1
    assert len(notes) == 1


def test_leading_zeros_are_reported():
    assert "begin with zeros" in parsed(["007", "08", "9"])[1][0]
    assert parsed(["a", "b"])[1] == []


def test_what_is_to_be_kept_is_kept():
    assert parsed(["1", " 2"], keep={"a"})[0].to_list() == ["1", " 2"]
    assert parsed(["1", "2"], numbers=False)[0].to_list() == ["1", "2"]
    assert parsed(["true"], numbers=False)[0].to_list() == ["true"]
    assert parsed(["2024-01-31"], numbers=False)[0].dtype == pl.Date


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["1.200,00 €", "15,00 €", ""], [1200.0, 15.0, None]),
        (["$1,234.50", "$3"], [1234.5, 3.0]),
        (["-5 €", "+3 €"], [-5, 3]),
        (["EUR 12", "EUR 13.50"], [12.0, 13.5]),
        (["12 kg", "7.5 kg"], [12.0, 7.5]),
        (["40%", "3.5 %"], [40.0, 3.5]),
        (["NA", "3,5", "1.000,25"], [None, 3.5, 1000.25]),
        (["1 234,5", "7"], [1234.5, 7.0]),
        (["1’234.5", "7"], [1234.5, 7.0]),
        (["12,345,678", "1"], [12345678, 1]),
        (["5 330", "976", "1 676"], [5330, 976, 1676]),
        (["5\u202f330", "1\xa0676"], [5330, 1676]),
        (["-$2.50", "$-3", "$1"], [-2.5, -3.0, 1.0]),
        (["(2.50)", "3.00"], [-2.5, 3.0]),
        (["2-", "3"], [-2, 3]),
        (["\u22125", "3"], [-5, 3]),
        (["US$ 2.50", "US$ 3"], [2.5, 3.0]),
        (["Rs. 1,00,000", "Rs. 9,000"], [100000, 9000]),
        (["2.5k", "300", "1M"], [2500, 300, 1000000]),
        (["$157 B", "$26 B"], [157 * 10**9, 26 * 10**9]),
        (["5 MB", "300 kB"], [5000000, 300000]),
        (["300 K", "299 K"], [300, 299]),
        (["12kg", "7kg"], [12, 7]),
        (["1 day", "12 days"], [1, 12]),
        (["17% off", "5% off"], [17, 5]),
        (["1,000,000+", "500+"], [1000000, 500]),
        (["500,000+", "1,000+"], [500000, 1000]),
        (["$4.99", "0"], [4.99, 0.0]),
        (["3.5L", "2L"], [3.5, 2.0]),
        (["5.1 l/100km", "11 l/100km"], [5.1, 11.0]),
        (["4/5", "3.5/5"], [4.0, 3.5]),
        (["7 / 10", "9 / 10"], [7, 9]),
        (["1,234", "2,345", "3,456", "4,567", "5,678", "987"], [1234, 2345, 3456, 4567, 5678, 987]),
    ],
)
def test_numbers_as_people_write_them(texts, values):
    found, notes = parsed(texts)
    assert found.to_list() == values
    assert notes[0].startswith("Column 'a' is read as numbers: '")


@pytest.mark.parametrize("comma_free", [False, True])
def test_many_numbers_in_groups_of_three_digits_have_no_decimals(comma_free):
    texts = ["45,123 kms", "91,737 kms", "8,218 kms", "118,447 kms", "31,000 kms"]
    assert parsed(texts, comma_free=comma_free)[0].to_list() == [45123, 91737, 8218, 118447, 31000]
    points = [text.replace(",", ".") for text in texts]
    assert parsed(points, comma_free=comma_free)[0].to_list() == [45123, 91737, 8218, 118447, 31000]


def test_decimal_commas_alone_need_another_delimiter():
    assert parsed(["1,5", "2,25"], comma_free=True)[0].to_list() == [1.5, 2.25]
    assert parsed(["1,5", "2,25"])[0].dtype == pl.String


@pytest.mark.parametrize(
    "texts",
    [
        ["1,234", "5,678"],
        ["1.234 €", "5.678 €"],
        ["1 EUR", "2 USD"],
        ["3 €", "4"],
        ["555 123 456", "555 123 457"],
        ["0123,5", "1,5"],
        ["1,2,4", "1"],
        ["1.234,5", "1,234.5"],
        ["1.234'567,5", "2"],
        ["12b", "13b"],
        ["1.2b", "1.3c"],
        ["1/2", "3/4"],
        ["17/2020", "18/2020"],
        ["4th", "5th"],
        ["1,234", "1.234", "2,345", "2.345", "3,456", "3.456"],
        ["10am", "11am"],
        ["555 123", "555 124"],
        ["(1) 2", "3"],
        ["(12)", "(13)"],
        ["1-", "2-"],
        ["+-1", "2 kg"],
        ["5 Frob 2017", "6 May 2017"],
        ["May 5", "June 6"],
        ["32 May 2017", "5 May 2017"],
        ["1:75", "2:10"],
        ["ABC 12", "ABC 13"],
        ["€", "1 €"],
        ["1/2/2024", "3/4/2024"],
        ["30.02.2024", "13.02.2024"],
        ["13.4.2024", "4.13.2024"],
        ["13.04.2024", "14/04/2024"],
        ["13.04.24", "14.04.24"],
    ],
)
@pytest.mark.parametrize("comma_free", [False, True])
def test_what_leaves_a_doubt_stays_text(texts, comma_free):
    found, notes = parsed(texts, comma_free=comma_free)
    assert (found.to_list(), notes) == (texts, [])


@pytest.mark.parametrize(
    ("texts", "days", "how"),
    [
        (["31.01.2024", "2.3.2024", None], ["2024-01-31", "2024-03-02", None], "day first"),
        (["1/31/2024", "2/3/2024"], ["2024-01-31", "2024-02-03"], "month first"),
        (
            ["1/31/2024 3:05 PM", "2/3/2024 12:01 AM"],
            ["2024-01-31 15:05:00", "2024-02-03 00:01:00"],
            "month first",
        ),
        (
            ["31-1-2024 9:05", "1-2-2024 10:00:30"],
            ["2024-01-31 09:05:00", "2024-02-01 10:00:30"],
            "day first",
        ),
    ],
)
def test_dates_as_people_write_them(texts, days, how):
    found, notes = parsed(texts)
    assert [None if day is None else str(day) for day in found] == days
    assert notes[0].startswith(f"Column 'a' is read as dates, {how}: '")


@pytest.mark.parametrize(
    ("texts", "days"),
    [
        (["05-Oct-17", "04-Aug-68", None], ["2017-10-05", "1968-08-04", None]),
        (["5 Oct 2017", "21 July 2017"], ["2017-10-05", "2017-07-21"]),
        (["Oct 5, 2017", "Sept. 21, 2017"], ["2017-10-05", "2017-09-21"]),
        (["Tuesday, October 5, 2017", "Mon, Jul 21, 2017"], ["2017-10-05", "2017-07-21"]),
        (["5th October 2017", "1st May 2018"], ["2017-10-05", "2018-05-01"]),
        (["2017 Oct 5", "2018-Jan-03"], ["2017-10-05", "2018-01-03"]),
        (["Oct-17", "Jan 2018"], ["2017-10-01", "2018-01-01"]),
        (["5 Oct 2017 9:05", "6 Oct 2017 11:30 PM"], ["2017-10-05 09:05:00", "2017-10-06 23:30:00"]),
        (
            ["20240131", "20240201", "20240202", "20240203", "20240204"],
            ["2024-01-31", "2024-02-01", "2024-02-02", "2024-02-03", "2024-02-04"],
        ),
    ],
)
def test_dates_that_leave_no_doubt(texts, days):
    found, notes = parsed(texts)
    assert [None if day is None else str(day) for day in found] == days
    assert notes[0].startswith("Column 'a' is read as dates: '")


def test_whole_numbers_that_are_no_dates_stay_numbers():
    for texts in (["20240131", "20240201"], ["20240131", "20241301", "20240101", "20240102", "20240103"]):
        assert parsed(texts)[0].to_list() == [int(text) for text in texts]


def test_times_are_hours():
    found, notes = parsed(["01:30", "3:00:00", None])
    assert found.to_list() == [1.5, 3.0, None]
    assert notes == ["Column 'a' is read as hours: '3:00:00' is 3.0."]


def test_a_column_of_telephone_numbers_stays_text():
    frame = pl.DataFrame({"phone": ["55 123", "5 124"], "people": ["55 123", "5 124"]})
    found = parse_columns(frame, comma_free=True).frame
    assert found["phone"].to_list() == ["55 123", "5 124"]
    assert found["people"].to_list() == [55123, 5124]


@pytest.mark.parametrize(
    ("texts", "forms"),
    [
        (["€ 48.39", "€48.390", " € 7.00", None, "n/a"], ["€ 48.39", "€ 48.39", "€ 7.00", None, None]),
        (["21.5 %", "3 %"], ["21.5 %", "3 %"]),
        (["1.234,50", "7,00", "1.234,5"], ["1.234,50", "7,00", "1.234,50"]),
        (["1", "2.50", "?"], None),
        (["31.01.2024", "01.02.2024"], None),
    ],
)
def test_numbers_in_another_form_keep_it_beside(texts, forms):
    frame = pl.DataFrame({"a": pl.Series(texts, dtype=pl.String)})
    written = parse_columns(frame, comma_free=True).written
    assert [series.to_list() for series in written] == ([] if forms is None else [forms])


def test_many_columns_in_one_form_have_one_note():
    frame = pl.DataFrame({"kind": ["a", "b"], **{f"h{n:02d}": [f"{n},25", "-1,5"] for n in range(20)}})
    found = parse_columns(frame, comma_free=True)
    assert found.frame["h07"].to_list() == [7.25, -1.5]
    assert len(found.written) == 20
    assert found.notes == [
        "20 columns are read as numbers: h00, h01, h02, h03, h04 and 15 more. In 'h00', '0,25' is 0.25."
    ]
    assert len(parse_columns(frame.select("h00", "h01"), comma_free=True).notes) == 2


def test_one_note_is_about_many_columns_with_the_same_sign():
    frame = pl.DataFrame({f"c{at}": ["1", "?", str(at)] for at in range(7)} | {"d": ["1", "NA", "2"]})
    assert parse_columns(frame).notes == [
        "Values written '?' are read as missing in 7 columns: c0 (1), c1 (1), c2 (1), c3 (1), c4 (1) and 2"
        " more.",
        "Column 'd': 1 value written 'NA' read as missing.",
    ]
