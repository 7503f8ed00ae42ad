"""One Ray cluster for all tests that need it."""

import os
import socket

import pytest

from integrations import warm_workers
from processes import PROCESSES

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_DATA_LOG_LEVEL"] = "CRITICAL"
STORE = 100 << 20


@pytest.fixture(scope="package")
def warm(tmp_path_factory):
    """The file that starts workers as forks."""
    address = tmp_path_factory.mktemp("warm") / "socket"
    with socket.socket(socket.AF_UNIX) as listener, pytest.MonkeyPatch.context() as patched:
        listener.bind(str(address))
        listener.listen(64)
        patched.setenv(warm_workers.ADDRESS, str(address))
        server = PROCESSES.Process(target=warm_workers.fork_on_demand, args=[listener], daemon=True)
        server.start()
        yield warm_workers.__file__
        server.kill()
        server.join()


@pytest.fixture(scope="package")
def cluster(warm):
    """Two raylets with two CPUs each; the address of the first."""
    ray = pytest.importorskip("ray", reason="needs the extra movers[ray]")
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 2, "object_store_memory": STORE, "setup_worker_path": warm}
    head = {**node, "include_dashboard": False, "include_log_monitor": False}
    nodes = Cluster(initialize_head=True, head_node_args=head)
    try:
        nodes.add_node(**node)
        ray.init(nodes.address, log_to_driver=False, logging_level="ERROR")
        ray.data.DataContext.get_current().enable_progress_bars = False
        yield nodes.address
    finally:
        ray.shutdown()
        nodes.shutdown()
