# SPDX-License-Identifier: Apache-2.0
"""Prints the matrix of operators, element types and processors that tests have compared.

usage: matrix.py FOLDER [--ops abi/ops] [-o FILE.md]

FOLDER holds the files that test programs wrote with THIMBLE_MATRIX=FOLDER (tests/matrix/ledger.h). A cell
is the number of results of that operator alone that equalled the evaluator's, or a kernel's written
definition, in every bit; `+n`: operators inside graphs of several. In an empty cell, nothing was
compared. Operators of --ops without a row are listed below the table. Exits with 1 if a comparison
failed, or if there are no comparisons.
"""

import argparse
import collections
import pathlib
import re
import sys

FIRST = "host"


class Cell:
    def __init__(self):
        self.alone = self.graph = self.different = 0

    def add(self, scope, equal, different):
        self.different += different
        if scope == "alone":
            self.alone += equal
        else:
            self.graph += equal

    def text(self):
        if self.different:
            return f"**{self.different} differ**"
        words = [f"{self.alone:,}"] if self.alone else []
        return " ".join(words + ([f"+{self.graph:,}"] if self.graph else []))


def read_ledgers(folder):
    cells = collections.defaultdict(Cell)
    for path in sorted(folder.glob("*.tsv")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            words = line.split("\t")
            if len(words) != 6 or words[3] not in ("alone", "graph"):
                sys.exit(f"{path}:{number}: expected operator, types, processor, scope, equal, different")
            op, types, processor, scope = words[:4]
            cells[op, types, processor].add(scope, int(words[4]), int(words[5]))
    return cells


def core_order(processor):
    """Sort key: the host, then cores by their number."""
    number = re.search(r"\d+", processor)
    return (processor != FIRST, int(number.group()) if number else 0, processor)


def operator_names(folder):
    """Returns the operators of the tables in a folder, sorted by table."""
    tables = sorted(folder.glob("*.def"))
    row = re.compile(r'^THIMBLE_(?:PTE|NATIVE)_OP\(\w+, \w+, "([^"]+)"', re.M)
    names = [name for table in tables for name in row.findall(table.read_text())]
    if not names:
        sys.exit(f"{folder}: no tables of operators")
    return names


def markdown(cells, listed):
    processors = sorted({key[2] for key in cells}, key=core_order)
    order = {name: at for at, name in enumerate(listed)}
    rows = sorted({key[:2] for key in cells}, key=lambda row: (order.get(row[0], len(order)), row))
    lines = ["| operator | types | " + " | ".join(processors) + " |",
             "|---|---|" + "---:|" * len(processors)]
    for op, types in rows:
        texts = [cells[op, types, p].text() if (op, types, p) in cells else "" for p in processors]
        lines.append(f"| {op.removesuffix('.out')} | {types} | " + " | ".join(texts) + " |")
    filled = sum(cell.alone + cell.graph > 0 for cell in cells.values())
    lines.append("")
    lines.append(f"{len({row[0] for row in rows})} operators, {len(rows)} rows, {filled} of "
                 f"{len(rows) * len(processors)} cells; "
                 f"{sum(c.alone for c in cells.values()):,} comparisons of operators alone, "
                 f"{sum(c.graph for c in cells.values()):,} inside graphs.")
    untried = [name for name in listed if name not in {row[0] for row in rows}]
    if untried:
        lines += ["", "Never compared: " + ", ".join(untried) + "."]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--ops", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path)
    options = parser.parse_args()
    cells = read_ledgers(options.folder)
    if not cells:
        sys.exit(f"{options.folder}: no comparisons")
    text = markdown(cells, operator_names(options.ops) if options.ops else [])
    if options.output:
        options.output.write_text(text)
    print(text, end="")
    return 1 if any(cell.different for cell in cells.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
