#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the calls per operator of Thimble and ExecuTorch for the same network.

usage: operators.py [--program build/thimble] [--check]

Exports mobilenet_v3_small with random weights (needs PyTorch), on which the calls do not depend. Compiles it for cortex-m55 in
both dialects and writes README.md in this folder, or compares with it (--check). ExecuTorch's calls are in executorch.json, made by peer.py (needs ExecuTorch).
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy
import torch

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NAME = "mobilenet_v3_small"
sys.path.insert(0, str(ROOT / "models"))
from common.mobilenet_v3 import MobileNetV3Small  # noqa: E402  (after its folder is added to the path)

DIALECTS = {"native": [], "stock": ["--compat", "executorch"]}
HEADER = """# Calls by operator, compared with ExecuTorch

The table compares the kernel calls of two `.pte` files of {name} for cortex-m55. One is written by Thimble, the other
by the Cortex-M flow of ExecuTorch 1.5.1 (`peer.py`; results in `executorch.json`). Every value between the quantize at the input
and the dequantize at the output is int8: {float_ops} float operators. This command writes the table:

    python3 benchmarks/operators/operators.py

| operator | Thimble | Thimble, `--compat executorch` | ExecuTorch |
|---|--:|--:|--:|
"""
# Thimble uses a table for hardswish and hardsigmoid; ExecuTorch uses minimum and mul.
NAMES = {"quantized_activation": "table of 256 codes", "lut": "table of 256 codes",
         "_clone_dim_order": "copy to another memory order"}


def common_name(op):
    """Returns `avg_pool2d` for thimble::avg_pool2d.out and for cortex_m::quantized_avg_pool2d."""
    name = op.split("::")[1].split(".")[0]
    short = name.removeprefix("quantized_").removesuffix("_per_tensor")
    return NAMES.get(name, short)


def export(folder):
    torch.manual_seed(1)
    x = torch.rand(4, 3, 224, 224)
    torch.export.save(torch.export.export(MobileNetV3Small(1000).eval(), (x[:1],)), folder / f"{NAME}.pt2")
    numpy.savez(folder / "calibrate.npz", x=x.numpy())


def compile_for(program, folder, options):
    with tempfile.TemporaryDirectory() as scratch:
        command = [program, "compile", folder / f"{NAME}.pt2", "--target", "cortex-m55", "--calibrate",
                   folder / "calibrate.npz", "-o", f"{scratch}/model.pte", "--json", *options]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/thimble")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    peer = json.loads((HERE / "executorch.json").read_text())[NAME]
    columns, float_ops = [], 0
    with tempfile.TemporaryDirectory() as scratch:
        export(pathlib.Path(scratch))
        for flags in DIALECTS.values():
            report = compile_for(options.program.resolve(), pathlib.Path(scratch), flags)
            columns.append(collections.Counter(common_name(op["op"]) for op in report["ops"]))
            float_ops += report["float_ops"]
    columns.append(collections.Counter())
    for op, count in peer["calls"].items():
        columns[-1][common_name(op)] += count
    page = HEADER.format(name=NAME, float_ops=float_ops)
    names = sorted(set().union(*columns), key=lambda name: (-max(c[name] for c in columns), name))
    for name in names:
        page += f"| {name} | " + " | ".join(str(column[name] or "") for column in columns) + " |\n"
    page += "| all | " + " | ".join(str(column.total()) for column in columns) + " |\n"
    print(page, end="")
    if options.check and page != (HERE / "README.md").read_text():
        sys.exit(f"{HERE}/README.md differs; to write it: python benchmarks/operators/operators.py")
    (HERE / "README.md").write_text(page)
    return 1 if float_ops else 0


if __name__ == "__main__":
    sys.exit(main())
