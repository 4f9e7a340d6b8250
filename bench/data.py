"""The labelled data sets of the papers' experiments by name, from the catalogue of `bench.suites`.

Tables are in the folder given by ``--data`` or by LINKWISE_DATA. Without a folder there are the sets that
come with scikit-learn, and, if asked, those that OpenML holds in the same form. `bench.made_sets` makes
sets that need no source, and `bench.multi_group_sets` others, some of them out of sets of scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable

from bench.made_sets import SHAPES, load_made
from bench.multi_group_sets import MULTI_GROUP_SETS, load_multi_group
from bench.suites.tasks import (
    LabelledTask,
    Source,
    available_tasks,
    load_task,
    read_tasks,
)
from linkwise.errors import DataError

TASKS = read_tasks()
BUNDLED = tuple(name for name, spec in TASKS.items() if spec.bundled)
FURTHER = ("pendigits2000", "balance", "libras")
"""Tables that no paper of COBRAS or COBS has."""
UCI = tuple(
    name for name, spec in TASKS.items() if spec.file and spec.form == "table" and name not in FURTHER
)
FACES = ("faces_identity", "faces_pose", "faces_expression", "faces_sunglasses")
NEWS = ("news_similar3", "news_different3")
OF_COBRAS = (*UCI, *FACES, *NEWS)
"""The tasks of the paper of COBRAS."""
OF_OTHERS = frozenset(TASKS).difference(OF_COBRAS, BUNDLED)
"""Tasks that this paper does not have, such as those with many classes."""


LOADERS: dict[str, Callable[[str], LabelledTask]] = {
    **dict.fromkeys(SHAPES, load_made),
    **dict.fromkeys(MULTI_GROUP_SETS, load_multi_group),
}
"""How the sets that need no source are made."""


def names(source: Source) -> list[str]:
    """Tasks that this source can give."""
    return available_tasks(TASKS, source)


def load(name: str, source: Source) -> LabelledTask:
    """Read and prepare a task; it is kept for the rest of the process.

    Raises
    ------
    DataError
        There is no such task here, or it has other counts than the paper's.
    """
    if name in LOADERS:
        return LOADERS[name](name)
    if name not in TASKS:
        raise DataError(f"There is no task {name!r}. Choose from {', '.join(names(source))}.")
    return load_task(TASKS[name], source)
