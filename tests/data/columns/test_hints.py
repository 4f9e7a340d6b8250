"""A hint is given exactly if following it gives a column that the parser reads."""

import re

import narwhals as nw
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise.data import from_frame
from linkwise.data.columns.uses import find_hint
from linkwise.data.read.parse import parse_columns

DIGITS = st.text("0123456789", min_size=1, max_size=4)
AMOUNTS = st.builds(
    lambda before, sign, groups, mark, fraction, after: before + sign + mark.join(groups) + fraction + after,
    st.sampled_from(["", "", "$", "€ ", "EUR "]),
    st.sampled_from(["", "", "-"]),
    st.lists(DIGITS | st.sampled_from(["000", "234", "500"]), min_size=1, max_size=3),
    st.sampled_from([",", ".", "’", " "]),
    st.sampled_from(["", "", ".5", ",5", ".250", ",250"]),
    st.sampled_from(["", "", " kg", "%", " €"]),
)
DATES = st.builds(
    lambda day, month, year, mark: f"{day}{mark}{month}{mark}{year}",
    st.integers(1, 31),
    st.integers(1, 14),
    st.sampled_from(["2023", "2024", "24"]),
    st.sampled_from(["/", ".", "-"]),
)
OTHERS = st.sampled_from(["", "NA", "two", "2024-01-31", "7", "1.5", "true", "007"])
COLUMNS = st.one_of(
    st.lists(AMOUNTS, min_size=1, max_size=4),
    st.lists(DATES, min_size=1, max_size=4),
    st.lists(
        st.sampled_from(["1", "2.5", "12 kg", "3 kg", "1,234", "1.234,5", "$1,200", "13/1/2024"]), min_size=2
    ),
    st.lists(AMOUNTS | DATES | OTHERS, min_size=1, max_size=12),
    st.builds(lambda dates, other: [*dates, other], st.lists(DATES, min_size=4, max_size=8), OTHERS),
)


def hint(words):
    series = pl.Series("a", [word or None for word in words], dtype=pl.String)
    return find_hint(nw.from_native(series, series_only=True), "a")


def read(words):
    """The type that a column gets in a file with tabs between its columns."""
    return parse_columns(pl.DataFrame({"a": words}), comma_free=True)[0]["a"].dtype


def plain_number(word, decimal):
    digits = re.sub(rf"[^\d{decimal}-]", "", word.replace("EUR", ""))
    return digits.replace(decimal, ".")


def year_first(word, first):
    numbers = re.split("[/.-]", word)
    day, month = numbers[:2] if first == "day" else numbers[1::-1]
    return f"{numbers[2]}-{month:0>2}-{day:0>2}"


def followed(words, said):
    """The ways to do what a hint says, each a column."""
    known = [word for word in words if word.strip() and word.strip() != "NA"]
    if "most of it is dates" in said:
        rest = [word if re.match(r"\d+[/.-] ?\d+[/.-]", word.strip()) else "" for word in known]
        more = hint(rest)
        return [rest] if more is None else followed(rest, more)
    if "leave such cells empty" in said:
        return [[word if re.fullmatch(r"[+-]?[\d.]+", word.strip()) else "" for word in known]]
    if "dates" in said:
        return [[year_first(word, way) for word in known] for way in ("day", "month")]
    is_open = "thousands or decimal commas" in said
    return [
        [plain_number(word, mark) for word in known]
        for mark in ((".", ",") if is_open else "," if "decimal commas" in said else ".")
    ]


@given(COLUMNS)
def test_a_column_that_follows_its_hint_is_read(words):
    said = hint(words)
    for column in [] if said is None else followed(words, said):
        assert read(column) != pl.String, (said, column)


@given(COLUMNS)
def test_what_a_file_gives_a_type_has_it_in_a_frame(words):
    words = [*words, words[0]]
    plain = [word for word in words if word.strip() not in ("", "NA")]
    table = from_frame(
        pl.DataFrame({"a": [word or None for word in words], "n": [0.5 * n for n in range(len(words))]})
    )
    is_read = read(words) != pl.String and bool(plain)
    is_of_digits = all(word.isdigit() for word in words if word)
    assert (table.frame["a"].to_native().dtype not in (pl.String, pl.Null)) == (is_read and not is_of_digits)


@pytest.mark.parametrize(
    ("words", "forms"),
    [
        (["1.234,50 €", "15,00 €", "NA"], "'€' beside them, decimal commas and marks between the thousands"),
        (["1,234", "12,345"], "marks between the thousands or decimal commas, such as '1,234'"),
        (
            ["12345", "1,234"],
            "such as '1,234'. To use them as numbers, write digits and a decimal point alone, as 1234 or",
        ),
    ],
)
def test_forms_are_named(words, forms):
    assert forms in hint(words)


def test_without_polars_there_is_no_hint(monkeypatch):
    words = ["12 kg", "7 kg"]
    assert hint(words) is not None
    monkeypatch.setattr("linkwise.data.columns.uses.find_spec", lambda name: None)
    assert hint(words) is None


def test_words_without_a_digit_may_be_numbers():
    assert "most of it is numbers, but not 'x'" in hint(["inf"] * 8 + ["x"])
    assert hint(["red", "blue"] * 8) is None


def test_a_few_cells_among_dates_are_named():
    dates = [f"2024-01-{day:02d}" for day in range(1, 9)]
    said = "most of it is dates, but not 'unknown' in row 8 (counted from 0). To use it as dates, leave such"
    assert said in hint([*dates, "unknown"])
    assert "but not '2024-02-30' in row 0" in hint(["2024-02-30", *dates])
    assert "but not 'unbekannt' in row 4" in hint([*["31.1.2024", "1.2.2024"] * 2, "unbekannt"])
    assert hint([*dates, "unknown", "no", "2024-13-01"]) is None
