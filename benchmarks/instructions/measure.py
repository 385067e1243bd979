#!/usr/bin/env python3
"""Counts instructions of kernels under QEMU and fits the cost formulas of `thimble compile`.

usage: measure.py [--program build/thimble] [NETWORK ...]

Every network under models/ (or those named) is compiled for one core of each kind and run on its
board once. Each operator's counts are fitted by `call + element * elements of the result + step *
steps of the innermost loop`, none negative, least relative error. Writes
engines/cortex_m/compiler/costs.def and, if all networks and dialects were asked for, README.md beside this file; laws of
operators that none of them calls stay. Counts are exact: the same compiler gives the same numbers.
"""
import argparse
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CORES = ["cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m55"]
DIALECTS = {"native": [], "int16": ["--activations", "int16"], "stock": ["--compat", "executorch"]}
TABLE = ROOT / "engines/cortex_m/compiler/costs.def"
TABLE_HEADER = """\
// Instructions of kernels: THIMBLE_COST(operator, core, per call, per element of the result, per step of the innermost loop).
// Measured under QEMU and written by benchmarks/instructions/measure.py; do not edit.
"""
PAGE_HEADER = """\
# Instructions of kernels

This table is written by `measure.py`. It counts instructions under QEMU over {networks} networks and fits a formula per operator and
core: instructions = per call + per element * elements of the result + per step * steps of the innermost loop. The errors are
the mean and the largest relative difference between the count of a call and its estimate, over all calls.

| operator | core | calls | per call | per element | per step | mean error | largest |
|---|---|--:|--:|--:|--:|--:|--:|
"""


def thimble(program, *arguments):
    done = subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        print(f"left out: {' '.join(map(str, arguments))}: {done.stderr.strip().splitlines()[0]}",
              file=sys.stderr)
        return None
    return json.loads(done.stdout)


def first_inputs(folder, report, scratch):
    """Writes the first calibration sample of each input as a .npy."""
    data = numpy.load(folder / "calibrate.npz")
    names = [name for name in data.files if name != "labels"]
    paths = []
    for index, port in enumerate(report["inputs"]):
        array = data[port["name"]] if port["name"] in names else data[names[index]]
        shape = port["shape"]
        sample = array[:shape[0]] if list(array.shape[1:]) == shape[1:] else array[0]
        paths.append(scratch / f"input_{index}.npy")
        numpy.save(paths[-1], numpy.ascontiguousarray(sample.reshape(shape)))
    return paths


def measure(program, folder, core, options, samples):
    with tempfile.TemporaryDirectory() as temporary:
        scratch = pathlib.Path(temporary)
        pte = scratch / "model.pte"
        report = thimble(program, "compile", folder / f"{folder.name}.pt2", "--target", core,
                         "--calibrate", folder / "calibrate.npz", "-o", pte, "--json", *options)
        if report is None:
            return
        inputs = [word for path in first_inputs(folder, report, scratch)
                  for word in ("--input", path)]
        ran = thimble(program, "run", pte, *inputs, "--on", "qemu", "--profile", "--json")
        if ran is None:
            return
        assert [op["op"] for op in report["ops"]] == [op["name"] for op in ran["ops"]]
        for op, count in zip(report["ops"], ran["ops"]):
            if "instructions" not in count:
                continue
            samples.setdefault((op["op"], core), []).append(
                (1, op["elements_out"], op["steps"], count["instructions"], count["cycles"], folder.name, op))


def fit(rows):
    """Non-negative coefficients of least relative error, over all subsets of the three terms. Fewer than
    four sizes do not determine the terms: then each step costs the same."""
    one_term = len({row[:3] for row in rows}) < 4
    rows = numpy.array(rows, dtype=float)
    terms, counts = rows[:, :3] / rows[:, 3:], numpy.ones(len(rows))
    best, best_error = None, None
    for size in range(1, 4):
        for chosen in itertools.combinations((2,) if one_term else range(3), size):
            solved, *_ = numpy.linalg.lstsq(terms[:, chosen], counts, rcond=None)
            if (solved < 0).any():
                continue
            law = numpy.zeros(3)
            law[list(chosen)] = solved
            error = ((terms @ law - 1) ** 2).sum()
            # An additional term must reduce the error enough.
            if best is None or error < 0.98 * best_error:
                best, best_error = law, error
    errors = abs(terms @ best - 1)
    return best, errors.mean(), errors.max()


def operator_id(name):
    for table in (ROOT / "abi/ops").glob("*.def"):
        for line in table.read_text().splitlines():
            if f'"{name}"' in line:
                return line.split("(")[1].split(",")[0]
    raise KeyError(name)


def known_rows():
    """Current formulas by operator and core. Formulas that no network needs any more are kept."""
    lines = [line for line in TABLE.read_text().splitlines() if line.startswith("THIMBLE_COST(")]
    return {", ".join(line[len("THIMBLE_COST("):].split(", ")[:2]): line + "\n" for line in lines}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/thimble")
    parser.add_argument("--dialects", default=",".join(DIALECTS))
    parser.add_argument("networks", nargs="*")
    arguments = parser.parse_args()
    networks = arguments.networks or sorted(
        path.parent.name for path in (ROOT / "models").glob("*/*.pt2"))
    samples = {}
    for network in networks:
        for core in CORES:
            for dialect in arguments.dialects.split(","):
                measure(arguments.program, ROOT / "models" / network, core, DIALECTS[dialect], samples)
    page = PAGE_HEADER.format(networks=len(networks))
    table = known_rows()
    for (name, core), rows in sorted(samples.items(), key=lambda item: item[0]):
        law, mean, largest = fit(rows)
        figures = ", ".join(f"{value:.6g}" for value in law)
        key = f'{operator_id(name)}, "{core}"'
        table[key] = f"THIMBLE_COST({key}, {figures})\n"
        page += (f"| {name} | {core} | {len(rows)} | {law[0]:.0f} | {law[1]:.2f} | {law[2]:.2f} "
                 f"| {100 * mean:.0f} % | {100 * largest:.0f} % |\n")
    TABLE.write_text(TABLE_HEADER + "".join(table[key] for key in sorted(table)))
    if not arguments.networks and arguments.dialects == parser.get_default("dialects"):
        (HERE / "README.md").write_text(page)


if __name__ == "__main__":
    main()
