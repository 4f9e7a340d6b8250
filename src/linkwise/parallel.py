"""Run work in parallel: threads in native code, tasks in processes or on other machines."""

from __future__ import annotations

import os
import pickle
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from functools import cache
from importlib import import_module
from threading import Lock, local
from typing import Any, Literal, NamedTuple, TypeVar, get_args

Backend = Literal["serial", "loky", "dask"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)
SMALL = 2**23  # bytes of shared data that dask may copy to each new worker

Task = TypeVar("Task")
Result = TypeVar("Result")


class Engine(NamedTuple):
    """Where tasks run; see `map_tasks`."""

    backend: Backend = "serial"
    n_jobs: int | None = None


SERIAL_ENGINE = Engine()


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


class _BlasLimit(local):
    """Limit BLAS while any thread is inside; a thread that is inside enters again at no cost.

    Most BLAS have one number of threads for the whole process. So a thread that leaves must not lift the
    limit of another one, and the last one restores what the first one found. Once the main thread has set
    the number, OpenBLAS lets no other thread set it; then the next one that can restores it.
    """

    lock = Lock()
    n_threads = 0  # that are inside
    found: list[int] | None = None  # until it is restored
    n_inside = 0  # entries of this thread

    def __enter__(self) -> None:
        if self.n_inside == 0:
            with self.lock:
                now = _read_blas_threads()
                if _BlasLimit.n_threads == 0 and (_BlasLimit.found is None or max(now, default=1) > 1):
                    _BlasLimit.found = now
                _set_blas_threads([1] * len(now))
                _BlasLimit.n_threads += 1
        self.n_inside += 1

    def __exit__(self, *error: object) -> None:
        self.n_inside -= 1
        if self.n_inside == 0:
            with self.lock:
                _BlasLimit.n_threads -= 1
                if _BlasLimit.n_threads == 0 and self.found is not None:
                    _set_blas_threads(self.found)
                    if _read_blas_threads() == self.found:
                        _BlasLimit.found = None


_BLAS_LIMIT = _BlasLimit()


def one_blas_thread() -> AbstractContextManager[None]:
    """Limit BLAS to one thread: results do not depend on the number of cores, and small products are faster.

    Within another one it costs nothing.
    """
    return _BLAS_LIMIT


def _read_blas_threads() -> list[int]:
    return [library.get_num_threads() or 1 for library in _find_blas()]


def _set_blas_threads(numbers: list[int]) -> None:
    for library, number in zip(_find_blas(), numbers, strict=True):
        library.set_num_threads(number)


@cache
def _find_blas() -> list[Any]:
    """Find each BLAS of this process; the search takes milliseconds."""
    from threadpoolctl import ThreadpoolController

    import_module("scipy.linalg")  # SciPy brings its own BLAS
    found: list[Any] = ThreadpoolController().select(user_api="blas").lib_controllers
    return found


def map_tasks(
    function: Callable[[Any, Task], Result],
    shared: Any,
    tasks: Sequence[Task],
    backend: Backend = "serial",
    n_jobs: int | None = None,
) -> Generator[tuple[int, Result], None, None]:
    """Call ``function(shared, task)`` for each task; yield its position and its result as tasks finish.

    Closing the iterator cancels the tasks that have not begun. Tasks run in this process ("serial"), in
    `n_jobs` processes of this machine ("loky"), where `n_threads()` is the default, or on the workers of
    the current ``dask.distributed.Client`` ("dask"). Elsewhere than here the function is one of a module,
    and `shared` is sent once to each worker, not once for each task.
    """
    if backend not in BACKENDS:
        raise ValueError(f"backend is unknown: {backend!r}. Pass one of {', '.join(map(repr, BACKENDS))}.")
    if backend == "serial":
        return ((at, function(shared, task)) for at, task in enumerate(tasks))
    if backend == "loky":
        return _map_on_loky(function, shared, tasks, n_jobs or n_threads())
    return _map_on_dask(function, shared, tasks)


def map_in_order(
    function: Callable[[Any, Task], Result],
    shared: Any,
    tasks: Sequence[Task],
    engine: Engine = SERIAL_ENGINE,
) -> Generator[Result, None, None]:
    """Call ``function(shared, task)`` for each task, and yield the results in the order of the tasks.

    So sums of the results do not depend on where tasks run, or on which of them finish first. Results
    that come early wait in memory. With dask, tasks of a lost worker run again on another.
    """
    waiting: dict[int, Result] = {}
    n_done = 0
    with closing(map_tasks(function, shared, tasks, engine.backend, engine.n_jobs)) as found:
        for at, result in found:
            waiting[at] = result
            while n_done in waiting:
                yield waiting.pop(n_done)
                n_done += 1


@contextmanager
def connect_dask(address: str) -> Iterator[Engine]:
    """Connect to the scheduler of a dask cluster, such as "tcp://scheduler:8786", and yield its workers.

    Raises OSError if there is no scheduler, and ValueError if the address is not valid.
    """
    with _import_distributed().Client(address):
        yield Engine("dask")


def _import_distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise ImportError(
            "The backend 'dask' needs dask.distributed. Install it: pip install 'linkwise[dask]'"
        ) from None
    return distributed


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
    distributed = _import_distributed()
    try:
        client = distributed.get_client()
    except ValueError:
        raise ValueError(
            "backend='dask' needs a client. Start one first: dask.distributed.Client()"
        ) from None
    if _count_bytes(shared) <= SMALL:  # the result of a task is made anew if its worker is lost
        there = client.submit(_return, shared, pure=False)
    else:
        (there,) = client.scatter([shared], broadcast=True, hash=False)
    futures = client.map(_call_with_shared, tasks, function=function, shared=there, pure=False)
    position = {future.key: at for at, future in enumerate(futures)}
    try:
        for future, result in distributed.as_completed(futures, with_results=True):
            yield position[future.key], result
    finally:
        client.cancel(futures)


def _call_with_shared(task: Task, *, function: Callable[[Any, Task], Result], shared: Any) -> Result:
    return function(shared, task)


def _return(shared: Any) -> Any:
    return shared


def _count_bytes(shared: Any) -> int:
    """How many bytes a value has when it is sent."""
    buffers: list[pickle.PickleBuffer] = []
    plain = pickle.dumps(shared, protocol=5, buffer_callback=buffers.append)
    return len(plain) + sum(buffer.raw().nbytes for buffer in buffers)
