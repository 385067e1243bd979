#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs fuzz targets and keeps a log of all runs.

usage: fuzz.py run PROGRAM FOLDER SOURCE_DIR --seconds N [TARGET...]
       fuzz.py until PROGRAM FOLDER SOURCE_DIR [--slice N] [--jobs N]
       fuzz.py mutations PROGRAM FOLDER SOURCE_DIR [--count N] [--slice N] [--jobs N] [--write] [TARGET...]
       fuzz.py table FOLDER [SOURCE_DIR]
       fuzz.py coverage PROGRAM FOLDER SOURCE_DIR
       fuzz.py minimize PROGRAM FOLDER SOURCE_DIR [TARGET...]

`run` gives each target N seconds. `until` gives the target with the fewest failures, and of these the one with the least processor time, the next slice, until
each has its goal (GOALS) or has failed often; `--jobs` targets run at a time. FOLDER/found/TARGET has the inputs that increase the coverage, with
which the next run continues, FOLDER/crashes those of failures.
FOLDER/log.csv has a line per run: date, target, processor seconds, executions, covered edges, failure.
`mutations` runs fuzz_replay with N mutations of each target. FOLDER/mutations.md has a row per slice: a later call continues after
these. It prints the sums, and with --write also writes them to tests/fuzz/README.md. A target that failed does not continue.
`table` prints the sums; with SOURCE_DIR it also writes them to tests/fuzz/README.md.
`coverage` runs all inputs of all targets once, and pt2_values_test. It prints the share of covered lines, and the uncovered lines of
each file below 90 % with the reason that uncovered.txt states, and writes them to tests/fuzz/README.md.
`minimize` writes the inputs that are needed for the present coverage to FOLDER/minimal/TARGET, and prints their number and size.
"""

import argparse
import concurrent.futures
import csv
import datetime
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

HOUR, USUAL = 3600, 1200  # processor seconds
CORPUS_SECONDS = 60  # at most: a run reads the inputs of the runs before first
GOALS = {"differential": HOUR, "ethos_u_run": HOUR, "ethos_u_stream": HOUR, "pte": HOUR, "pte_run": HOUR, "pte_run_npu": HOUR,
         "pte_run_stock": HOUR}
FAILURES_MAX = 20
FIELDS = ["date", "target", "cpu_seconds", "executions", "edges", "state"]
MAX_INPUT = 65536
# ALLOCATION_MIB: 16 MiB plus 64 times MAX_INPUT. Targets of LARGER compile networks or inflate members of archives.
ALLOCATION_MIB, LARGER_MIB, LARGER = 20, 512, {"c_api", "differential", "npz", "pt2"}


def limits_of(target):
    """Returns libFuzzer's limits of one input."""
    mib = LARGER_MIB if target in LARGER else ALLOCATION_MIB
    seconds = 120 if target == "differential" else 10  # a failing graph is made smaller
    return [f"-timeout={seconds}", "-rss_limit_mb=2048", f"-malloc_limit_mb={mib}", f"-max_len={MAX_INPUT}"]


NO_PROFILE = {**os.environ, "LLVM_PROFILE_FILE": "/dev/null"}


def targets_of(program):
    done = subprocess.run([program, "--list"], capture_output=True, text=True, check=True, env=NO_PROFILE)
    return done.stdout.split()


def read_log(folder):
    path = folder / "log.csv"
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def sums_of(rows):
    """Per target: processor seconds, executions, most edges, failures."""
    sums = {}
    for row in rows:
        each = sums.setdefault(row["target"], [0.0, 0, 0, 0])
        each[0] += float(row["cpu_seconds"])
        each[1] += int(row["executions"] or 0)
        each[2] = max(each[2], int(row["edges"] or 0))
        each[3] += row["state"] != "ok"
    return sums


def first_inputs(source, folder, target):
    first = folder / "first" / target
    shutil.rmtree(first, ignore_errors=True)
    first.mkdir(parents=True)
    subprocess.run([sys.executable, source / "tests/fuzz/inputs.py", source, target, first], check=True)
    return first


