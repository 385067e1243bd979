#!/usr/bin/env python3
"""Compares the calls per operator of Thimble and ExecuTorch for the same network.

usage: operators.py FOLDER/NAME [--program build/thimble]

FOLDER/NAME contains NAME.pt2 and calibrate.npz (models/make.py). Compiles for cortex-m55 in both dialects and writes
README.md in this folder. ExecuTorch's calls are in executorch.json, made by peer.py (needs ExecuTorch).
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DIALECTS = {"native": [], "stock": ["--compat", "executorch"]}
HEADER = """# Calls by operator, compared with ExecuTorch

The table compares the kernel calls of two `.pte` files of {name} for cortex-m55. One is written by Thimble, the other
by the Cortex-M flow of ExecuTorch 1.5.1 from the same `.pt2` and samples (`peer.py`; results in `executorch.json`). Every value
between the quantize at the input and the dequantize at the output is int8: {float_ops} float operators. These commands write the table:

    python3 models/make.py {name}
    python3 benchmarks/operators/operators.py build/models/{name}

| operator | Thimble | Thimble, `--compat executorch` | ExecuTorch |
|---|--:|--:|--:|
"""
# Thimble uses a table for hardswish and hardsigmoid; ExecuTorch uses minimum and mul.
NAMES = {"quantized_activation": "table of 256 codes", "_clone_dim_order": "copy to another memory order"}


def common_name(op):
    """Returns `avg_pool2d` for thimble::avg_pool2d.out and for cortex_m::quantized_avg_pool2d."""
    name = op.split("::")[1].split(".")[0]
    short = name.removeprefix("quantized_").removesuffix("_per_tensor")
    return NAMES.get(name, short)


def compile_for(program, folder, options):
    with tempfile.TemporaryDirectory() as scratch:
        command = [program, "compile", folder / f"{folder.name}.pt2", "--target", "cortex-m55", "--calibrate",
                   folder / "calibrate.npz", "-o", f"{scratch}/model.pte", "--json", *options]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/thimble")
    options = parser.parse_args()
    folder = options.folder.resolve()
    peer = json.loads((HERE / "executorch.json").read_text())[folder.name]
    columns, sizes, float_ops = [], [], 0
    for flags in DIALECTS.values():
        report = compile_for(options.program.resolve(), folder, flags)
        columns.append(collections.Counter(common_name(op["op"]) for op in report["ops"]))
        sizes.append(report["pte_bytes"])
        float_ops += report["float_ops"]
    columns.append(collections.Counter())
    for op, count in peer["calls"].items():
        columns[-1][common_name(op)] += count
    page = HEADER.format(name=folder.name, float_ops=float_ops)
    names = sorted(set().union(*columns), key=lambda name: (-max(c[name] for c in columns), name))
    for name in names:
        page += f"| {name} | " + " | ".join(str(column[name] or "") for column in columns) + " |\n"
    page += "| all | " + " | ".join(str(column.total()) for column in columns) + " |\n"
    page += "| bytes of the `.pte` | " + " | ".join(f"{size:,}" for size in [*sizes, peer["pte_bytes"]]) + " |\n"
    (HERE / "README.md").write_text(page)
    print(page, end="")
    return 1 if float_ops else 0


if __name__ == "__main__":
    sys.exit(main())
