"""``linkwise cluster``: what is written, what is said, what is refused."""

import csv
import io
import json
import re
import shlex
import sys
from collections import Counter
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from commands import write_fruit
from linkwise.data import encode, read_table

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "data"
sys.path.insert(0, str(EXAMPLES))
import make_everyday  # noqa: E402

QUICK = ("--preset", "quick")
TRUE_PAIRS = "id_a,id_b,kind\nf0,f3,must-link\nf0,f1,cannot-link\nf1,f2,cannot-link\nf0,f2,cannot-link\n"


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text(TRUE_PAIRS)
    return path


def words(done):
    return " ".join(done.stderr.split())


def clusters_in(text):
    return {row["id"]: int(row["cluster"]) for row in csv.DictReader(io.StringIO(text))}


def fitted(fruit, pairs, **settings):
    """The same from Python."""
    table = read_table(fruit.path)
    known = lw.Constraints.read_csv(pairs, ids=table.ids)
    settings = {"preset": "quick", "random_state": 0, **settings}
    return lw.COBS(**settings).fit(encode(table).X, constraints=known)


# ---------------------------------------------------------------- duplicates
@pytest.fixture(scope="module")
def contacts(tmp_path_factory):
    """Records of people, the truth about them, and 30 pairs of duplicates."""
    folder = tmp_path_factory.mktemp("contacts")
    make_everyday.make(folder, ["contacts"], 0.2, seed=7)
    truth = [line.split(",") for line in (folder / "truth" / "contacts.csv").read_text().splitlines()[1:]]
    pairs = [(a, b) for (a, x), (b, y) in combinations(truth, 2) if x == y][::8][:30]
    lines = ["id_a,id_b,kind", *(f"{a},{b},must-link" for a, b in pairs)]
    (folder / "pairs.csv").write_text("\n".join(lines))
    return folder / "contacts.csv", folder / "pairs.csv", [person for _, person in truth]


def test_duplicates_are_clustered_as_such(contacts, linkwise, tmp_path):
    data, pairs, people = contacts
    target = tmp_path / "joined.csv"
    done = linkwise("cluster", data, "--constraints", pairs, "--join", target)
    assert (done.exit_code, done.stdout) == (0, ""), done.stderr
    assert "many rows seem to be records of the same things" in words(done)
    assert "The method is records, which finds many small groups. --method cobs finds a few" in words(done)
    assert "Clustered by RecordLinkage. It satisfies 30 of 30 pairs." in words(done)
    assert f"joined table written to {target}" in words(done)
    before, after = data.read_text().splitlines(), target.read_text().splitlines()
    assert [line.rpartition(",")[0] for line in after] == before
    assert after[0].endswith(",cluster")
    assert adjusted_rand_score(people, [line.rpartition(",")[2] for line in after[1:]]) > 0.9


def test_what_differs_among_duplicates_is_explained(contacts, linkwise, tmp_path):
    data, pairs, _ = contacts
    labels = tmp_path / "l.csv"
    linkwise("cluster", data, "--constraints", pairs, "--labels", labels)
    clusters = clusters_in(labels.read_text())
    done = linkwise("explain", data, "--labels", labels)
    assert re.match(r"\d+ clusters of several rows agree: \w+ in \d+%", done.stdout)
    assert "the same: " in done.stdout
    assert re.search(r"name differs: \w+ [\w ]+ · ", done.stdout)
    *groups, counted = map(
        json.loads, linkwise("explain", data, "--labels", labels, "--json").stdout.splitlines()
    )
    sizes = Counter(clusters.values())
    assert counted["clusters"] == len(groups) == sum(size > 1 for size in sizes.values())
    assert counted["alone"] == sum(size == 1 for size in sizes.values())
    for group in groups:
        assert {clusters[one] for one in group["ids"]} == {group["cluster"]}
        assert len(group["ids"]) == sizes[group["cluster"]]
        assert not group["same"].keys() & group["differs"].keys()
    rows = linkwise("explain", data, "--labels", labels, "--rows", *groups[0]["ids"][:2])
    assert rows.exit_code == 0


def test_another_method_may_be_chosen_for_duplicates(contacts, linkwise):
    data, pairs, _ = contacts
    done = linkwise("cluster", data, "--constraints", pairs, *QUICK)  # an option of cobs
    assert "Chosen: " in done.stderr
    assert "The method is records" not in words(done)
    done = linkwise(
        "cluster", data, "--constraints", pairs, "--as-is", "--method", "records", "--columns", "town"
    )
    assert "Clustered by RecordLinkage." in words(done)
    assert "The method is records" not in words(done)


def test_without_pairs_of_duplicates_questions_are_proposed(contacts, linkwise):
    done = linkwise("cluster", contacts[0])
    assert "No pairs were given, so the columns alone decide." in words(done)
    assert f"answer questions linkwise ask {contacts[0]}" in words(done)
    assert not words(done).endswith("--method cobs")