def run_target(program, folder, source, target, seconds):
    """Returns true if the target did not fail."""
    found, crashes = folder / "found" / target, folder / "crashes"
    for each in (found, crashes):
        each.mkdir(parents=True, exist_ok=True)
    first = first_inputs(source, folder, target)
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(
            [program, f"--target={target}", found, first, f"-max_total_time={seconds}", *limits_of(target),
             f"-artifact_prefix={crashes}/{target}-", "-print_final_stats=1"],
            stdout=output, stderr=subprocess.STDOUT, cwd=folder, env=NO_PROFILE)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    (folder / f"{target}.log").write_text(text)
    executions = re.findall(r"^#(\d+)\s", text, re.MULTILINE)
    edges = re.findall(r" cov: (\d+) ", text)
    state = "ok" if process.returncode == 0 else "FAILED"
    path = folder / "log.csv"
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file)
        if is_new:
            writer.writerow(FIELDS)
        writer.writerow([datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M"), target,
                         f"{usage.ru_utime + usage.ru_stime:.1f}", executions[-1] if executions else 0,
                         edges[-1] if edges else 0, state])
    print(f"{target}: {executions[-1] if executions else 0} executions, {edges[-1] if edges else 0} edges, {state}", flush=True)
    if state != "ok":
        print("\n".join(line for line in text.splitlines() if "ERROR" in line or "artifact" in line or "runtime error" in line))
    return state == "ok"


def run_until(program, folder, source, slice_seconds, jobs):
    """Returns the failed runs of this call by target. Targets with fewer failures run first; one with FAILURES_MAX does not run again.
    A slice has at most the seconds that are missing to the goal, and CORPUS_SECONDS."""
    failures, running, lock = {}, set(), threading.Lock()
    targets = targets_of(program)

    def next_slice():
        """Returns the next target and its seconds, or None."""
        sums = sums_of(read_log(folder))
        seconds = {target: sums.get(target, [0.0])[0] for target in targets}
        left = [target for target in targets if target not in running and seconds[target] < GOALS.get(target, USUAL)
                and failures.get(target, 0) < FAILURES_MAX]
        target = min(left, key=lambda each: (failures.get(each, 0), seconds[each]), default=None)
        return target and (target, min(slice_seconds, int(GOALS.get(target, USUAL) - seconds[target]) + CORPUS_SECONDS))

    def run_all():
        while True:
            with lock:
                chosen = next_slice()
                if chosen is None:
                    return
                target, seconds = chosen
                running.add(target)
            passed = run_target(program, folder, source, target, seconds)
            with lock:
                running.remove(target)
                if not passed:
                    failures[target] = failures.get(target, 0) + 1

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for each in [pool.submit(run_all) for _ in range(jobs)]:
            each.result()
    return failures


def table_of(folder):
    lines = ["| target | CPU seconds | executions | edges | failed runs |", "|---|--:|--:|--:|--:|"]
    for target, (seconds, executions, edges, failures) in sorted(sums_of(read_log(folder)).items()):
        lines.append(f"| `{target}` | {seconds:,.0f} | {executions:,} | {edges:,} | {failures} |")
    return "\n".join(lines)


# Targets that read calls, seeds or messages, not files. A million of their mutations take days.
NO_FORMATS = {"c_api", "differential", "serial"}


def read_mutations(folder):
    """The two lines of the heading, and the cells of each row: target, mutations, percent that pass the first checks, counts by
    outcome, seconds, longest, bytes."""
    log = folder / "mutations.md"
    lines = log.read_text().splitlines() if log.exists() else []
    return lines[:2], [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in lines[2:]]


def run_mutations(program, folder, source, target, count, slice_count, lock):
    """Runs the mutations that the log does not have. Returns true if none failed."""
    while True:
        with lock:
            done = sum(int(row[1]) for row in read_mutations(folder)[1] if row[0] == target)
        if done >= count:
            return True
        ran = subprocess.run([program, source, str(min(slice_count, count - done)), "--first", str(done + 1), target],
                             capture_output=True, text=True, errors="replace", check=False, env=NO_PROFILE)
        if ran.returncode != 0:
            print(ran.stdout + ran.stderr, flush=True)
            return False
        log = folder / "mutations.md"
        with lock, log.open("a") as file:
            file.write("".join(ran.stdout.splitlines(True)[2 if log.stat().st_size else 0:]))


