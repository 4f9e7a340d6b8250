"""``linkwise cluster --method`` with methods that are told the number of clusters."""

import csv
import io
import json

import numpy as np
import pytest

import linkwise as lw
from commands import write_fruit
from linkwise.app.project.exit_codes import UsageError
from linkwise.app.project.method_choice import MethodChoice, build_clusterer, build_first_learner
from linkwise.cluster.base import ConstrainedClusterer
from linkwise.data import encode, read_table
from linkwise.methods import CLUSTERERS, LEARNERS, N_CLUSTERS, Option

METHODS = {name: method.class_name for name, method in CLUSTERERS.items()}
WITHOUT_SEED = [name for name, method in CLUSTERERS.items() if not method.is_random]
TOLD = [
    name for name, method in CLUSTERERS.items() if N_CLUSTERS in method.options and name != "clusilc"
]  # clusilc: test_explain.py
each_method = pytest.mark.parametrize("method", TOLD)
TRUE_PAIRS = "id_a,id_b,kind\nf0,f3,must-link\nf0,f1,cannot-link\nf1,f2,cannot-link\nf0,f2,cannot-link\n"


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text(TRUE_PAIRS)
    return path


def words(done):
    return " ".join(done.stderr.split())


def clusters_in(text):
    return [int(row["cluster"]) for row in csv.DictReader(io.StringIO(text))]


def drawn(method, seed):
    """The seed, for those that take one."""
    return {} if method in WITHOUT_SEED else {"random_state": seed}


def offered(method, model):
    """The options of a method with their values."""
    return {option.parameter: getattr(model, option.parameter) for option in CLUSTERERS[method].options}


def fitted(method, fruit, pairs, k, seed=0):
    """The same from Python."""
    table = read_table(fruit.path)
    known = lw.Constraints.read_csv(pairs, ids=table.ids)
    model = getattr(lw, METHODS[method])(n_clusters=k, **drawn(method, seed))
    return model.fit(encode(table).X, constraints=known)


def test_every_clusterer_with_a_number_of_clusters_can_be_had():
    public = {name for name in lw.__all__ if isinstance(getattr(lw, name), type)}
    ours = {name for name in public if issubclass(getattr(lw, name), ConstrainedClusterer)}
    assert set(METHODS.values()) == {"COBS", "ClusILC", "FOSC", "RecordLinkage", "ThresholdLinkage", *ours}


def test_the_methods_are_in_the_help(linkwise):
    said = " ".join(linkwise("cluster", "--help").stdout.split())
    assert ", ".join(METHODS) in said
    assert "--clusters N" in said
    assert "number of clusters (not for cobs, fosc, records, threshold; optional for cosc, clusilc)" in said


@each_method
@pytest.mark.parametrize(("k", "seed"), [(3, 0), (4, 5)])
def test_clusters_are_those_of_the_method(fruit, pairs, linkwise, method, k, seed):
    options = ("--method", method, "--clusters", k, *(() if method in WITHOUT_SEED else ("--seed", seed)))
    done = linkwise("cluster", fruit.path, "--constraints", pairs, *options)
    assert done.exit_code == 0, done.stderr
    model = fitted(method, fruit, pairs, k, seed)
    assert clusters_in(done.stdout) == model.labels_.tolist()
    shown = ", ".join(f"{name} = {value}" for name, value in offered(method, model).items())
    assert f"Clustered by {METHODS[method]} ({shown})." in words(done)
    assert f"It satisfies {4 - model.violations_} of 4 pairs." in words(done)
    assert "fruit.csv: 30 rows, 4 pairs" in done.stderr
    assert f"{k} clusters of 30 rows" in done.stderr
    assert "Chosen" not in done.stderr
    assert "answer questions" not in done.stderr


