#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the cycle models of Cortex-M7, M55 and M85 with LLVM's scheduler, block by block.

usage: llvm_mca.py [--program build/thimble] [--blocks build/tests/cycles_blocks] [--check] [NETWORK ...]

Each network is compiled for each core and run once under QEMU, which counts the executed blocks. Each of
the blocks that make up 97 % of the cycles is repeated by llvm-mca 19 and by the model (Debian package
llvm-19). Prints the tables of README.md. --check: exit code 1 if README.md has other numbers, a sum
differs by more than 10 %, fewer than 95 % of the pairs of blocks with at least 1 % of a network have the same order, or the
cause of such a block that differs is not known; 77 if llvm-mca or QEMU is missing.
"""
import argparse
import collections
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.append(str(ROOT / "tests/examples"))
from recorded import is_recorded_compiler  # noqa: E402  (after its folder is added to the path)

from llvm_causes import CAUSES, Block, causes_of  # noqa: E402

NETWORKS = ["ad_autoencoder", "dscnn_kws", "mobilenet_v1_vww", "resnet8"]
CORES = {"cortex-m7": ("mps2-an500", "thumbv7em", "-mattr=+fp64"),
         "cortex-m55": ("mps3-an547", "thumbv8.1m.main", "-mattr=+mve.fp,+fp64,+lob"),
         "cortex-m85": ("mps3-an547", "thumbv8.1m.main", "-mattr=+mve.fp,+fp64,+lob")}
SHARE = 0.97       # of a network's cycles, in the blocks that are compared
TOLERANCE = 0.10   # of a sum
ORDER_SHARE = 0.95 # of the pairs that differ by more than 5 %
SHARE_SHOWN = 0.01 # of a network's cycles, of a block in the table of exceptions and in the order
ITERATIONS = 200
TIMELINE = 9       # iterations of which the pairs are counted


def run(*command, text=None):
    done = subprocess.run([str(word) for word in command], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


def count_blocks(options, network, core, folder):
    """Returns rows (number, times, cycles in all, cycles repeated, code) of the executed blocks."""
    model = ROOT / "models" / network
    report = json.loads(run(options.program, "compile", model / f"{network}.pt2", "--target", core, "--calibrate",
                            model / "calibrate.npz", "-o", folder / "model.pte", "--json"))
    words = ["runner", "model.pte"]
    for index, port in enumerate(report["inputs"]):
        elements = 4
        for size in port["shape"]:
            elements *= size
        (folder / f"in_{index}").write_bytes(bytes(elements))
        words.append(f"in_{index}")
    words.append("out")
    firmware = options.program.parent / "firmware"
    semihosting = "enable=on,target=native" + "".join(f",arg={word}" for word in words)
    subprocess.run(["qemu-system-arm", "-M", CORES[core][0], "-nographic", "-monitor", "none", "-serial", "none",
                    "-semihosting-config", semihosting, "-kernel", str(firmware / f"runner-{core}.elf"), "-plugin",
                    f"{firmware / 'insn_count.so'},out=counts", "-d", "plugin"], cwd=folder, check=True,
                   capture_output=True)
    rows = [line.split() for line in run(options.blocks, folder / "counts", core).splitlines()]
    return [(row[0], int(row[1]), int(row[2]), int(row[3]), row[4]) for row in rows]


def hot(rows):
    rows = sorted(rows, key=lambda row: -row[2])
    total, covered, chosen = sum(row[2] for row in rows), 0, []
    for row in rows:
        if covered > SHARE * total:
            break
        covered += row[2]
        chosen.append(row)
    return chosen


def is_wide(half):
    return half >> 11 >= 0x1D


def instructions(code, core):
    """Returns text and width (True: 32 bits) of a block's instructions, without the loop instructions that llvm-mca
    does not model."""
    _, triple, attributes = CORES[core]
    data = " ".join(f"0x{code[i:i + 2]}" for i in range(0, len(code), 2))
    text = run("llvm-mc-19", "-disassemble", f"-triple={triple}-none-eabi", f"-mcpu={core}", attributes, text=data)
    lines, at = [], 0
    for line in text.splitlines():
        line = line.split("@")[0].strip()
        if not line or line.startswith("."):
            continue
        wide = is_wide(int(code[at + 2:at + 4] + code[at:at + 2], 16))
        at += 8 if wide else 4
        if re.match(r"(le|letp|wls|wlstp)\w*[\s.]", line):
            continue
        # Offsets of branches are not in the range that the assembler accepts.
        lines.append((re.sub(r"#-?\d+$", "#4", line) if re.match(r"(b|bl|cb)\w*[\s.]", line) else line, wide))
    return lines


def is_cut(lines):
    """True if the block ends before the last instruction of an IT or VPT block: QEMU ends a block at the end of a page."""
    for at, (line, _) in enumerate(lines):
        found = re.match(r"(?:it|vpst|vpt)([te]*)[\s.]", line + " ")
        if found and at + 1 + len(found[1]) >= len(lines):
            return True
    return False


def llvm_blocks(rows, core):
    """Returns the Block of each row; blocks with an instruction that LLVM lacks, and those that are cut, are left out."""
    _, triple, attributes = CORES[core]
    decoded = {row[0]: instructions(row[4], core) for row in rows}
    decoded = {number: lines for number, lines in decoded.items() if not is_cut(lines)}
    text = ".syntax unified\n.thumb\n" + "".join(
        f"# LLVM-MCA-BEGIN b{number}\n" + "\n".join(line for line, _ in lines) + "\n# LLVM-MCA-END\n"
        for number, lines in decoded.items())
    out = run("llvm-mca-19", f"-mtriple={triple}-none-eabi", f"-mcpu={core}", attributes, f"-iterations={ITERATIONS}",
              "-skip-unsupported-instructions=lack-sched", "-json", "-timeline", f"-timeline-max-iterations={TIMELINE}",
              "-timeline-max-cycles=0", text=text)
    blocks = {}
    for region in json.loads(out)["CodeRegions"]:
        number = region["Name"][1:]
        lines = decoded[number]
        if len(region["Instructions"]) != len(lines):
            continue
        issued = [each["CycleIssued"] for each in region["TimelineView"]["TimelineInfo"]]
        blocks[number] = Block(lines, region["SummaryView"]["TotalCycles"] / ITERATIONS, issued)
    return blocks


def same_order(pairs):
    """Share of the pairs of blocks, of those that differ by more than 5 % for LLVM, that both order alike."""
    alike = different = 0
    for (model_a, llvm_a), (model_b, llvm_b) in itertools.combinations(pairs, 2):
        if abs(llvm_a - llvm_b) <= 0.05 * max(llvm_a, llvm_b):
            continue
        different += 1
        alike += (model_a < model_b) == (llvm_a < llvm_b)
    return alike / max(different, 1)


def is_near(model, llvm):
    return abs(model - llvm) <= max(0.1 * llvm, 0.5)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/thimble")
    parser.add_argument("--blocks", type=pathlib.Path, default=ROOT / "build/tests/cycles_blocks")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    options = parser.parse_args()
    options.program, options.blocks = options.program.resolve(), options.blocks.resolve()
    for tool in ("llvm-mca-19", "llvm-mc-19", "qemu-system-arm"):
        if shutil.which(tool) is None:
            print(f"skipped: {tool} is not installed")
            return 77
    for program in (options.program, options.blocks):
        if not program.is_file():
            sys.exit(f"{program}: no such file: `ninja -C build all boards` builds it")
    lines = []

    def row(line):
        lines.append(line)
        print(line, flush=True)

    print("| network | core | blocks | million cycles, model | LLVM | model / LLVM | within 10 % or half a cycle |")
    print("|---|---|--:|--:|--:|--:|--:|")
    failures, outliers = 0, []
    of_core, large_of_core = collections.defaultdict(list), collections.defaultdict(list)
    for network, core in itertools.product(options.networks, CORES):
        with tempfile.TemporaryDirectory() as folder:
            rows = hot(count_blocks(options, network, core, pathlib.Path(folder)))
        blocks = llvm_blocks(rows, core)
        rows = [each for each in rows if each[0] in blocks]
        llvm = {number: block.cycles for number, block in blocks.items()}
        ours = sum(each[1] * each[3] for each in rows)
        theirs = sum(each[1] * llvm[each[0]] for each in rows)
        near = [is_near(each[3], llvm[each[0]]) for each in rows]
        total = sum(each[2] for each in rows)
        of_core[core] += [(each[3], llvm[each[0]]) for each in rows]
        large_of_core[core] += [(each[3], llvm[each[0]]) for each in rows if each[2] >= SHARE_SHOWN * total]
        row(f"| {network} | {core} | {len(rows)} | {ours / 1e6:.3f} | {theirs / 1e6:.3f} | {ours / theirs:.3f} | {sum(near)} |")
        outliers += [(each[2] / total, network, core, each[3], blocks[each[0]]) for each, fine in zip(rows, near)
                     if not fine]
        failures += abs(ours / theirs - 1) > TOLERANCE
    print("\n| core | blocks with at least 1 % | pairs in the same order | all blocks | pairs in the same order |\n"
          "|---|--:|--:|--:|--:|")
    for core, pairs in of_core.items():
        large = large_of_core[core]
        row(f"| {core} | {len(large)} | {100 * same_order(large):.1f} % | {len(pairs)} | {100 * same_order(pairs):.1f} % |")
        failures += same_order(large) < ORDER_SHARE
    print("\n| share of the network | network | core | model | LLVM | LLVM with the cause | cause |\n"
          "|--:|---|---|--:|--:|--:|---|")
    used = set()
    for share, network, core, model, block in sorted(outliers, key=lambda each: -each[0]):
        if share < SHARE_SHOWN:
            continue
        causes = causes_of(block, core)
        corrected = block.cycles + sum(cycles for _, cycles in causes)
        used.update(cause for cause, _ in causes)
        names = ", ".join(cause.name for cause, _ in causes) if is_near(model, corrected) else "not known"
        failures += names == "not known"
        row(f"| {100 * share:.1f} % | {network} | {core} | {model} | {block.cycles:.1f} | {corrected:.1f} | {names} |")
    print("\n| cause | rule of the model | section |\n|---|---|---|")
    for cause in CAUSES:
        if cause in used:
            row(f"| {cause.name} | {cause.rule} | {cause.section} |")
    if options.check and options.networks == NETWORKS and is_recorded_compiler(ROOT):
        told = (HERE / "README.md").read_text().splitlines()
        for line in lines:
            if line not in told:
                print(f"{HERE}/README.md does not have {line}")
                failures += 1
    return 1 if options.check and failures else 0


if __name__ == "__main__":
    sys.exit(main())
