"""Dates and times that are compared as cycles, too."""

import datetime as dt
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pytest

from linkwise.data import encode, from_frame, read_table
from linkwise.data.column_survey import survey_columns
from linkwise.data.columns.cycles import Cycle, find_places, format_place
from linkwise.data.columns.proposals import propose_options
from linkwise.errors import DataError
from linkwise.reasons.explanation import explain
from linkwise.reasons.profiles import create_profiler

each_kind = pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame])
RNG = np.random.default_rng(0)
N = 300
GROUP = RNG.integers(3, size=N)
HOURS = (np.array([23.9, 8, 14])[GROUP] + RNG.normal(0, 0.7, N)) % 24
DAYS = RNG.integers(0, 900, N)
SENT = [
    dt.datetime(2024, 1, 1) + dt.timedelta(days=int(day), minutes=int(hour * 60))
    for day, hour in zip(DAYS, HOURS, strict=True)
]
SIZE = RNG.normal(size=N)


def count_squared_distance(encoded, source, one, other):
    at = [j for j, feature in enumerate(encoded.features) if feature.source == source]
    return float(((encoded.X[one, at] - encoded.X[other, at]) ** 2).sum())


@each_kind
@pytest.mark.parametrize("scale", ["unit", "standard", "none"])
def test_the_end_of_a_cycle_touches_its_beginning(make, scale):
    moments = ["2024-01-01 23:30", "2024-01-02 00:30", "2024-01-01 12:00", "2026-07-05 18:00"]
    frame = make({"sent": [dt.datetime.fromisoformat(one) for one in moments], "size": [1.0, 2.0, 4.0, 8.0]})
    encoded = encode(from_frame(frame, cycles=["sent"]), scale=scale)
    near = count_squared_distance(encoded, "sent (hour)", 0, 1)
    assert near < count_squared_distance(encoded, "sent (hour)", 0, 2) / 20
    assert count_squared_distance(encoded, "sent (weekday)", 0, 2) == 0
    # from Sunday to Monday is as far as from Monday to Tuesday
    week = [count_squared_distance(encoded, "sent (weekday)", one, other) for one, other in ((3, 0), (0, 1))]
    assert week[0] == pytest.approx(week[1])
    assert [one.source for one in encoded.features][2::2] == [
        "sent (hour)",
        "sent (weekday)",
        "sent (season)",
    ]
    assert (encoded.transform(frame) == encoded.X).all()


def test_all_columns_of_a_cycle_weigh_as_one_number():
    even = [dt.datetime(2024, 1, 1) + dt.timedelta(minutes=20 * n) for n in range(72 * 40)]
    frame = pl.DataFrame({"sent": even, "size": np.linspace(0, 1, len(even))})
    for scale, spread in (("unit", 1 / 12), ("standard", 1.0)):
        encoded = encode(from_frame(frame, cycles=["sent=hour"]), scale=scale)
        spreads = encoded.X.var(axis=0)
        assert spreads[1] == pytest.approx(spread, rel=1e-3)
        assert spreads[2:].sum() == pytest.approx(spread, rel=1e-3)
    with_block = from_frame(
        frame.with_columns(said=pl.Series([f"word{n % 5} more{n % 7}" for n in range(len(even))])),
        text=["said"],
        columns=["sent", "size"],
        cycles=["sent=hour"],
    )
    shares = survey_columns(with_block, encode(with_block)).shares
    assert [shares[name] for name in ("sent", "size", "sent (hour)")] == pytest.approx([1 / 6] * 3)


@each_kind
def test_only_cycles_that_the_values_go_through(make):
    frame = make({"sent": SENT, "size": SIZE})
    assert from_frame(frame, cycles=["sent"]).features[-3:] == (
        "sent (hour)",
        "sent (weekday)",
        "sent (season)",
    )
    days = [one.date() for one in SENT]
    assert from_frame(pl.DataFrame({"day": days, "size": SIZE}), cycles=["day"]).features[-2:] == (
        "day (weekday)",
        "day (season)",
    )
    short = [one.replace(year=2024, month=2, day=1 + one.day % 12) for one in SENT]
    assert from_frame(make({"sent": short, "size": SIZE}), cycles=["sent"]).features[-2:] == (
        "sent (hour)",
        "sent (weekday)",
    )
    assert from_frame(frame, cycles=["sent=season"]).features[-1] == "sent (season)"
    assert from_frame(frame, columns=["size"], cycles=["sent=hour"]).features == ("size", "sent (hour)")


