#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares modelled cycles with what boards measured: the images of MLPerf Tiny submissions.

    python3 benchmarks/cycles/boards.py RESULTS [--build build] [--check] [--system NAME]
    python3 benchmarks/cycles/boards.py --page

RESULTS is a clone of github.com/mlcommons/tiny_results_v1.2. Its images of the submitter bosch run
under Unicorn (PyPI package unicorn, which is installed into BUILD/boards-venv if this Python lacks it); the
cycles of the executed instructions are modelled as those of Thimble's own images (src/cycles), the wait states of data in flash by the rule of
src/driver/operand_memories.h, those of instructions by that of src/driver/code_waits.h, with the reads of
the image in a cache of the part's size. The measured cycles are the part's clock divided by the median throughput
that the submission states. Prints the tables of README.md. --check: exit code 1 if a row is not in
README.md or a deviation is larger than the error band of printed times; 77 without RESULTS. --system: only
images of this system. --page: checks README.md and docs/cycles.md without images: at least 90 % of the rows are in the
band, whose half is at most 25 %, and the numbers that are derived from the rows are theirs.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import board_image
except ImportError:  # without unicorn
    board_image = None

README = pathlib.Path(__file__).with_name("README.md")
CYCLES_PAGE = pathlib.Path(__file__).parents[2] / "docs/cycles.md"
SKIPPED = 77
INSIDE_LEAST, BAND_MAX = 0.9, 0.25  # share of the rows in the band, half of the band
SYSTEMS = "closed/bosch"
TRAFFIC = pathlib.Path(__file__).parents[2] / "engines/cortex_m/compiler/code_traffic.def"


def band():
    """Half of the printed error band."""
    source = pathlib.Path(__file__).parents[2] / "src" / "driver" / "run_time.h"
    return float(re.search(r"kTimeErrorPercent = (\d+)", source.read_text())[1]) / 100


def core_cycles(inference, core, build):
    with tempfile.NamedTemporaryFile("w", suffix=".counts") as file:
        inference.write_counts(file)
        file.flush()
        done = subprocess.run([build / "tests" / "cycles_blocks", file.name, core],
                              capture_output=True, text=True, check=True)
    return sum(int(line.split()[2]) for line in done.stdout.splitlines())


def flash_of(part, build):
    done = subprocess.run([build / "thimble", "targets", part, "--json"], capture_output=True,
                          text=True, check=True)
    found = json.loads(done.stdout)
    part = found[0] if isinstance(found, list) else found
    return part, next(m for m in part["memories"] if m["name"] == "flash")


def measured_throughput(folder):
    text = (folder / "performance" / "results.txt").read_text(encoding="utf-8", errors="replace")
    return float(re.search(r"Median throughput is\s+([\d.]+)", text)[1])


def holds_all_loops(flash):
    """True if the instruction cache is as large as the largest one of engine::kCodeCacheBytes."""
    return flash["instruction_cache_bytes"] >= 8192


def line_waits(flash, bytes_per_cycle):
    """Wait states of the next line of instructions, as src/driver/code_waits.cpp."""
    waits = flash["wait_states"]
    if not flash.get("prefetch"):
        return waits
    return min(waits, max(0, waits + 1 - flash["line_bytes"] / bytes_per_cycle))


def code_cache(flash, cpu):
    """Returns a function that makes the part's cache of instructions; None for one that holds all loops."""
    if holds_all_loops(flash):
        return None
    bytes_per_cycle = re.search(rf'\("{cpu}", ([\d.]+)', TRAFFIC.read_text())[1]
    jumps_only = line_waits(flash, float(bytes_per_cycle)) == 0
    return lambda: board_image.Cache(flash["line_bytes"], flash["instruction_cache_bytes"], jumps_only)


def code_waits(fetches, flash, core):
    """Wait states of instructions, as src/driver/code_waits.cpp."""
    return flash["wait_states"] * fetches.jumps + line_waits(flash, fetches.bytes_ / core) * fetches.lines


def rows_of(results, build, wanted):
    for path in sorted((results / SYSTEMS / "code").glob("*/*/*.bin")):
        system, network = path.parts[-3:-1]
        board = next((b for name, b in board_image.BOARDS.items() if system.startswith(name)), None)
        if board is None or "float" in system or wanted not in system:
            continue
        part, flash = flash_of(board.part, build)
        inference = board_image.one_inference(path.read_bytes(), board, flash["line_bytes"],
                                              flash["cache_bytes"],
                                              code_cache(flash, board.cpu))
        core = core_cycles(inference, board.cpu, build)
        cached = flash["cache_bytes"] > 0
        waits = flash["wait_states"] * (inference.cache_misses if cached else inference.loads)
        code = 0 if holds_all_loops(flash) else code_waits(inference.fetches, flash, core)
        clock = part["clock_mhz"] * 1e6
        measured = clock / measured_throughput(results / SYSTEMS / "results" / system / network)
        yield system, network, board.cpu, core, waits, code, measured


