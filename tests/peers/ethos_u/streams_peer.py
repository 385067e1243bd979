#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes all cases with Vela and the references, and runs them on the simulator.

    streams_peer.py NPU_RUN FOLDER [--config NAME]... [--only-run]

Prints per configuration the number of equal cases and the number of refused ones, with the
reasons. Exit 77 if Vela or a reference is not installed, 1 if a case differs, has a hazard, or is
another stream after disassembly and assembly.
"""

import argparse
import collections
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def make(options):
    for group in ("op", "network"):
        command = [sys.executable, str(HERE / "make_cases.py"), str(options.folder),
                   "--group", group]
        for config in options.config:
            command += ["--config", config]
        made = subprocess.run(command, stderr=subprocess.DEVNULL)
        if made.returncode != 0:
            return made.returncode
    return 0


def run(program, folders):
    """Returns the lines of npu_run that are not `equal`."""
    done = subprocess.run([program, "--quiet", "--text", "--hazards", *map(str, folders)],
                          capture_output=True, text=True)
    return [line for line in done.stdout.splitlines()[:-1] if line], done.returncode


def refusals(ledger):
    """Maps (case name, reason) to the configurations on which the case was refused."""
    found = collections.defaultdict(set)
    for line in ledger.read_text().splitlines():
        config, name, words = line.split(" ", 2)
        if words != "made":
            found[name, words.split(": ", 1)[-1][:110]].add(config.replace("ethos-", ""))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("npu_run")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--config", action="append", default=[])
    parser.add_argument("--only-run", action="store_true", help="the cases are there already")
    options = parser.parse_args()
    if not options.only_run:
        status = make(options)
        if status != 0:
            return status
    failed, total = 0, collections.Counter()
    print(f"{'configuration':16} {'cases':>6} {'equal':>6} {'not':>4}")
    for config in sorted(path.name for path in options.folder.glob("ethos-*")):
        if options.config and config not in options.config:
            continue
        folders = sorted(path.parent for path in (options.folder / config).glob("*/meta.txt"))
        lines, status = run(options.npu_run, folders)
        print(f"{config:16} {len(folders):6} {len(folders) - len(lines):6} {len(lines):4}")
        for line in lines:
            print(f"  {line}")
        failed += len(lines) + (status != 0 and not lines)
        total[config.split("-")[1]] += len(folders)
    print("per generation:", ", ".join(f"{name} {count}" for name, count in sorted(total.items())))
    for (name, reason), configs in sorted(refusals(options.folder / "ledger.txt").items()):
        print(f"refused: {name} ({', '.join(sorted(configs))}): {reason}")
    return 1 if failed or not total else 0


if __name__ == "__main__":
    sys.exit(main())
