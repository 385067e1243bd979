# SPDX-License-Identifier: Apache-2.0
"""Memory and cycles that `compile` plans for networks and parts, compared with tests/data/plans.csv.

usage: plans_test.py THIMBLE REPO [--bless]

A search of the compiler that finds less than before changes a row. --bless writes the file; look at the difference first.
"""

import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

SIZE, SPEED = ("--optimize", "size"), ()
TARGETS = {
    "cortex-m4": SIZE, "cortex-m55": SIZE, "ethos-u55-128": SPEED, "ethos-u55-256": SIZE, "ethos-u65-512": SPEED,
    "ethos-u85-256": SPEED, "ethos-u85-1024": SPEED,
}
NETWORKS = {
    "ad_autoencoder": ("ethos-u55-128", "ethos-u85-1024"),
    "deit_tiny_like": ("cortex-m55", "ethos-u85-256"),
    "efficientnet_lite_like": ("cortex-m4", "cortex-m55"),
    "mnasnet_like": ("cortex-m55",),
    "mobilenet_v2_tiny": ("cortex-m4", "cortex-m55", "ethos-u55-256"),
    "resnet8": ("cortex-m4", "ethos-u55-128", "ethos-u65-512"),
    "squeezenet_like": ("cortex-m4",),
    "streaming_conv": ("cortex-m55", "ethos-u55-128"),
    "unet_small": ("cortex-m4", "ethos-u55-128", "ethos-u55-256", "ethos-u85-256"),
    "yolo_nano_like": ("cortex-m55", "ethos-u55-128", "ethos-u65-512", "ethos-u85-256"),
}
FIELDS = ("pte_bytes", "arena_bytes", "cycles", "npu_cycles")


def plan(program, repository, network, target):
    """Random calibration data and no trials: a plan does not depend on the weights."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [program, "compile", repository / "models" / network / f"{network}.pt2", "--target", target, "--calibrate", "random",
             "--effort", "0", "--json", "-o", pathlib.Path(folder) / "model.pte", *TARGETS[target]],
            capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"plans_test: {network} for {target}: {done.stderr}")
    report = json.loads(done.stdout)
    return [network, target, *(report[field] for field in FIELDS)]


def main():
    program, repository = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    cases = [(network, target) for network, targets in NETWORKS.items() for target in targets]
    with ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(lambda case: plan(program, repository, *case), cases))
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([("network", "target", *FIELDS), *rows])
    committed = repository / "tests/data/plans.csv"
    if sys.argv[3:] == ["--bless"]:
        committed.write_text(out.getvalue())
        return
    found, expected = out.getvalue().splitlines(), committed.read_text().splitlines()
    different = [f"found    {a}\nexpected {b}" for a, b in zip(found, expected) if a != b]
    if different or len(found) != len(expected):
        sys.exit("\n".join([*different, "plans_test: plans differ from tests/data/plans.csv (--bless writes it)"]))


if __name__ == "__main__":
    main()
