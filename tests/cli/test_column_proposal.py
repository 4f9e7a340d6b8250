"""The end of a dialogue names columns that do not matter, and the command that leaves them out."""

import shlex

import numpy as np

from linkwise.session.session import Session
from linkwise.workspace.project import open_with_data


def write_orders(path, n=120):
    rng = np.random.default_rng(0)
    group = rng.integers(3, size=n)
    rows = zip(10 * group + rng.normal(size=n), rng.integers(8, size=n), rng.uniform(size=n), strict=True)
    lines = [f"r{i},{size:.2f},shop {shop},{day:.3f}" for i, (size, shop, day) in enumerate(rows)]
    path.write_text("\n".join(["id,size,shop,day", *lines]) + "\n", encoding="utf-8")
    return {f"r{i}": int(kind) for i, kind in enumerate(group)}


def write_pairs(path, groups, n=40):
    """As many pairs of one group as of two."""
    names, rng, lines = list(groups), np.random.default_rng(1), {"must-link": [], "cannot-link": []}
    while min(map(len, lines.values())) < n // 2:
        first, second = (names[row] for row in rng.choice(len(names), 2, replace=False))
        kind = "must-link" if groups[first] == groups[second] else "cannot-link"
        lines[kind].append(f"{first},{second},{kind}")
    both = [line for some in lines.values() for line in some[: n // 2]]
    path.write_text("\n".join(["id_a,id_b,kind", *both]) + "\n", encoding="utf-8")


def test_the_command_leaves_the_columns_out_and_keeps_the_answers(tmp_path, linkwise):
    data, pairs = tmp_path / "orders.csv", tmp_path / "pairs.csv"
    write_pairs(pairs, write_orders(data))
    done = linkwise("ask", data, "--scale", "standard", "--constraints", pairs, said="q\n")
    assert "Your answers seem not to depend on: shop, day." in done.stdout
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("go on without")]
    command = shlex.split(line[line.index("linkwise ") :])
    assert command[command.index("--drop") + 1] == "shop,day"
    assert command[command.index("--scale") + 1] == "standard"
    anew = linkwise(*command[1:], said="q\n")
    assert anew.exit_code == 0
    assert "40 answers taken over" in " ".join(anew.stdout.split())
    assert "go on without" not in anew.stdout


def test_nothing_is_said_before_there_are_answers_enough(tmp_path, linkwise):
    data = tmp_path / "orders.csv"
    write_orders(data)
    said = linkwise("ask", data, said="q\n").stdout
    assert "seem not to depend" not in said
    assert "go on without" not in said


def test_a_key_leaves_the_columns_out_and_takes_them_in_again(tmp_path, linkwise):
    data, session = tmp_path / "orders.csv", tmp_path / "orders.csv.linkwise"
    groups = write_orders(data)
    linkwise("ask", data, said="q\n")
    done = linkwise("ask", data, said="d\n?\nq\n")
    assert "There is no proposal for columns." in done.stdout
    assert "d  Leave out the columns that are proposed" in done.stdout
    with open_with_data(session)[0] as opened:
        for _ in range(40):
            q, ids = opened.question, opened.ids
            opened.answer(groups[ids[q.first]] == groups[ids[q.second]])
    done = linkwise("ask", data, said="d\nq\n")
    words = " ".join(done.stdout.split())
    assert "Your answers seem not to depend on: shop, day. d leaves them out." in words
    assert "The comparison leaves out: shop, day. All answers are replayed" in words
    assert "orders.csv-before.linkwise is a copy. d takes them in again." in words
    assert done.exit_code == 0
    assert "clusters as rules" in words  # the next steps, by the columns that are left
    with Session.open(session) as stored:
        assert stored.source["choices"]["drop"] == ["shop", "day"]
        assert stored.status.n_answers == 40
    with Session.open(session.with_name("orders.csv-before.linkwise")) as copy:
        assert copy.source["choices"]["drop"] == []


def test_the_key_goes_back_in_the_same_session(tmp_path, linkwise):
    data, pairs = tmp_path / "orders.csv", tmp_path / "pairs.csv"
    write_pairs(pairs, write_orders(data))
    done = linkwise("ask", data, "--constraints", pairs, said="d\nd\nq\n")
    assert done.exit_code == 0
    assert "Rows are compared again by: shop, day." in " ".join(done.stdout.split())
    with Session.open(tmp_path / "orders.csv.linkwise") as stored:
        assert stored.source["choices"]["drop"] == []
        assert stored.status.n_imported == 40


def test_the_key_goes_back_after_a_restart(tmp_path, linkwise):
    data, pairs = tmp_path / "orders.csv", tmp_path / "pairs.csv"
    write_pairs(pairs, write_orders(data))
    linkwise("ask", data, "--constraints", pairs, said="d\nq\n")
    done = linkwise("ask", data, said="d\nq\n")
    words = " ".join(done.stdout.split())
    assert "The comparison leaves out: shop, day. d takes them in again." in words
    assert "Rows are compared again by: shop, day." in words
    with Session.open(tmp_path / "orders.csv.linkwise") as stored:
        assert stored.source["choices"]["drop"] == []
