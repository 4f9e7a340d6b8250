"""The labelled data sets of the papers' experiments, prepared as the papers describe.

A table is a CSV file with a header and a last column ``class``, in the folder given by ``--data`` or by
LINKWISE_DATA. Without a folder there are the sets that come with scikit-learn and, with ``--openml``, those
that OpenML has in the same form.
"""

from __future__ import annotations

import csv
import gzip
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from linkwise import datasets
from linkwise.errors import DataError

BUNDLED = datasets.BUNDLED
FACES = ("faces_identity", "faces_pose", "faces_expression", "faces_sunglasses")
NEWS = ("news_similar3", "news_different3")
FACE_COMPONENTS = 50
NEWS_COMPONENTS = 10
NEWS_TEXTS_A_CLASS = 400


class Source(NamedTuple):
    """Where data come from: a folder or None, and whether OpenML may be asked."""

    folder: Path | None = None
    openml: bool = False


@dataclass(frozen=True, eq=False)
class Task:
    """Rows, what the clustering should be, and what was done to get there."""

    name: str
    X: np.ndarray
    y: np.ndarray
    features: str


@dataclass(frozen=True)
class Recipe:
    """How a UCI table becomes a task of Van Craenendonck and Blockeel (2017) and (2018).

    Columns in `first_without` go before the rows with a missing value do, those in `then_without` after.
    Where `distinct` is False the paper's own counts still hold a few duplicates.
    """

    file: str
    first_without: tuple[str, ...] = ()
    then_without: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    head: int | None = None
    distinct: bool = True
    openml: str | None = None


UCI = {
    "iris": Recipe("iris", openml="iris"),
    "wine": Recipe("wine", openml="wine"),
    "dermatology": Recipe("dermatology", then_without=("Age",), distinct=False),
    "hepatitis": Recipe("hepatitis", first_without=("protime",)),
    "glass": Recipe("glass", first_without=("id",), distinct=False, openml="glass"),
    "ionosphere": Recipe("ionosphere", openml="ionosphere"),
    "optdigits389": Recipe("optdigits", classes=("3", "8", "9"), head=3823, openml="optdigits"),
    "ecoli": Recipe("ecoli", openml="ecoli"),
    "breast-cancer-wisconsin": Recipe("breast_cancer_wisconsin", first_without=("id",), openml="breast-w"),
    "segmentation": Recipe("segmentation_test", distinct=False),
    "column_2C": Recipe("column_2C"),
    "parkinsons": Recipe("parkinsons", openml="parkinsons"),
    "spambase": Recipe("spambase", openml="spambase"),
    "sonar": Recipe("sonar", openml="sonar"),
    "yeast": Recipe("yeast", openml="yeast"),
}


def names(source: Source) -> list[str]:
    """Tasks that this source can give."""
    if source.folder is not None:
        wanted = {name: f"{recipe.file}.csv" for name, recipe in UCI.items()}
        wanted |= dict.fromkeys(FACES, "cmu_faces_half.npz") | {name: f"{name}.jsonl.gz" for name in NEWS}
        return [name for name, file in wanted.items() if (source.folder / file).exists()]
    if source.openml:
        return [name for name, recipe in UCI.items() if recipe.openml]
    return list(BUNDLED)


@cache
def load(name: str, source: Source) -> Task:
    """Prepare a task; kept for the rest of the process.

    Raises
    ------
    DataError
        There is no such task here, or OpenML's table is not the one that the paper used.
    """
    if name in FACES and source.folder is not None:
        return load_faces(name, source.folder / "cmu_faces_half.npz")
    if name in NEWS and source.folder is not None:
        return load_news(name, source.folder / f"{name}.jsonl.gz")
    if name in UCI and source.folder is not None:
        return prepare_uci(name, *read_table(source.folder / f"{UCI[name].file}.csv"))
    if name in UCI and source.openml:
        return load_openml(name)
    if name in BUNDLED:
        return load_bundled(name)
    raise DataError(f"There is no task {name!r}. Choose from {', '.join(names(source))}.")