def summary(deviations):
    """Rows of the table per core, from lists of deviations by core."""
    return [f"| {cpu} | {len(found)} | {100 * min(found):+.1f} % | {100 * max(found):+.1f} % |"
            for cpu, found in deviations.items()]


def page_problems():
    """Returns what is wrong with the rows of README.md and the sentences that are derived from them."""
    page, problems, deviations = README.read_text(), [], {}
    for row in re.findall(r"^\| (?:DISCO|NUCLEO)\S* \| .*\|$", page, re.M):
        system, _, cpu, core, waits, code, measured, bare, told = [cell.strip() for cell in row.strip("|").split("|")]
        core, waits, code, measured = (int(cell.replace(",", "")) for cell in (core, waits, code, measured))
        deviations.setdefault(cpu, []).append(float(told.removesuffix(" %")) / 100)
        # Waits are rounded to cycles.
        for text, exact in ((told, (core + waits + code) / measured - 1), (bare, core / measured - 1)):
            if abs(float(text.removesuffix(" %")) - 100 * exact) > 0.051:
                problems.append(f"{system}: {text}, but the row's cycles give {100 * exact:+.1f} %")
    every = [each for found in deviations.values() for each in found]
    inside = sum(abs(each) <= band() for each in every)
    if not every or inside < INSIDE_LEAST * len(every) or band() > BAND_MAX:
        problems.append(f"{inside} of {len(every)} figures in the band of +-{100 * band():.0f} %")
    problems += [f"README.md does not have {row}" for row in summary(deviations) if row not in page]
    low, high = -min(every, default=0), max(every, default=0)
    sentence = f"are {100 * low:.0f} % below to {100 * high:.0f} % above the {len(every)} measured figures"
    if sentence not in " ".join(CYCLES_PAGE.read_text().split()):
        problems.append(f"docs/cycles.md does not have: {sentence}")
    text = f"All figures are within the band of +-{100 * band():.0f} %"
    if (inside == len(every)) != (text in page):
        problems.append(f"README.md: {inside} of {len(every)} figures are in the band; the text: {text}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=pathlib.Path, nargs="?")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--system", default="")
    options = parser.parse_args()
    if options.page:
        problems = page_problems()
        print("\n".join(problems))
        return 1 if problems else 0
    if options.check and options.results is None:
        print("skipped: no images: -DTHIMBLE_TINY_RESULTS=FOLDER names a clone of github.com/mlcommons/tiny_results_v1.2")
        return SKIPPED
    if options.results is None or not (options.results / SYSTEMS / "code").is_dir():
        print(f"{options.results}: expected a clone of tiny_results_v1.2 with the folder "
              f"{SYSTEMS}/code; found none", file=sys.stderr)
        return 2
    if not (options.build / "tests" / "cycles_blocks").exists():
        print(f"{options.build}: no tests/cycles_blocks; build it: ninja -C {options.build} cycles_blocks",
              file=sys.stderr)
        return 2
    if board_image is None:
        venv = options.build.resolve() / "boards-venv"
        if pathlib.Path(sys.prefix) == venv:
            sys.exit(f"{venv} has no unicorn; remove this folder")
        sys.path.append(str(pathlib.Path(__file__).parents[2] / "tests/docs"))
        from pypi import python_with
        python = str(python_with(venv, ["unicorn==2.1.4", "setuptools<80"]))
        os.execv(python, [python, *sys.argv])
    print("| system | network | core | core cycles | waits of data | waits of code | measured cycles | "
          "without waits | deviation |")
    print("|---|---|---|--:|--:|--:|--:|--:|--:|")
    deviations, failed = {}, False
    for system, network, cpu, core, waits, code, measured in rows_of(options.results, options.build, options.system):
        deviation = (core + waits + code) / measured - 1
        deviations.setdefault(cpu, []).append(deviation)
        row = (f"| {system} | {network} | {cpu} | {core:,} | {waits:,.0f} | {code:,.0f} | {measured:,.0f} | "
               f"{100 * (core / measured - 1):+.1f} % | {100 * deviation:+.1f} % |")
        print(row, flush=True)
        if options.check and (abs(deviation) > band() or row not in README.read_text()):
            print("^ outside the band, or not in README.md")
            failed = True
    print("\n| core | figures | lowest | highest |\n|---|--:|--:|--:|")
    print("\n".join(summary(deviations)))
    return 1 if failed or not deviations else 0


if __name__ == "__main__":
    sys.exit(main())