@each_kind
def test_times_without_a_date(make):
    times = [f"{one:%H:%M}" for one in SENT]
    table = from_frame(make({"at": times, "size": SIZE}), cycles=["at"])
    assert table.features == ("size", "at (hour)")
    assert "at" in table.shown
    encoded = encode(table)
    of_dates = encode(from_frame(make({"sent": SENT, "size": SIZE}), cycles=["sent=hour"]))
    assert encoded.X[:, 1:] == pytest.approx(of_dates.X[:, 2:])
    assert (encoded.transform(make({"at": times, "size": SIZE})) == encoded.X).all()


def test_times_of_a_file_are_hours_until_they_go_in_a_cycle(tmp_path):
    times = [f"{one:%H:%M}" for one in SENT]
    path = tmp_path / "calls.csv"
    pl.DataFrame({"at": times, "size": SIZE}).write_csv(path)
    assert read_table(path).features == ("at", "size")
    proposed = read_table(path, propose=True)
    assert proposed.reading.cycles == ("at=hour",)
    in_cycle = encode(read_table(path, cycles=["at"]))
    assert in_cycle.feature_names == encode(proposed).feature_names
    of_frame = encode(from_frame(pl.DataFrame({"at": times, "size": SIZE}), cycles=["at"]))
    np.testing.assert_allclose(in_cycle.X, of_frame.X)
    assert proposed.item(0)["at"] == times[0]


def test_times_have_their_own_type():
    times = pl.DataFrame({"at": [one.time() for one in SENT], "size": SIZE})
    assert encode(from_frame(times, cycles=["at"])).X[:, 1:] == pytest.approx(
        encode(from_frame(pl.DataFrame({"at": SENT, "size": SIZE}), cycles=["at=hour"])).X[:, 2:]
    )


def test_pandas_has_times_as_objects():
    times = [one.time() for one in SENT]
    known = encode(from_frame(pd.DataFrame({"at": times, "size": SIZE}), cycles=["at"]))
    assert (known.X == encode(from_frame(pl.DataFrame({"at": times, "size": SIZE}), cycles=["at"])).X).all()
    gaps = from_frame(pd.DataFrame({"at": [None, *times[1:]], "size": SIZE}), cycles=["at"])
    assert (encode(gaps, impute="median").X[0, 1:] == 0).all()


@pytest.mark.parametrize(
    ("moment", "hour", "weekday", "day"),
    [
        ("2024-02-29 06:15", "06:15", "Thursday", "28 Feb"),
        ("2023-12-31 23:59:30", "23:59:30", "Sunday", "31 Dec"),
        ("0004-03-01", "00:00", "Monday", "1 Mar"),
        ("1969-12-31 12:00", "12:00", "Wednesday", "31 Dec"),
    ],
)
def test_places_in_words(moment, hour, weekday, day):
    import narwhals as nw

    series = nw.from_native(pl.Series([dt.datetime.fromisoformat(moment), None]), series_only=True)
    for kind, expected in (("hour", hour), ("weekday", weekday), ("season", day)):
        places = find_places(series, kind)
        assert np.isnan(places[1])
        assert format_place(float(places[0]), kind) == expected


def test_the_hour_is_that_of_the_clock_in_the_column():
    frame = pl.DataFrame({"sent": [one.replace(tzinfo=ZoneInfo("Asia/Tokyo")) for one in SENT], "size": SIZE})
    assert frame["sent"].dtype.time_zone is not None
    plain = pl.DataFrame({"sent": frame["sent"].dt.replace_time_zone(None), "size": SIZE})
    with_zone, without = (encode(from_frame(one, cycles=["sent=hour"])) for one in (frame, plain))
    assert (with_zone.X[:, 2:] == without.X[:, 2:]).all()


