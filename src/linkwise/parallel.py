"""Run work in parallel: threads in native code, tasks in processes or on other machines."""

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
    """Return the number of threads that native code should use.

    Returns
    -------
    int
        ``OMP_NUM_THREADS`` if it is a positive integer (or the first of a list of them, one for each level
        of nesting), else the number of cores that this process may use.
    """
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def one_blas_thread() -> AbstractContextManager[object]:
    """Limit BLAS to one thread: results do not depend on the number of cores, and small products are faster.

    Returns
    -------
    context manager
        The limit holds within it.
    """
    limited: AbstractContextManager[object] = _find_libraries().limit(limits=1, user_api="blas")
    return limited


@cache
def _find_libraries() -> Any:
    """Find the libraries of this process that use threads; the search takes milliseconds."""
    from threadpoolctl import ThreadpoolController

    import_module("scipy.linalg")  # SciPy brings its own BLAS
    return ThreadpoolController()


def map_tasks(
    function: Callable[[Any, Task], Result],
    shared: Any,
    tasks: Sequence[Task],
    backend: Backend = "serial",
    n_jobs: int | None = None,
) -> Generator[tuple[int, Result], None, None]:
    """Call ``function(shared, task)`` for each task.

    Closing the iterator cancels the tasks that have not begun.

    Parameters
    ----------
    function : callable
        A function of a module, unless the backend is "serial".
    shared : object
        Data that all tasks read. It is sent once to each worker, not once for each task.
    tasks : sequence
        The tasks.
    backend : {"serial", "loky", "dask"}, default="serial"
        Run the tasks in this process; in processes of this machine (joblib's loky); or on the workers of
        the current ``dask.distributed.Client``.
    n_jobs : int, optional
        Number of processes of loky; `n_threads()` by default.

    Yields
    ------
    (int, result)
        The position of a task and its result, in the order in which the tasks finish.

    Raises
    ------
    ValueError
        If the backend is unknown, or if it is "dask" and there is no client.
    ImportError
        If the backend is "dask" and dask.distributed is not installed.
    """
    if backend not in BACKENDS:
        raise ValueError(f"backend is unknown: {backend!r}. Give one of {', '.join(map(repr, BACKENDS))}.")
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
        for result in found:  # noqa: UP028  # `yield from` would close `found` outside the filter below
            yield result
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # joblib warns about the tasks that it cancels
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
            "backend='dask' needs dask.distributed. Install it: pip install 'linkwise[dask]'"
        ) from None
    try:
        client = get_client()
    except ValueError:
        raise ValueError(
            "backend='dask' needs a client. Start one first: dask.distributed.Client()"
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
