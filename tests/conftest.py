"""What tests share: Hypothesis without a clock, and a small cluster of dask, started when a test wants it."""

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("no clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no clock")


@pytest.fixture(scope="session")
def dask_client():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
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