def test_clusters_go_into_the_table_and_into_their_file(fruit, pairs, tmp_path, linkwise):
    labels, target = tmp_path / "l.csv", tmp_path / "j.parquet"
    options = ("--constraints", pairs, *QUICK, "--labels", labels, "--join", target, "--json")
    done = linkwise("cluster", fruit.path, *options)
    told = json.loads(done.stdout)
    assert (told["labels"], told["join"]) == (str(labels), str(target))
    joined = pl.read_parquet(target)
    assert joined.columns == [*fruit.path.read_text().splitlines()[0].split(","), "cluster"]
    assert joined["cluster"].to_list() == list(clusters_in(labels.read_text()).values())


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (
            ("--join", "same.csv", "--labels", "same.csv"),
            "Clusters and joined table cannot both go to same.csv",
        ),
        (("--join", "j.xls"), "linkwise cannot write a table into j.xls"),
        (("--join", "fruit.csv", "--force"), "fruit.csv is the data and is never overwritten"),
    ],
    ids=["one file", "no such kind", "the data"],
)
def test_where_no_table_can_be_written(fruit, linkwise, monkeypatch, options, word):
    monkeypatch.chdir(fruit.path.parent)
    before = fruit.path.read_bytes()
    done = linkwise("cluster", "fruit.csv", *QUICK, *options)
    assert (done.exit_code, done.stdout) == (2, "")
    assert word in words(done)
    assert fruit.path.read_bytes() == before


# ---------------------------------------------------------------- what is written and said
def test_clusters_are_those_of_cobs(fruit, pairs, linkwise):
    done = linkwise("cluster", fruit.path, "--constraints", pairs, *QUICK)
    assert done.exit_code == 0, done.stderr
    model = fitted(fruit, pairs)
    assert list(clusters_in(done.stdout).values()) == model.labels_.tolist()
    assert list(clusters_in(done.stdout)) == list(fruit.truth)
    assert len(set(zip(model.labels_.tolist(), fruit.truth.values(), strict=True))) == 3


def test_options_reach_cobs(fruit, pairs, linkwise):
    options = ("--noise", "singletons", "--seed", 5, "--method", "cobs")
    done = linkwise("cluster", fruit.path, "--constraints", pairs, *QUICK, *options, "--json")
    told = json.loads(done.stdout.splitlines()[-1])
    model = fitted(fruit, pairs, noise="singletons", random_state=5)
    assert (told["different"], told["fitting"]) == (len(model.pool_), model.n_fitting_)
    other = fitted(fruit, pairs, noise="cluster", random_state=5)
    assert len(other.pool_) != len(model.pool_)  # or nothing above would tell


def test_what_was_chosen_is_reported(fruit, pairs, linkwise):
    done = linkwise("cluster", fruit.path, "--constraints", pairs, *QUICK)
    model = fitted(fruit, pairs)
    assert "fruit.csv: 30 rows, 4 pairs" in done.stderr
    assert "Rows are identified by 'id'" in done.stderr
    assert f"Chosen: {model.algorithm_} (" in done.stderr
    for name, value in model.parameters_.items():
        assert f"{name} = {value:.3g}" in done.stderr
    assert "It satisfies 4 of 4 pairs, as do" in words(done)
    assert f"as do {model.n_tied_ - 1} others" in words(done)
    assert f"{len(model.pool_.candidates)} clusterings tried, {len(model.pool_)} of them different" in words(
        done
    )
    assert "could not be made" not in done.stderr
    assert "3 clusters of 30 rows" in done.stderr
    listed = done.stderr.partition("pairs satisfied\n")[2].splitlines()
    assert len([line for line in listed if line.rstrip().endswith("of 4")]) == len(model.alternatives_)
    assert done.stdout.startswith("id,cluster\n")


def test_what_could_not_be_made_is_counted(fruit, pairs, linkwise, monkeypatch):
    from linkwise.select import cobs

    build = cobs.build_pool

    def some_failed(*given, **more):
        pool = build(*given, **more)
        object.__setattr__(pool, "n_failed", 7)
        return pool

    monkeypatch.setattr(cobs, "build_pool", some_failed)
    assert "; 7 could not be made." in words(linkwise("cluster", fruit.path, "--constraints", pairs, *QUICK))


@pytest.mark.slow
def test_pairs_that_no_clustering_keeps(fruit, tmp_path, linkwise):
    """Neighbours apart, strangers together: the best breaks some, and that is said."""
    pairs = tmp_path / "p.csv"
    crossed = [f"f{i},f{i + 1},must-link\nf{i},f{i + 3},cannot-link\n" for i in range(0, 12, 4)]
    pairs.write_text("id_a,id_b,kind\n" + "".join(crossed))
    done = linkwise("cluster", fruit.path, "--constraints", pairs, *QUICK)
    model = fitted(fruit, pairs)
    assert model.n_fitting_ == 0  # or nothing below would tell
    assert f"It satisfies {6 - model.violations_} of 6 pairs" in words(done)
    assert "No clustering that was tried satisfies all." in words(done)


