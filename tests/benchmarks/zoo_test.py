# SPDX-License-Identifier: Apache-2.0
"""The page of benchmarks/zoo agrees with its list of networks and with its own rows.

usage: zoo_test.py SOURCE_DIR

The sentences before the table are those that table.py makes of the rows. Rows are in the order of the list, and no
row is of another network. The numbers of networks in the text are those of the list.
"""

import pathlib
import re
import sys

ZOO = pathlib.Path(sys.argv[1]).resolve() / "benchmarks/zoo"
sys.path.insert(0, str(ZOO))
import float_table  # noqa: E402
import table  # noqa: E402
from networks import NETWORKS  # noqa: E402

SQNR = table.COLUMNS.index("SQNR dB")


def expect(found, expected, what):
    if found != expected:
        sys.exit(f"{ZOO / 'README.md'}: {what}: found {found!r}, expected {expected!r}")


def check_texts():
    """The functions that make the cells, on small rows."""
    expect(table.equal_cell({"equal": ["host", "M55", "M4", "C"], "differs": [], "missing": {}}), "4", "four equal places")
    expect(table.equal_cell({"equal": ["host", "C"], "differs": [], "missing": {"M55": "MACs", "M4": "MACs"}}),
           "2 (not M55 and M4: MACs)", "places that were not run")
    expect(table.equal_cell({"equal": ["host", "C"], "differs": ["M4"], "missing": {}}), "**differs: M4**", "a difference")
    expect(table.general("axon: net.py:31: qlinear: 48 rows of conv2d; one"), "qlinear: # rows of conv2d; one", "a reason")


def check_explained(text, written):
    """Every network below the limit has a row that explains it, with the same SQNR, and no other network has one."""
    warning = {"operator": "aten.add.Tensor", "tried": [{"option": "--quant a=float --quant b=float", "sqnr_db": 7.26},
                                                        {"option": "--activations int16", "sqnr_db": 4.0}]}
    low = {"sqnr": 2.0, "variation": -30.0, "warning": warning}
    expect(table.explained_row("x", low), ["x", "2.0", "-30.0", "32.0", "`aten.add.Tensor`", "`--quant a=float and 1 more`", "7.3"], "a row")
    expect(table.explained_row("x", low | {"sqnr": 5.0}), None, "a network at the limit")
    expect(f"## Networks below {table.LOW_DB} dB" in text, True, "the limit in the title")
    block = text.partition("<!-- explained -->\n")[2].partition("<!-- end of explained -->")[0]
    rows = [line.strip("| ").split(" | ") for line in block.splitlines()[2:]]
    below = {key: row[SQNR] for key, row in written.items() if re.fullmatch(r"-?[\d.]+", row[SQNR]) and float(row[SQNR]) < table.LOW_DB}
    expect({row[0]: row[1] for row in rows}, below, "explained networks")


def check_float_table(text):
    """The sentences before the table of float32 are those of its rows; each row is within the bound and on no board differs."""
    rows = float_table.rows_of_readme()
    known = [network.key for network in float_table.networks(ZOO, [])]
    expect(list(rows), [key for key in known if key in rows], "rows in float32")
    expect([key for key in known if key.startswith("models-") and key not in rows], [], "networks of models/ without a row in float32")
    block = text.partition("<!-- float -->\n")[2].partition("<!-- end of float -->")[0]
    expect(sum(line.startswith("| ") for line in block.splitlines()), len(rows) + 1, "lines of the table of float32")
    expect(block.splitlines()[0], float_table.head(list(rows.values())), "sentences before the table of float32")
    for key, row in rows.items():
        cells = dict(zip(float_table.COLUMNS, row))
        if not cells["difference"]:
            continue  # refused; the sentences name it
        expect(float_table.within(cells), True, f"{key} within the bound")
        expect("differs" in cells["equal"], False, f"{key} differs on a board")


def main():
    check_texts()
    text = (ZOO / "README.md").read_text()
    expect([int(n) for pair in re.findall(r"lists (\d+) networks|(\d+) of them were drawn", text) for n in pair if n],
           [len(NETWORKS), sum(network.random for network in NETWORKS)], "networks in the list, and drawn")
    written = table.rows_of_readme()
    order = [network.key for network in NETWORKS]
    expect(list(written), [key for key in order if key in written], "rows")
    block = text.partition("<!-- table -->\n")[2].partition("<!-- end -->")[0]
    expect(sum(line.startswith("| ") for line in block.splitlines()), len(written) + 1, "lines of the table")
    expect(block.splitlines()[0], table.head([written.get(key) for key in order]), "sentences before the table")
    check_float_table(text)
    check_explained(text, written)
    print(f"{len(written)} rows")


if __name__ == "__main__":
    main()
