#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts instructions of kernels under QEMU, models their cycles, and fits the cost functions of `thimble compile`.

usage: measure.py [--program build/thimble] [--samples FILE.json] [--random FOLDER] [--unseen FOLDER]
                  [--refresh-terms] [--only-samples] [--only-cycles] [--only-runtime] [--keep] [--cores CORE ...]
                  [--operators NAME ...] [--int4|--int16] [NETWORK ...]

Every network under models/ (or those named) is compiled for one core of each kind and run on its
board once. Each operator's counts are fitted by a function that is linear in the sizes of the call
(src/engine/cost_terms.def): no coefficient is negative, and the squares of the relative errors are
least, in which a call counts with the square root of its cost. Writes
engines/cortex_m/compiler/costs.def (instructions) and cycles.def (cycles, src/cycles) and, if no
network is named, inaccurate_cycles.def, measured_sizes.def and README.md beside this file; functions of operators that none of
them calls stay. Counts are exact: the same compiler gives the same numbers. --samples keeps the counts, or
reads them if the file exists and measures what it lacks; --refresh-terms then computes the sizes
again. --only-samples measures nothing. --only-cycles leaves costs.def as it is. --keep:
a function of cycles.def stays unless a new one reduces its mean error by more than 2 percentage points, so that printed cycles
change only where they were wrong; README.md has the errors of the functions that result. --cores: the rows of
other cores stay. --operators: measures only the networks of --random, and writes only the rows of these operators
(thimble::log_mel.out with `random_networks.py --log-mel`, seeds 3000 to 3023). --int4: measures the networks of models/ (or
those named) with --weights int4 and int4:group=32, and the recurrent ones of tests/data/pt2 with --weights int4, and writes
only the rows of operators with weights of 4 bits. --int16 --operators: measures the networks of models/ (or those named) with
--activations int16, and writes only the rows of these operators.

Cycles outside of kernels have functions of their own, one for each form of a call
(src/engine/runtime_work.h), which are linear in the sizes of src/engine/runtime_terms.def. They are
fitted to the networks of models/ in all dialects. --only-runtime fits nothing else: it compiles
with random calibration data and runs with zeros, which the cycles outside of kernels do not depend
on, and writes their rows of cycles.def and their table of README.md.

The functions of cycles are also fitted to the small networks of tests/data/pt2 and to the networks of the
folder --random, which random_networks.py writes (seeds 1000 to 1188): they have operators and sizes
that no network under models/ has. Those of instructions are not, because they choose between the
forms of an operator. The networks of --unseen (seeds 0 to 39) are only compared with the functions.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CORES = ["cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55", "cortex-m85"]
DIALECTS = {"native": [], "int16": ["--activations", "int16"], "stock": ["--compat", "executorch"]}
INT4, INT4_GROUPS, INT4_CASE = "int4", "int4 groups", "int4 case"  # dialects of --int4
INT4_OPTIONS = {INT4: ["--weights", "int4", "--effort", "0"], INT4_GROUPS: ["--weights", "int4:group=32", "--effort", "0"]}
CASE_WEIGHT = 0.5  # sums over whole networks stay exact
CASE = "case"  # in the place of the dialect: a network of tests/data/pt2
RANDOM, UNSEEN = "random", "unseen"  # the same, of --random and --unseen
SMALL = (CASE, RANDOM, UNSEEN, INT4_CASE)
FITTED = (CASE, RANDOM)
# These cores predict branches, and execute the code of the other core, or nearly. The model of a run counts the rarer
# direction of a branch as mispredicted, over all operators that share its code, and so more than the sum of the operators. The
# function is therefore that of the other core times a factor: the median of the lower half of the runs. A run that exceeds the function by
# this share is left out of the table.
PREDICTING = {"cortex-m7": "cortex-m4", "cortex-m85": "cortex-m55"}
MISPREDICTED = 0.15
FOLDS = 5  # of the cross-validation that chooses the number of terms
TERMS_MAX = 8
KEEP = 0.02  # difference of mean errors, of --keep
CASES = sorted((ROOT / "tests/data/pt2").glob("*.pt2"))
TERMS = re.findall(r"^THIMBLE_COST_TERM\((\w+)\)", (ROOT / "src/engine/cost_terms.def").read_text(), re.M)
RUNTIME_TERMS = re.findall(r"^THIMBLE_RUNTIME_TERM\((\w+)\)", (ROOT / "src/engine/runtime_terms.def").read_text(), re.M)
# A file has records, whose calls have one of two forms, or none.
CALL_FORMS = {"addresses": "kAddresses", "records": "kRecords", "flatbuffer": "kFlatbuffer"}
FILE_FORMS = (("addresses", "records"), ("flatbuffer",))
TABLES = {"instructions": ROOT / "engines/cortex_m/compiler/costs.def",
          "cycles": ROOT / "engines/cortex_m/compiler/cycles.def"}
