"""One Ray cluster for all tests that need it."""

import os

import pytest

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_DATA_LOG_LEVEL"] = "CRITICAL"
STORE = 100 << 20


@pytest.fixture(scope="package")
def cluster():
    """Two raylets with two CPUs each; the address of the first."""
    ray = pytest.importorskip("ray", reason="needs the extra movers[ray]")
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 2, "object_store_memory": STORE}
    nodes = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    try:
        nodes.add_node(**node)
        ray.init(nodes.address, log_to_driver=False, logging_level="ERROR")
        ray.data.DataContext.get_current().enable_progress_bars = False
        yield nodes.address
    finally:
        ray.shutdown()
        nodes.shutdown()
