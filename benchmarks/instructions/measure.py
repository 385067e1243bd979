#!/usr/bin/env python3
"""Counts instructions of kernels under QEMU, models their cycles, and fits the cost laws of `thimble compile`.

usage: measure.py [--program build/thimble] [--samples FILE.json] [NETWORK ...]

Every network under models/ (or those named) is compiled for one core of each kind and run on its
board once. Each operator's counts are fitted by a law that is linear in the sizes of the call
(engine::CostTerms): no coefficient is negative, and the squares of the relative errors are least, in
which a call counts with the square root of its cost. Writes engines/cortex_m/compiler/costs.def
(instructions) and cycles.def (cycles, src/cycles) and, if all networks and dialects were asked for,
README.md beside this file; laws of operators that none of them calls stay. Counts are exact: the
same compiler gives the same numbers. --samples keeps the counts, or reads them if the file exists.

The laws of cycles are also fitted to the small networks of tests/data/pt2: they have operators and sizes that no network under
models/ has. The laws of instructions are not, because they choose between the forms of an operator.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CORES = ["cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55", "cortex-m85"]
DIALECTS = {"native": [], "int16": ["--activations", "int16"], "stock": ["--compat", "executorch"]}
CASE_WEIGHT = 0.5  # sums over whole networks stay exact
HELD_OUT = "held out"
CASE = "case"  # in the place of the dialect: a network of tests/data/pt2
CASES = sorted((ROOT / "tests/data/pt2").glob("*.pt2"))
TERMS = ["elements_out", "steps", "gathered", "copied_rows", "taps", "wide_steps"]
TABLES = {"instructions": ROOT / "engines/cortex_m/compiler/costs.def",
          "cycles": ROOT / "engines/cortex_m/compiler/cycles.def"}
MACROS = {"instructions": "THIMBLE_COST", "cycles": "THIMBLE_CYCLES"}
TABLE_HEADERS = {
    "instructions": """\
// Instructions of kernels: THIMBLE_COST(operator, core, per call, per element of the result, per step of the innermost loop,
// and per each further size of engine::CostTerms, in its order).
""",
    "cycles": """\
// Cycles of kernels without wait states: THIMBLE_CYCLES(operator, core, per call, per element of the result, per step of the
// innermost loop, and per each further size of engine::CostTerms, in its order). kCount: an average operator.
"""}
TABLE_END = "// Measured under QEMU and written by benchmarks/instructions/measure.py; do not edit.\n"
PAGE_HEADER = """\
# Instructions and cycles of kernels

This table is written by `measure.py`. It counts instructions under QEMU over {networks} networks, models their cycles, and fits
a law per operator and core that is linear in the sizes of a call (`engine::CostTerms`). The errors are the mean and the largest
relative difference between the cycles of a call and its estimate, over all calls.

Sums over whole networks, estimate against model:

| form | networks and cores | median error | 9 of 10 within | largest |
|---|--:|--:|--:|---|
{totals}

The rows `case` are the small networks of `tests/data/pt2`, most of one operator. In the row `held out` each of them is estimated
by laws that were fitted without it: to the networks and to the other half of the cases.

| operator | core | calls | mean error | largest |
|---|---|--:|--:|--:|
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


def measure(program, network, core, dialect):
    """Returns a sample for each call of the network."""
    folder = ROOT / "models" / network
    with tempfile.TemporaryDirectory() as temporary:
        scratch = pathlib.Path(temporary)
        pte = scratch / "model.pte"
        report = thimble(program, "compile", folder / f"{network}.pt2", "--target", core,
                         "--calibrate", folder / "calibrate.npz", "-o", pte, "--json", *DIALECTS[dialect])
        if report is None:
            return []
        inputs = [word for path in first_inputs(folder, report, scratch)
                  for word in ("--input", path)]
        ran = thimble(program, "run", pte, *inputs, "--on", "qemu", "--profile", "--json")
        if ran is None:
            return []
        assert [op["op"] for op in report["ops"]] == [op["name"] for op in ran["ops"]]
        return [{"network": network, "core": core, "dialect": dialect, "op": op["op"],
                 "terms": [1] + [op[term] for term in TERMS],
                 "instructions": count["instructions"], "cycles": count["cycles"]}
                for op, count in zip(report["ops"], ran["ops"])]


