"""What tests share: threads, no data folder, Hypothesis without a clock, slow tests, dask.

One marker says when a test runs. `@pytest.mark.slow` leaves it out of `make quick` and `make coverage`.
`@pytest.mark.slow(nightly=True)`, for repetitions with more methods or data, leaves it out of `make
test`, too. It stands at the test, the parameter or, as `pytestmark`, in the file, where whoever reads the
test sees it. It is one marker with an argument, since whatever runs only at night is slow as well. pytest
itself selects: `addopts` holds ``-m "not slow(nightly=True)"``, and another ``-m`` replaces it. ``-m ""``
runs everything.
"""

import atexit
import gc
import os
import shutil
import tempfile
from contextlib import ExitStack

import pytest
from hypothesis import HealthCheck, settings

from patience import patience

# More tests run at once than there are cores, and threads of OpenBLAS would wait for each other: it uses one
# where no test asks for more (`use_threads`). Idle threads of OpenMP and OpenBLAS spin, which takes the cores
# from other tests. These libraries read the variables when they are loaded, which is later than this;
# processes that tests start inherit them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")  # 2 to the power of 4 cycles
if hasattr(os, "fork"):  # workers of dask are copies of one process (`dask_client`)
    os.environ.setdefault("DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD", "forkserver")
# which sessions were opened is noted here, and not for whoever runs the tests
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="linkwise-tests-")
atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)
os.environ.pop("LINKWISE_DATA", None)  # tests use the data sets that come with scikit-learn

# `--hypothesis-profile thorough` looks longer where a test does not say how long.
for profile, n_examples in (("quick", 12), ("thorough", 500)):
    settings.register_profile(
        profile, max_examples=n_examples, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
settings.load_profile("quick")


def pytest_collection_modifyitems(config, items):
    """Begin with long files: who begins one last is waited for by all."""
    if hasattr(config, "workerinput"):
        long_files = {item.path for item in items if item.get_closest_marker("slow")}
        items.sort(key=lambda item: item.path not in long_files)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Search for no garbage while tests are collected: it takes a quarter of the time and finds little."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish():
    """Take what was collected out of the search for garbage: it lives as long as this process."""
    gc.freeze()


@pytest.fixture
def use_threads(monkeypatch):
    """``use_threads(2)``: native code and BLAS use two threads until the next call or the end of the test."""
    from threadpoolctl import ThreadpoolController, threadpool_limits

    from linkwise import parallel

    with ExitStack() as limits:

        def use(n_threads):
            monkeypatch.setenv("OMP_NUM_THREADS", str(n_threads))
            limits.enter_context(threadpool_limits(n_threads, user_api="blas"))
            blas = ThreadpoolController().select(user_api="blas").info()
            assert parallel.n_threads() == n_threads
            assert {library["num_threads"] for library in blas} == {n_threads}

        yield use


@pytest.fixture(scope="module")
def dask_client():
    """Workers of dask, for one module: while they wait they use a tenth of a core, most of it to profile."""
    import dask
    from distributed import Client, LocalCluster

    if hasattr(os, "fork"):
        from multiprocessing import forkserver

        forkserver.set_forkserver_preload(["distributed", "linkwise.select.pool", "linkwise.large"])
        forkserver.ensure_running()
    limits = dict.fromkeys(("connect", "tcp"), f"{patience():.0f}s")
    with (
        dask.config.set({f"distributed.comm.timeouts.{name}": limit for name, limit in limits.items()}),
        dask.config.set({"distributed.worker.profile.enabled": False}),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False, timeout=patience()) as client,
    ):
        yield client


@pytest.fixture
def client(request):
    """The current client in tests with backend="dask", and None in others."""
    if request.getfixturevalue("backend") != "dask":
        yield None
        return
    with (client := request.getfixturevalue("dask_client")).as_current():
        yield client