def test_a_missing_time_is_as_far_from_all():
    gaps = pl.DataFrame({"sent": [None, *SENT[1:]], "size": SIZE})
    table = from_frame(gaps, cycles=["sent=hour", "sent=weekday"])
    encoded = encode(table)
    assert (encoded.X[0, 2:] == 0).all()
    assert "sent (hour) (1 value: the middle of the circle)" in encoded.notes[0]
    codes = encode(table, categories="codes")
    assert codes.features[-1].categories[-1] == "missing"
    assert codes.X[0, -1] == 7
    assert (encoded.transform(gaps) == encoded.X).all()


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"cycles": ["snt"]}, "Did you mean 'sent'"),
        ({"cycles": ["size"]}, "'size' holds no dates and no times"),
        ({"cycles": ["word"]}, "'word' holds no dates and no times, but values such as 'word 0'"),
        ({"cycles": ["odd"]}, "'odd' holds times and other values, such as '8 pm'. Write all as 08:15"),
        ({"cycles": ["gap"]}, "'gap' is empty"),
        ({"cycles": ["sent=minute"]}, "'minute' is no cycle of column 'sent'.*hour, weekday, season"),
        ({"cycles": ["at=season"]}, "do not go through the day of the year"),
        ({"cycles": ["noon"]}, "do not go through any cycle"),
        ({"cycles": ["noon=hour"]}, "do not go through the hour of the day"),
        ({"cycles": ["sent"], "drop": ["sent"]}, "compared as a cycle and dropped"),
        ({"cycles": ["sent"], "text": "word"}, "Remove cycles"),
        ({"cycles": ["sent"], "series": True, "columns": ["size", "noon"]}, "Remove cycles"),
        ({"cycles": ["sent"], "metric": "cosine"}, "is a date"),
    ],
)
def test_what_goes_in_no_cycle(how, message):
    columns = {
        "sent": SENT,
        "size": SIZE,
        "word": [f"word {n % 7}" for n in range(N)],
        "at": [f"{one:%H:%M}" for one in SENT],
        "noon": [dt.datetime(2024, 1, 1, 12)] * N,
        "odd": ["8 pm" if n == N - 1 else "08:15" for n in range(N)],
        "gap": pl.Series([None] * N, dtype=pl.String),
    }
    with pytest.raises(DataError, match=message):
        from_frame(pl.DataFrame(columns), **how)


def test_a_table_with_the_name_of_a_cycle():
    frame = pl.DataFrame({"sent": SENT, "sent (hour)": SIZE})
    with pytest.raises(DataError, match=r"'sent \(hour\)' is in the table.*Rename the column"):
        from_frame(frame, cycles=["sent"])


def test_weights_name_a_cycle():
    frame = pl.DataFrame({"sent": SENT, "size": SIZE})
    plain = encode(from_frame(frame, cycles=["sent=hour"]))
    weighed = encode(from_frame(frame, cycles=["sent=hour"], weights={"sent (hour)": 4.0}))
    assert weighed.X[:, 2:] == pytest.approx(2 * plain.X[:, 2:])
    assert weighed.transform(frame) == pytest.approx(weighed.X)
    without = from_frame(frame, cycles=["sent"], weights={"sent": 0.0, "sent (season)": 0.0})
    assert without.features == ("size", "sent (hour)", "sent (weekday)")


def test_a_person_sees_the_day_of_the_week():
    table = from_frame(pl.DataFrame({"sent": SENT, "size": SIZE}), cycles=["sent"])
    assert set(table.item(3)) == {"sent", "size", "sent (weekday)"}
    assert table.item(3)["sent (weekday)"] == f"{SENT[3]:%A}"


