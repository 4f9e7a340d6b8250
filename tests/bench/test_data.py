"""Preparation: counts, order of the steps, and what is refused."""

import gzip
import json

import numpy as np
import pytest
from bench.data import BUNDLED, UCI, Source, load, names, prepare_uci

from bench import data
from linkwise.datasets import Dataset
from linkwise.errors import DataError


@pytest.fixture(autouse=True)
def forget():
    yield
    load.cache_clear()


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
    task = load(name, Source())
    assert (*task.X.shape, len(np.unique(task.y))) == counts
    assert task.X.min() == 0
    assert task.X.max() == 1
    assert len(np.unique(task.X, axis=0)) == len(task.X)


def test_without_a_folder_there_is_what_scikit_learn_has():
    assert names(Source()) == list(BUNDLED)
    with pytest.raises(DataError, match=r"no task 'glass'\. Choose from iris, wine"):
        load("glass", Source())


def test_a_folder_gives_what_is_in_it(tmp_path):
    (tmp_path / "wine.csv").write_text("a,b,class\n1,2,x\n3,2,y\n1,2,x\n5,,y\n2,2,y\n")
    source = Source(tmp_path)
    assert names(source) == ["wine"]
    task = load("wine", source)  # without the row that is incomplete and the one that is there twice
    assert task.X.tolist() == [[0, 0], [1, 0], [0.5, 0]]
    assert task.y.tolist() == [0, 1, 1]


def test_columns_go_before_or_after_incomplete_rows():
    X = np.array([[1.0, np.nan], [2, 5], [2, 6], [3, 7]])
    classes = np.array(["p", "q", "q", "p"])
    early = prepare_uci("hepatitis", X, classes, ["age", "protime"])
    assert early.X.ravel().tolist() == [0, 0.5, 1]
    late = prepare_uci("dermatology", X, classes, ["itching", "Age"])
    assert late.X.ravel().tolist() == [0, 0, 1]  # equal rows stay here, as in the paper's count


def test_digits_3_8_9_of_the_training_file():
    X = np.arange(4000.0)[:, None]
    task = prepare_uci("optdigits389", X, np.resize(["1", "3", "8", "9"], 4000), ["f"])
    assert len(task.X) == 3823 - 956  # every fourth is a 1
    assert set(task.y) == {0, 1, 2}


def test_openml_tables_are_known_by_their_counts(monkeypatch):
    def fetch(name):
        X = np.random.default_rng(0).random((351, 34))
        X[7] = X[3]
        y = np.arange(351) % 2
        return Dataset(name, X, y, tuple(f"f{i}" for i in range(34)), ("b", "g"), None, "")

    monkeypatch.setattr(data.datasets, "fetch", fetch)
    source = Source(openml=True)
    assert set(names(source)) < set(UCI)
    assert load("ionosphere", source).X.shape == (350, 34)
    with pytest.raises(DataError, match=r"OpenML's 'sonar' has \(350, 34, 2\) rows"):
        load("sonar", source)
    with pytest.raises(DataError, match="OpenML has no numeric copy of 'hepatitis'"):
        load("hepatitis", source)


def test_faces(tmp_path):
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (60, 8, 8)).astype(np.uint8)
    np.savez(tmp_path / "cmu_faces_half.npz", X=pixels, pose=np.resize(["left", "up"], 60))
    task = load("faces_pose", Source(tmp_path))
    assert task.X.shape == (60, 50)
    assert np.bincount(task.y).tolist() == [30, 30]
    assert "50 PCA components" in task.features


def test_news(tmp_path, monkeypatch):
    monkeypatch.setattr(data, "NEWS_COMPONENTS", 2)
    monkeypatch.setattr(data, "NEWS_TEXTS_A_CLASS", 5)
    words = {"space": "orbit rocket moon", "baseball": "pitcher inning glove"}
    with gzip.open(tmp_path / "news_different3.jsonl.gz", "wt") as file:
        for i in range(12):
            group = ("space", "baseball")[i % 2]
            first, *others = words[group].split()
            kept = " ".join([first, *others[i % 3 :]])
            file.write(json.dumps({"text": f"Subject: secret\n\n{kept}", "class": group}) + "\n")
    task = load("news_different3", Source(tmp_path))
    assert task.X.shape == (10, 2)
    assert np.allclose(np.linalg.norm(task.X, axis=1), 1)
    assert np.bincount(task.y).tolist() == [5, 5]
