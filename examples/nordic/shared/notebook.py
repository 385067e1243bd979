#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the code cells of a notebook in order, as Jupyter would with "run all", but without Jupyter.

    python3 notebook.py walkthrough.ipynb

Prints the output of the cells. Stops at a cell that raises an exception and prints its number and source.
"""
import json
import os
import sys
import traceback
from pathlib import Path


def run(path: Path) -> int:
    """Returns the number of cells."""
    book = json.loads(path.read_text())
    if book["nbformat"] != 4:
        raise ValueError(f"{path}: nbformat {book['nbformat']}, 4 is what is read here")
    names = {"__name__": "__main__"}
    cells = ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]
    os.chdir(path.resolve().parent)
    for number, code in enumerate(cells, 1):
        print(f"[{number}]", flush=True)
        try:
            exec(compile(code, f"{path.name}, cell {number}", "exec"), names)
        except Exception:
            print(f"{path}: cell {number} failed:\n{code}", file=sys.stderr)
            raise
    return len(cells)


def main():
    try:
        count = run(Path(sys.argv[1]))
    except Exception:
        traceback.print_exc()
        return 1
    print(f"{count} cells ran")
    return 0 if count else 1


if __name__ == "__main__":
    sys.exit(main())
