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
import table  # noqa: E402
from networks import NETWORKS  # noqa: E402


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
    print(f"{len(written)} rows")


if __name__ == "__main__":
    main()
