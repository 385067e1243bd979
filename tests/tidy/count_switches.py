# SPDX-License-Identifier: Apache-2.0
"""Counts switches over operator kinds and lookups of operators and attributes by string in the host compiler.

    python3 tests/tidy/count_switches.py [--check]

A new operator must not need a case in passes, partitioning, planning or reports: they ask for its category (ir/op_traits.h)
or for a row of their own table. Import, evaluator and lowering define what an operator is there, so they are counted apart.
A switch whose cases are the rows of a .def file is a table and is not counted.

--check exits with 1 if there are more than SWITCHES_MAX switches outside, or any lookup by string.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

from tidy import without_comments

ROOT = Path(__file__).resolve().parents[2]
SWITCHES_MAX = 15
DEFINES_OPERATORS = re.compile(r"src/(import|eval|interchange)/|engines/\w+/compiler/(lower|select)\w*\.cpp")
# Readers of text and of files find operators and attributes by name.
READS_NAMES = re.compile(r"src/ir/(parse|op|row_check)\.cpp|src/ir/op\.h|src/emit/(check_stock|decompile)\.cpp")
LOOKUP = re.compile(r"\bop_from_name\(|\.attr\(|->attr\(|\bop_name\([^()]*\) *[!=]=|\bPteOpInfo::name\b")


def bodies_of_switches(text):
    for match in re.finditer(r"\bswitch\s*\([^{]*\)\s*\{", text):
        end, depth = match.end(), 1
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        yield match.start(), text[match.end() : end]


def findings(root):
    """Yields (file, line, what, True if the file defines operators)."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "src", "engines", "tools"], check=True, capture_output=True, text=True)
    for name in listed.stdout.split("\n"):
        if not name.endswith((".cpp", ".h")):
            continue
        text = without_comments((root / name).read_text())
        inside = DEFINES_OPERATORS.match(name) is not None
        for start, body in bodies_of_switches(text):
            cases = len(re.findall(r"case (?:ir::)?OpKind::", body))
            if cases and "#include" not in body:
                yield name, text[:start].count("\n") + 1, f"switch of {cases} cases", inside
        if not READS_NAMES.match(name):
            for match in LOOKUP.finditer(text):
                yield name, text[: match.start()].count("\n") + 1, "lookup by string", inside


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    counts = {}
    for name, line, what, inside in findings(ROOT):
        kind = ("inside" if inside else "outside", what.split(" ")[0])
        counts[kind] = counts.get(kind, 0) + 1
        if not inside:
            print(f"{name}:{line}: {what}")
    for place in ("outside", "inside"):
        print(f"{place} import, evaluator and lowering: {counts.get((place, 'switch'), 0)} switches over operator kinds, "
              f"{counts.get((place, 'lookup'), 0)} lookups by string")
    too_many = counts.get(("outside", "switch"), 0) > SWITCHES_MAX or ("outside", "lookup") in counts
    if check and too_many:
        print(f"at most {SWITCHES_MAX} switches and no lookup by string: use ir/op_traits.h, or a row of a table")
    return 1 if check and too_many else 0


if __name__ == "__main__":
    sys.exit(main())
