"""Tasks are done alike in this process, in processes of this machine, and on dask's workers."""

import builtins
from contextlib import closing
from threading import Event, Thread

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from linkwise.parallel import map_tasks, one_blas_thread
from patience import patience

each_backend = pytest.mark.parametrize(
    "backend", ["serial", "loky", pytest.param("dask", marks=pytest.mark.slow)]
)


def scaled(shared, task):
    if task < 0:
        raise ZeroDivisionError(f"task {task}")
    return shared["rows"].sum() * task


@pytest.mark.slow
@each_backend
def test_every_task_is_done_once_with_what_is_shared(backend, client):
    rows = np.arange(300_000.0)  # large enough that loky maps it
    tasks = [3, 1, 4, 1, 5]
    found = dict(map_tasks(scaled, {"rows": rows}, tasks, backend, 2))
    assert found == {at: rows.sum() * task for at, task in enumerate(tasks)}


@each_backend
@pytest.mark.filterwarnings("ignore:A worker stopped")
def test_errors_of_tasks_are_raised(backend, client):
    with (
        pytest.raises(ZeroDivisionError, match="task -1"),
        closing(map_tasks(scaled, {"rows": np.ones(2)}, [1, 2, -1, 3], backend, 2)) as results,
    ):
        list(results)


@pytest.mark.slow
@each_backend
def test_work_can_be_ended_early(backend, client):
    with closing(map_tasks(scaled, {"rows": np.ones(2)}, list(range(1, 50)), backend, 2)) as results:
        at, result = next(results)
    assert result == 2 * (at + 1)
    assert dict(map_tasks(scaled, {"rows": np.ones(2)}, [7], backend, 2)) == {0: 14}


@each_backend
def test_no_tasks_give_no_results(backend, client):
    assert list(map_tasks(scaled, None, [], backend, 2)) == []


def test_missing_dask_raises_an_error_that_says_so(monkeypatch):
    found = builtins.__import__

    def without(name, *rest):
        if name == "distributed":
            raise ImportError(name)
        return found(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install 'linkwise\[dask\]'"):
        list(map_tasks(scaled, None, [1], "dask"))


def test_blas_is_limited_until_the_outermost_limit_ends():
    def counts():
        return {library["num_threads"] for library in blas.info()}

    blas = ThreadpoolController().select(user_api="blas")
    with blas.limit(limits=2):
        before = counts()
        with one_blas_thread():
            with one_blas_thread():
                assert counts() == {1}
            assert counts() == {1}
        assert counts() == before


def test_a_thread_that_is_done_lifts_no_limit_of_another_one():
    blas = ThreadpoolController().select(user_api="blas")
    is_in, is_other_out, seen = Event(), Event(), []

    def work():
        with one_blas_thread():
            is_in.set()
            is_other_out.wait(patience())
            seen.extend(library["num_threads"] for library in blas.info())

    with blas.limit(limits=2):
        with one_blas_thread():
            thread = Thread(target=work)
            thread.start()
            assert is_in.wait(patience())
        is_other_out.set()
        thread.join()
        assert set(seen) == {1}


def test_a_thread_that_cannot_restore_blas_leaves_that_to_the_next_one():
    def counts():
        return {library["num_threads"] for library in blas.info()}

    blas = ThreadpoolController().select(user_api="blas")
    is_in, is_other_out = Event(), Event()

    def work():
        with one_blas_thread():
            is_in.set()
            is_other_out.wait(patience())

    with blas.limit(limits=2):  # from now on OpenBLAS lets only this thread set the number
        before = counts()
        thread = Thread(target=work)
        thread.start()
        assert is_in.wait(patience())
        with one_blas_thread():
            assert counts() == {1}
        is_other_out.set()
        thread.join()
        with one_blas_thread():
            assert counts() == {1}
        assert counts() == before


def test_an_error_lifts_the_limit_of_blas():
    blas = ThreadpoolController().select(user_api="blas")
    with blas.limit(limits=2):
        before = blas.info()
        with pytest.raises(KeyError), one_blas_thread():
            raise KeyError
        assert blas.info() == before
