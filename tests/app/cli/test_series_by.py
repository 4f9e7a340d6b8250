"""`--series-by` on the command line: a session about the curves of a long table."""

import numpy as np
import pytest

from linkwise.session.session import Session


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["sensor,hour,level,room"]
    for sensor in range(12):
        for hour in range(6):
            level = (hour if sensor % 2 else -hour) + rng.normal(0, 0.2)
            lines.append(f"s{sensor},{hour},{level:.3f},room {sensor % 3}")
    (tmp_path / "levels.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "levels.csv"


def words(text):
    return " ".join(text.split())


def test_a_session_about_curves_is_resumed_without_the_option(path, tmp_path, linkwise):
    begun = linkwise("ask", path, "--series-by", "sensor,hour,level", said="n\nq\n")
    assert begun.exit_code == 0, begun.stderr
    assert "12 rows" in begun.stdout
    assert "12 curves by 'sensor', with 6 values each by 'hour'" in words(begun.stdout)
    for options in ((), ("--series-by", "sensor,hour,level")):
        assert "resumed: 1 answer" in linkwise("ask", path, *options, said="q\n").stdout
    refused = linkwise("ask", path, "--series-by", "sensor,hour,room", said="q\n")
    assert refused.exit_code == 2
    with Session.open(tmp_path / "levels.csv.linkwise") as kept:
        assert kept.source["choices"]["series_by"] == ["sensor", "hour", "level"]
        assert kept.ids[:2] == ["s0", "s1"]
    out = tmp_path / "joined.csv"
    done = linkwise("export", path, "--join", out)
    assert done.exit_code == 0, done.stderr
    assert "The new file has one row for each curve." in words(done.stdout + done.stderr)
    header, *rows = out.read_text().splitlines()
    assert header.startswith("sensor,room,hour 0,")
    assert header.endswith(",cluster,cluster_name,confidence")
    assert len(rows) == 12
    assert linkwise("export", path, "--labels", tmp_path / "labels.csv").exit_code == 0


def test_curves_are_clustered_without_questions(path, tmp_path, linkwise):
    out, pairs = tmp_path / "labels.csv", tmp_path / "pairs.csv"
    pairs.write_text("id_a,id_b,kind\ns0,s2,must-link\ns0,s1,cannot-link\n")
    done = linkwise(
        "cluster", path, "--method", "pckmeans", "--clusters", "2", "--series-by", "sensor,hour,level",
        "--constraints", pairs, "--labels", out,
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert len(out.read_text().splitlines()) == 13


def test_options_that_do_not_go_with_it(path, linkwise):
    by = ("--series-by", "sensor,hour,level")
    for options, code, message in (
        (("--series-by", "sensor,hour"), 2, "--series-by has 2 names"),
        ((*by, "--text", "room"), 2, "Remove --series-by"),
        ((*by, "--impute", "median"), 2, "Remove --impute"),
        ((*by, "--weight", "level=2"), 2, "Remove --weight"),
        ((*by, "--groups", "5"), 2, "--series-by is for data that are read at once"),
        (("--series-by", "sensor,hours,level"), 3, "Did you mean 'hour'"),
    ):
        done = linkwise("ask", path, *options)
        assert message in words(done.stderr)
        assert done.exit_code == code
