#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that ExecuTorch made, by the command line: a board gives the same bytes as the host.

    executorch_test.py THIMBLE FOLDER
"""

import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

EVERYWHERE = {"hello_sin", "residual", "many_ways", "float_reductions"}  # also on a core without a float unit


def run(thimble, *words):
    result = subprocess.run([thimble, *map(str, words), "--json"], capture_output=True, text=True)
    assert result.returncode == 0, f"{words}: {result.stderr or result.stdout}"
    return json.loads(result.stdout)


def sums(answer):
    return [output["sha256"] for output in answer["outputs"]]


def check(thimble, pte, work):
    with zipfile.ZipFile(pte.with_suffix(".npz")) as archive:
        archive.extractall(work)
    inputs = sorted(Path(work).glob("input_*.npy"))
    words = ["run", pte, "--steps", "--input", *inputs]
    host = sums(run(thimble, *words, "--on", "host"))
    for target in ["cortex-m55"] + (["cortex-m0plus"] if pte.stem in EVERYWHERE else []):
        board = run(thimble, *words, "--on", "qemu", "--target", target)
        assert sums(board) == host, f"{pte.stem}: {target} differs from the host"
    shown = run(thimble, "inspect", pte)
    assert [method["name"] for method in shown["methods"]] == ["forward"], pte.stem
    operators = shown["methods"][0]["operators"]
    assert operators and all(operator["known"] for operator in operators), pte.stem


def check_delegate(thimble, pte):
    """A file with an unknown delegate is described by `inspect` and refused with the delegate's name."""
    (delegate,) = run(thimble, "inspect", pte)["methods"][0]["delegates"]
    assert delegate["id"] == "BackendWithCompilerDemo" and delegate["bytes"] == 82, delegate
    assert delegate["inputs"] == ["float32[1,4]"] and delegate["outputs"] == ["float32[1,4]"], delegate
    values = {spec["key"]: spec["value"] for spec in delegate["compile_specs"]}
    assert values == {"max_value": "04", "note": "hello"}, values
    refused = subprocess.run([thimble, "run", str(pte)], capture_output=True, text=True)
    assert refused.returncode == 1 and "delegate BackendWithCompilerDemo" in refused.stderr, refused.stderr


def main():
    thimble, folder = sys.argv[1], Path(sys.argv[2])
    files = sorted(folder.glob("*.pte"))
    assert len(files) >= 10, folder
    for pte in files:
        with tempfile.TemporaryDirectory() as work:
            check(thimble, pte, work)
        print(f"{pte.stem}: ok", flush=True)
    files = sorted((folder / "ethos_u").glob("*.pte"))
    assert len(files) >= 6, folder
    for pte in files:
        with tempfile.TemporaryDirectory() as work:
            check(thimble, pte, work)
        print(f"{pte.stem}: ok", flush=True)
    check_delegate(thimble, folder / "delegates" / "demo.pte")
    return 0


if __name__ == "__main__":
    sys.exit(main())
