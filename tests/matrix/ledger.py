# SPDX-License-Identifier: Apache-2.0
"""Records comparisons of whole networks for the matrix (the Python counterpart of ledger.h)."""

import collections
import os
import pathlib
import sys


def record(report, processor, equal):
    """Records a network, compiled with `report`, whose outputs on a processor were compared with the evaluator's."""
    folder = os.environ.get("THIMBLE_MATRIX")
    if not folder:
        return
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    calls = collections.Counter((op["op"], op["types"]) for op in report["ops"])
    name = f"{pathlib.Path(sys.argv[0]).stem}-{os.getpid()}.tsv"
    with open(pathlib.Path(folder) / name, "a", encoding="utf-8") as file:
        for (op, types), count in sorted(calls.items()):
            numbers = (count, 0) if equal else (0, count)
            print(op, types, processor, "graph", *numbers, sep="\t", file=file)