def mutations_text(folder):
    """The sums of the log as a table."""
    rows = {}
    lines, all_rows = read_mutations(folder)
    for row in all_rows:
        rows.setdefault(row[0], []).append(row[1:])
    for target, parts in sorted(rows.items()):
        count, _, first, later, accepted, executed = (
            "-" if column[0] == "-" else sum(int(cell.rstrip(" %")) for cell in column) for column in list(zip(*parts))[:6])
        passed = "-" if first == "-" else f"{100 * (count - first) // count} %"
        first = first if first == "-" else f"{first:,}"
        seconds, longest, most = (list(map(float, column)) for column in list(zip(*parts))[6:])
        lines.append(f"| `{target}` | {count:,} | {passed} | {first} | {later:,} | {accepted:,} | {executed:,} | {sum(seconds):,.0f} "
                     f"| {max(longest):.3f} | {int(max(most)):,} |")
    return "\n".join(lines)


def write_block(source, name, text):
    readme = source / "tests/fuzz/README.md"
    old = readme.read_text()
    begin, end = f"<!-- {name} -->\n", f"<!-- end {name} -->"
    head, rest = old.split(begin)
    readme.write_text(head + begin + text + "\n" + rest[rest.index(end):])


# Files of parsers and verifiers, of which src/import checks the operators of a .pt2 and kernels/args the calls of kernels. Files that
# only write, and tables of names, are not reported.
COVERED = re.compile(r"src/formats/.*|src/import/.*|kernels/args/.*|src/ir/(parse|lexer|verify|row_check|text|infer\w*)\.\w+|src/hostrun/serial\w*\.cpp"
                     r"|src/engine/(part|part_table|settings|toml_value)\.cpp|runtime/.*|abi/serial/protocol\.h"
                     r"|examples/serial_runner/main\.cpp"
                     r"|engines/\w+/(container|text|formats|delegate)/.*|engines/ethos_u/sim/(decode\w*|\w+_stream|weights)\..*")
NOT_COVERED = re.compile(r".*write\w*\.\w+|.*/pte/(constant_pool|segments|runtime_bytes|parts|record_contents|tables|chosen_kernel)\..*"
                         r"|.*/(etdump|tosa)/.*|.*/ptd/merge\.cpp|.*/axon/formats/program\..*|.*/part_system\..*"
                         r"|.*\.def|.*/(status_text|counters)\.cpp")


