"""``linkwise explain``: of a session, of a file of clusters, and of two rows."""

import json

import pytest

from commands import Fruit, write_fruit
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.options import SessionOptions
from linkwise.app.project.project import open_project
from linkwise.data import read_table
from linkwise.data.reading import Reading
from linkwise.learn.oracles import TruthOracle
from record_worlds import draw_world
from session.session_examples import answer_by


def words(text):
    return " ".join(text.split())


@pytest.fixture(scope="module")
def all_answers(tmp_path_factory):
    """The bytes of a session in which the truth answered until nothing was left to ask."""
    fruit = write_fruit(tmp_path_factory.mktemp("asked") / "fruit.csv")
    project = open_project(fruit.path, fruit.session, Reading(), MethodChoice(), SessionOptions())
    with project.session as session:
        answer_by(session, TruthOracle(list(fruit.truth.values())))
        assert session.status.reason == "exhausted"
    return fruit.session.read_bytes()


@pytest.fixture
def asked(fruit, all_answers):
    """Fruit beside a session without a question left, as ``linkwise ask`` stores it."""
    fruit.session.write_bytes(all_answers)
    return fruit


@pytest.mark.slow
def test_rules_of_a_session(linkwise, asked):
    done = linkwise("explain", asked.path)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0].startswith("3 rules put 100% of 30 rows into their cluster")
    assert sum(line.startswith("cluster ") for line in lines) == 3
    assert "10 rows;" in done.stdout
    assert done.stdout == linkwise("explain", asked.session).stdout


@pytest.mark.slow
def test_a_tree_says_what_decides(linkwise, asked):
    said = {
        form: linkwise("explain", asked.path, "--format", form).stdout for form in ("tree", "mermaid", "dot")
    }
    assert said["tree"].splitlines()[1].startswith("├─ yes: ")
    assert said["mermaid"].startswith("flowchart TD\n")
    assert said["dot"].startswith("digraph clusters {\n")
    assert said["dot"].rstrip().endswith("}")


def test_json(linkwise, asked):
    told = json.loads(linkwise("explain", asked.path, "--json").stdout)
    assert (told["type"], told["rows"], told["fidelity"]) == ("explanation", 30, 1.0)
    assert [cluster["rows"] for cluster in told["clusters"]] == [10, 10, 10]


@pytest.mark.slow
def test_why_two_rows(linkwise, asked):
    for one, other in (("f0", "f3"), ("f4", "f8")):
        done = linkwise("explain", asked.path, "--rows", one, other)
        together = asked.truth[one] == asked.truth[other]
        first = done.stdout.splitlines()[0]
        if together:
            assert first.startswith(f"{one} and {other} are together, in cluster ")
        else:
            assert first.startswith(f"{one} (cluster ")
            assert first.endswith(" are apart.")
        assert "represented by" in done.stdout or "Answers decide" in done.stdout
        told = json.loads(linkwise("explain", asked.path, "--rows", one, other, "--json").stdout)
        assert (told["type"], told["ids"], told["together"]) == ("why", [one, other], together)
        assert told["by"] in ("answers", "parts")
        for answer in told["answers"]:
            same = asked.truth[answer["ids"][0]] == asked.truth[answer["ids"][1]]
            assert answer["answer"] == ("yes" if same else "no")
        assert words(" ".join(told["words"])) == words(done.stdout)


@pytest.mark.slow
def test_a_picture(linkwise, asked, tmp_path):
    for ending, begins in ((".png", b"\x89PNG"), (".svg", b"<?xml")):
        target = tmp_path / f"tree{ending}"
        done = linkwise("explain", asked.path, "--plot", target)
        assert done.exit_code == 0, done.output
        assert target.read_bytes().startswith(begins)
        assert f"tree drawn to {target}" in words(done.stderr).replace(" ", "") or target.name in done.stderr
    again = linkwise("explain", asked.path, "--plot", target)
    assert again.exit_code == 2
    assert linkwise("explain", asked.path, "--plot", target, "--force").exit_code == 0


