#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the table of targets in README.md with the targets of the program.

usage: readme_test.py FUZZ_REPLAY README
"""
import pathlib
import re
import subprocess
import sys


def main():
    program, readme = sys.argv[1:3]
    targets = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout.split()
    section = pathlib.Path(readme).read_text().split("## Targets")[1].split("## Mutations")[0]
    cells = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    documented = sorted(name for cell in cells for name in re.findall(r"`(\w+)`", cell))
    for name in sorted(set(targets) ^ set(documented)):
        print(f"{readme}: {name}: " + ("not in the table" if name in targets else "not a target of the program"))
    return 0 if sorted(targets) == documented else 1


if __name__ == "__main__":
    sys.exit(main())
