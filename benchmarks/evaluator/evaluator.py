# SPDX-License-Identifier: Apache-2.0
"""Times the reference evaluator on window attention (Swin's first stage, int8), and compares builds.

usage: evaluator.py THIMBLE [THIMBLE...] [--windows 1024] [--runs 5]

The network is q k^T, a bias that all windows share, softmax, and the product with v: 3 heads, windows of 49 tokens, 32 values
per token. Each build runs it in turn. The table has the least user time of each, and its ratio to that of the first build.
The outputs must be equal.
"""

import argparse
import hashlib
import pathlib
import resource
import subprocess
import sys
import tempfile

import numpy

NETWORK = """graph @forward {{
  input %q: i8[{n},3,49,32]
  input %k: i8[{n},3,49,32]
  input %v: i8[{n},3,49,32]
  input %bias: i8[1,3,49,49]
  %s: i8[{n},3,49,49] = qmatmul(%q, %k) {{transpose_b=1, a_zp=1, b_zp=2, y_zp=3, mult=1073741824, shift=-5}}
  %b: i8[{n},3,49,49] = qadd(%s, %bias) {{a_zp=1, a_mult=1073741824, a_shift=0, b_zp=0, b_mult=1073741824, b_shift=0, \
y_zp=0, y_mult=1073741824, y_shift=-18, min=-128, max=127}}
  %p: i8[{n},3,49,49] = qsoftmax(%b) {{dim=3, mult=1073741824, shift=23, diff_min=-248}}
  %y: i8[{n},3,49,32] = qmatmul(%p, %v) {{a_zp=-128, b_zp=2, y_zp=3, mult=1073741824, shift=-5}}
  output %y
}}
"""


def user_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", type=pathlib.Path)
    parser.add_argument("--windows", type=int, default=1024)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "attention.ir").write_text(NETWORK.format(n=arguments.windows))
        random = numpy.random.default_rng(1)
        inputs = []
        for shape in 3 * [(arguments.windows, 3, 49, 32)] + [(1, 3, 49, 49)]:
            inputs.append(folder / f"input_{len(inputs)}.npy")
            numpy.save(inputs[-1], random.integers(-128, 128, shape, dtype=numpy.int8))
        least, outputs = {}, set()
        for _ in range(arguments.runs):
            for program in arguments.programs:
                seconds = user_seconds([program, "run", folder / "attention.ir", "--input", *inputs, "--output", folder])
                least[program] = min(seconds, least.get(program, seconds))
                outputs.add(hashlib.sha256((folder / "output_0.npy").read_bytes()).hexdigest())
    print("| build | user time, s | ratio |\n|---|--:|--:|")
    for program in arguments.programs:
        print(f"| {program} | {least[program]:.2f} | {least[program] / least[arguments.programs[0]]:.2f} |")
    if len(outputs) != 1:
        print("the outputs differ")
    return 0 if len(outputs) == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