def test_clusters_of_a_file(linkwise, fruit, tmp_path):
    labels = tmp_path / "clusters.csv"
    kinds = ("apple", "pear", "plum")
    lines = [f"{name},{kinds[k]}" for name, k in sorted(fruit.truth.items())]
    labels.write_text("\n".join(["id,cluster", *lines]) + "\n")
    done = linkwise("explain", fruit.path, "--labels", labels, "--columns", "colour")
    assert done.exit_code == 0, done.output
    said = words(done.stdout)
    for kind, colour in zip(kinds, ("green", "red", "yellow"), strict=True):
        assert f"cluster {kind}: 10 rows if colour = {colour} (10 rows)" in said
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("id_a,id_b,kind\nf0,f3,must-link\nf0,f1,cannot-link\n")
    said = linkwise(
        "explain", fruit.path, "--labels", labels, "--constraints", pairs, "--rows", "f3", "f1"
    ).stdout
    assert "Answers decide: f3 = f0 ≠ f1." in said


def test_what_cluster_writes_can_be_explained(linkwise, fruit, tmp_path):
    out = tmp_path / "out.csv"
    linkwise("cluster", fruit.path, "--method", "pckmeans", "--clusters", 3, "--labels", out)
    done = linkwise("explain", fruit.path, "--labels", out)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("3 rules put 100%")


@pytest.mark.slow
def test_a_demo_session(linkwise, tmp_path):
    path = tmp_path / "wine.linkwise"
    linkwise("demo", "wine", "--auto", "--budget", 20, "--session", path)
    done = linkwise("explain", path)
    assert done.exit_code == 0, done.output
    assert "178 rows into their cluster" in words(done.stdout)
    assert linkwise("explain", path, "--rows", "0", "1").stdout.startswith(
        ("0 and 1 are together", "0 (cluster ")
    )


def test_nothing_is_changed(linkwise, asked):
    before = asked.session.read_bytes()
    linkwise("explain", asked.path)
    linkwise("explain", asked.path, "--rows", "f0", "f1")
    assert asked.session.read_bytes() == before


# ---------------------------------------------------------------- what goes wrong
WRONG = [
    (
        ["--rows", "f0", "nobody"],
        2,
        "--rows names a row that does not exist: nobody. Use two rows, such as 'f0' and 'f29'.",
    ),
    (["--rows", "f0", "f0"], 2, "--rows names one row twice: f0. Use two rows."),
    (
        ["--columns", "weight"],
        2,
        "its session fruit.csv.linkwise, which stores how the data are read. Remove --columns",
    ),
    (["--rows", "f0", "f1", "--format", "tree"], 2, "--rows explains in words. Remove --format tree."),
    (["--constraints", "p.csv"], 2, "Remove --constraints, or add --labels CLUSTERS.csv."),
    (["--plot", "tree.docx"], 2, "--plot names no kind of picture: tree.docx. End it in one of "),
    (["--fidelity", "2"], 2, "fidelity"),
    (["--max-leaves", "0"], 2, "max-leaves"),
    (["--labels", "nowhere.csv"], 3, "nowhere.csv"),
]


@pytest.mark.parametrize(("options", "code", "message"), WRONG)
def test_wrong_use_is_reported(linkwise, asked, options, code, message, monkeypatch):
    monkeypatch.chdir(asked.path.parent)
    done = linkwise("explain", asked.path, *options)
    assert done.exit_code == code, done.output
    assert message in words(done.stderr)
    assert done.stdout == ""


LABELS = [
    ("", "is 'nothing'. It must name the columns id,cluster."),
    ("a,b\nf0,1\n", "is 'a,b'. It must name the columns id,cluster."),
    (
        "id,cluster\nf0,1\nghost,2\n",
        "names an unknown row: 'ghost'. The ids of the rows are 'f0', …. Set the column of the ids",
    ),
    ("id,cluster\nf0,\n", "has no cluster: 'f0,'. Use the form id,cluster."),
    (
        "id,cluster\nf0,1\nf0,2\n",
        "gives a second cluster to row 'f0', which is in cluster 1. Keep one of the lines.",
    ),
    ("id,cluster\nf0,1\n", "has no cluster for row 'f1' and 28 more rows. Set one for every row."),
]


@pytest.mark.parametrize(("text", "message"), LABELS)
def test_unusable_files_of_clusters(linkwise, fruit, tmp_path, text, message):
    labels = tmp_path / "clusters.csv"
    labels.write_text(text)
    done = linkwise("explain", fruit.path, "--labels", labels)
    assert done.exit_code == 3, done.output
    assert message in words(done.stderr)