def test_without_pairs_it_is_reported_that_nothing_decides(fruit, linkwise):
    done = linkwise("cluster", fruit.path, *QUICK)
    assert done.exit_code == 0
    assert "No pairs were given. This clustering agrees most with all others." in words(done)
    assert "Next best" not in done.stderr
    assert len(clusters_in(done.stdout)) == 30


def test_the_advised_command_asks_with_the_same_clusterings(fruit, pairs, linkwise):
    done = linkwise("cluster", fruit.path, "--constraints", pairs, *QUICK, "--drop", "width", "--seed", 3)
    advice = shlex.split(done.stderr.partition("answer questions")[2].splitlines()[0])
    assert advice[0] == "linkwise"
    asked = linkwise(*advice[1:], said="q\n")
    assert "4 pairs imported from pairs.csv" in asked.stdout
    with lw.Session.open(fruit.session) as session:
        parameters = session.learner["parameters"]
        assert (parameters["preset"], parameters["random_state"]) == ("quick", 3)
        assert session.source["choices"]["drop"] == ["width"]


# ---------------------------------------------------------------- files and JSON
@pytest.mark.slow
def test_labels_go_to_a_file(fruit, pairs, tmp_path, linkwise):
    target = tmp_path / "out.csv"
    done = linkwise("cluster", fruit.path, "--constraints", pairs, *QUICK, "--labels", target)
    assert done.stdout == ""
    assert f"clusters written to {target}" in done.stderr
    shown = linkwise("cluster", fruit.path, "--constraints", pairs, *QUICK, "--labels", "-").stdout
    assert target.read_text() == shown


@pytest.mark.slow
def test_nothing_is_overwritten(fruit, pairs, tmp_path, linkwise):
    target = tmp_path / "out.csv"
    target.write_text("mine")
    for path, said in ((target, "--force"), (tmp_path, "folder"), (tmp_path / "no" / "o.csv", "no folder")):
        done = linkwise("cluster", fruit.path, "--constraints", pairs, *QUICK, "--labels", path)
        assert (done.exit_code, done.stdout) == (2, "")
        assert said in done.stderr
    assert target.read_text() == "mine"
    data, known = fruit.path.read_bytes(), pairs.read_bytes()
    for path in (fruit.path, pairs):
        done = linkwise("cluster", fruit.path, "--constraints", pairs, *QUICK, "--labels", path, "--force")
        assert done.exit_code == 2
        assert "never overwritten" in done.stderr
    assert (fruit.path.read_bytes(), pairs.read_bytes()) == (data, known)
    assert linkwise("cluster", fruit.path, *QUICK, "--labels", target, "--force").exit_code == 0
    assert target.read_text().startswith("id,cluster\n")


@pytest.mark.slow
def test_json(fruit, pairs, tmp_path, linkwise):
    done = linkwise("cluster", fruit.path, "--constraints", pairs, *QUICK, "--json")
    *rows, told = map(json.loads, done.stdout.splitlines())
    model = fitted(fruit, pairs)
    assert [(row["type"], row["id"], row["cluster"]) for row in rows] == [
        ("row", f"f{i}", label) for i, label in enumerate(model.labels_.tolist())
    ]
    assert (told["type"], told["algorithm"], told["rows"]) == ("summary", model.algorithm_, 30)
    assert told["parameters"] == model.parameters_
    assert (told["pairs"], told["satisfied"], told["tied"]) == (4, 4, model.n_tied_)
    assert (told["tried"], told["failed"]) == (len(model.pool_.candidates), 0)
    assert sum(told["clusters"]) == 30
    assert [a["algorithm"] for a in told["alternatives"]] == [a.algorithm for a in model.alternatives_]
    assert {a["satisfied"] for a in told["alternatives"]} == {int(a.score) for a in model.alternatives_}
    target = tmp_path / "o.csv"
    (only,) = linkwise("cluster", fruit.path, *QUICK, "--json", "--labels", target).stdout.splitlines()
    assert json.loads(only)["labels"] == str(target)


def test_rows_without_ids_are_named_by_position(tmp_path, linkwise):
    data, pairs = tmp_path / "a.npy", tmp_path / "p.csv"
    X = np.random.default_rng(0).random((20, 2)) + np.repeat([[0], [9]], 10, axis=0)
    np.save(data, X)
    pairs.write_text("id_a,id_b,kind\n0,9,must-link\n9,10,cannot-link\n")
    done = linkwise("cluster", data, "--constraints", pairs, *QUICK)
    found = clusters_in(done.stdout)
    assert list(found) == [str(row) for row in range(20)]
    assert len({found[str(i)] for i in range(10)}) == 1
    assert found["0"] != found["10"]


