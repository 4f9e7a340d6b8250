"""The end of a dialogue names columns that do not matter, and the command that leaves them out."""

import shlex

import numpy as np


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