def measure_case(program, path, core):
    """Returns a sample for each call of a small network, with all inputs zero."""
    def optional(*arguments):
        done = subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True)
        return json.loads(done.stdout) if done.returncode == 0 else None

    with tempfile.TemporaryDirectory() as temporary:
        pte = pathlib.Path(temporary) / "model.pte"
        # Some cases test a refusal.
        report = optional("compile", path, "--target", core, "--calibrate", "random", "-o", pte, "--json")
        ran = report and optional("run", pte, "--on", "qemu", "--profile", "--json")
        if not ran or [op["op"] for op in report["ops"]] != [op["name"] for op in ran.get("ops", [])]:
            return []
        return [{"network": path.stem, "core": core, "dialect": CASE, "op": op["op"],
                 "terms": [1] + [op[term] for term in TERMS],
                 "instructions": count["instructions"], "cycles": count["cycles"]}
                for op, count in zip(report["ops"], ran["ops"])]


def measure_all(program, networks, cases):
    jobs = [lambda job=job: measure(program, *job) for job in itertools.product(networks, CORES, DIALECTS)]
    jobs += [lambda job=job: measure_case(program, *job) for job in itertools.product(cases, CORES)]
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        return [row for rows in threads.map(lambda job: job(), jobs) for row in rows]


def fit(rows, what):
    """The coefficients of the law, over all subsets of its terms, at most as many as there are different calls."""
    sizes = numpy.array([row["terms"] for row in rows], dtype=float)
    costs = numpy.array([row[what] for row in rows], dtype=float)
    weights = (costs / costs.max()) ** 0.25
    weights *= numpy.array([CASE_WEIGHT if row["dialect"] == CASE else 1 for row in rows])
    relative = sizes / costs[:, None] * weights[:, None]
    used = [i for i in range(sizes.shape[1]) if sizes[:, i].any()]
    different = len({tuple(row["terms"]) for row in rows})
    # Few sizes do not determine a constant: the law must grow with the call.
    if different < 4:
        used = [2] if different < 2 else [i for i in used if i != 0]
    best, best_error = None, None
    for count in range(1, min(len(used), different) + 1):
        for chosen in itertools.combinations(used, count):
            solved, *_ = numpy.linalg.lstsq(relative[:, chosen], weights, rcond=None)
            if (solved < 0).any():
                continue
            law = numpy.zeros(sizes.shape[1])
            law[list(chosen)] = solved
            error = ((relative @ law - weights) ** 2).sum()
            # An additional term must reduce the error enough.
            if best is None or error < 0.98 * best_error:
                best, best_error = law, error
    return best


def operator_row(name):
    """The columns of the operator's row."""
    for table in (ROOT / "abi/ops").glob("*.def"):
        for line in table.read_text().splitlines():
            if f'"{name}"' in line:
                return line.split("(")[1].split(", ")
    raise KeyError(name)


def operator_id(name):
    return operator_row(name)[0]


def is_choice(name):
    """True if the compiler chooses between this form of an operator and others by their instructions."""
    return operator_row(name)[5] != "kPlain"


def write_tables(samples, what):
    """Writes a table; laws that no sample concerns are kept. Returns the laws of this run by operator and core."""
    macro = MACROS[what]
    table = {}
    if TABLES[what].exists():
        lines = [line for line in TABLES[what].read_text().splitlines() if line.startswith(macro + "(")]
        table = {", ".join(line[len(macro) + 1:].split(", ")[:2]): line + "\n" for line in lines}
    groups, average = collections.defaultdict(list), collections.defaultdict(list)
    for row in samples:
        if row["dialect"] == CASE and what == "instructions":
            continue
        groups[row["op"], row["core"]].append(row)
        if row["dialect"] in ("native", CASE):
            average[row["core"]].append(row)
    laws = {key: fit(rows, what) for key, rows in groups.items()}
    if what == "instructions":
        # A law of few sizes must not decide between forms.
        laws = {(name, core): law for (name, core), law in laws.items()
                if not is_choice(name) or len({tuple(row["terms"]) for row in groups[name, core]}) >= 4}

    def put(key, law):
        table[key] = f"{macro}({key}, {', '.join(f'{value:.6g}' for value in law)})\n"

    for (name, core), law in laws.items():
        put(f'{operator_id(name)}, "{core}"', law)
    if what == "cycles":
        for core, rows in average.items():
            put(f'kCount, "{core}"', fit(rows, what))
    TABLES[what].write_text(TABLE_HEADERS[what] + TABLE_END + "".join(table[key] for key in sorted(table)))
    return laws


