#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time of a sweep of 500 candidates with one and with two workers, of a resumed one, and with a killed worker.

    PYTHONPATH=build/python python3 benchmarks/sweep/sweep.py [--executors pool,dask,ray] [--ratio]

A candidate is a network of models/, a target and a set of options. Dask and Ray must be installed to be measured. The first
run is in the calling process, one item after the other. --ratio: only the runs with one and with two workers.
"""

import argparse
import itertools
import os
import signal
import sys
import tempfile
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

import thimble_ml as thimble

ROOT = Path(__file__).resolve().parents[2]
# Networks that a worker compiles in less than a second.
NETWORKS = ["ad_autoencoder", "cifarnet", "digits_cnn", "dscnn_kws", "face_embedding", "gru_classifier", "hello_sin",
            "lstm_classifier", "mobilenet_v2_tiny", "mobilenet_v3_tiny", "resnet8", "rnn_step", "se_classifier",
            "squeezenet_like", "streaming_conv", "tcn", "vocoder", "yolo_nano_like", "mnasnet_like", "decoder_step",
            "efficientnet_lite_like", "shufflenet_v2_like", "streaming_conv_buffer", "conv_tasnet_like", "unet_small"]
TARGETS = ["cortex-m0plus", "cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55"]
OPTIONS = thimble.grid(optimize=["speed", "size"], activations=["int8", "int16"])


def one_thread():
    os.environ["THIMBLE_THREADS"] = "1"


class Here(Executor):
    """Runs each call in the calling process, when it is submitted."""

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        future.set_result(fn(*args, **kwargs))
        return future


@contextmanager
def here(workers):
    one_thread()
    yield Here()


def pool(workers):
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=one_thread)


@contextmanager
def dask(workers):
    from distributed import Client, LocalCluster

    one_thread()
    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            yield client.get_executor(pure=False)


@contextmanager
def ray(workers):
    import ray

    sys.path.insert(0, str(ROOT / "examples/sweep"))
    from ray_executor import RayExecutor

    one_thread()
    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level="error")
    try:
        yield RayExecutor(num_cpus=1)
    finally:
        ray.shutdown()


def models():
    return {name: ROOT / "models" / name / f"{name}.pt2" for name in NETWORKS}


def run(make_executor, workers, cache, stop_after=None, kill=False):
    """Returns the seconds and the results. The executor is warm: each worker has compiled a model."""
    with make_executor(workers) as executor:
        warm = list(thimble.sweep(itertools.repeat(models()["hello_sin"], 4 * workers), "cortex-m4", executor=executor, cache=False))
        begin = time.perf_counter()
        results = []
        found = thimble.sweep(models(), TARGETS, OPTIONS, executor=executor, cache=cache)
        for result in found:
            results.append(result)
            if kill and len(results) == 20:
                os.kill(int(warm[0].worker.split(":")[1]), signal.SIGKILL)
            if len(results) == stop_after:
                found.close()
                break
        return time.perf_counter() - begin, results


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--executors", default="pool")
    parser.add_argument("--ratio", action="store_true")
    arguments = parser.parse_args()
    chosen = {name: globals()[name] for name in arguments.executors.split(",")}
    one, _ = run(here, 1, False)
    print(f"in the calling process: {one:.1f} s", flush=True)
    for name, make_executor in chosen.items():
        with tempfile.TemporaryDirectory() as folder:
            seconds = {}
            for workers in (1, 2):
                cache = Path(folder) / str(workers)
                seconds[workers], results = run(make_executor, workers, cache)
                statuses = {status: sum(r.status == status for r in results) for status in {r.status for r in results}}
                print(f"{name}: {len(results)} candidates, {workers} workers: {seconds[workers]:.1f} s, {statuses}", flush=True)
            print(f"{name}: 2 workers are {seconds[1] / seconds[2]:.2f} times as fast as one, "
                  f"{one / seconds[2]:.2f} times as fast as the calling process", flush=True)
            if arguments.ratio:
                continue
            again, results = run(make_executor, 2, Path(folder) / "2")
            print(f"{name}: everything from the cache: {again:.2f} s, {sum(r.cached for r in results)} cached")
            stopped = Path(folder) / "stopped"
            run(make_executor, 2, stopped, stop_after=200)
            rest, results = run(make_executor, 2, stopped)
            print(f"{name}: resumed after 200: {rest:.1f} s, {sum(r.cached for r in results)} of {len(results)} cached")
            if name != "pool":  # a pool that was passed in cannot replace its workers
                killed, results = run(make_executor, 2, False, kill=True)
                ok = sum(r.status != "crashed" for r in results)
                print(f"{name}: a worker killed after 20: {killed:.1f} s, {ok} of {len(results)} finished")
    begin = time.perf_counter()
    results = []
    if "pool" in chosen and not arguments.ratio:
        for result in thimble.sweep(models(), TARGETS, OPTIONS, executor=lambda: pool(2), cache=False):
            results.append(result)
            if len(results) == 20:
                os.kill(int(result.worker.split(":")[1]), signal.SIGKILL)
        print(f"pool: a worker killed after 20: {time.perf_counter() - begin:.1f} s, "
              f"{sum(r.status != 'crashed' for r in results)} of {len(results)} finished")


if __name__ == "__main__":
    main()
