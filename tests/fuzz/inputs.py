#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copies the committed inputs of a target to a folder (inputs.txt, corpus).

usage: inputs.py SOURCE_DIR TARGET FOLDER
"""
import pathlib
import shutil
import sys

BYTES_MAX = 64 << 10  # as in replay.cpp


def main():
    source, target, folder = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    files = list((source / "tests/fuzz/corpus" / target).glob("*"))
    for line in (source / "tests/fuzz/inputs.txt").read_text().splitlines():
        words = line.split()
        if not line.startswith("#") and words[0] == target:
            files += (source / words[1]).glob(f"*{words[2]}")
    for number, file in enumerate(files):  # files of two folders may have one name
        if file.stat().st_size <= BYTES_MAX:
            shutil.copyfile(file, folder / f"{number}_{file.name}")


if __name__ == "__main__":
    main()