# ---------------------------------------------------------------- tables
def read_table(path: Path) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Numbers (empty fields are NaN), classes as text, and names of the columns of a CSV file."""
    with path.open(newline="") as file:
        header, *lines = csv.reader(file)
    X = np.array([[float(field) if field else np.nan for field in line[:-1]] for line in lines])
    return X, np.array([line[-1] for line in lines]), header[:-1]


def prepare_uci(name: str, X: np.ndarray, classes: np.ndarray, columns: list[str]) -> Task:
    """A UCI table after its recipe: complete, distinct rows, every feature from 0 to 1."""
    recipe = UCI[name]
    X, classes = X[: recipe.head], classes[: recipe.head]
    if recipe.classes:
        kept = np.isin(classes, recipe.classes)
        X, classes = X[kept], classes[kept]
    X, columns = drop_columns(X, columns, recipe.first_without)
    complete = ~np.isnan(X).any(axis=1)
    X, columns = drop_columns(X[complete], columns, recipe.then_without)
    classes = classes[complete]
    if recipe.distinct:
        rows = first_of_equals(X)
        X, classes = X[rows], classes[rows]
    return Task(name, to_unit(X), encode_classes(classes), "scaled to [0, 1]")


def drop_columns(X: np.ndarray, columns: list[str], dropped: tuple[str, ...]) -> tuple[np.ndarray, list[str]]:
    kept = [at for at, column in enumerate(columns) if column not in dropped]
    return X[:, kept], [columns[at] for at in kept]


def first_of_equals(X: np.ndarray) -> np.ndarray:
    """Positions of the rows that equal no earlier row."""
    return np.sort(np.unique(X, axis=0, return_index=True)[1])


def to_unit(X: np.ndarray) -> np.ndarray:
    """Every feature from 0 to 1; one that is constant becomes 0."""
    low, high = X.min(axis=0), X.max(axis=0)
    return np.ascontiguousarray((X - low) / np.where(high > low, high - low, 1.0))


def encode_classes(classes: np.ndarray) -> np.ndarray:
    return np.unique(classes, return_inverse=True)[1].ravel()


def load_bundled(name: str) -> Task:
    """A set of scikit-learn's: distinct rows, every feature from 0 to 1."""
    given = datasets.load(name)
    rows = first_of_equals(given.X)
    return Task(name, to_unit(given.X[rows]), given.y[rows], "scikit-learn's copy, scaled to [0, 1]")


def load_openml(name: str) -> Task:
    """OpenML's copy after the same recipe; refused where the counts tell that it is another table."""
    recipe = UCI[name]
    if recipe.openml is None:
        raise DataError(f"OpenML has no numeric copy of {name!r}. Give the table with --data.")
    given = datasets.fetch(recipe.openml)
    task = prepare_uci(name, given.X, np.array(given.label_names)[given.y], list(given.names))
    found, wanted = (*task.X.shape, len(set(task.y))), read_counts()[name]
    if found != wanted:
        raise DataError(f"OpenML's {recipe.openml!r} has {found} rows, features and classes, not {wanted}.")
    return task


def read_counts() -> dict[str, tuple[int, int, int]]:
    """Rows, features and classes of each task after preparation."""
    with (Path(__file__).parent / "targets" / "cobras_datasets.csv").open(newline="") as file:
        rows = csv.DictReader(file)
        return {r["task"]: (int(r["rows"]), int(r["features"]), int(r["classes"])) for r in rows}


# ---------------------------------------------------------------- pictures and texts
def load_faces(name: str, path: Path) -> Task:
    """CMU faces by one of their four labels: half-size pixels in [0, 1], principal components."""
    from sklearn.decomposition import PCA

    with np.load(path) as held:
        pixels = held["X"].reshape(len(held["X"]), -1) / 255.0
        classes = held[name.removeprefix("faces_")]
    X = PCA(FACE_COMPONENTS, svd_solver="full").fit_transform(pixels)
    return Task(
        name, np.ascontiguousarray(X), encode_classes(classes), f"pixels, {FACE_COMPONENTS} PCA components"
    )


def load_news(name: str, path: Path) -> Task:
    """Three newsgroups: TF-IDF of the bodies, latent semantic indexing, rows of unit length."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize

    with gzip.open(path, "rt") as file:
        articles = [json.loads(line) for line in file]
    y = encode_classes(np.array([article["class"] for article in articles]))
    bodies = [article["text"].partition("\n\n")[2] or article["text"] for article in articles]
    words = TfidfVectorizer(stop_words="english", min_df=2, sublinear_tf=True).fit_transform(bodies)
    X = normalize(TruncatedSVD(NEWS_COMPONENTS, random_state=0).fit_transform(words))
    rng = np.random.default_rng(0)
    some = [rng.permutation(np.flatnonzero(y == c))[:NEWS_TEXTS_A_CLASS] for c in range(int(y.max()) + 1)]
    rows = np.sort(np.concatenate(some))
    made = f"TF-IDF, {NEWS_COMPONENTS} LSI components, {NEWS_TEXTS_A_CLASS} texts a class"
    return Task(name, np.ascontiguousarray(X[rows]), y[rows], made)
