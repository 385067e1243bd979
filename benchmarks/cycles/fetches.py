#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how cores read the instructions of kernels, for wait states of code (src/driver/code_waits.h).

usage: fetches.py [--program build/thimble] [--check] [NETWORK ...]

Each network is compiled for each core and run once under QEMU, where firmware/qemu_plugin/fetch_count.c
counts executed bytes, taken branches, and the reads that instruction caches of several sizes do not hold;
cycles are modelled as those of `thimble run --profile`. Writes engines/cortex_m/compiler/code_traffic.def,
means over the networks, and the table of README.md. --check: exit code 1 if the table has other numbers;
77 without QEMU.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.append(str(ROOT / "tests/examples"))
from recorded import is_recorded_compiler  # noqa: E402  (after its folder is added to the path)

README = HERE / "README.md"
TABLE = ROOT / "engines/cortex_m/compiler/code_traffic.def"
MACRO = "THIMBLE_CODE_TRAFFIC"
HEADER = """\
// SPDX-License-Identifier: Apache-2.0
// How cores read the instructions of kernels: THIMBLE_CODE_TRAFFIC(core, bytes of executed instructions per cycle, branches to
// another line per cycle, shares of reads, shares of branches that a cache does not hold), with a share for each size of
// kCodeCacheBytes.
// Measured under QEMU and written by benchmarks/cycles/fetches.py; do not edit.
"""
NETWORKS = ["ad_autoencoder", "dscnn_kws", "mobilenet_v1_vww", "resnet8"]
CORES = ["cortex-m0plus", "cortex-m3", "cortex-m33", "cortex-m4", "cortex-m55", "cortex-m7", "cortex-m85"]
SHOWN, SHOWN_OF_JUMPS = (64, 256, 1024, 4096), (0, 16, 1024)  # sizes of caches in README.md
SKIPPED = 77


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


def board_of(program, core):
    found = json.loads(run(program, "targets", core, "--json"))
    return (found[0] if isinstance(found, list) else found)["qemu_board"]


def measure(program, network, core):
    """Returns bytes and jumps per cycle, and the shares of misses of reads and of jumps by size of the cache."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        model = ROOT / "models" / network
        report = json.loads(run(program, "compile", model / f"{network}.pt2", "--target", core, "--calibrate", "random",
                                "-o", folder / "model.pte", "--json"))
        profile = json.loads(run(program, "run", folder / "model.pte", "--on", "qemu", "--profile", "--json"))
        words = ["runner", "model.pte"]
        for index, port in enumerate(report["inputs"]):
            elements = 1
            for size in port["shape"]:
                elements *= size
            (folder / f"in_{index}").write_bytes(bytes(4 * elements))
            words.append(f"in_{index}")
        firmware = program.parent / "firmware"
        semihosting = "enable=on,target=native" + "".join(f",arg={word}" for word in [*words, "out"])
        run("qemu-system-arm", "-M", board_of(program, core), "-nographic", "-monitor", "none", "-serial", "none",
            "-semihosting-config", semihosting, "-kernel", firmware / f"runner-{core}.elf", "-plugin",
            f"{firmware / 'fetch_count.so'},out=counts", "-d", "plugin", cwd=folder)
        lines = [line.split() for line in (folder / "counts").read_text().splitlines()]
    counts = {line[0]: int(line[1]) for line in lines if len(line) == 2}
    misses = {int(line[1]): int(line[2]) / counts["reads"] for line in lines if line[0] == "misses"}
    jump_misses = {int(line[1]): int(line[2]) / counts["jumps"] for line in lines if line[0] == "jump_misses"}
    # The plugin also counts startup and load; the cycles are those of the run.
    cycles = profile["cycles"] * counts["instructions"] / profile["instructions"]
    return counts["bytes"] / cycles, counts["jumps"] / cycles, misses, jump_misses


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/thimble")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    options = parser.parse_args()
    program = options.program.resolve()
    if shutil.which("qemu-system-arm") is None:
        print("skipped: qemu-system-arm is not installed")
        return SKIPPED
    rows, lines = [], []
    for core in CORES:
        found = {network: measure(program, network, core) for network in options.networks}
        sizes = sorted(next(iter(found.values()))[2])
        means = [f"{mean(each[i] for each in found.values()):.3g}" for i in range(2)]
        for i in (2, 3):
            shares = ", ".join(f"{mean(each[i][size] for each in found.values()):.3g}" for size in sizes)
            means.append(f"THIMBLE_SHARES({shares})")
        rows.append(f'{MACRO}("{core}", {", ".join(means)})\n')
        for network, (bytes_, jumps, misses, jump_misses) in found.items():
            shares = " | ".join(f"{100 * misses[size]:.1f} %" for size in SHOWN)
            jump_shares = " | ".join(f"{100 * jump_misses[size]:.1f} %" for size in SHOWN_OF_JUMPS)
            lines.append(f"| {core} | {network} | {bytes_:.2f} | {jumps:.3f} | {shares} | {jump_shares} |")
            print(lines[-1], flush=True)
    table = HEADER + "".join(rows)
    start = README.read_text().index("| core | network | bytes per cycle |")
    end = README.read_text().index("\n\n", start)
    head = README.read_text()[start:end].splitlines()[:2]
    text = README.read_text()[:start] + "\n".join([*head, *lines]) + README.read_text()[end:]
    if options.check and not is_recorded_compiler(ROOT):
        print("skipped: the table holds for another compiler")
        return SKIPPED
    if options.check:
        same = table == TABLE.read_text() and text == README.read_text()
        print("" if same else f"{TABLE.name} or README.md has other numbers")
        return 0 if same else 1
    TABLE.write_text(table)
    README.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
