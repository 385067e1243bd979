# SPDX-License-Identifier: Apache-2.0
"""LiteRT's own operators for tables, sums and resizing: the number of quantized values in which its
kernels differ from ours, of a table's 256.

    functions.py CASES FOLDER [--seeds N]

CASES is interchange_cases. Prints a line per operator: how many tables are equal in every value, the
largest number of different values in one table, and their distance. Exit 1 if an operator differs
in more values, or by more, than in MEASURED.
"""

import argparse
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import reference  # noqa: E402

# Operator: maximum number of different values in one table, and their distance. docs/interchange.md gives the reasons.
MEASURED = {
    "ABS": (42, 1),
    "HARD_SWISH": (4, 1),
    "LEAKY_RELU": (23, 1),
    "RELU": (1, 1),
    "RELU6": (1, 1),
    "RESIZE_CENTRES": (226, 1),  # of up to 16,384 values
    "RESIZE_CORNERS": (6310, 6),
    "RSQRT": (1, 1),
    "SUM": (67, 1),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=400)
    arguments = parser.parse_args()
    try:
        import ai_edge_litert  # noqa: F401
    except ImportError as missing:
        print(f"skipped: {missing}")
        return 77
    for old in arguments.folder.glob("*.*"):
        old.unlink()
    subprocess.run([str(arguments.cases), str(arguments.folder), "functions", "1",
                    str(arguments.seeds)], check=True)
    most, far = defaultdict(int), defaultdict(int)
    equal, tables, failed = defaultdict(int), defaultdict(int), {}
    for path in sorted(arguments.folder.glob("*.tflite")):
        operator = path.name.split(".")[0]
        base = path.name[:-len(".tflite")]
        tables[operator] += 1
        try:
            got = reference.run_tflite(path, reference.numbered(arguments.folder, base, "in"))[0]
        except Exception as error:  # the tool may raise anything
            failed[operator] = str(error).strip().split("\n")[0]
            continue
        wanted = reference.numbered(arguments.folder, base, "out")[0]
        away = np.abs(got.astype(np.int64) - wanted.astype(np.int64))
        equal[operator] += int(away.max() == 0)
        most[operator] = max(most[operator], int((away != 0).sum()))
        far[operator] = max(far[operator], int(away.max()))
    good = bool(tables)
    for operator in sorted(tables):
        codes, distance = MEASURED.get(operator, (0, 0))
        fits = operator not in failed and most[operator] <= codes and far[operator] <= distance
        good = good and fits
        print(f"{operator:14} {equal[operator]:4} of {tables[operator]} equal, at most "
              f"{most[operator]:3} codes, by {far[operator]}{'' if fits else '   TOO FAR'}"
              f" {failed.get(operator, '')}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
