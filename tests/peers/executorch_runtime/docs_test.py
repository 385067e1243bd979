#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/executorch.md, "ExecuTorch's runtime with Thimble's kernels and delegates", run as written.

    docs_test.py THIMBLE SOURCE FOLDER

The Python that runs this script is the `python` of the commands. Their last output must be the outputs of `thimble run`.
Exit 77 if ExecuTorch is not installed.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

from loading import thimble_run


def commands_of(page):
    block = re.search(r"<!-- commands -->\n((?:    .*\n)+)", page)
    return [line.strip() for line in block[1].splitlines()]


def main():
    thimble, source, folder = sys.argv[1:]
    source, folder = Path(source), Path(folder)
    try:
        import executorch  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error}", file=sys.stderr)
        return 77
    shutil.rmtree(folder, ignore_errors=True)
    programs = folder / "bin"
    programs.mkdir(parents=True)
    (programs / "thimble").symlink_to(Path(thimble).resolve())
    for name in ("abi", "engines", "examples", "executorch", "kernels", "models", "numerics", "runtime"):
        (folder / name).symlink_to(source / name)
    environment = {**os.environ, "PATH": f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}", "CMAKE_GENERATOR": "Ninja"}
    if shutil.which("ccache"):
        environment["CMAKE_CXX_COMPILER_LAUNCHER"] = "ccache"
    for command in commands_of((source / "docs/executorch.md").read_text()):
        print("$", command, flush=True)
        done = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stdout + done.stderr)
    printed = [float(word) for word in done.stdout.splitlines()[-1].split()]
    with np.load(source / "models/digits_cnn/test.npz") as arrays:
        sample = arrays[arrays.files[0]][:1]
    expected = thimble_run(thimble, folder / "digits.pte", [[sample]])[0][0].flatten().tolist()
    print(printed)
    return 0 if printed == expected else sys.exit(f"thimble run: {expected}")


if __name__ == "__main__":
    sys.exit(main())
