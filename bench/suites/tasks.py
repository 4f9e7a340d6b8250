"""Labelled data sets as experiments use them: declared in TOML, read from a folder, prepared.

A task names its source (a file of the folder of data sets, a set that comes with scikit-learn, or OpenML) and
how its rows are prepared. `catalogue.toml` declares those of the papers; a suite may declare its own.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.suites.declarations import build_declared, read_toml
from linkwise import datasets
from linkwise.array_archives import read_archive
from linkwise.errors import DataError

Form = Literal["table", "arrays", "pixels", "texts", "counts"]
Scale = Literal["unit", "standard", "none"]
Rows = NDArray[np.float64]
Classes = NDArray[np.int64]

_TABLE_STEPS = ("drop_before", "drop_after", "classes", "rows", "distinct", "scale")
_STEPS = {
    "table": _TABLE_STEPS,
    "arrays": _TABLE_STEPS,
    "pixels": ("labels", "components"),
    "texts": ("components", "texts_per_class"),
    "counts": (),
}
"""Which fields of a task each form uses, of those that not all use."""
_ALL_STEPS = {step for steps in _STEPS.values() for step in steps}

CATALOGUE = Path(__file__).with_name("catalogue.toml")


class Source(NamedTuple):
    """Where data come from.

    Attributes
    ----------
    folder : Path, optional
        Folder of data sets.
    openml : bool
        Whether OpenML may be asked, which needs the network.
    """

    folder: Path | None = None
    openml: bool = False

    @property
    def name(self) -> str:
        """What kind of source it is: copies of one data set differ."""
        return "folder" if self.folder is not None else "openml" if self.openml else "scikit-learn"


@dataclass(frozen=True, eq=False)
class LabelledTask:
    """Rows and the clustering that they should get.

    Attributes
    ----------
    name : str
    X : ndarray or sparse array of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,), int64
        Classes, from 0.
    features : str
        What was done to get `X`.
    n_clusters : int
        Number of clusters that methods are told: that of the classes, unless the task says otherwise.
    kernel : {"linear", "rbf"}
        Similarity for the methods that take one.
    """

    name: str
    X: Any
    y: Classes
    features: str
    n_clusters: int = 0
    kernel: str = "linear"

    def __post_init__(self) -> None:
        if not self.n_clusters:
            object.__setattr__(self, "n_clusters", len(np.unique(self.y)))


@dataclass(frozen=True)
class TaskSpec:
    """How a data set becomes a task.

    Attributes
    ----------
    name : str
    file : str
        File in the folder of data sets; none for sets of scikit-learn.
    bundled : str
        Name of a set that comes with scikit-learn, which is taken where there is no folder.
    openml : str
        Name at OpenML.
    form : {"table", "arrays", "pixels", "texts", "counts"}
        What the file holds: a table with a column ``class``; an array ``X`` with classes ``y``;
        images ``X`` and one array of classes for each labelling; one object a line with ``text`` and
        ``class``; or counts of words as a sparse matrix.
    labels : str
        Array of classes in a file of images.
    drop_before, drop_after : tuple of str
        Columns that are left out before and after the rows with a missing value are.
    classes : tuple of str
        The classes that are kept; all by default.
    rows : int, optional
        How many of the first rows are kept.
    distinct : bool
        Whether rows that equal an earlier row are left out.
    scale : {"unit", "standard", "none"}
        Whether each feature goes from 0 to 1, has mean 0 and variance 1, or stays as it is.
    components : int
        Number of principal components of images, or of latent semantic components of texts.
    texts_per_class : int
        How many texts of each class are drawn; 0 means all.
    n_clusters : int
        Number of clusters that methods are told; 0 means that of the classes.
    kernel : {"linear", "rbf"}
    counts : tuple of int
        Rows, features and classes that must come out of the file or of OpenML's copy; nothing is checked
        without them, and scikit-learn's copy may differ.
    """

    name: str
    file: str = ""
    bundled: str = ""
    openml: str = ""
    form: Form = "table"
    labels: str = ""
    drop_before: tuple[str, ...] = ()
    drop_after: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    rows: int | None = None
    distinct: bool = True
    scale: Scale = "unit"
    components: int = 0
    texts_per_class: int = 0
    n_clusters: int = 0
    kernel: Literal["linear", "rbf"] = "linear"
    counts: tuple[int, ...] = ()

    def is_available(self, source: Source) -> bool:
        """Whether a source can give this task.

        Parameters
        ----------
        source : Source

        Returns
        -------
        bool
        """
        if source.folder is not None:
            return bool(self.file) and (source.folder / self.file).exists()
        return bool(self.openml) if source.openml else bool(self.bundled)


# ---------------------------------------------------------------- declarations
def read_tasks(path: Path = CATALOGUE) -> dict[str, TaskSpec]:
    """Read the tasks that a TOML file declares, each as a table ``[[task]]``.

    Parameters
    ----------
    path : Path
        By default `catalogue.toml`.

    Returns
    -------
    dict of TaskSpec
        By name, in the order of the file.

    Raises
    ------
    DataError
        The file is no TOML, or a task has no name, an unknown field or a value that is not allowed.
    """
    return build_specs(read_toml(path).get("task", []), path.name)


def build_specs(declared: Sequence[Mapping[str, Any]], where: str) -> dict[str, TaskSpec]:
    """Check declared tasks and return them by name.

    Parameters
    ----------
    declared : sequence of mapping
        Fields of `TaskSpec`.
    where : str
        Name of the file, for messages.

    Returns
    -------
    dict of TaskSpec

    Raises
    ------
    DataError
        As `read_tasks`.
    """
    specs: dict[str, TaskSpec] = {}
    for number, values in enumerate(declared, 1):
        name = values.get("name")
        if not isinstance(name, str) or not name:
            raise DataError(f'Task {number} of {where} has no name. Set name = "...".')
        if name in specs:
            raise DataError(f"Two tasks of {where} are named {name!r}. Rename one.")
        specs[name] = build_declared(TaskSpec, values, f"Task {name!r} of {where}")
        _check_spec(specs[name], where)
    return specs


def _check_spec(spec: TaskSpec, where: str) -> None:
    """Check the values of a task."""
    least = {"rows": 1, "components": 0, "texts_per_class": 0, "n_clusters": 0}
    for field, low in least.items():
        value = getattr(spec, field)
        if value is not None and value < low:
            raise DataError(f"Task {spec.name!r} of {where} has {field} = {value}. Set {low} or more.")
    for each in fields(TaskSpec):
        is_used = each.name not in _ALL_STEPS or each.name in _STEPS[spec.form]
        if not is_used and getattr(spec, each.name) != each.default:
            raise DataError(
                f"Task {spec.name!r} of {where} has form = {spec.form!r}, which does not use {each.name}."
                " Remove it."
            )
    if len(spec.counts) not in (0, 3):
        raise DataError(
            f"Task {spec.name!r} of {where} has {len(spec.counts)} counts. Set those of rows, features and"
            " classes."
        )


def available_tasks(specs: Mapping[str, TaskSpec], source: Source) -> list[str]:
    """Return the names of the tasks that a source can give, in their order."""
    return [name for name, spec in specs.items() if spec.is_available(source)]


def compute_data_key(spec: TaskSpec, source: Source) -> str:
    """Return the key of a task's data: a short digest of its file and of how its rows are prepared.

    Parameters
    ----------
    spec : TaskSpec
    source : Source

    Returns
    -------
    str
        Eight hexadecimal digits. Sets of scikit-learn and OpenML count by their names.
    """
    if source.folder is not None:
        content = (source.folder / spec.file).read_bytes()
    else:
        content = (spec.openml if source.openml else spec.bundled).encode()
    elsewhere = ("name", "file", "bundled", "openml", "counts")
    steps = [
        (field.name, getattr(spec, field.name))
        for field in fields(spec)
        if field.name not in elsewhere and getattr(spec, field.name) != field.default
    ]
    return hashlib.sha256(repr(steps).encode() + content).hexdigest()[:8]


# ---------------------------------------------------------------- preparation
@cache
def load_task(spec: TaskSpec, source: Source = Source()) -> LabelledTask:  # noqa: B008  (a value)
    """Read and prepare a task; it is kept for the rest of the process.

    Parameters
    ----------
    spec : TaskSpec
    source : Source

    Returns
    -------
    LabelledTask

    Raises
    ------
    DataError
        The source cannot give this task, its file is not such a table, or other counts come out than it
        declares.
    """
    if not spec.is_available(source):
        raise DataError(f"There is no task {spec.name!r} here. {_way_to(spec, source)}")
    if source.folder is None and not source.openml:
        return _from_bundled(spec)
    task = _from_openml(spec) if source.folder is None else _FORMS[spec.form](spec, source.folder / spec.file)
    found = (*task.X.shape, len(np.unique(task.y)))
    if spec.counts and found != spec.counts:
        raise DataError(
            f"{spec.name!r} has {found} rows, features and classes, and {spec.counts} were expected."
            " It is another version of the data set."
        )
    return task


def _way_to(spec: TaskSpec, source: Source) -> str:
    if source.folder is not None:
        return f"Put {spec.file} into {source.folder}." if spec.file else "Remove the folder of data sets."
    if source.openml:
        return "OpenML holds no copy of it. Pass the folder of data sets with --data."
    return "Pass the folder of data sets with --data."


def read_classes_csv(path: Path, ignored: Container[str] = ()) -> tuple[Rows, NDArray[np.str_], list[str]]:
    """Read numbers (an empty field is NaN), classes as text and names of the columns of a CSV file.

    Parameters
    ----------
    path : Path
        With a header; the last column is named ``class``.
    ignored : container of str, optional
        Columns that may hold anything; their values are NaN.

    Returns
    -------
    X : ndarray of shape (n_rows, n_columns)
    classes : ndarray of str
    names : list of str

    Raises
    ------
    DataError
        The file is not such a table. The message names the line.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            lines = [(reader.line_num, values) for values in reader if any(values)]
    except UnicodeDecodeError as error:
        raise DataError(f"{path.name} is not in UTF-8. Save it in this encoding.") from error
    header = lines[0][1] if lines else []
    if header[-1:] != ["class"]:
        raise DataError(
            f"The last column of {path.name} is {(header[-1:] or [''])[0]!r}, and not 'class'."
            " Put the classes into a last column of this name, with commas between the columns."
        )
    if not lines[1:]:
        raise DataError(f"{path.name} has no rows. Pass a table with a header and rows.")
    columns, X, classes = header[:-1], [], []
    for number, values in lines[1:]:
        where = f"Line {number} of {path.name}"
        if len(values) != len(header):
            raise DataError(
                f"{where} has {len(values)} fields, and the header has {len(header)}. Set as many."
            )
        if not values[-1]:
            raise DataError(f"{where} has no class. Pass one, or remove the row.")
        pairs = zip(columns, values[:-1], strict=True)
        X.append([np.nan if name in ignored else _read_number(name, value, where) for name, value in pairs])
        classes.append(values[-1])
    return np.array(X), np.array(classes), columns


