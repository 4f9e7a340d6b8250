"""Declared data sets: counts, the order of the steps of preparation, and what is refused."""

import gzip
import json

import numpy as np
import pytest
from bench.suites import tasks
from bench.suites.tasks import (
    Source,
    TaskSpec,
    available_tasks,
    build_specs,
    load_task,
    prepare_table,
    read_tasks,
)

from linkwise import datasets
from linkwise.datasets import Dataset
from linkwise.errors import DataError

CATALOGUE = read_tasks()


@pytest.fixture(autouse=True)
def forget():
    yield
    load_task.cache_clear()


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("iris", (149, 4, 3)),
        ("wine", (178, 13, 3)),
        ("breast_cancer", (569, 30, 2)),
        ("digits", (1797, 64, 10)),
    ],
)
def test_bundled_counts(name, counts):
    task = load_task(CATALOGUE[name])
    assert (*task.X.shape, task.n_clusters) == counts
    assert task.X.min() == 0
    assert task.X.max() == 1
    assert len(np.unique(task.X, axis=0)) == len(task.X)


def test_without_a_folder_there_is_what_scikit_learn_has():
    assert available_tasks(CATALOGUE, Source()) == list(datasets.BUNDLED)
    with pytest.raises(DataError, match=r"no task 'glass' here\. Pass the folder of data sets with --data"):
        load_task(CATALOGUE["glass"])


def test_what_scikit_learn_has_is_prepared_as_declared():
    spec = TaskSpec(
        "two", bundled="iris", classes=("setosa", "virginica"), rows=110, scale="none", distinct=False
    )
    task = load_task(spec)
    assert np.bincount(task.y).tolist() == [50, 10]
    narrow = load_task(TaskSpec("narrow", bundled="iris", drop_before=("sepal length (cm)",)))
    assert narrow.X.shape[1] == 3
    with pytest.raises(DataError, match="scikit-learn's copy has no column 'sepal'"):
        load_task(TaskSpec("narrow", bundled="iris", drop_before=("sepal",)))


def test_a_folder_gives_what_is_in_it(tmp_path):
    (tmp_path / "wine.csv").write_text("a,b,class\n1,2,x\n3,2,y\n1,2,x\n5,,y\n2,2,y\n")
    source = Source(tmp_path)
    assert available_tasks(CATALOGUE, source) == ["wine"]
    with pytest.raises(DataError, match=r"'wine' has \(3, 2, 2\) rows, features and classes"):
        load_task(CATALOGUE["wine"], source)
    with pytest.raises(DataError, match=r"Put glass\.csv into"):
        load_task(CATALOGUE["glass"], source)
    task = load_task(TaskSpec("small", "wine.csv"), source)  # without the incomplete row and the double one
    assert task.X.tolist() == [[0, 0], [1, 0], [0.5, 0]]
    assert task.y.tolist() == [0, 1, 1]


def test_columns_go_before_or_after_incomplete_rows():
    X = np.array([[1.0, np.nan], [2, 5], [2, 6], [3, 7]])
    classes = np.array(["p", "q", "q", "p"])
    early = prepare_table(CATALOGUE["hepatitis"], X, classes, ["age", "protime"])
    assert early.X.ravel().tolist() == [0, 0.5, 1]
    late = prepare_table(CATALOGUE["dermatology"], X, classes, ["itching", "Age"])
    assert late.X.ravel().tolist() == [0, 0, 1]  # equal rows stay here, as in the paper's count


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("class,a\nx,1\ny,2\n", r"The last column of t\.csv is 'a', and not 'class'\."),
        ("", r"The last column of t\.csv is '', and not 'class'\."),
        ("a,class\n", r"t\.csv has no rows\."),
        ("a,class\n1,x\n\n2\n", r"Line 4 of t\.csv has 1 fields, and the header has 2\."),
        ("a,class\n1,x\n2,\n", r"Line 3 of t\.csv has no class\."),
        ("a,class\n1,x\n?,y\n", r"Line 3 of t\.csv has '\?' in 'a', which is not a finite number\."),
        ("a,class\n1,x\ninf,y\n", r"Line 3 of t\.csv has 'inf' in 'a'"),
        ("a,class\n,x\n,y\n", r"No row of 't' is complete\."),
        ("a,class\n1,x\n2,x\n", r"All rows of 't' are in one class\."),
    ],
)
def test_a_file_that_is_no_such_table_is_refused(tmp_path, text, message):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        load_task(TaskSpec("t", "t.csv"), Source(tmp_path))


