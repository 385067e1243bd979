#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sweep() with a Dask cluster of two workers, one of which is killed, and with Ray.

    sweep_executors_test.py MODELS_FOLDER EXAMPLES_FOLDER

Exit 77 if neither Dask nor Ray is installed.
"""

import functools
import importlib.util
import os
import signal
import sys
import tempfile
import unittest
from pathlib import Path

import sweep_models
import thimble_ml as thimble

MODELS = Path(sys.argv[1])
EXAMPLES = Path(sys.argv[2])
HAVE = {name: importlib.util.find_spec(name) is not None for name in ("distributed", "ray")}
NAMES = ["dscnn_kws", "resnet8", "hello_sin", "cifarnet", "gru_classifier", "tcn"]


def path(name):
    return MODELS / name / f"{name}.pt2"


def check(test, executor, before_results=lambda results: None):
    """Runs the networks with `executor`, and one that kills its worker once."""
    with tempfile.TemporaryDirectory() as folder:
        models = {name: path(name) for name in NAMES}
        models["once"] = functools.partial(
            sweep_models.kills_its_worker_once, path("hello_sin"), Path(folder) / "marker"
        )
        options = [{"activations": "int8"}, {"optimize": "flash"}]
        results = thimble.sweep(
            models, ["cortex-m4", "cortex-m55"], options, executor=executor, cache=folder
        )
        found = [next(results)]
        before_results(found)
        found += results
        test.assertEqual(len(found), 4 * len(models))
        for result in found:
            test.assertEqual(result.status, "ok", f"{result.model}: {result.error}")
        again = list(
            thimble.sweep(
                models, ["cortex-m4", "cortex-m55"], options, executor=executor, cache=folder
            )
        )
        test.assertTrue(all(result.cached for result in again))
        test.assertEqual({r.key for r in found}, {r.key for r in again})


@unittest.skipUnless(HAVE["distributed"], "distributed (Dask) is not installed")
class Dask(unittest.TestCase):
    def test_two_workers_one_is_killed(self):
        from distributed import Client, LocalCluster

        with LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster, Client(cluster) as client:

            def kill_one(_):
                os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)

            check(self, client.get_executor(pure=False), kill_one)


@unittest.skipUnless(HAVE["ray"], "ray is not installed")
class Ray(unittest.TestCase):
    def test_two_workers(self):
        import ray

        sys.path.insert(0, str(EXAMPLES / "sweep"))
        from ray_executor import RayExecutor

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        self.addCleanup(ray.shutdown)
        check(self, RayExecutor(num_cpus=1))


if __name__ == "__main__":
    if not any(HAVE.values()):
        print("skipped: neither distributed (Dask) nor ray is installed")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
