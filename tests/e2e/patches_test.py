# SPDX-License-Identifier: Apache-2.0
"""Patch embeddings: a channels-last convolution and `flatten(2)`, from PyTorch's file to the boards.

usage: patches_test.py THIMBLE DATA_FOLDER

`flatten(2)` uses the logical order, while the convolution's result is stored channels-last. Each
network is compiled in both dialects for a core with and one without vectors. Evaluator, host and
board give the same bytes, which match PyTorch's outputs within int8 accuracy: SQNR_MIN. The same
values read in memory order (the error that this test detects) stay below SQNR_WRONG.
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile
import zipfile

from npy import read_floats

CASES = {  # name: channels of the convolution, and whether a transpose follows it
    "patch_embedding": (8, True),
    "patch_embedding_cl": (8, True),
    "patch_flatten_cl": (8, False),
    "patch_linear_cl": (8, False),
    "vit_patches": (5, True),
}
DIALECTS = {"native": [], "stock": ["--compat", "executorch"]}
TARGETS = ("cortex-m55", "cortex-m3")
SQNR_MIN, SQNR_WRONG = 28, 10


def thimble(program, *arguments):
    done = subprocess.run([str(program), *map(str, arguments), "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"thimble {' '.join(map(str, arguments))}: exit {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def sqnr_db(wanted, got):
    noise = sum((a - b) ** 2 for a, b in zip(wanted, got, strict=True))
    return 10 * math.log10(sum(a * a for a in wanted) / max(noise, 1e-30))


def in_memory_order(numbers, channels, transposed):
    """Returns the elements as read by a reader that ignores the channels-last order."""
    positions = len(numbers) // channels
    if transposed:  # [positions, channels] read as [channels, positions]
        return [numbers[i % positions * channels + i // positions] for i in range(len(numbers))]
    return [numbers[i % channels * positions + i // channels] for i in range(len(numbers))]


def check(program, data, name, target, dialect, scratch):
    pte = scratch / "model.pte"
    report = thimble(program, "compile", data / f"{name}.pt2", "--target", target, "--calibrate",
                     scratch / "calibrate.npz", "-o", pte, *DIALECTS[dialect])
    assert report["float_ops"] == 0, report["float_ops"]
    hashes = {}
    for place in ("eval", "host", "qemu"):
        ran = thimble(program, "run", pte, "--input", scratch / "in0.npy", "--on", place, "--output", scratch)
        hashes[place] = [output["sha256"] for output in ran["outputs"]]
    wanted, got = read_floats(scratch / "out0.npy"), read_floats(scratch / "output_0.npy")
    right, wrong = sqnr_db(wanted, got), sqnr_db(wanted, in_memory_order(got, *CASES[name]))
    print(f"{name} {target} {dialect}: {right:.1f} dB, in memory order {wrong:.1f} dB")
    problems = []
    if len(set(map(tuple, hashes.values()))) != 1:
        problems.append(f"outputs differ: {hashes}")
    if right < SQNR_MIN:
        problems.append(f"{right:.1f} dB from PyTorch, {SQNR_MIN} wanted")
    if wrong > SQNR_WRONG:
        problems.append(f"memory order gives {wrong:.1f} dB: this network proves nothing")
    return [f"{name} {target} {dialect}: {problem}" for problem in problems]


def main():
    program, data = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    problems = []
    for name in CASES:
        with tempfile.TemporaryDirectory() as folder:
            scratch = pathlib.Path(folder)
            with zipfile.ZipFile(data / f"{name}.npz") as recorded:
                recorded.extractall(scratch)
            with zipfile.ZipFile(scratch / "calibrate.npz", "w") as out:
                out.write(scratch / "in0.npy", "x.npy")
            for target in TARGETS:
                for dialect in DIALECTS:
                    problems += check(program, data, name, target, dialect, scratch)
    print("\n".join(problems) or "all right")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