def test_a_file_in_another_encoding_is_refused(tmp_path):
    (tmp_path / "t.csv").write_bytes("größe,class\n1,x\n2,y\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"t\.csv is not in UTF-8"):
        load_task(TaskSpec("t", "t.csv"), Source(tmp_path))


def test_columns_and_classes_of_a_declaration_must_be_there(tmp_path):
    (tmp_path / "t.csv").write_text("\ufeffid,a,class\nA7,1,x\nB2,2,y\nC1,3,z\n", encoding="utf-8")
    source = Source(tmp_path)
    task = load_task(TaskSpec("t", "t.csv", drop_before=("id",), classes=("x", "y")), source)
    assert task.X.tolist() == [[0], [1]]  # a column that is left out may hold words
    with pytest.raises(
        DataError, match=r"t\.csv has no column 'Id', which 't' leaves out\. Columns are id, a\."
    ):
        load_task(TaskSpec("t", "t.csv", drop_before=("id", "Id")), source)
    with pytest.raises(DataError, match=r"'t' has no class 'w'\. Classes are x, y, z\."):
        load_task(TaskSpec("t", "t.csv", drop_before=("id",), classes=("w", "x")), source)
    counted = TaskSpec("t", "t.csv", drop_before=("id",), drop_after=("Age",), counts=(3, 1, 3))
    assert load_task(counted, source).X.shape == (3, 1)


def test_digits_3_8_9_of_the_training_file():
    X = np.arange(4000.0)[:, None]
    task = prepare_table(CATALOGUE["optdigits389"], X, np.resize(["1", "3", "8", "9"], 4000), ["f"])
    assert len(task.X) == 3823 - 956  # every fourth is a 1
    assert set(task.y) == {0, 1, 2}


@pytest.mark.parametrize(
    ("scale", "wanted"),
    [("unit", [0, 0.5, 1]), ("standard", [-(1.5**0.5), 0, 1.5**0.5]), ("none", [2, 4, 6])],
)
def test_scales(scale, wanted):
    spec = TaskSpec("t", scale=scale)
    task = prepare_table(spec, np.array([[2.0, 7], [4, 7], [6, 7]]), np.array(["a", "b", "a"]), ["x", "y"])
    assert task.X[:, 0].tolist() == pytest.approx(wanted)
    assert task.X[:, 1].tolist() == ([7] * 3 if scale == "none" else [0] * 3)


def test_a_task_may_ask_for_another_number_of_clusters(tmp_path):
    (tmp_path / "t.csv").write_text("a,class\n1,x\n3,y\n")
    assert load_task(TaskSpec("t", "t.csv", n_clusters=4), Source(tmp_path)).n_clusters == 4


def test_openml_tables_are_known_by_their_counts(monkeypatch):
    def fetch(name):
        X = np.random.default_rng(0).random((351, 34))
        X[7] = X[3]
        y = np.arange(351) % 2
        return Dataset(name, X, y, tuple(f"f{i}" for i in range(34)), ("b", "g"), None, "")

    monkeypatch.setattr(tasks.datasets, "fetch", fetch)
    source = Source(openml=True)
    assert set(available_tasks(CATALOGUE, source)) < set(CATALOGUE)
    assert load_task(CATALOGUE["ionosphere"], source).X.shape == (350, 34)
    with pytest.raises(DataError, match=r"'sonar' has \(350, 34, 2\) rows"):
        load_task(CATALOGUE["sonar"], source)
    with pytest.raises(DataError, match="OpenML holds no copy of it"):
        load_task(CATALOGUE["hepatitis"], source)


def test_faces(tmp_path):
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (624, 8, 8)).astype(np.uint8)
    np.savez(tmp_path / "cmu_faces_half.npz", X=pixels, pose=np.resize(["left", "up", "on", "off"], 624))
    task = load_task(CATALOGUE["faces_pose"], Source(tmp_path))
    assert task.X.shape == (624, 50)
    assert np.bincount(task.y).tolist() == [156] * 4
    assert "50 PCA components" in task.features


