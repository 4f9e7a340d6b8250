"""Tables as people's programs write them, with the values that they mean. Kinds are mixed at random.

Each kind was met in files of people: units, marks of missing values, encodings, headers, delimiters, decimal
marks, orders of dates, and ids. A table is drawn so that it has one reading.
"""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
THOUSANDS = {".": ["", ",", " ", "\u00a0", "\u202f", "'"], ",": ["", ".", " ", "\u00a0", "\u202f"]}
UNITS = ["", "", "$|", "€ |", "US$ |", "| €", "| kg", "|%", "| km", "|€"]
MISSING = ["", "NA", "n/a", "-", "?", "null", "NaN", "None"]
DATES = [
    "{y}-{m:02}-{d:02}",
    "{d:02}.{m:02}.{y}",
    "{d}/{m}/{y}",
    "{m}/{d}/{y}",
    "{d} {mon} {y}",
    "{mon} {d}, {y}",
    "{d:02}-{mon}-{yy:02}",
    "{y}/{m:02}/{d:02}",
]
ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "cp1252"]
DELIMITERS = [",", ";", "\t", "|"]
PLACES = [
    ["Köln", "Orléans", "Malmö"],
    ["north", "south", "east", "west"],
    ["A", "B"],
    ["gold", "silver", "Silber & Gold"],
]
NAMES = {
    "whole": ["rooms", "Anzahl Zimmer", "n_visits", "Größe", "size (cm)", "2019"],
    "amount": ["price", "Betrag [€]", "Net income", "montant", "total.amount", "Wert"],
    "date": ["sold", "Datum", "date of sale", "updated_at", "when?"],
    "place": ["town", "Ort", "segment", "type of place", "Région"],
}
IDS = {
    "none": None,
    "counter": ("id", "{n}"),
    "with gaps": ("Customer ID", "{gap}"),
    "code": ("Kundennr.", "K-{n:04}"),
    "index": ("", "{n}"),
    "pandas": ("Unnamed: 0", "{n}"),
    "email": ("e-mail", "person{n}@example.org"),
}
KINDS = ("whole", "amount", "date", "place")
ROLES = {"whole": "numeric", "amount": "numeric", "date": "date", "place": "category"}


@dataclass(frozen=True)
class Writing:
    """How a program of a person writes a table."""

    columns: tuple[str, ...]
    ids: str = "none"
    delimiter: str = ","
    encoding: str = "utf-8"
    decimal: str = "."
    thousands: str = ""
    units: tuple[str, ...] = ("",)
    missing: str = ""
    date: str = DATES[0]
    minus: str = "-"
    line_end: str = "\n"
    quoting: int = csv.QUOTE_MINIMAL
    spaces: bool = False
    is_packed: bool = False
    seed: int = 0


@dataclass(frozen=True)
class Meaning:
    """What a person means: the values of each column, their roles, and the ids."""

    values: dict[str, list[Any]] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    ids: list[str] | None = None


@st.composite
def writings(draw: Any) -> Writing:
    """A mixture of kinds of writing with one reading."""
    columns = draw(st.lists(st.sampled_from(KINDS), min_size=2, max_size=6))
    if "whole" not in columns and "amount" not in columns:
        columns.append("amount")
    decimal = draw(st.sampled_from(".,"))
    encoding = draw(st.sampled_from(ENCODINGS))
    # a narrow space is in no code page
    thousands = draw(
        st.sampled_from([m for m in THOUSANDS[decimal] if encoding != "cp1252" or m != "\u202f"])
    )
    return Writing(
        columns=tuple(columns),
        ids=draw(st.sampled_from(list(IDS))),
        delimiter=draw(st.sampled_from(DELIMITERS)),
        encoding=encoding,
        decimal=decimal,
        thousands=thousands,
        units=tuple(draw(st.lists(st.sampled_from(UNITS), min_size=1, max_size=3))),
        missing=draw(st.sampled_from(MISSING)),
        date=draw(st.sampled_from(DATES)),
        minus=draw(st.sampled_from(["-", "\u2212"] if encoding != "cp1252" else ["-"])),
        line_end=draw(st.sampled_from(["\n", "\r\n"])),
        quoting=draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
        spaces=draw(st.booleans()),
        is_packed=draw(st.booleans()),
        seed=draw(st.integers(0, 2**20)),
    )


# ---------------------------------------------------------------- what is meant, and how it is written
def write_table(how: Writing, folder: Path) -> tuple[Path, Meaning]:
    """Write a table into a folder; returns the file and what it means."""
    rng = random.Random(how.seed)
    n_rows = rng.randint(30, 60)
    meaning, cells = Meaning(ids=None), {}
    if (kind := IDS[how.ids]) is not None:
        name, form = kind
        gaps = sorted(rng.sample(range(1, 4 * n_rows), n_rows))
        cells[name] = [form.format(n=n + 1, gap=gaps[n]) for n in range(n_rows)]
        meaning = Meaning(ids=list(cells[name]))
    for at, what in enumerate(how.columns):
        name = rng.choice([one for one in NAMES[what] if one not in cells] or [f"{what} {at}"])
        places = rng.choice(PLACES)
        values = [_draw_value(what, rng, row, places) for row in range(n_rows)]
        unit = how.units[at % len(how.units)] if what in ("whole", "amount") else ""
        written = [_write_value(what, value, unit, how) for value in values]
        for row in rng.sample(range(n_rows), rng.choice([0, 0, 1, n_rows // 6])):
            values[row], written[row] = None, "" if what == "place" else how.missing
        meaning.values[name], meaning.roles[name] = values, ROLES[what]
        cells[name] = written
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=how.delimiter, lineterminator=how.line_end, quoting=how.quoting)
    writer.writerow(cells)
    writer.writerows(zip(*cells.values(), strict=True))
    content = out.getvalue().encode(how.encoding)
    path = folder / ("people.csv.gz" if how.is_packed else "people.csv")
    path.write_bytes(gzip.compress(content) if how.is_packed else content)
    return path, meaning


def _draw_value(what: str, rng: random.Random, row: int, places: list[str]) -> Any:
    """A value; the first rows make sure that a column has one reading."""
    if what == "whole":
        return rng.randint(0, 40)
    if what == "amount":
        size = 2_000_000 if row == 0 else 10 ** rng.randint(1, 5)
        return round(size * rng.uniform(1, 5), 2) * (-1 if rng.random() < 0.1 and row else 1)
    if what == "date":
        day = rng.randint(13, 28) if row < 3 else rng.randint(1, 28)
        return datetime.date(rng.randint(1995, 2024), rng.randint(1, 12), day)
    return rng.choice(places)


def _write_value(what: str, value: Any, unit: str, how: Writing) -> str:
    if what == "date":
        y, m, d = value.year, value.month, value.day
        text = how.date.format(y=y, m=m, d=d, yy=y % 100, mon=MONTHS[m - 1])
    elif what == "place":
        text = value
    else:
        text = _write_number(value, unit, how)
    return f" {text} " if how.spaces and how.quoting == csv.QUOTE_MINIMAL else text


def _write_number(value: float, unit: str, how: Writing) -> str:
    sign = how.minus if value < 0 else ""
    whole, _, rest = (f"{abs(value):.2f}" if isinstance(value, float) else str(value)).partition(".")
    groups = f"{int(whole):,}".replace(",", how.thousands)
    number = sign + groups + (how.decimal + rest if rest else "")
    before, _, after = unit.partition("|")
    return f"{before}{number}{after}"