def half_of(row):
    return hashlib.sha256(row["network"].encode()).digest()[0] % 2


def held_out(samples):
    """Pairs of a sample of a case and the law of its operator that was fitted without this case's half of all cases."""
    for half in (0, 1):
        groups, rest = collections.defaultdict(list), []
        for row in samples:
            if row["dialect"] == CASE and half_of(row) == half:
                rest.append(row)
            else:
                groups[row["op"], row["core"]].append(row)
        average = {core: fit([row for row in samples if row["core"] == core and row["dialect"] == "native"], "cycles")
                   for core in {row["core"] for row in rest}}
        laws = {key: fit(groups[key], "cycles")
                for key in {(row["op"], row["core"]) for row in rest} if key in groups}
        for row in rest:
            yield row, laws.get((row["op"], row["core"]), average[row["core"]])


def totals(samples, laws):
    """Rows of the table of sums over whole networks."""
    sums = collections.defaultdict(lambda: [0.0, 0.0])

    def add(form, row, law):
        both = sums[form, row["network"], row["core"]]
        both[0] += row["cycles"]
        both[1] += float(law @ numpy.array(row["terms"], dtype=float))

    for row in samples:
        add(row["dialect"], row, laws[row["op"], row["core"]])
    for row, law in held_out(samples):
        add(HELD_OUT, row, law)
    lines = []
    for dialect in [*DIALECTS, CASE, HELD_OUT]:
        errors = sorted((abs(law / counted - 1), key) for key, (counted, law) in sums.items() if key[0] == dialect)
        if not errors:
            continue
        largest = errors[-1]
        lines.append(f"| {dialect} | {len(errors)} | {100 * errors[len(errors) // 2][0]:.1f} % "
                     f"| {100 * errors[int(0.9 * (len(errors) - 1))][0]:.1f} % "
                     f"| {100 * largest[0]:.1f} % ({largest[1][1]}, {largest[1][2]}) |")
    return "\n".join(lines)


def page(samples, laws):
    text = PAGE_HEADER.format(networks=len({row["network"] for row in samples if row["dialect"] != CASE}), totals=totals(samples, laws))
    groups = collections.defaultdict(list)
    for row in samples:
        groups[row["op"], row["core"]].append(row)
    for (name, core), rows in sorted(groups.items()):
        errors = [abs(float(laws[name, core] @ numpy.array(row["terms"], dtype=float)) / row["cycles"] - 1)
                  for row in rows]
        text += (f"| {name} | {core} | {len(rows)} | {100 * sum(errors) / len(errors):.0f} % "
                 f"| {100 * max(errors):.0f} % |\n")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/thimble")
    parser.add_argument("--samples", type=pathlib.Path)
    parser.add_argument("networks", nargs="*")
    arguments = parser.parse_args()
    networks = arguments.networks or sorted(
        path.parent.name for path in (ROOT / "models").glob("*/*.pt2"))
    if arguments.samples and arguments.samples.exists():
        samples = json.loads(arguments.samples.read_text())
    else:
        samples = measure_all(arguments.program, networks, [] if arguments.networks else CASES)
        if arguments.samples:
            arguments.samples.write_text(json.dumps(samples))
    write_tables(samples, "instructions")
    laws = write_tables(samples, "cycles")
    if not arguments.networks:
        (HERE / "README.md").write_text(page(samples, laws))


if __name__ == "__main__":
    main()
