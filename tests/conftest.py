"""What tests share: Hypothesis without a clock, a mark for slow tests, and a small cluster of dask."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from patience import patience

settings.register_profile("no clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no clock")

SLOW = Path(__file__).with_name("slow.txt").read_text(encoding="utf-8").splitlines()


def pytest_collection_modifyitems(items):
    """Mark what `slow.txt` lists: folders, and single tests with all their cases.

    Coverage is measured without them: they compute much, and tracing doubles that.
    """
    folders, tests = tuple(name for name in SLOW if name.endswith("/")), {*SLOW}
    for item in items:
        file, _, inside = item.nodeid.partition("::")
        name = inside.split("[")[0].split("::")[-1]
        uses_dask = "dask" in inside.partition("[")[2]
        if file.startswith(folders) or f"{file}::{name}" in tests or uses_dask:
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.no_cover)


@pytest.fixture(scope="session")
def dask_client():
    import dask
    from distributed import Client, LocalCluster

    limits = dict.fromkeys(("connect", "tcp"), f"{patience():.0f}s")
    with (
        dask.config.set({f"distributed.comm.timeouts.{name}": limit for name, limit in limits.items()}),
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