def test_a_file_of_clusters_in_another_encoding_is_named(linkwise, fruit, tmp_path):
    labels = tmp_path / "clusters.csv"
    labels.write_bytes("id,cluster\nf0,süß\n".encode("latin-1"))
    done = linkwise("explain", fruit.path, "--labels", labels)
    assert done.exit_code == 3
    assert "clusters.csv: The file is not UTF-8" in words(done.stderr)


def test_a_file_of_clusters_may_have_semicolons(linkwise, fruit, tmp_path):
    labels = tmp_path / "clusters.csv"
    labels.write_text("id;cluster\n" + "".join(f"f{i};{'p' if i < 15 else 'q'}\n" for i in range(30)))
    done = linkwise("explain", fruit.path, "--labels", labels)
    assert done.exit_code == 0, done.output
    assert "cluster p: 15 rows" in words(done.stdout)


def test_without_a_session_the_way_out_is_named(linkwise, fruit):
    done = linkwise("explain", fruit.path)
    assert done.exit_code == 3
    way_out = "Explain other clusters of it by --labels CLUSTERS.csv, or begin one with: linkwise ask"
    assert way_out in words(done.stderr)


def test_data_that_are_gone(linkwise, asked):
    asked.path.rename(asked.path.with_name("moved.csv"))
    done = linkwise("explain", asked.session)
    assert done.exit_code == 3
    assert "--labels CLUSTERS.csv" in words(done.stderr)


def test_a_session_is_no_data_for_labels(linkwise, asked, tmp_path):
    done = linkwise("explain", asked.session, "--labels", tmp_path / "x.csv")
    assert done.exit_code == 2
    assert "name the data file" in words(done.stderr)


# ---------------------------------------------------------------- clusilc
@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text(
        "id_a,id_b,kind\nf0,f3,must-link\nf0,f1,cannot-link\nf1,f2,cannot-link\nf0,f2,cannot-link\n"
    )
    return path


def test_clusilc_says_its_rules(linkwise, fruit, pairs):
    done = linkwise("cluster", fruit.path, "--constraints", pairs, "--method", "clusilc", "--clusters", 3)
    assert done.exit_code == 0, done.output
    said = words(done.stderr)
    assert "Clustered by ClusILC. The clusters are these 3 rules, for every one of 30 rows." in said
    assert "It satisfies 4 of 4 pairs." in said
    assert "cluster 0: 10 rows if " in said
    assert len(done.stdout.splitlines()) == 31
    told = linkwise(
        "cluster", fruit.path, "--constraints", pairs, "--method", "clusilc", "--clusters", 3, "--json"
    )
    summary = json.loads(told.stdout.splitlines()[-1])
    assert (summary["method"], summary["satisfied"]) == ("ClusILC", 4)
    assert summary["parameters"] == {"n_clusters": 3, "max_leaves": None}
    assert summary["explanation"]["is_the_clustering"]


def test_clusilc_asks_for_categories_by_name(linkwise, fruit, pairs):
    done = linkwise(
        "cluster",
        fruit.path,
        "--constraints",
        pairs,
        "--method",
        "clusilc",
        "--clusters",
        3,
        "--columns",
        "colour",
    )
    assert "colour = " in words(done.stderr)
    assert "Categories are compared as equal or not: colour (3 values)." in words(done.stderr)


def test_fewer_rules(linkwise, fruit: Fruit):
    done = linkwise("cluster", fruit.path, "--method", "clusilc", "--max-leaves", 2, "--json")
    summary = json.loads(done.stdout.splitlines()[-1])
    assert len(summary["clusters"]) == 2
    assert len(read_table(fruit.path)) == sum(summary["clusters"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            [],
            "clusilc needs the number of clusters or the largest number of rules. Add --clusters N or ",
        ),
        (["--clusters", "3", "--seed", "1"], "clusilc draws nothing at random"),
        (["--clusters", "3", "--scale", "unit"], "clusilc counts every column alike"),
        (["--clusters", "31"], "--clusters 31 is more than there are rows: 30 rows."),
        (
            ["--clusters", "3", "--preset", "quick"],
            "--preset is an option of cobs, and the method is clusilc.",
        ),
    ],
)
def test_options_that_do_not_fit_clusilc(linkwise, fruit, options, message):
    done = linkwise("cluster", fruit.path, "--method", "clusilc", *options)
    assert done.exit_code == 2
    assert message in words(done.stderr)