def test_texts(tmp_path):
    words = {"space": "orbit rocket moon", "baseball": "pitcher inning glove"}
    with gzip.open(tmp_path / "news.jsonl.gz", "wt") as file:
        for i in range(12):
            group = ("space", "baseball")[i % 2]
            first, *others = words[group].split()
            kept = " ".join([first, *others[i % 3 :]])
            file.write(json.dumps({"text": f"Subject: secret\n\n{kept}", "class": group}) + "\n")
    spec = TaskSpec("news", "news.jsonl.gz", form="texts", components=2, texts_per_class=5)
    task = load_task(spec, Source(tmp_path))
    assert task.X.shape == (10, 2)
    assert np.allclose(np.linalg.norm(task.X, axis=1), 1)
    assert np.bincount(task.y).tolist() == [5, 5]


def test_counts_of_words_have_unit_length(tmp_path):
    np.savez(
        tmp_path / "tr.npz",
        data=[1.0, 2, 3],
        indices=[0, 2, 1],
        indptr=[0, 2, 3],
        shape=[2, 3],
        y=["a", "b"],
    )
    task = load_task(TaskSpec("tr", "tr.npz", form="counts"), Source(tmp_path))
    assert np.allclose((task.X.multiply(task.X)).sum(axis=1), 1)
    assert task.y.tolist() == [0, 1]


MANY = ("mfeat_fou", "coil20", "yale", "alphadigits", "letter", "cardio")


def test_arrays_stay_as_they_are(tmp_path):
    X = np.array([[0.0, 0.3, 1], [0.5, 0.25, 0], [0.5, 0.25, 0], [0.125, 0.75, 0.5]], dtype=np.float32)
    np.savez(tmp_path / "small.npz", X=X, y=np.array([0, 2, 2, 1], dtype=np.int16))
    spec = TaskSpec("small", "small.npz", form="arrays", scale="none", distinct=False, counts=(4, 3, 3))
    task = load_task(spec, Source(tmp_path))
    assert task.X.dtype == np.float64
    np.testing.assert_array_equal(task.X, X)  # equal rows and other ranges than 0 to 1 stay
    assert task.y.tolist() == [0, 2, 2, 1]
    assert task.n_clusters == 3
    assert task.features == "as they are"
    scaled = load_task(TaskSpec("small", "small.npz", form="arrays"), Source(tmp_path))
    assert scaled.X[:, 0].tolist() == [0, 1, 0.25]


@pytest.mark.parametrize("name", MANY)
def test_sets_with_many_classes_are_read_as_arrays(tmp_path, name):
    spec = CATALOGUE[name]
    n_rows, n_features, n_classes = spec.counts
    assert 10 <= n_classes <= 36
    X = np.random.default_rng(0).random((n_rows, n_features), dtype=np.float32) / 2
    X[1] = X[0]
    y = np.resize(np.arange(n_classes), n_rows)
    np.savez(tmp_path / spec.file, X=X, y=y)
    task = load_task(spec, Source(tmp_path))
    np.testing.assert_array_equal(task.X, X)
    np.testing.assert_array_equal(task.y, y)


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ([{"file": "a.csv"}], "Task 1 of my.toml has no name"),
        ([{"name": "a", "colour": 3}], "unknown field 'colour'"),
        ([{"name": "a", "form": "song"}], "form = 'song'. Set table, arrays, pixels, texts, counts"),
        ([{"name": "a", "scale": "log"}], "scale = 'log'. Set unit, standard, none"),
        ([{"name": "a", "form": "counts", "scale": "none"}], "form = 'counts', which does not use scale"),
        ([{"name": "a", "components": 3}], "form = 'table', which does not use components"),
        ([{"name": "a"}, {"name": "a"}], "Two tasks of my.toml are named 'a'"),
    ],
)
def test_wrong_declarations_are_refused(declared, message):
    with pytest.raises(DataError, match=message):
        build_specs(declared, "my.toml")


def test_a_file_that_is_no_toml_is_refused(tmp_path):
    (tmp_path / "my.toml").write_text("task = [")
    with pytest.raises(DataError, match=r"my.toml is no TOML file"):
        read_tasks(tmp_path / "my.toml")