def _read_number(column: str, value: str, where: str) -> float:
    """Return a number; NaN for an empty field."""
    try:
        number = float(value) if value else np.nan
    except ValueError:
        number = np.inf
    if np.isinf(number):
        raise DataError(
            f"{where} has {value!r} in {column!r}, which is not a finite number. Clear the field of a missing"
            " value, encode categories as numbers, or remove the column with drop_before."
        )
    return number


def prepare_table(spec: TaskSpec, X: Rows, classes: NDArray[Any], columns: Sequence[str]) -> LabelledTask:
    """Prepare a table as its declaration says.

    Parameters
    ----------
    spec : TaskSpec
    X : ndarray of shape (n_rows, n_columns)
        NaN where a value is missing.
    classes : ndarray of shape (n_rows,)
    columns : sequence of str

    Returns
    -------
    LabelledTask
        Of complete rows.

    Raises
    ------
    DataError
        There is no complete row, or a class that the declaration names is not there.
    """
    X, classes = X[: spec.rows], classes[: spec.rows]
    if spec.classes:
        names = classes.astype(str)
        if unknown := sorted(set(spec.classes) - set(names)):
            raise DataError(
                f"{spec.name!r} has no class {unknown[0]!r}. Classes are {', '.join(np.unique(names))}."
            )
        kept = np.isin(names, spec.classes)
        X, classes = X[kept], classes[kept]
    X, columns = _drop_columns(X, columns, spec.drop_before)
    complete = ~np.isnan(X).any(axis=1)
    if not complete.any():
        raise DataError(f"No row of {spec.name!r} is complete. Remove columns with drop_before.")
    X, _ = _drop_columns(X[complete], columns, spec.drop_after)
    classes = classes[complete]
    if spec.distinct:
        rows = find_first_rows(X)
        X, classes = X[rows], classes[rows]
    made = {"unit": "scaled to [0, 1]", "standard": "standardised", "none": "as they are"}[spec.scale]
    return _task(spec, scale_rows(X, spec.scale), classes, made)


