# SPDX-License-Identifier: Apache-2.0
"""Commands and tables of documents have the output and the numbers of the tools.

usage: documents_test.py THIMBLE SOURCE_DIR [--bless] [--torch]

Blocks: a block of README.md or docs/ that begins with `$ thimble ...` or `$ build/thimble ...` is the output of this command in
the root of the tree; files that it writes go to another folder. The syntax is that of tests/e2e/transcripts. (docs/fit.md
belongs to fit_test.py.)

The table of docs/quantization.md has the SQNR of two observers. Tables of docs/memory.md: the first cells of a row name the network, the core or the options, the others are measured.
MobileNetV2 is too large to commit; its rows do not depend on its weights. With --torch, this Python exports it untrained, and
only these rows are checked.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

THIMBLE, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
BLESS, TORCH = "--bless" in sys.argv, "--torch" in sys.argv
sys.path += [str(SOURCE / path) for path in ("benchmarks/cortex_m", "tests/examples", "tests/e2e", "models")]
sys.path.append(str(SOURCE / "benchmarks/accuracy"))
import accuracy
import transcript_test
from measure import measure
from recorded import is_recorded_compiler

SKIPPED = 77
MEMORY, QUANTIZATION = SOURCE / "docs/memory.md", SOURCE / "docs/quantization.md"
ON_DEMAND = "mobilenet_v2"
BLOCK = re.compile(r"^(?P<indent> *)(?P<prompt>\$ (?:build/)?thimble )(?P<command>(?!fit)(?:.*\\\n)*.*)\n"
                   r"(?P<output>(?:(?P=indent)(?! *```).*\n|\n(?=(?P=indent) ))*)", re.M)
failures = []


def check(path, told, found):
    """Compares a block or a row of a document with its new text, or writes it."""
    if told == found:
        return
    if BLESS:
        path.write_text(path.read_text().replace(told, found, 1))
    else:
        failures.append(f"{path}:\n{told}\nprinted:\n{found}")


def check_blocks(path, folder):
    count = 0
    for block in BLOCK.finditer(path.read_text()):
        indent = block["indent"]
        command = "thimble " + re.sub(r"\\\n *", "", block["command"])
        output = transcript_test.run(THIMBLE, folder, command)
        told = block["output"]
        for volatile, replacement in transcript_test.VOLATILE:
            told = volatile.sub(replacement, told)
        found = "".join((indent + line).rstrip() + "\n" for line in output.splitlines())
        if told.rstrip("\n") != found.rstrip("\n"):
            check(path, block["output"].rstrip("\n"), re.sub("written in T s", "written in 0.02 s", found.rstrip("\n")))
        count += 1
    return count


def folder_of(network, exported):
    return exported if network == ON_DEMAND else SOURCE / "models" / network


def table(head):
    """Rows of the table of MEMORY whose head begins with `head`, as lists of cells."""
    lines = MEMORY.read_text().splitlines()
    start = lines.index(next(line for line in lines if line.startswith(head)))
    rows = []
    for line in lines[start + 2:]:
        if not line.startswith("|"):
            break
        rows.append(line.strip("| ").split(" | "))
    assert rows, head
    return rows


def check_row(cells, found):
    check(MEMORY, f"| {' | '.join(cells)} |", f"| {' | '.join([*cells[:len(cells) - len(found)], *found])} |")


def wanted(network):
    return (network == ON_DEMAND) == TORCH


def check_budgets(exported):
    """Options, arena, MACs, instructions in QEMU on a Cortex-M4."""
    for cells in table("| Cortex-M4, `--io int8` |"):
        network, options = cells[0].strip("`"), cells[1].strip("`").split()
        if wanted(network):
            row = measure(THIMBLE, folder_of(network, exported), "cortex-m4", options)
            check_row(cells, [f"{row['arena_bytes']:,} B", f"{row['macs'] / 1e6:.4g} M", f"{row['instructions'] / 1e6:.4g} M"])


def check_modes():
    for cells in table("| network | core | speed |"):
        found = []
        for mode, with_arena in (("speed", True), ("flash", False), ("size", True)):
            row = measure(THIMBLE, SOURCE / "models" / cells[0], cells[1], ["--optimize", mode])
            found += [f"{row['instructions'] / 1e6:.3f} M", f"{row['pte_bytes']:,} B"]
            found += [f"{row['arena_bytes'] + row['state_bytes']:,} B"] if with_arena else []
        check_row(cells, found)


def check_accesses(folder):
    model = SOURCE / "models/mobilenet_v1_vww"
    for cells in table("| `imxrt1060`, int8,"):
        text = subprocess.run([THIMBLE, "compile", model / "mobilenet_v1_vww.pt2", "--target", "imxrt1060", "--io", "int8",
                               "--calibrate", model / "calibrate.npz", "-o", folder / "x.pte", *cells[0].strip("`").split()],
                              check=True, capture_output=True, text=True).stdout
        cycles = int(re.search(r"([\d,]+) cycles for accesses", text)[1].replace(",", ""))
        check_row(cells, [f"{cycles / 1e6:.1f} M"])


def check_observers():
    """The table has two networks in a row."""
    for row in re.findall(r"^\| \w+ \| [-\d., ]+ \| [-\d., ]+ \|  \| .*\|$", QUANTIZATION.read_text(), re.M):
        cells = row.strip("| ").split("|")
        found = []
        for name in (cells[0].strip(), cells[4].strip() if len(cells) > 4 else ""):
            figures = [accuracy.decibels(accuracy.compare(THIMBLE, SOURCE / "models" / name, name, *options)["sqnr_db"])
                       for options in (("--observer", "min-max"), ())] if name else ["", ""]
            found.append(f"| {name} | {figures[0]} | {figures[1]} |")
        check(QUANTIZATION, row, "  ".join(found))


def main():
    if not is_recorded_compiler(SOURCE):
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        exported = folder / ON_DEMAND
        if TORCH:
            exported.mkdir()
            from common.untrained import export_mobilenet_v2
            export_mobilenet_v2(exported)
            check_budgets(exported)
        else:
            (folder / "models").symlink_to(SOURCE / "models")
            documents = [SOURCE / "README.md", *sorted((SOURCE / "docs").rglob("*.md"))]
            counts = {str(path.relative_to(SOURCE)): check_blocks(path, folder) for path in documents}
            print(", ".join(f"{name} {count}" for name, count in counts.items() if count))
            assert counts["README.md"] > 0 and counts["docs/memory.md"] > 0, counts
            check_budgets(exported)
            check_modes()
            check_accesses(folder)
            check_observers()
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