# ---------------------------------------------------------------- the pool in a folder
@pytest.mark.slow
def test_the_pool_is_kept_only_where_it_is_wanted(fruit, pairs, tmp_path, linkwise, monkeypatch):
    folder = tmp_path / "kept"
    before = sorted(tmp_path.rglob("*"))
    plain = linkwise("cluster", fruit.path, "--constraints", pairs, *QUICK).stdout
    assert sorted(tmp_path.rglob("*")) == before
    first = linkwise("cluster", fruit.path, "--constraints", pairs, *QUICK, "--cache", folder)
    assert len(list(folder.glob("*.npz"))) == 1
    monkeypatch.setattr("linkwise.select.pool._collect_distinct", None, raising=False)
    monkeypatch.setattr("linkwise.select.pool._collect", None, raising=False)
    again = linkwise("cluster", fruit.path, "--constraints", pairs, *QUICK, "--cache", folder)
    assert plain == first.stdout == again.stdout


# ---------------------------------------------------------------- what is refused
def test_contradictory_pairs_are_4_before_anything_is_computed(fruit, tmp_path, linkwise, monkeypatch):
    monkeypatch.setattr("linkwise.select.cobs.build_pool", None)
    pairs = tmp_path / "p.csv"
    pairs.write_text("id_a,id_b,kind\nf0,f3,must-link\nf3,f6,must-link\nf0,f6,cannot-link\n")
    done = linkwise("cluster", fruit.path, "--constraints", pairs, *QUICK)
    assert done.exit_code == 4
    assert "f0 = f3 = f6, but f0 ≠ f6 (lines 2, 3, 4)" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        ("id_a,id_b,kind\nf0,kiwi,must-link\n", 3, "id_b is 'kiwi'"),
        ("id_a,id_b,kind\nf0,f0,cannot-link\n", 4, "Line 2 of"),
        ("nothing\n", 3, "Line 1"),
    ],
)
def test_pairs_that_cannot_be_used(fruit, tmp_path, linkwise, content, code, said):
    pairs = tmp_path / "p.csv"
    pairs.write_text(content)
    done = linkwise("cluster", fruit.path, "--constraints", pairs, *QUICK)
    assert done.exit_code == code
    assert said in done.stderr


@pytest.mark.slow
def test_files_that_cannot_be_used(fruit, tmp_path, linkwise):
    for data, code, said in ((tmp_path, 3, "is a folder"), (tmp_path / "no.csv", 3, "no file")):
        done = linkwise("cluster", data, *QUICK)
        assert (done.exit_code, said in done.stderr) == (code, True), done.stderr
    assert linkwise("cluster", fruit.path, "--constraints", tmp_path, *QUICK).exit_code == 3
    linkwise("ask", fruit.path, said="q\n")
    done = linkwise("cluster", fruit.session, *QUICK)
    assert done.exit_code == 2
    assert f"linkwise export {fruit.session} --constraints" in done.stderr


def test_an_interruption_writes_nothing(fruit, tmp_path, linkwise, monkeypatch):
    def interrupted(*given, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr("linkwise.select.cobs.build_pool", interrupted)
    target = tmp_path / "o.csv"
    done = linkwise("cluster", fruit.path, *QUICK, "--labels", target)
    assert done.exit_code == 130
    assert "Interrupted" in done.stderr
    assert not target.exists()


def test_many_rows_say_what_is_approximate(tmp_path, linkwise, monkeypatch):
    fruit = write_fruit(tmp_path / "many.csv", rows=90)
    monkeypatch.setattr("linkwise.select.cobs.COBS", partial(lw.COBS, max_rows=40))
    done = linkwise("cluster", fruit.path, *QUICK)
    said = fitted(fruit, _no_pairs(tmp_path), max_rows=40).approximation_
    assert said
    assert said in words(done)


def _no_pairs(folder):
    path = folder / "none.csv"
    path.write_text("id_a,id_b,kind\n")
    return path


def test_a_folder_of_tables_is_not_taken_for_images(linkwise, tmp_path):
    for name in ("a.parquet", "b.parquet"):
        pl.DataFrame({"size": [1.0, 2.0, None]}).write_parquet(tmp_path / name)
    done = linkwise("cluster", tmp_path, "--method", "pckmeans", "--clusters", 2, "--impute", "median")
    assert done.exit_code == 3
    said = " ".join(done.stderr.split())
    assert f"{tmp_path} is a folder of tables, and cluster reads one. Pass a file" in said
    assert f"linkwise ask {tmp_path}" in said