def test_rules_belong_to_clusilc(linkwise, fruit):
    done = linkwise("cluster", fruit.path, "--method", "ckm", "--clusters", 3, "--max-leaves", 5)
    assert done.exit_code == 2
    assert "--max-leaves is an option of clusilc, and the method is ckm." in words(done.stderr)


def test_rows_are_described_by_the_names_of_their_clusters(linkwise, fruit, tmp_path):
    labels = tmp_path / "clusters.csv"
    lines = [f"{name},{('apple', 'pear', 'plum')[k]}" for name, k in fruit.truth.items()]
    labels.write_text("\n".join(["id,cluster", *lines]) + "\n")
    said = linkwise("explain", fruit.path, "--labels", labels, "--rows", "f0", "f1").stdout
    assert said.startswith("f0 (cluster apple) and f1 (cluster pear) are apart.")
    assert "answer" not in said.lower()


def test_ids_of_several_lines(linkwise, tmp_path):
    table, labels = tmp_path / "t.csv", tmp_path / "l.csv"
    table.write_text('id,a\n"x\ny",1\n"p\u2028q",2\nr,3\n', encoding="utf-8")
    labels.write_text('id,cluster\n"x\ny",1\n"p\u2028q",10\nr,2\n', encoding="utf-8")
    done = linkwise("explain", table, "--labels", labels, "--json")
    assert done.exit_code == 0, done.output
    assert [cluster["cluster"] for cluster in json.loads(done.stdout)["clusters"]] == [1, 2, 10]


ESCAPE = "\x1b[31mred"


def test_control_characters_do_not_reach_the_terminal(linkwise, tmp_path):
    table, labels = tmp_path / "t.csv", tmp_path / "l.csv"
    table.write_text("id,c\n" + "".join(f"r{i},{('b', ESCAPE)[i % 2]}\n" for i in range(12)))
    labels.write_text("id,cluster\n" + "".join(f"r{i},{('v', ESCAPE)[i % 2]}\n" for i in range(12)))
    for options in ((), ("--format", "tree"), ("--rows", "r0", "r1"), ("--format", "dot")):
        done = linkwise("explain", table, "--labels", labels, *options)
        assert done.exit_code == 0, done.output
        assert "\x1b" not in done.stdout + done.stderr


@pytest.fixture
def people(tmp_path):
    """A table of records of people, beside a session of record linkage with a few answers."""
    world, data, session = draw_world(), tmp_path / "people.csv", tmp_path / "people.linkwise"
    world.table.write_csv(data)
    project = open_project(data, session, Reading(), MethodChoice("records"), SessionOptions())
    with project.session as opened:
        answer_by(opened, TruthOracle(world.person), 6)
    return world, session


def test_linked_records_are_explained_by_their_columns(linkwise, people):
    _, session = people
    done = linkwise("explain", session)
    assert done.exit_code == 0, done.output
    said = words(done.stdout)
    assert "What counts when two records are compared:" in said
    assert "the same: " in said
    assert "The least certain decisions" in said
    told = [json.loads(line) for line in linkwise("explain", session, "--json").stdout.splitlines()]
    doubts = [one for one in told if one["type"] == "doubt"]
    assert f"{' and '.join(doubts[0]['ids'])} (one is {doubts[0]['chance']:.0%} probable)" in said
    counted = told[-1]["columns"]
    assert set(counted) == {"name", "street", "phone", "shop", ""}


def test_why_two_records_are_one(linkwise, people):
    world, session = people
    alike = [f"{name} {phone}" if phone else "" for name, _, phone, _ in world.table.iter_rows()]
    first, second = next(
        (i, j) for i in range(99) for j in range(i + 1, 99) if alike[i] and alike[i] == alike[j]
    )
    done = linkwise("explain", session, "--rows", str(first), str(second))
    assert done.exit_code == 0, done.output
    assert "for one record." in words(done.stdout)
    assert "two records" in done.stdout
    assert "█" in done.stdout
    told = json.loads(linkwise("explain", session, "--rows", str(first), str(second), "--json").stdout)
    assert set(told["columns"]) == {"name", "street", "phone", "shop"}