def _task(spec: TaskSpec, X: Any, classes: NDArray[Any], features: str) -> LabelledTask:
    y = encode_classes(classes)
    if len(np.unique(y)) < 2:
        raise DataError(f"All rows of {spec.name!r} are in one class. Pass at least two classes.")
    return LabelledTask(spec.name, X, y, features, spec.n_clusters, spec.kernel)


def _drop_columns(X: Rows, columns: Sequence[str], dropped: Iterable[str]) -> tuple[Rows, list[str]]:
    kept = [at for at, column in enumerate(columns) if column not in set(dropped)]
    return X[:, kept], [columns[at] for at in kept]


def find_first_rows(X: Rows) -> NDArray[np.int64]:
    """Return the positions of the rows that equal no earlier row, ascending."""
    return np.sort(np.unique(X, axis=0, return_index=True)[1])


def scale_rows(X: Rows, scale: Scale = "unit") -> Rows:
    """Scale each feature; one that is constant becomes 0.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    scale : {"unit", "standard", "none"}, default="unit"
        From 0 to 1, mean 0 and variance 1, or as it is.

    Returns
    -------
    ndarray of shape (n_rows, n_features)
    """
    if scale == "none":
        return np.ascontiguousarray(X)
    low, width = (X.min(axis=0), np.ptp(X, axis=0)) if scale == "unit" else (X.mean(axis=0), X.std(axis=0))
    return np.ascontiguousarray((X - low) / np.where(width > 0, width, 1.0))