# ---------------------------------------------------------------- rows in no cluster
@pytest.fixture
def lonely(tmp_path):
    """Two dense places and three rows far away."""
    places = [(x + i % 3 / 10, i // 3 / 10) for x in (0, 5) for i in range(9)] + [
        (20, 40),
        (40, -30),
        (-40, 0),
    ]
    path = tmp_path / "lonely.csv"
    path.write_text("id,a,b\n" + "".join(f"r{i},{a},{b}\n" for i, (a, b) in enumerate(places)))
    return path


def test_fosc_leaves_rows_out(lonely, tmp_path, linkwise):
    pairs = tmp_path / "some.csv"
    pairs.write_text("id_a,id_b,kind\nr0,r1,must-link\nr0,r9,cannot-link\nr18,r19,must-link\n")
    options = ("--id", "id", "--method", "fosc", "--constraints", pairs, "--scale", "none")
    done = linkwise("cluster", lonely, *options)
    assert done.exit_code == 0, done.stderr
    assert clusters_in(done.stdout) == [0] * 9 + [1] * 9 + [-1] * 3
    assert "Clustered by FOSC (min_samples = 4). It satisfies 2 of 3 pairs." in words(done)
    assert "2 clusters of 18 rows 0 9" in words(done)
    assert "3 rows in no cluster (label -1)." in words(done)
    told = json.loads(linkwise("cluster", lonely, *options, "--json").stdout.splitlines()[-1])
    assert (told["clusters"], told["in_none"], told["satisfied"]) == ([9, 9], 3, 2)
    assert told["parameters"] == {"min_samples": 4}


def test_fosc_is_told_how_dense(lonely, linkwise):
    options = ("--id", "id", "--method", "fosc", "--scale", "none")
    done = linkwise("cluster", lonely, *options, "--min-samples", 12)
    assert set(clusters_in(done.stdout)) == {0}
    assert "Clustered by FOSC (min_samples = 12)." in words(done)
    done = linkwise("cluster", lonely, *options, "--clusters", 2)
    assert done.exit_code == 2
    assert "fosc finds the number of clusters. Remove --clusters 2" in words(done)
    done = linkwise("cluster", lonely, "--min-samples", 2)
    assert "--min-samples is an option of fosc, and the method is cobs. Remove --min-samples" in words(done)


@pytest.mark.parametrize("method", WITHOUT_SEED)
def test_what_draws_nothing_takes_no_seed(fruit, linkwise, method):
    clusters = ("--clusters", 3) if CLUSTERERS[method].needs else ()
    done = linkwise("cluster", fruit.path, "--method", method, *clusters, "--seed", 0)
    assert done.exit_code == 2
    assert f"{method} draws nothing at random. Remove --seed" in words(done)


@each_method
def test_json(fruit, pairs, tmp_path, linkwise, method):
    options = ("--method", method, "--clusters", 3, "--constraints", pairs, "--json")
    *rows, told = map(json.loads, linkwise("cluster", fruit.path, *options).stdout.splitlines())
    model = fitted(method, fruit, pairs, 3)
    assert [(row["id"], row["cluster"]) for row in rows] == [
        (f"f{i}", label) for i, label in enumerate(model.labels_.tolist())
    ]
    columns = told.pop("columns")
    if method == "weights":
        assert list(columns) == ["weight", "width", "colour"]
        assert sum(columns.values()) == pytest.approx(1)
        assert columns["weight"] == pytest.approx(model.feature_weights_[0])
    else:
        assert columns is None
    assert told == {
        "type": "summary",
        "method": METHODS[method],
        "parameters": {**offered(method, model), **drawn(method, 0)},
        "rows": 30,
        "clusters": [10, 10, 10],
        "in_none": 0,
        "pairs": 4,
        "satisfied": 4,
        "fell_back": getattr(model, "fell_back_", None),
        "budget_exhausted": getattr(model, "budget_exhausted_", None),
        "labels": None,
    }
    target = tmp_path / "o.csv"
    (only,) = linkwise("cluster", fruit.path, *options, "--labels", target).stdout.splitlines()
    assert json.loads(only)["labels"] == str(target)
    assert clusters_in(target.read_text()) == model.labels_.tolist()


def test_every_option_of_a_method_is_reported(fruit, linkwise, monkeypatch):
    rounds = Option("--rounds", "max_iter", "number of rounds", default=100)
    method = CLUSTERERS["pckmeans"]
    monkeypatch.setitem(CLUSTERERS, "pckmeans", method._replace(options=(*method.options, rounds)))
    options = ("--method", "pckmeans", "--clusters", 3)
    done = linkwise("cluster", fruit.path, *options)
    assert "Clustered by PCKMeans (n_clusters = 3, max_iter = 100)." in words(done)
    told = json.loads(linkwise("cluster", fruit.path, *options, "--json").stdout.splitlines()[-1])
    assert told["parameters"] == {"max_iter": 100, "n_clusters": 3, "random_state": 0}


@each_method
def test_without_pairs_the_features_decide(fruit, linkwise, method):
    done = linkwise("cluster", fruit.path, "--method", method, "--clusters", 3)
    assert done.exit_code == 0
    assert "No pairs were given, so the columns alone decide." in words(done)
    assert np.bincount(clusters_in(done.stdout)).tolist() == [10, 10, 10]


def test_a_fall_back_is_reported(fruit, pairs, linkwise, monkeypatch):
    class FellBack(lw.PCKMeans):
        def fit(self, *given, **more):
            super().fit(*given, **more)
            self.fell_back_ = True
            return self

    monkeypatch.setattr("linkwise.cluster.kmeans.pckmeans.PCKMeans", FellBack)
    done = linkwise("cluster", fruit.path, "--method", "pckmeans", "--clusters", 3, "--constraints", pairs)
    assert "These are the clusters of plain k-means: they satisfy more pairs" in words(done)


# ---------------------------------------------------------------- what is refused
WRONG = {int: "0", float: "nan", str: "nobody", "folder": __file__}  # by the type of an option
EACH_OPTION = [
    pytest.param(command, name, option, id=f"{command} {name} {option.flag}")
    for command, among in (("cluster", CLUSTERERS), ("ask", LEARNERS))
    for name, method in among.items()
    for option in method.options
]


@pytest.mark.parametrize(("command", "name", "option"), EACH_OPTION)
def test_a_wrong_value_of_an_option_is_refused(fruit, linkwise, command, name, option):
    value = "nothing" if isinstance(option.type, tuple) else WRONG[option.type]
    own = LEARNERS[name] if command == "ask" else CLUSTERERS[name]
    needed = ("--clusters", 3) if N_CLUSTERS in own.options and option != N_CLUSTERS else ()
    done = linkwise(command, fruit.path, "--method", name, *needed, option.flag, value)
    assert (done.exit_code, done.stdout) == (2, "")
    assert option.flag in done.stderr
    assert "Traceback" not in done.stderr
    assert not fruit.session.exists()


FRACTION = Option("--fraction", "fraction", "a share", float)


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
@pytest.mark.parametrize("name", ["pckmeans", "clusilc"])
def test_a_fraction_out_of_range_is_refused(monkeypatch, name, value):
    """The command line knows no range of a float, so the class is asked."""
    wide = {"pckmeans": "w", "clusilc": "gamma"}[name]
    option = FRACTION._replace(parameter=wide)
    method = CLUSTERERS[name]
    monkeypatch.setitem(CLUSTERERS, name, method._replace(options=(*method.options, option)))
    with pytest.raises(UsageError, match=f"{name} --fraction has a value out of range: The '{wide}'"):
        build_clusterer(MethodChoice(name, {"n_clusters": 3, wide: value}), 30)


@pytest.mark.parametrize("value", [0, -1])
def test_a_number_out_of_the_range_of_a_learner_is_refused(value):
    with pytest.raises(UsageError, match="cobra --super-instances has a value out of range: The 'n_super_in"):
        build_first_learner(MethodChoice("cobra", {"n_super_instances": value}))


def test_cobs_is_not_told_the_number_of_clusters(fruit, linkwise):
    for options in ((), ("--method", "cobs")):
        done = linkwise("cluster", fruit.path, *options, "--clusters", 3)
        assert (done.exit_code, done.stdout) == (2, "")
        assert "cobs finds the number of clusters. Remove --clusters 3, or use" in words(done)


def test_cosc_finds_the_number_where_it_is_not_told(fruit, linkwise):
    done = linkwise("cluster", fruit.path, "--method", "cosc")
    assert done.exit_code == 0
    found = len({line.split(",")[1] for line in done.stdout.splitlines()[1:]})
    assert f"Clustered by COSC (n_clusters = {found})." in words(done)


@pytest.mark.parametrize("method", [name for name in TOLD if CLUSTERERS[name].needs])
def test_others_must_be_told(fruit, linkwise, method):
    done = linkwise("cluster", fruit.path, "--method", method)
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"{method} needs the number of clusters. Add --clusters N, or use --method cobs" in words(done)


@each_method
@pytest.mark.parametrize(
    ("option", "value"), [("--preset", "paper"), ("--noise", "cluster"), ("--cache", "pools")]
)
def test_what_belongs_to_cobs(fruit, linkwise, method, option, value):
    done = linkwise("cluster", fruit.path, "--method", method, "--clusters", 3, option, value)
    assert done.exit_code == 2
    assert f"{option} is an option of cobs, and the method is {method}." in words(done)


@each_method
def test_more_clusters_than_rows(tmp_path, linkwise, method):
    fruit = write_fruit(tmp_path / "few.csv", rows=6)
    done = linkwise("cluster", fruit.path, "--method", method, "--clusters", 7)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--clusters 7 is more than there are rows: 6 rows. Use fewer clusters." in words(done)
    assert linkwise("cluster", fruit.path, "--method", method, "--clusters", 0).exit_code == 2


def test_pairs_that_so_many_clusters_cannot_keep_are_4(fruit, pairs, linkwise):
    options = ("--constraints", pairs, "--clusters", 2)
    done = linkwise("cluster", fruit.path, "--method", "copkmeans", *options)
    assert (done.exit_code, done.stdout) == (4, "")
    assert "must be apart" in words(done)
    assert "Increase --clusters" in words(done)
    soft = linkwise("cluster", fruit.path, "--method", "pckmeans", *options)
    assert soft.exit_code == 0
    assert "It satisfies 3 of 4 pairs." in words(soft)


def test_no_such_method(fruit, linkwise):
    done = linkwise("cluster", fruit.path, "--method", "kmeans", "--clusters", 3)
    assert done.exit_code == 2
    assert "'kmeans' is not one of" in words(done)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # as in a process of its own, where a note takes the place
def test_fewer_distinct_rows_than_clusters_are_reported(tmp_path, linkwise):
    data = tmp_path / "same.csv"
    data.write_text("id,a,b\n" + "".join(f"r{i},{i % 2},{i % 2}\n" for i in range(8)))
    options = ("--method", TOLD[0], "--clusters", 3)
    done = linkwise("cluster", data, *options)
    assert done.exit_code == 0, done.stderr
    assert "note: X has only 2 distinct rows, so there are as many clusters" in words(done)
    assert set(clusters_in(done.stdout)) == {0, 1}


def test_pairs_that_do_not_fit_are_named_by_their_ids(fruit, tmp_path, linkwise):
    path = tmp_path / "apart.csv"
    path.write_text("id_a,id_b,kind\nf0,f1,cannot-link\nf1,f2,cannot-link\nf0,f2,cannot-link\n")
    done = linkwise("cluster", fruit.path, "--method", "copkmeans", "--clusters", 2, "--constraints", path)
    assert done.exit_code == 4
    assert "an odd number of rows must be apart in a circle, but there are only 2 clusters: f" in words(done)
    assert "remove a pair, or use --method pckmeans" in words(done)
    assert "on_infeasible" not in words(done)