INACCURATE_TABLE = ROOT / "engines/cortex_m/compiler/inaccurate_cycles.def"
INACCURATE_HEADER = """\
// SPDX-License-Identifier: Apache-2.0
// Cost functions of cycles whose mean error over the calls that they are fitted to is above 10 %:
// THIMBLE_INACCURATE_CYCLES(operator, core, mean error in percent).
"""
SIZES_TABLE = ROOT / "engines/cortex_m/compiler/measured_sizes.def"
SIZES_HEADER = """\
// SPDX-License-Identifier: Apache-2.0
// The largest sizes of the calls that the cost functions are fitted to: THIMBLE_MEASURED_SIZES(operator, per each row of
// engine/cost_terms.def, in its order; the last zeros are left out). Each core was measured with the same networks.
"""
INACCURATE = 0.1  # engine::kInaccuratePercent
MACROS = {"instructions": "THIMBLE_COST", "cycles": "THIMBLE_CYCLES"}
TABLE_HEADERS = {
    "instructions": """\
// SPDX-License-Identifier: Apache-2.0
// Instructions of kernels: THIMBLE_COST(operator, core, per call, and per each row of engine/cost_terms.def, in its order; the
// last zeros are left out).
""",
    "cycles": """\
// SPDX-License-Identifier: Apache-2.0
// Cycles of kernels without wait states: THIMBLE_CYCLES(operator, core, per call, and per each row of engine/cost_terms.def, in
// its order; the last zeros are left out). kCount: an average operator. Cycles outside of kernels: THIMBLE_RUNTIME_CYCLES(core,
// form of the calls, per each row of engine/runtime_terms.def).
"""}
RUNTIME_MACRO = "THIMBLE_RUNTIME_CYCLES"
TABLE_END = "// Measured under QEMU and written by benchmarks/instructions/measure.py; do not edit.\n"
RUNTIME_HEADER = """\
Cycles outside of kernels, estimate against model, for the networks of `models/` to which they are fitted. They depend on how the
runtime calls a kernel (`src/engine/runtime_work.h`): with addresses, or with arguments that are decoded from the records of the
file, or from the tables of a file without records (`stock`). M7 and M85 predict branches: a branch of a kernel that two operators
take in different directions counts as mispredicted for the sum, but for neither operator, and so outside of kernels. Their functions are
those of M4 and M55 times a factor, the median of the lower half of the runs, and runs that exceed them by 15 % are left out:

| form | core | networks | median error | largest |
|---|---|--:|--:|---|
"""
PAGE_HEADER = """\
# Instructions and cycles of kernels

This table is written by `measure.py`. It counts instructions under QEMU, models their cycles, and fits a cost function per operator and
core that is linear in the sizes of a call (`src/engine/cost_terms.def`). The errors are the mean and the largest relative difference
between the cycles of a call and its estimate, over all calls.

Sums over whole networks with the runtime, estimate against model. `native`, `int16` and `stock` are the networks of `models/`,
`random` the networks of `random_networks.py` with seeds 1000 to 1188, `case` networks of `tests/data/pt2`, most of one operator;
the cost functions are fitted to these. `unseen` are the random networks with seeds 0 to 39, which the fit does not see:

| form | core | networks | median error | 9 of 10 within | largest |
|---|---|--:|--:|--:|---|
{totals}

{runtime}

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


def calls_of(report, ran):
    """A row for each call. The counts belong to the call of the same index."""
    assert [op["op"] for op in report["ops"]] == [op["name"] for op in ran["ops"]]
    return [{"op": op["op"], "terms": terms_of(op), "instructions": count["instructions"], "cycles": count["cycles"]}
            for op, count in zip(report["ops"], ran["ops"])]


def terms_of(op):
    return [1] + [op["terms"].get(term, 0) for term in TERMS]


def compile_model(program, network, core, dialect, pte):
    folder = ROOT / "models" / network
    return thimble(program, "compile", folder / f"{network}.pt2", "--target", core, "--calibrate", folder / "calibrate.npz",
                   "-o", pte, "--json", *(INT4_OPTIONS | DIALECTS)[dialect])


def measure(program, network, core, dialect):
    """Returns the counts of one run; nothing if the network has no such form."""
    with tempfile.TemporaryDirectory() as temporary:
        scratch = pathlib.Path(temporary)
        pte = scratch / "model.pte"
        report = compile_model(program, network, core, dialect, pte)
        if report is None:
            return None
        inputs = [word for path in first_inputs(ROOT / "models" / network, report, scratch)
                  for word in ("--input", path)]
        ran = thimble(program, "run", pte, *inputs, "--on", "qemu", "--profile", "--json")
        return ran and {"cycles": ran["cycles"], "runtime": report["runtime_terms"], "calls": calls_of(report, ran)}


def measure_runtime(program, network, core, dialect):
    """As measure(), without calibration data and inputs."""
    with tempfile.TemporaryDirectory() as temporary:
        pte = pathlib.Path(temporary) / "model.pte"
        report = thimble(program, "compile", ROOT / "models" / network / f"{network}.pt2", "--target", core, "--calibrate",
                         "random", "-o", pte, "--json", *DIALECTS[dialect])
        ran = report and thimble(program, "run", pte, "--on", "qemu", "--profile", "--json")
        return ran and {"cycles": ran["cycles"], "runtime": report["runtime_terms"], "calls": calls_of(report, ran)}


def compile_small(program, path, core, form, pte):
    done = subprocess.run([str(program), "compile", str(path), "--target", core, "--calibrate", "random", "-o", str(pte),
                           "--json", *(INT4_OPTIONS[INT4] if form == INT4_CASE else [])], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def random_inputs(report, scratch):
    """Writes a random input for each port: conversions of zeros take fewer cycles on a core without floating point."""
    words = []
    for index, port in enumerate(report["inputs"]):
        random = numpy.random.default_rng(index)
        path = scratch / f"input_{index}.npy"
        if port["dtype"] == "float32":
            numpy.save(path, random.standard_normal(port["shape"]).astype(numpy.float32))
        else:
            numpy.save(path, numpy.zeros(port["shape"], port["dtype"]))
        words += ["--input", path]
    return words


def measure_small(program, path, core, form):
    """As measure() for a small network, with random inputs."""
    with tempfile.TemporaryDirectory() as temporary:
        pte = pathlib.Path(temporary) / "model.pte"
        # Some cases test a refusal.
        report = compile_small(program, path, core, form, pte)
        if report is None:
            return None
        done = subprocess.run([str(program), "run", str(pte), *map(str, random_inputs(report, pathlib.Path(temporary))),
                               "--on", "qemu", "--profile", "--json"], capture_output=True, text=True)
        ran = json.loads(done.stdout) if done.returncode == 0 else {}
        if [op["op"] for op in report["ops"]] != [op["name"] for op in ran.get("ops", [])]:
            return None
        return {"cycles": ran["cycles"], "runtime": report["runtime_terms"], "calls": calls_of(report, ran)}


def refresh_terms(program, job, run):
    """Replaces the sizes of the calls. Returns nothing if the network no longer has these calls."""
    network, core, form, path = job
    with tempfile.TemporaryDirectory() as temporary:
        pte = pathlib.Path(temporary) / "model.pte"
        report = compile_small(program, path, core, form, pte) if path else compile_model(program, network, core, form, pte)
    if report and [op["op"] for op in report["ops"]] == [call["op"] for call in run["calls"]]:
        for call, op in zip(run["calls"], report["ops"]):
            call["terms"] = terms_of(op)
        run["runtime"] = report["runtime_terms"]
        return run
    return None


def measure_all(program, jobs, runs, samples, only_runtime):
    """Adds the runs that are missing to `runs`, by job, and saves them from time to time."""
    def one(job):
        network, core, form, path = job
        if only_runtime:
            return measure_runtime(program, network, core, form)
        return measure(program, network, core, form) if path is None else measure_small(program, path, core, form)

    missing = [job for job in jobs if key_of(job) not in runs]
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        for count, (job, run) in enumerate(zip(missing, threads.map(one, missing))):
            runs[key_of(job)] = run
            if samples and count % 100 == 99:
                samples.write_text(json.dumps(runs))
    if samples:
        samples.write_text(json.dumps(runs))


def key_of(job):
    return " ".join(job[:3])


def rows_of(jobs, runs):
    """A row for each call of the runs."""
    return [{"network": network, "core": core, "dialect": form} | call
            for network, core, form, path in jobs if runs.get(key_of((network, core, form, path)))
            for call in runs[key_of((network, core, form, path))]["calls"]]


def least_squares(matrix, target):
    """The solution without negative coefficients (Lawson and Hanson's active set)."""
    count = matrix.shape[1]
    passive, solution = [], numpy.zeros(count)
    for _ in range(3 * count + 3):
        gradient = matrix.T @ (target - matrix @ solution)
        free = [i for i in range(count) if i not in passive and gradient[i] > 1e-9]
        if not free:
            break
        passive.append(max(free, key=lambda i: gradient[i]))
        while passive:
            part, *_ = numpy.linalg.lstsq(matrix[:, passive], target, rcond=None)
            if (part > 0).all():
                solution = numpy.zeros(count)
                solution[passive] = part
                break
            old = solution[passive]
            falling = part <= 0
            step = (old[falling] / (old[falling] - part[falling])).min()
            now = old + step * (part - old)
            solution = numpy.zeros(count)
            solution[passive] = now
            passive = [i for i, value in zip(list(passive), now) if value > 1e-12 * abs(now).max()]
            solution[[i for i in range(count) if i not in passive]] = 0
    return solution


def fold_of(row):
    return hashlib.sha256(row["network"].encode()).digest()[1] % FOLDS


def fit(rows, what):
    """The coefficients of the function. Terms are added while they reduce the error of networks that were left out."""
    sizes = numpy.array([row["terms"] for row in rows], dtype=float)
    costs = numpy.array([row[what] for row in rows], dtype=float)
    weights = (costs / costs.max()) ** 0.25
    weights *= numpy.array([CASE_WEIGHT if row["dialect"] == CASE else 1 for row in rows])
    scale = numpy.maximum(sizes.max(axis=0), 1)
    relative = sizes / scale / costs[:, None] * weights[:, None]
    used = [i for i in range(sizes.shape[1]) if sizes[:, i].any()]
    different = len({tuple(row["terms"]) for row in rows})
    # Few sizes do not determine a constant: the cost must grow with the call.
    if different < 4:
        used = [2] if different < 2 else [i for i in used if i != 0]
    path, chosen = [], []
    while len(chosen) < min(len(used), max(1, different // 2), TERMS_MAX):
        best = None
        for term in (term for term in used if term not in chosen):
            solved = least_squares(relative[:, [*chosen, term]], weights)
            error = ((relative[:, [*chosen, term]] @ solved - weights) ** 2).sum()
            if best is None or error < best[0]:
                best = error, term, solved
        error, term, solved = best
        if path and error > 0.99 * path[-1][2]:
            break
        chosen = [*chosen, term]
        path.append((list(chosen), solved, error))
    folds = numpy.array([fold_of(row) for row in rows])
    best, best_error = path[0], None
    for step in path:
        error = 0
        for fold in range(FOLDS):
            seen, left = folds != fold, folds == fold
            if not left.any() or not seen.any():
                continue
            solved = least_squares(relative[seen][:, step[0]], weights[seen])
            error += numpy.minimum(abs(relative[left][:, step[0]] @ solved - weights[left]), weights[left]).sum()
        # An additional term must reduce the error enough.
        if best_error is None or error < 0.98 * best_error:
            best, best_error = step, error
    function = numpy.zeros(sizes.shape[1])
    function[best[0]] = best[1] / scale[best[0]]
    return function


def runtime_sizes(run, forms):
    """The runtime's terms of each form, one after the other."""
    return [run["runtime"].get(form, {}).get(term, 0) for form in forms for term in RUNTIME_TERMS]


def outside_cycles(run):
    return run["cycles"] - sum(call["cycles"] for call in run["calls"])


def fit_runtime(jobs, runs, core):
    """Cycles of the runtime outside of kernels: coefficients by form of the calls."""
    function = {}
    other = runtime_of(jobs, runs, PREDICTING[core]) if core in PREDICTING else None
    for forms in FILE_FORMS:
        found = [runs[key_of(job)] for job in jobs
                 if job[1] == core and job[2] in DIALECTS and runs.get(key_of(job))
                 and forms[0] in runs[key_of(job)]["runtime"]]
        if other:
            ratios = sorted(outside_cycles(run) / runtime_cycles(run, other) for run in found)
            factor = numpy.median(ratios[:(len(ratios) + 1) // 2])
            function |= {form: factor * other[form] for form in forms}
            continue
        sizes = numpy.array([runtime_sizes(run, forms) for run in found], dtype=float)
        outside = numpy.array([outside_cycles(run) for run in found], dtype=float)
        solved = least_squares(sizes / outside[:, None], numpy.ones(len(outside)))
        function |= zip(forms, numpy.split(solved, len(forms)))
    return function


def runtime_of(jobs, runs, core):
    """The function of a core, fitted if the core was measured, else that of the table."""
    if any(job[1] == core for job in jobs):
        return fit_runtime(jobs, runs, core)
    return runtime_of_table(core)


def runtime_of_table(core):
    """The function of a core that the table has."""
    function = {}
    for form, name in CALL_FORMS.items():
        values = re.search(rf'^{RUNTIME_MACRO}\("?{core}"?, {name}, (.*)\)$', TABLES["cycles"].read_text(), re.M)
        row = [float(value) for value in values[1].split(", ")]
        function[form] = numpy.array(row + [0.0] * (len(RUNTIME_TERMS) - len(row)))
    return function


def kept_runtime(jobs, runs, core, function):
    """The function of the table if the mean error of the new one is not smaller by KEEP, else None."""
    found = [runs[key_of(job)] for job in jobs if job[1] == core and job[2] in DIALECTS and runs.get(key_of(job))]
    old = runtime_of_table(core)
    errors = [sum(abs(runtime_cycles(run, each) / outside_cycles(run) - 1) for run in found) / len(found)
              for each in (old, function)]
    return old if errors[0] <= errors[1] + KEEP else None


def runtime_cycles(run, function):
    """The estimate of a run's cycles outside of kernels."""
    return sum(float(numpy.array(runtime_sizes(run, [form])) @ function[form]) for form in run["runtime"])


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


def function_of_row(row):
    """The coefficients of a row of a table, which leaves out the last zeros."""
    values = [float(value) for value in row.rstrip(")\n").split(", ")[2:]]
    return numpy.array(values + [0.0] * (1 + len(TERMS) - len(values)))


def mean_error(function, rows):
    return sum(relative_error(function, row) for row in rows) / len(rows)


def write_tables(samples, what, runtime=None, keep=False):
    """Writes a table; functions that no sample concerns are kept. Returns those of this run by operator and core. `runtime`: as
    fit_runtime() by core. `keep`: old functions stay unless the new ones are better by KEEP."""
    macro = MACROS[what]
    table, old = {}, ""
    if TABLES[what].exists():
        old = TABLES[what].read_text()
        lines = [line for line in old.splitlines() if line.startswith(macro + "(")]
        table = {", ".join(line[len(macro) + 1:].split(", ")[:2]): line + "\n" for line in lines}
    groups, average = collections.defaultdict(list), collections.defaultdict(list)
    for row in samples:
        if row["dialect"] in (UNSEEN, *(FITTED if what == "instructions" else ())):
            continue
        groups[row["op"], row["core"]].append(row)
        if row["dialect"] in ("native", *FITTED):
            average[row["core"]].append(row)
    functions = {key: fit(rows, what) for key, rows in groups.items()}
    if what == "instructions":
        # A function of few sizes must not decide between forms.
        functions = {(name, core): function for (name, core), function in functions.items()
                if not is_choice(name) or len({tuple(row["terms"]) for row in groups[name, core]}) >= 4}

    if keep:
        for (name, core), function in functions.items():
            row = table.get(f'{operator_id(name)}, "{core}"')
            if row is None:
                continue
            rows, old_function = groups[name, core], function_of_row(row)
            if mean_error(old_function, rows) <= mean_error(function, rows) + KEEP:
                functions[name, core] = old_function
            else:
                print(f"{name} {core}: mean error {100 * mean_error(old_function, rows):.1f} % before, "
                      f"{100 * mean_error(function, rows):.1f} % now")

    def put(key, function):
        last = max((i for i, value in enumerate(function) if value != 0), default=0)
        table[key] = f"{macro}({key}, {', '.join(f'{value:.6g}' for value in function[:last + 1])})\n"

    for (name, core), function in functions.items():
        put(f'{operator_id(name)}, "{core}"', function)
    if what == "cycles" and not keep:
        for core, rows in average.items():
            put(f'kCount, "{core}"', fit(rows, what))
    rows = [table[key] for key in sorted(table)]
    TABLES[what].write_text(TABLE_HEADERS[what] + TABLE_END + "".join(rows) + runtime_rows(old, runtime or {}))
    return functions


def write_inaccurate(samples, functions):
    """Writes the mean errors above INACCURATE. Those of operators and cores that no sample has stay."""
    old = INACCURATE_TABLE.read_text()
    errors = dict(re.findall(r"^THIMBLE_INACCURATE_CYCLES\((\w+, \S+), (\d+)\)$", old, re.M))
    of_function = collections.defaultdict(list)
    for row in samples:
        if row["dialect"] != UNSEEN:
            of_function[row["op"], row["core"]].append(relative_error(functions[row["op"], row["core"]], row))
    for (name, core), found in of_function.items():
        key = f'{operator_id(name)}, "{core}"'
        errors.pop(key, None)
        percent = round(100 * sum(found) / len(found))
        if percent > 100 * INACCURATE:
            errors[key] = percent
    rows = [f"THIMBLE_INACCURATE_CYCLES({key}, {errors[key]})\n" for key in sorted(errors)]
    INACCURATE_TABLE.write_text(INACCURATE_HEADER + TABLE_END + "".join(rows))


def write_sizes(samples):
    """Writes the largest sizes of each operator. Those of operators that no sample has stay."""
    old = SIZES_TABLE.read_text() if SIZES_TABLE.exists() else ""
    sizes = dict(re.findall(r"^THIMBLE_MEASURED_SIZES\((\w+), (.*)\)$", old, re.M))
    groups = collections.defaultdict(list)
    for row in samples:
        if row["dialect"] != UNSEEN:
            groups[row["op"]].append(row["terms"][1:])
    for name, terms in groups.items():
        largest = [max(column) for column in zip(*terms)]
        count = max((i + 1 for i, value in enumerate(largest) if value), default=1)
        sizes[operator_id(name)] = ", ".join(map(str, largest[:count]))
    rows = [f"THIMBLE_MEASURED_SIZES({name}, {sizes[name]})\n" for name in sorted(sizes)]
    SIZES_TABLE.write_text(SIZES_HEADER + TABLE_END + "".join(rows))


def relative_error(function, row):
    return abs(float(function @ numpy.array(row["terms"], dtype=float)) / row["cycles"] - 1)


def runtime_rows(old, runtime):
    """Rows of the table's text, with those of `runtime` (fit_runtime() by core) instead of its own."""
    rows = dict(re.findall(rf'^{RUNTIME_MACRO}\(("\S+", \w+), (.*)\)$', old, re.M))
    for core, function in runtime.items():
        for form, coefficients in function.items():
            rows[f'"{core}", {CALL_FORMS[form]}'] = ", ".join(f"{value:.6g}" for value in coefficients)
    return "".join(f"{RUNTIME_MACRO}({key}, {rows[key]})\n" for key in sorted(rows))


def write_runtime(jobs, runs, runtime):
    """Writes the rows of cycles.def and the table of README.md."""
    old = TABLES["cycles"].read_text()
    kept = "".join(line for line in old.splitlines(True) if not line.startswith(RUNTIME_MACRO))
    TABLES["cycles"].write_text(kept + runtime_rows(old, runtime))
    page = HERE / "README.md"
    text = page.read_text()
    start = text.index(RUNTIME_HEADER.splitlines()[0])
    end = text.index("\n\n", text.index("|---|", start))
    page.write_text(text[:start] + runtime_table(jobs, runs, runtime) + text[end:])


def totals(jobs, functions, runs, runtime):
    """Rows of the table of sums over whole networks, with the runtime."""
    errors = collections.defaultdict(list)
    for job in jobs:
        network, core, form, _ = job
        run = runs.get(key_of(job))
        if not run or any((call["op"], core) not in functions for call in run["calls"]):
            continue
        cycles = runtime_cycles(run, runtime[core])
        cycles += sum(float(functions[call["op"], core] @ numpy.array(call["terms"], dtype=float)) for call in run["calls"])
        errors[form, core].append((abs(cycles / run["cycles"] - 1), network))
    lines = []
    for (form, core), found in sorted(errors.items()):
        found.sort()
        lines.append(f"| {form} | {core} | {len(found)} | {100 * found[len(found) // 2][0]:.1f} % "
                     f"| {100 * found[int(0.9 * (len(found) - 1))][0]:.1f} % "
                     f"| {100 * found[-1][0]:.1f} % ({found[-1][1]}) |")
    return "\n".join(lines)


def runtime_table(jobs, runs, runtime):
    """The table of cycles outside of kernels, with its text."""
    errors = collections.defaultdict(list)
    for job in jobs:
        network, core, form, _ = job
        run = runs.get(key_of(job))
        if not run or form not in DIALECTS:
            continue
        ratio = runtime_cycles(run, runtime[core]) / outside_cycles(run)
        if core not in PREDICTING or ratio * (1 + MISPREDICTED) > 1:
            errors[form, core].append((abs(ratio - 1), network))
    lines = []
    for (form, core), found in sorted(errors.items()):
        found.sort()
        lines.append(f"| {form} | {core} | {len(found)} | {100 * found[len(found) // 2][0]:.1f} % "
                     f"| {100 * found[-1][0]:.1f} % ({found[-1][1]}) |")
    return RUNTIME_HEADER + "\n".join(lines)


def page(samples, jobs, functions, runs, runtime):
    text = PAGE_HEADER.format(totals=totals(jobs, functions, runs, runtime), runtime=runtime_table(jobs, runs, runtime))
    groups = collections.defaultdict(list)
    for row in samples:
        if row["dialect"] != UNSEEN:
            groups[row["op"], row["core"]].append(row)
    for (name, core), rows in sorted(groups.items()):
        errors = [relative_error(functions[name, core], row) for row in rows]
        text += (f"| {name} | {core} | {len(rows)} | {100 * sum(errors) / len(errors):.0f} % "
                 f"| {100 * max(errors):.0f} % |\n")
    return text


def is_table_row(line):
    return line.startswith("| ") and not line.startswith(("| form |", "| operator |"))


def with_kept_rows(text, old, replaced):
    """The page `text` with the rows of the page `old` that `replaced(first column, core)` does not concern. Both have the
    same tables."""
    def tables(lines):
        found = []
        for line in lines:
            if line.startswith("|---"):
                found.append([])
            elif is_table_row(line):
                found[-1].append(line)
        return found

    def key(line):
        return tuple(cell.strip() for cell in line.split("|")[1:3])

    merged = []
    for new, before in zip(tables(text.splitlines()), tables(old.splitlines())):
        rows = {key(line): line for line in before if not replaced(*key(line))} | {key(line): line for line in new}
        merged.append([rows[each] for each in sorted(rows)])
    lines = []
    for line in text.splitlines():
        if not is_table_row(line):
            lines.append(line)
        if line.startswith("|---"):
            lines += merged.pop(0)
    return "\n".join(lines) + "\n"


def write_operators(samples, operators):
    """Writes the rows of these operators, and keeps all others."""
    write_tables(samples, "instructions")
    functions = write_tables(samples, "cycles", keep=True)
    write_inaccurate(samples, functions)
    write_sizes(samples)
    readme = HERE / "README.md"
    text = page(samples, [], functions, {}, {})
    readme.write_text(with_kept_rows(text, readme.read_text(), lambda operator, _: operator in operators))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/thimble")
    parser.add_argument("--samples", type=pathlib.Path)
    parser.add_argument("--random", type=pathlib.Path)
    parser.add_argument("--unseen", type=pathlib.Path)
    parser.add_argument("--refresh-terms", action="store_true")
    parser.add_argument("--only-samples", action="store_true")
    parser.add_argument("--only-cycles", action="store_true")
    parser.add_argument("--only-runtime", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--operators", nargs="+")
    parser.add_argument("--int4", action="store_true")
    parser.add_argument("--int16", action="store_true")
    parser.add_argument("--cores", nargs="+", default=CORES, choices=CORES)
    parser.add_argument("networks", nargs="*")
    arguments = parser.parse_args()
    networks = arguments.networks or sorted(
        path.parent.name for path in (ROOT / "models").glob("*/*.pt2"))
    if arguments.int16 and not arguments.operators:
        parser.error("--int16 needs --operators")
    if arguments.operators and not arguments.int16:
        networks = []
    dialects = INT4_OPTIONS if arguments.int4 else ["int16"] if arguments.int16 else DIALECTS
    jobs = [(*job, None) for job in itertools.product(networks, arguments.cores, dialects)]
    small = [] if arguments.networks or arguments.int4 or arguments.only_runtime or arguments.operators else [(CASE, path) for path in CASES]
    if arguments.int4:
        small = [(INT4_CASE, path) for path in CASES if re.search("lstm|gru", path.stem)]
    for form, folder in ((RANDOM, arguments.random), (UNSEEN, arguments.unseen)):
        small += [(form, path) for path in sorted(folder.glob("*.pt2"))] if folder else []
    jobs = [(path.stem, core, form, path) for (form, path), core in itertools.product(small, arguments.cores)] + jobs
    known = arguments.samples and arguments.samples.exists()
    runs = json.loads(arguments.samples.read_text()) if known else {}
    if known and arguments.refresh_terms:
        with concurrent.futures.ThreadPoolExecutor(2) as threads:
            old = [job for job in jobs if runs.get(key_of(job))]
            fresh = threads.map(lambda job: refresh_terms(arguments.program, job, runs[key_of(job)]), old)
            runs |= {key_of(job): run for job, run in zip(old, fresh)}
    if arguments.only_samples:
        if not known:
            parser.error("--only-samples needs a file of --samples")
        jobs = [job for job in jobs if key_of(job) in runs]
    measure_all(arguments.program, jobs, runs, arguments.samples, arguments.only_runtime)
    if arguments.only_runtime:
        write_runtime(jobs, runs, {core: fit_runtime(jobs, runs, core) for core in arguments.cores})
        return
    samples = rows_of(jobs, runs)
    if arguments.int4:
        samples = [row for row in samples if int(operator_row(row["op"])[4]) == 4]
        write_operators(samples, {row["op"] for row in samples})
        return
    if arguments.operators:
        write_operators([row for row in samples if row["op"] in arguments.operators], arguments.operators)
        return
    if not arguments.only_cycles:
        write_tables(samples, "instructions")
    runtime = {core: fit_runtime(jobs, runs, core) for core in arguments.cores}
    if arguments.keep:
        runtime |= {core: kept for core in arguments.cores if (kept := kept_runtime(jobs, runs, core, runtime[core]))}
    functions = write_tables(samples, "cycles", runtime, arguments.keep)
    if not arguments.networks:
        write_inaccurate(samples, functions)
        write_sizes(samples)
        text = page(samples, jobs, functions, runs, runtime)
        readme = HERE / "README.md"
        readme.write_text(with_kept_rows(text, readme.read_text(), lambda _, core: core in arguments.cores))


if __name__ == "__main__":
    main()
