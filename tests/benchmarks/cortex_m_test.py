# SPDX-License-Identifier: Apache-2.0
"""The tables of benchmarks/cortex_m/README.md and of the section "Cortex-M only" of README.md have the numbers that
benchmarks/cortex_m/bench.py measures, and no layer needs more instructions or modelled cycles than CMSIS-NN's.

usage: cortex_m_test.py THIMBLE SOURCE_DIR [--bless]
"""

import pathlib
import re
import sys
import tempfile

THIMBLE, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
BLESS = "--bless" in sys.argv
sys.path += [str(SOURCE / "benchmarks/cortex_m"), str(SOURCE / "tests/examples")]
import bench
import cmsis_nn
import pruned
import stock
from recorded import is_recorded_compiler

SKIPPED = 77
NETWORKS = ["resnet8", "dscnn_kws", "mobilenet_v1_vww", "ad_autoencoder"]
PRUNED_CORES = ["cortex-m55", "cortex-m7", "cortex-m4", "cortex-m0plus"]
STOCK_ROWS = [("dscnn_kws", "cortex-m55"), ("dscnn_kws", "cortex-m4"), ("dscnn_kws", "cortex-m0plus"),
              ("ad_autoencoder", "cortex-m55"), ("ad_autoencoder", "cortex-m33"), ("ad_autoencoder", "cortex-m3")]
PAGE, FIRST_PAGE = SOURCE / "benchmarks/cortex_m/README.md", SOURCE / "README.md"
TASKS = {"resnet8": "image classification", "dscnn_kws": "keyword spotting", "mobilenet_v1_vww": "visual wake words",
         "ad_autoencoder": "anomaly detection"}


def three_digits(number):
    """12.345 -> 12.3, 0.70512 -> 0.705"""
    return f"{number:.3f}" if number < 1 else f"{number:.3g}"


def first_page_row(network, rows):
    """A row of README.md. RAM and flash are those that `thimble compile` prints."""
    millions = [three_digits(rows[network, core]["instructions"] / 1e6) for core in ("cortex-m55", "cortex-m4", "cortex-m0plus")]
    m4 = rows[network, "cortex-m4"]
    memory = m4["memory_bytes"]
    return (f"| {TASKS[network]}, `{network}` | {' | '.join(millions)} | {memory['sram']:,} B | "
            f"{memory['flash'] - m4['weights_bytes']:,} B |")


def told_ratios(page):
    """The smallest and the largest ratio of the table in PAGE, as README.md states them."""
    native = page[:page.index("## Stock files")]
    ratios = [float(line.split("|")[6]) for line in native.splitlines() if re.match(r"\| \w+ \| cortex-m", line)]
    return f"They are {min(ratios):.2f} to {max(ratios):.2f} of those"


def replaced(text, start, rows):
    """`text` with `rows` as the body of the table whose head begins with `start`."""
    lines = text.splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith(start))
    end = next((i for i in range(head + 2, len(lines)) if not lines[i].startswith("|")), len(lines))
    return "\n".join([*lines[:head + 2], *rows, *lines[end:]]) + "\n"


def check(path, text):
    if BLESS:
        path.write_text(text)
    told = path.read_text()
    changed = [line for line in text.splitlines() if line not in told.splitlines()]
    assert told == text, f"{path} does not have:\n" + "\n".join(changed)


def check_stock_rows(rows, networks):
    """The rows of stock files in PAGE. Without --bless those of some networks and cores, because all take a minute."""
    measured = {} if BLESS else {
        (network, core): bench.measure(THIMBLE, bench.folder_of(network), core, stock.STOCK) for network, core in STOCK_ROWS}
    lines = [stock.markdown(network, core, rows[network, core], row, networks) for (network, core), row in measured.items()]
    if BLESS:
        lines = [stock.markdown(*row, networks) for row in stock.rows(THIMBLE, stock.NETWORKS, bench.CORES)]
        PAGE.write_text(replaced(PAGE.read_text(), "| stock network |", lines))
    told = PAGE.read_text().splitlines()
    changed = [line for line in lines if line not in told]
    assert not changed, f"{PAGE} does not have:\n" + "\n".join(changed)


def pruned_rows():
    """The rows of the network whose channels have no effect: with and without the pass that removes them."""
    with tempfile.TemporaryDirectory() as folder:
        network = pruned.pruned(bench.folder_of("mobilenet_v1_vww"), pathlib.Path(folder))
        for core in PRUNED_CORES:
            fewer = bench.measure(THIMBLE, network, core)
            every = bench.measure(THIMBLE, network, core, ["--skip-passes", "remove_channels"])
            assert fewer["outputs"] == every["outputs"], core
            yield bench.pruned_markdown(core, every, fewer)


def main():
    if not is_recorded_compiler(SOURCE):
        return SKIPPED
    networks = cmsis_nn.load()
    rows = {(network, core): bench.measure(THIMBLE, bench.folder_of(network), core, ["--optimize", "speed"])
            for network in NETWORKS for core in bench.CORES}
    for (network, core), row in rows.items():
        for quantity in ("instructions", "cycles"):
            pairs, alone = cmsis_nn.pairs(row, networks, quantity)  # mobilenet_v1_vww has no softmax
            slower = [pair for pair in pairs if pair[2] > pair[3]]
            assert len(alone) <= 1 and not slower, f"{network} on {core}, {quantity}: {alone} {slower}"
    page = replaced(PAGE.read_text(), "| network | core |", [bench.markdown(row, networks) for row in rows.values()])
    check(PAGE, replaced(page, "| core | MMAC", list(pruned_rows())))
    first = replaced(FIRST_PAGE.read_text(), "| one inference, int8 |", [first_page_row(network, rows) for network in NETWORKS])
    check(FIRST_PAGE, re.sub(r"They are [\d.]+ to [\d.]+ of those", told_ratios(page), first))
    check_stock_rows(rows, networks)
    print(f"{len(rows)} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
