"""How work is shared out: threads within a kernel, tasks among processes or machines."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager
from functools import cache
from importlib import import_module
from typing import Any, Literal, TypeVar, get_args

Backend = Literal["serial", "loky", "dask"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)

Task = TypeVar("Task")
Result = TypeVar("Result")


def n_threads() -> int:
    """Return the number of threads that a kernel should use.

    Returns
    -------
    int
        ``OMP_NUM_THREADS`` where it is set to a positive integer (the first, where it lists one for
        each level of nesting), else the number of cores that this process may use.
    """
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def one_blas_thread() -> AbstractContextManager[object]:
    """Within it BLAS has one thread: sums are then the same for any number, and small products are faster.

    Returns
    -------
    context manager
    """
    limited: AbstractContextManager[object] = _find_libraries().limit(limits=1, user_api="blas")
    return limited


@cache
def _find_libraries() -> Any:
    """The libraries of this process that have threads; to look for them takes milliseconds."""
    from threadpoolctl import ThreadpoolController

    import_module("scipy.linalg")  # which has a BLAS of its own
    return ThreadpoolController()


def map_tasks(
    function: Callable[[Any, Task], Result],
    shared: Any,
    tasks: Sequence[Task],
    backend: Backend = "serial",
    n_jobs: int | None = None,
) -> Generator[tuple[int, Result], None, None]:
    """Call ``function(shared, task)`` for each task.

    Closing the iterator ends the work: what has not begun is not done.

    Parameters
    ----------
    function : callable
        Defined in a module, unless the backend is "serial".
    shared : object
        What all tasks read. It travels once to each worker, not once a task.
    tasks : sequence
    backend : {"serial", "loky", "dask"}
        In this process; in processes of this machine (joblib's loky); or on the workers of the
        current ``dask.distributed.Client``.
    n_jobs : int, optional
        Processes of loky; as many as `n_threads` says by default.

    Yields
    ------
    (int, result)
        The position of a task and what came of it, in the order in which they are finished.

    Raises
    ------
    ValueError
        If the backend is not known, or is "dask" and there is no client.
    ImportError
        If the backend is "dask" and dask.distributed is not installed.
    """
    if backend not in BACKENDS:
        raise ValueError(f"backend={backend!r}; give one of {', '.join(map(repr, BACKENDS))}")
    if backend == "serial":
        return ((at, function(shared, task)) for at, task in enumerate(tasks))
    if backend == "loky":
        return _map_on_loky(function, shared, tasks, n_jobs or n_threads())
    return _map_on_dask(function, shared, tasks)


def _map_on_loky(
    function: Callable[[Any, Task], Result], shared: Any, tasks: Sequence[Task], n_jobs: int
) -> Generator[tuple[int, Result], None, None]:
    from joblib import Parallel, delayed

    # arrays of `shared` above a megabyte are written once and mapped into the memory of all workers
    run = Parallel(n_jobs, backend="loky", return_as="generator_unordered", pre_dispatch="n_jobs")
    found = run(delayed(_call_numbered)(function, shared, at, task) for at, task in enumerate(tasks))
    try:
        # not `yield from`, by which closing this iterator would close that one unguarded
        for result in found:  # noqa: UP028
            yield result
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # joblib warns of the tasks that it gives up
            found.close()


def _call_numbered(
    function: Callable[[Any, Task], Result], shared: Any, at: int, task: Task
) -> tuple[int, Result]:
    return at, function(shared, task)


def _map_on_dask(
    function: Callable[[Any, Task], Result], shared: Any, tasks: Sequence[Task]
) -> Generator[tuple[int, Result], None, None]:
    try:
        from distributed import as_completed, get_client
    except ImportError:
        raise ImportError(
            "backend='dask' needs dask.distributed; install it: pip install 'linkwise[dask]'"
        ) from None
    try:
        client = get_client()
    except ValueError:
        raise ValueError(
            "backend='dask' found no client; start one first: dask.distributed.Client()"
        ) from None
    (there,) = client.scatter([shared], broadcast=True, hash=False)
    futures = client.map(_call_with_shared, tasks, function=function, shared=there, pure=False)
    position = {future.key: at for at, future in enumerate(futures)}
    try:
        for future, result in as_completed(futures, with_results=True):
            yield position[future.key], result
    finally:
        client.cancel(futures)


def _call_with_shared(task: Task, *, function: Callable[[Any, Task], Result], shared: Any) -> Result:
    return function(shared, task)
