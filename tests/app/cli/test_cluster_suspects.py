"""``linkwise cluster --error-rate``: pairs that contradict each other."""

import json

import pytest

TORN = (
    "id_a,id_b,kind\nf0,f3,must-link\nf3,f6,must-link\nf0,f6,must-link\nf1,f4,must-link\nf4,f7,must-link\n"
    "f1,f7,must-link\nf0,f1,cannot-link\nf3,f4,cannot-link\nf6,f7,cannot-link\nf0,f4,must-link\n"
)
QUICK = ("--preset", "quick")


@pytest.fixture
def torn(tmp_path):
    path = tmp_path / "torn.csv"
    path.write_text(TORN)
    return path


def words(done):
    return " ".join(done.stderr.split())


def test_contradictory_pairs_end_with_advice(fruit, torn, linkwise):
    done = linkwise("cluster", fruit.path, "--constraints", torn, *QUICK)
    assert done.exit_code == 4
    assert "contradict each other: " in words(done)
    assert "With --error-rate estimate linkwise leaves out pairs that are probably wrong." in words(done)
    assert linkwise("cluster", fruit.path, "--constraints", torn, "--error-rate", 0).exit_code == 4


@pytest.mark.parametrize("rate", ["estimate", "0.1"])
def test_wrong_pairs_are_named_and_left_out(fruit, torn, linkwise, rate):
    done = linkwise("cluster", fruit.path, "--constraints", torn, *QUICK, "--error-rate", rate)
    assert done.exit_code == 0, done.stderr
    assert "fruit.csv: 30 rows, 9 pairs" in done.stderr
    assert "The pairs contradict each other. 1 pair is left out:" in done.stderr
    assert "·  f0 and f4: must-link, very likely wrong" in done.stderr
    assert "of 9 pairs" in words(done)
    assert "see .suspects" not in done.stderr
    assert "answer questions" not in done.stderr  # `ask` would not take these pairs


def test_five_wrong_pairs_are_named_and_the_others_counted(fruit, torn, linkwise):
    lines = [f"f{a},f{b},must-link\nf{a},f{b},cannot-link\n" for a, b in [(9, 12), (15, 18), (21, 24)]]
    lines += [f"f{a},f{b},must-link\nf{a},f{b},cannot-link\n" for a, b in [(10, 13), (16, 19), (22, 25)]]
    torn.write_text(TORN + "".join(lines))
    done = linkwise("cluster", fruit.path, "--constraints", torn, *QUICK, "--error-rate", "estimate")
    assert done.exit_code == 0, done.stderr
    assert "7 pairs are left out:" in done.stderr
    listed = [line for line in done.stderr.splitlines() if line.endswith("wrong") and "link, " in line]
    assert len(listed) == 5
    assert listed[0] == " ·  f0 and f4: must-link, likely wrong"
    assert listed[1].startswith(" ·  f9 and f12: ")
    assert " ·  and 2 more" in done.stderr


def test_json_lists_all_wrong_pairs(fruit, torn, linkwise):
    command = ("cluster", fruit.path, "--constraints", torn, *QUICK, "--json", "--error-rate", "estimate")
    summary = json.loads(linkwise(*command).stdout.splitlines()[-1])
    assert summary["pairs"] == 9
    (suspect,) = summary["suspects"]
    chance = suspect.pop("chance")
    assert suspect == {"id_a": "f0", "id_b": "f4", "kind": "must-link"}
    assert 0.9 < chance < 1


def test_pairs_without_contradictions_are_clustered_as_ever(fruit, torn, linkwise):
    torn.write_text(TORN.rpartition("f0,f4")[0])
    plain = linkwise("cluster", fruit.path, "--constraints", torn, *QUICK)
    done = linkwise("cluster", fruit.path, "--constraints", torn, *QUICK, "--error-rate", "estimate")
    assert (plain.stdout, plain.stderr) == (done.stdout, done.stderr)


def test_rows_without_ids_are_named_by_position(tmp_path, linkwise):
    data, pairs = tmp_path / "plain.csv", tmp_path / "pairs.csv"
    data.write_text("x,y\n" + "".join(f"{i % 2}.5,{i}\n" for i in range(9)))
    pairs.write_text("id_a,id_b,kind\n" + "0,2,must-link\n" * 3 + "0,2,cannot-link\n")
    options = ("--method", "pckmeans", "--clusters", 2, "--error-rate", "estimate")
    done = linkwise("cluster", data, "--constraints", pairs, *options)
    assert done.exit_code == 0, done.stderr
    assert "·  0 and 2: cannot-link, very likely wrong" in done.stderr


def test_the_error_rate_needs_pairs_and_a_share(fruit, torn, linkwise):
    done = linkwise("cluster", fruit.path, *QUICK, "--error-rate", "estimate")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--error-rate is about the pairs of --constraints. Use both, or neither." in words(done)
    for wrong in ("0.5", "-1", "much", "nan"):
        done = linkwise("cluster", fruit.path, "--constraints", torn, "--error-rate", wrong)
        assert done.exit_code == 2
        assert f"Invalid value '{wrong}' for --error-rate. Set 0 to 0.5 (exclusive), or estimate." in words(
            done
        )


def test_a_row_apart_from_itself_is_an_error_as_ever(fruit, torn, linkwise):
    torn.write_text("id_a,id_b,kind\nf0,f0,cannot-link\n")
    done = linkwise("cluster", fruit.path, "--constraints", torn, *QUICK)
    assert done.exit_code == 4
    assert "--error-rate" not in done.stderr
