#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `reuse lint`, and compares LICENSE with the text that REUSE requires.

usage: reuse.py VENV SOURCE_DIR
"""
import pathlib
import subprocess
import sys

venv, source = map(pathlib.Path, sys.argv[1:3])
if (source / "LICENSE").read_bytes() != (source / "LICENSES/Apache-2.0.txt").read_bytes():
    sys.exit("LICENSE and LICENSES/Apache-2.0.txt differ")
reuse = venv / "bin/reuse"
if not reuse.exists():
    print("skipped: reuse lint needs `reuse` from PyPI in", venv)
    sys.exit(77)
done = subprocess.run([reuse, "--root", source, "lint"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
print(done.stdout[-3000:])
sys.exit(done.returncode)