def coverage(program, folder, source):
    raw = folder / "profiles"
    shutil.rmtree(raw, ignore_errors=True)
    raw.mkdir()
    for target in targets_of(program):
        found = folder / "found" / target
        found.mkdir(parents=True, exist_ok=True)
        environment = dict(os.environ, LLVM_PROFILE_FILE=str(raw / f"{target}.profraw"))
        # Only the lines are of interest here: the time of an input depends on what else the machine does.
        subprocess.run([program, f"--target={target}", found, first_inputs(source, folder, target), "-runs=0", *limits_of(target),
                        "-timeout=600"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, env=environment, check=True)
    values_test = program.parent / "pt2_values_test"
    subprocess.run([values_test, "--gtest_brief=1"], cwd=folder, env={**os.environ, "LLVM_PROFILE_FILE": str(raw / "values.profraw")},
                   check=True)
    version = os.environ.get("LLVM_SUFFIX", "-19")
    merged = folder / "all.profdata"
    subprocess.run([f"llvm-profdata{version}", "merge", "-o", merged, *sorted(raw.glob("*.profraw"))], check=True)
    lcov = subprocess.run([f"llvm-cov{version}", "export", "-format=lcov", f"-instr-profile={merged}", program, f"-object={values_test}"],
                          capture_output=True, text=True, check=True).stdout
    rows, name = {}, None
    for line in lcov.splitlines():
        if line.startswith("SF:"):
            path = line[3:].removeprefix("build/")  # sources are relative to the build folder (cmake/settings.cmake)
            name = path if COVERED.fullmatch(path) and not NOT_COVERED.fullmatch(path) else None
        elif line.startswith("DA:") and name is not None:
            number, count = line[3:].split(",")[:2]
            lines = rows.setdefault(name, {})
            lines[int(number)] = lines.get(int(number), 0) + int(count)
    return rows


def ranges_of(numbers):
    texts, first, last = [], None, None
    for number in [*numbers, None]:
        if first is not None and number != last + 1:
            texts.append(str(first) if first == last else f"{first}-{last}")
            first = None
        if first is None:
            first = number
        last = number
    return ", ".join(texts)


def below(rows):
    """Returns the files of which less than 90 % of the lines are covered."""
    return [(name, counts) for name, counts in sorted(rows.items())
            if sum(count > 0 for count in counts.values()) < 0.9 * len(counts)]


def coverage_text(rows, reasons):
    """The sum, and a row for each file of which less than 90 % are covered."""
    lines_all = sum(len(counts) for counts in rows.values())
    covered_all = sum(count > 0 for counts in rows.values() for count in counts.values())
    lines = [f"{len(rows)} files, {lines_all:,} lines, {100 * covered_all / max(lines_all, 1):.1f} % covered. Below 90 %:", "",
             "| file | lines | covered | uncovered lines | reason |", "|---|--:|--:|---|---|"]
    for name, counts in below(rows):
        covered = sum(count > 0 for count in counts.values())
        missing = ranges_of(sorted(number for number, count in counts.items() if count == 0))
        lines.append(f"| `{name}` | {len(counts)} | {100 * covered // len(counts)} % | {missing} | {reasons.get(name, '')} |")
    return "\n".join(lines)


def read_reasons(source):
    """uncovered.txt: a file, and why its lines are not reached."""
    reasons = {}
    for line in (source / "tests/fuzz/uncovered.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, reason = line.partition(" ")
            reasons[name] = reason
    return reasons


def minimize(program, folder, source, targets):
    for target in targets:
        minimal = folder / "minimal" / target
        shutil.rmtree(minimal, ignore_errors=True)
        minimal.mkdir(parents=True)
        found = folder / "found" / target
        found.mkdir(parents=True, exist_ok=True)
        subprocess.run([program, f"--target={target}", "-merge=1", minimal, first_inputs(source, folder, target), found, *limits_of(target)],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, check=True, env=NO_PROFILE)
        files = list(minimal.iterdir())
        print(f"{target}: {len(files)} inputs, {sum(file.stat().st_size for file in files):,} B")


def main():
    parser = argparse.ArgumentParser(description=__doc__.replace("%", "%%"), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("run", "until", "mutations", "table", "coverage", "minimize"))
    parser.add_argument("words", nargs="+")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--slice", type=int, help="seconds (300) or mutations (20,000) of a run")
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_intermixed_args()
    words = [pathlib.Path(word) for word in arguments.words[:3]]
    if arguments.verb == "table":
        folder, source = words[0], words[1] if len(words) > 1 else None
        if not read_log(folder):
            sys.exit(f"{folder}/log.csv has no runs: make fuzz writes them")
        text = table_of(folder)
        print(text)
        if source:
            write_block(source, "runs", text)
        return 0
    program, folder, source = (word.resolve() for word in words)
    targets = arguments.words[3:]
    if arguments.verb == "coverage":
        rows, reasons = coverage(program, folder, source), read_reasons(source)
        text = coverage_text(rows, reasons)
        print(text)
        write_block(source, "coverage", text)
        unexplained = [name for name, counts in below(rows) if name not in reasons]
        if unexplained:
            print(f"without a reason in uncovered.txt: {', '.join(unexplained)}", file=sys.stderr)
        return 1 if unexplained or not rows else 0
    if arguments.verb == "until":
        failures = run_until(program, folder, source, arguments.slice or 300, arguments.jobs)
        print("".join(f"{target}: {count} failed runs\n" for target, count in sorted(failures.items())), end="")
        return 1 if failures else 0
    if arguments.verb == "mutations":
        folder.mkdir(parents=True, exist_ok=True)
        targets = targets or [target for target in targets_of(program) if target not in NO_FORMATS]
        lock = threading.Lock()
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            results = list(pool.map(lambda target: run_mutations(program, folder, source, target, arguments.count,
                                                                 arguments.slice or 20_000, lock), targets))
        text = mutations_text(folder)
        print(text)
        if arguments.write:
            write_block(source, "mutations", text)
        return 0 if all(results) else 1
    targets = targets or targets_of(program)
    if arguments.verb == "minimize":
        minimize(program, folder, source, targets)
        return 0
    results = [run_target(program, folder, source, target, arguments.seconds) for target in targets]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