def encode_classes(classes: NDArray[Any]) -> Classes:
    """Number the classes from 0, in their order."""
    return np.unique(classes, return_inverse=True)[1].ravel()


# ---------------------------------------------------------------- where rows come from
def _from_bundled(spec: TaskSpec) -> LabelledTask:
    given = datasets.load(spec.bundled)
    names = list(given.names)
    _check_columns(spec, names, "scikit-learn's copy")
    classes = np.array(given.label_names)[given.y] if spec.classes else given.y
    return prepare_table(spec, given.X, classes, names)


def _from_openml(spec: TaskSpec) -> LabelledTask:
    given = datasets.fetch(spec.openml)
    return prepare_table(spec, given.X, np.array(given.label_names)[given.y], list(given.names))


def _from_table(spec: TaskSpec, path: Path) -> LabelledTask:
    X, classes, columns = read_classes_csv(path, spec.drop_before)
    if not spec.counts:  # a copy without the column is as good if the counts agree
        _check_columns(spec, columns, path.name)
    return prepare_table(spec, X, classes, columns)


def _check_columns(spec: TaskSpec, columns: Sequence[str], where: str) -> None:
    """Check that the columns which are left out are there."""
    if unknown := [column for column in (*spec.drop_before, *spec.drop_after) if column not in columns]:
        raise DataError(
            f"{where} has no column {unknown[0]!r}, which {spec.name!r} leaves out."
            f" Columns are {', '.join(columns)}."
        )


def _from_arrays(spec: TaskSpec, path: Path) -> LabelledTask:
    """A table whose columns have no names."""
    held = read_archive(path, is_packed=True)
    X, classes = held["X"].astype(np.float64), held["y"]
    return prepare_table(spec, X, classes, [str(column) for column in range(X.shape[1])])


def _from_pixels(spec: TaskSpec, path: Path) -> LabelledTask:
    """Images by one of their labellings: pixels in [0, 1], principal components."""
    from sklearn.decomposition import PCA

    held = read_archive(path, is_packed=True)
    pixels = held["X"].reshape(len(held["X"]), -1) / 255.0
    classes = held[spec.labels]
    X = PCA(spec.components, svd_solver="full").fit_transform(pixels)
    return _task(spec, np.ascontiguousarray(X), classes, f"pixels, {spec.components} PCA components")


def _from_texts(spec: TaskSpec, path: Path) -> LabelledTask:
    """Texts: TF-IDF of their bodies, latent semantic indexing, rows of unit length."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize

    with gzip.open(path, "rt", encoding="utf-8") as file:
        articles = [json.loads(line) for line in file]
    y = encode_classes(np.array([article["class"] for article in articles]))
    bodies = [article["text"].partition("\n\n")[2] or article["text"] for article in articles]
    words = TfidfVectorizer(stop_words="english", min_df=2, sublinear_tf=True).fit_transform(bodies)
    X = normalize(TruncatedSVD(spec.components, random_state=0).fit_transform(words))
    rng = np.random.default_rng(0)
    most = spec.texts_per_class or len(y)
    some = [rng.permutation(np.flatnonzero(y == c))[:most] for c in range(int(y.max()) + 1)]
    rows = np.sort(np.concatenate(some))
    made = f"TF-IDF, {spec.components} LSI components, {spec.texts_per_class or 'all'} texts a class"
    return _task(spec, np.ascontiguousarray(X[rows]), y[rows], made)


def _from_counts(spec: TaskSpec, path: Path) -> LabelledTask:
    """Counts of words by TF-IDF, every row at unit length."""
    from scipy.sparse import csr_array
    from sklearn.feature_extraction.text import TfidfTransformer

    held = read_archive(path, is_packed=True)
    parts = tuple(held[name] for name in ("data", "indices", "indptr"))
    counts = csr_array(parts, shape=tuple(held["shape"]), dtype=np.float64)
    classes = held["y"]
    return _task(spec, csr_array(TfidfTransformer().fit_transform(counts)), classes, "TF-IDF")


_FORMS = {
    "table": _from_table,
    "arrays": _from_arrays,
    "pixels": _from_pixels,
    "texts": _from_texts,
    "counts": _from_counts,
}
