# SPDX-License-Identifier: Apache-2.0
"""Runs the items of a sweep as Ray tasks.

    ray.init()
    for result in thimble.sweep(models, targets, executor=RayExecutor(num_cpus=1)):
        ...
"""

from concurrent.futures import Executor

import ray


class RayExecutor(Executor):
    """An executor whose workers are those of a Ray cluster; `options` are those of `ray.remote`."""

    def __init__(self, **options):
        self._options = {"max_retries": 3, **options}
        self._remote = {}

    def submit(self, fn, /, *args, **kwargs):
        if fn not in self._remote:
            self._remote[fn] = ray.remote(**self._options)(fn)
        return self._remote[fn].remote(*args, **kwargs).future()