# ---------------------------------------------------------------- explanations
def test_rules_and_profiles_speak_of_hours_and_days():
    table = from_frame(pl.DataFrame({"sent": SENT, "size": SIZE}), cycles=["sent"])
    told = str(explain(GROUP, table))
    assert "sent (hour) from 11:" in told
    weekend = np.array([one.weekday() >= 5 for one in SENT]).astype(int)
    told = str(explain(weekend, table))
    assert all(f"sent (weekday) = {day} " in told for day in ("Saturday", "Sunday"))
    winter = np.array([one.month in (12, 1, 2) for one in SENT]).astype(int)
    told = str(explain(winter, table))
    assert "sent (season) after" in told
    assert any(f" {month}" in told for month in ("Feb", "Mar", "Nov", "Dec"))
    profile = create_profiler(encode(table, scale="none", categories="codes"))
    assert profile(GROUP)[0].startswith("sent (hour) around 23:45 (others around 1")
    assert profile(weekend)[1].startswith("sent (weekday) = S")
    assert profile(winter)[1].startswith("sent (season) around 1")
    assert "Jan" in profile(winter)[1]


# ---------------------------------------------------------------- proposal
def proposed(frame, **how):
    table = from_frame(frame, **how)
    proposals = propose_options(table.frame, table.reading)
    return next((one.value for one in proposals if one.option == "cycles"), None)


@each_kind
def test_rhythms_are_proposed_until_they_are_named(make):
    frame = make({"sent": SENT, "size": SIZE})
    assert proposed(frame) == ["sent=hour"]
    assert proposed(frame, cycles=["sent=weekday"]) == ["sent=weekday", "sent=hour"]
    assert proposed(frame, cycles=["sent"]) is None
    assert proposed(frame, columns=["size"]) is None
    times = make({"at": [f"{one:%H:%M}" for one in SENT], "size": SIZE})
    assert proposed(times) == ["at=hour"]


def test_a_rhythm_of_weeks_and_of_years():
    workdays = [dt.date(2024, 1, 1) + dt.timedelta(days=7 * (n % 20) + n % 5) for n in range(N)]
    assert proposed(pl.DataFrame({"day": workdays, "size": SIZE})) == ["day=weekday"]
    summers = [dt.date(2020 + n % 3, 6, 1) + dt.timedelta(days=int(DAYS[n]) % 90) for n in range(N)]
    assert proposed(pl.DataFrame({"day": summers, "size": SIZE})) == ["day=season"]


@pytest.mark.parametrize(
    "dates",
    [
        [dt.date(1950, 1, 1) + dt.timedelta(days=int(one)) for one in RNG.integers(0, 20_000, N)],
        [dt.datetime(2024, 1, 1, 8) + dt.timedelta(minutes=n) for n in range(N)],  # one morning
        [dt.date(2024, 6, 1) + dt.timedelta(days=n % 90) for n in range(N)],  # one summer
    ],
)
def test_dates_without_a_rhythm_are_not_proposed(dates):
    assert proposed(pl.DataFrame({"day": dates, "size": SIZE})) is None


def test_the_choice_gives_the_same_table_again(tmp_path):
    path = tmp_path / "t.csv"
    pl.DataFrame({"sent": SENT, "size": SIZE}).write_csv(path)
    table = read_table(path, cycles=["sent"])
    assert table.choices["cycles"] == ["sent"]
    again = read_table(path, **table.choices)
    assert (encode(again).X == encode(table).X).all()
    assert Cycle("sent", "hour").option == "sent=hour"


def test_values_that_go_in_no_cycle_are_named_in_later_rows():
    days, times = (
        encode(from_frame(pl.DataFrame({"at": values, "size": SIZE}), cycles=["at"]))
        for values in (SENT, [f"{one:%H:%M}" for one in SENT])
    )
    odd = pl.DataFrame({"at": ["08:15", "8 pm"], "size": [1.0, 2.0]})
    with pytest.raises(DataError, match=r"times and other values, such as '8 pm'.*encoded first"):
        times.transform(odd)
    with pytest.raises(DataError, match="'at' holds times without dates"):
        days.transform(odd[:1])
