"""Weights of columns by the answers: the terminal proposes them, and a key applies or takes them back."""

import numpy as np
import pytest

from linkwise.app.project import column_offer
from linkwise.app.project.project import open_with_data
from linkwise.session.session import Session


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


def test_the_end_names_the_columns_that_would_count_less(tmp_path, linkwise):
    data, pairs = tmp_path / "orders.csv", tmp_path / "pairs.csv"
    write_pairs(pairs, write_orders(data))
    done = linkwise("ask", data, "--constraints", pairs, said="q\n")
    words = " ".join(done.stdout.split())
    assert "Columns that your answers seem not to depend on would count less: shop." in words
    assert "Columns that would count more: size." in words
    assert "--drop" not in words


def test_nothing_is_said_before_there_are_answers_enough(tmp_path, linkwise):
    data = tmp_path / "orders.csv"
    write_orders(data)
    assert "would count" not in linkwise("ask", data, said="q\n").stdout


def test_a_key_applies_the_weights(tmp_path, linkwise):
    data, session = tmp_path / "orders.csv", tmp_path / "orders.csv.linkwise"
    groups = write_orders(data)
    linkwise("ask", data, said="q\n")
    done = linkwise("ask", data, said="d\n?\nq\n")
    assert "There is no proposal for columns." in done.stdout
    assert "d  Apply the columns or weights that are proposed" in done.stdout
    with open_with_data(session)[0] as opened:
        for _ in range(35):
            q, ids = opened.question, opened.ids
            opened.answer(groups[ids[q.first]] == groups[ids[q.second]])
    done = linkwise("ask", data, said="d\nq\n")
    words = " ".join(done.stdout.split())
    assert (
        "would count less: shop, day. Columns that would count more: size. d applies these weights." in words
    )
    assert "Your answers weigh these columns: size, shop, day. All answers are replayed" in words
    assert "orders.csv-before.linkwise is a copy. d takes the weights back." in words
    assert done.exit_code == 0
    assert "clusters as rules" in words
    with Session.open(session) as stored:
        assert stored.source["choices"]["weights"] == {"size": 5.14, "shop": 0.5, "day": 0.5}
        assert stored.status.n_answers == 35
    with Session.open(session.with_name("orders.csv-before.linkwise")) as copy:
        assert "weights" not in copy.source["choices"]


@pytest.mark.parametrize("restarts", [False, True])
def test_the_key_takes_the_weights_back(tmp_path, linkwise, monkeypatch, restarts):
    data, pairs = tmp_path / "orders.csv", tmp_path / "pairs.csv"
    write_pairs(pairs, write_orders(data))
    keys = ["d\nq\n", "d\nq\n"] if restarts else ["d\nd\nq\n"]
    done = linkwise("ask", data, "--constraints", pairs, said=keys[0])
    if restarts:
        monkeypatch.setattr(column_offer, "propose_columns", lambda _: None)  # nothing more is proposed
        done = linkwise("ask", data, said=keys[1])
        words = " ".join(done.stdout.split())
        assert "Your answers weigh these columns: size, shop, day. d takes the weights back." in words
    words = " ".join(done.stdout.split())
    assert "Columns have their earlier weights again. All answers are replayed" in words
    assert done.exit_code == 0
    with Session.open(tmp_path / "orders.csv.linkwise") as stored:
        assert "weights" not in stored.source["choices"]
        assert "earlier_weights" not in stored.source
        assert stored.status.n_imported == 40


def test_a_new_proposal_comes_before_the_way_back(tmp_path, linkwise):
    data, pairs = tmp_path / "orders.csv", tmp_path / "pairs.csv"
    write_pairs(pairs, write_orders(data))
    linkwise("ask", data, "--constraints", pairs, said="d\nq\n")
    words = " ".join(linkwise("ask", data, said="q\n").stdout.split())
    assert "Your answers weigh these columns: size, shop, day. Columns that your answers seem not" in words
    assert "would count less: shop. d applies these weights." in words
    assert "takes the weights back" not in words


def test_a_changed_option_says_that_the_weights_are_gone(tmp_path, linkwise):
    data, pairs = tmp_path / "orders.csv", tmp_path / "pairs.csv"
    write_pairs(pairs, write_orders(data))
    linkwise("ask", data, "--constraints", pairs, said="d\nq\n")
    done = linkwise("ask", data, "--scale", "standard", "--replay", said="q\n")
    words = " ".join(done.stdout.split())
    assert "from now on with --scale standard, and without the weights by your answers; 40 pairs" in words
    with Session.open(tmp_path / "orders.csv.linkwise") as stored:
        assert "weights" not in stored.source["choices"]
