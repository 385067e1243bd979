# SPDX-License-Identifier: Apache-2.0
"""Runs commands with faults. In each run one call of the C library that concerns a file fails, or one allocation fails.

usage: faults_test.py THIMBLE FAIL_CALL_LIBRARY REPO [--all [--step N]] [--command NAME] [--seed N] [--write]

A run with a fault has one of these outcomes:
- exit code 0, with the files of a run without faults
- exit code 2 and a message with the system's reason, with the files from before the run and no further file or folder. The files of
  --save-stages are written one by one, so each is the old one or complete
- exit code 2 and a message, with the files of a run without faults, if only the report cannot be printed
- killed: each file is the old one or complete, and temporary files and empty folders may remain
A file that cannot be removed (`remove`) also remains.

Without --all, a sample of the calls and of the allocations fails. With --all, every call and every allocation (--step N: every N-th)
fails. Most allocations fail in a child process that fail_call.cpp creates at the allocation. The numbers of outcomes are printed as a
table, which --write writes to docs/faults.md.
"""

import argparse
import collections
import errno
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SAMPLED, LAST = 4, 3  # allocations per command: by seed, and the last ones, when files exist
CHILDREN = 15  # further allocations, in children of one run
CALLS, CALLS_OF_MANY = 3, 1  # sampled calls of one function without --all, besides the last one; of a command with 50 files or more
OVERLAP = 50
OLD = b"old content"
FAILURES = {"write": (errno.ENOSPC, errno.EIO, errno.EFBIG), "open": (errno.EACCES, errno.EROFS, errno.ENOSPC, errno.EINTR),
            "close": (errno.EIO, errno.ENOSPC, errno.EINTR), "rename": (errno.EIO, errno.ENOSPC, errno.EROFS),
            "read": (errno.EIO,), "openread": (errno.EACCES, errno.EMFILE), "mkdir": (errno.EACCES, errno.ENOSPC)}
# Faults after which a command must succeed: reads and writes are repeated, and a link is only needed to undo a rename.
HARMLESS = {"write": (errno.EINTR, "short"), "read": (errno.EINTR, "short"), "link": (errno.EPERM,), "remove": (errno.EACCES,)}


AFTER = "failure after the files were written"
BEGIN, END = "<!-- faults -->\n", "<!-- end faults -->"
STAGE = re.compile(r"stages/\d\d-")  # a file of --save-stages
EXPORT, EXPORT_FOLDER = "export-sources", "exported"
SECONDS = re.compile(rb"[0-9.]+ s\b")


def commands(repo):
    """Returns for each command its words and the files that it writes, except those of --save-stages. None: 50 files or more, those of
    a run. {out} is the folder of the run, {in} a folder with outputs of the commands before."""
    sin, digits = (repo / "models" / name for name in ("hello_sin", "digits_cnn"))

    def npu(target):
        return (["compile", digits / "digits_cnn.pt2", "--target", target, "--calibrate", digits / "calibrate.npz", "-o",
                 f"{{out}}/{target}.pte"], [f"{target}.pte"])

    return {
        "compile": (["compile", sin / "hello_sin.pt2", "--target", "cortex-m4", "--calibrate", sin / "calibrate.npz", "-o",
                     "{out}/net.pte", "--emit", "pte,c,ir"],
                    ["net.pte", "net.ir", "net.c", "net.h", "net.cmake"]),
        "compile for Ethos-U": npu("corstone-300"),
        "compile for Neutron": npu("mcxn947"),
        "compile for AXON": npu("nrf54lm20b"),
        "compile with stages": (["compile", sin / "hello_sin.pt2", "--target", "cortex-m4", "--calibrate", sin / "calibrate.npz",
                                 "-o", "{out}/staged.pte", "--save-stages", "{out}/stages"], ["staged.pte"]),
        "compile for one arena": (["compile", sin / "hello_sin.pt2", "{in}/second.pt2", "--share-arena", "--target", "cortex-m4",
                                   "--calibrate", sin / "calibrate.npz", sin / "calibrate.npz", "--out-dir", "{out}"],
                                  ["hello_sin.pte", "second.pte"]),
        "compile for a firmware": (["compile", sin / "hello_sin.pt2", "--target", "cortex-m4", "--calibrate", sin / "calibrate.npz",
                                    "--out-dir", "{out}/new/net", "--kernels-dir", "{out}/new/kernels", "--report", "{out}/report.html"],
                                   ["new/net/hello_sin.pte", "new/kernels/kernels_used.cpp", "new/kernels/kernels_used.cmake",
                                    "report.html"]),
        "compile a library": (["compile", sin / "hello_sin.pt2", "--target", "cortex-m4", "--calibrate", sin / "calibrate.npz",
                               "--out-dir", "{out}/library", "--emit", "c", "--c-layout", "arduino"], None),
        "opt": (["opt", "{in}/net.ir", "-o", "{out}/net.ir"], ["net.ir"]),
        "run": (["run", "{in}/net.pte", "--input", sin / "calibrate.npz", "--output", "{out}/new"], ["new/output_0.npy"]),
        "compare": (["compare", sin / "hello_sin.pt2", "{in}/net.pte", "--data", sin / "calibrate.npz", "--bundle", "{out}/net.bpte"],
                    ["net.bpte"]),
        EXPORT: (["export-sources", f"{{out}}/{EXPORT_FOLDER}", "--core", "cortex-m4", "--model", "{in}/net.pte"], None),
        "inspect": (["inspect", "{in}/net.pte", "--json"], []),
        "fit": (["fit", sin / "hello_sin.pt2", "--part", "corstone-300", "cortex-m4", "--calibrate", sin / "calibrate.npz"], []),
        "annotate": (["annotate", sin / "hello_sin.pt2", "--target", "cortex-m4"], []),
    }


def content_of(folder):
    """Path below the folder: bytes, for each file; for each folder without content the path and a slash. The times in a report, which
    differ, are removed."""
    found = {}
    for path in pathlib.Path(folder).rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_file():
            found[name] = SECONDS.sub(b"", path.read_bytes()) if path.suffix == ".html" else path.read_bytes()
        elif not any(path.iterdir()):
            found[name + "/"] = b""
    return found


class Command:
    """A command with its fault-free outputs."""

    def __init__(self, options, name, words, names, inputs):
        self.options, self.name, self.words, self.inputs = options, name, words, inputs
        self.expected, self.counts = {}, {}
        self.names = list(self.written(words)) if names is None else names
        self.calls_max = sys.maxsize if options.all else CALLS if names is not None else CALLS_OF_MANY
        if names is None and len(self.names) < 50:
            sys.exit(f"{self.shown()}: wrote {len(self.names)} files")
        if "--save-stages" in words:
            self.names = names + sorted(filter(STAGE.match, self.written(words)))
        self.old = {name: OLD for name in self.names}
        # The old files are those of an export for another core, which has files that the tested export removes.
        self.has_own_old = EXPORT in words
        if self.has_own_old:
            self.old = self.written([word.replace("cortex-m4", "cortex-m7") if isinstance(word, str) else word for word in words])
        for is_old in (False, True):
            self.counts[is_old] = self.count(is_old)

    def written(self, words):
        """Returns the files of a run without faults."""
        with tempfile.TemporaryDirectory() as folder:
            ran = self.run(folder, {}, words)
            if ran.returncode != 0:
                sys.exit(f"{self.shown()}: exit code {ran.returncode}: {ran.stderr}")
            return content_of(folder)

    def count(self, is_old):
        """Runs without a fault and keeps the files. Returns the number of calls by name."""
        with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile("r") as counts:
            self.write_old(folder, is_old)
            ran = self.run(folder, {"THIMBLE_FAULT_COUNTS": counts.name})
            found = content_of(folder)
            self.expected = self.expected or found
            if ran.returncode != 0 or set(found) != set(self.names) or found != self.expected:
                sys.exit(f"{self.shown()}: exit code {ran.returncode}, {self.difference(found)}, stderr: {ran.stderr}")
            return {name: int(count) for name, count in map(str.split, counts.read().splitlines())}

    def write_old(self, folder, is_old):
        """Returns the files that are there before the command."""
        before = self.old if is_old else {}
        for name, content in before.items():
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return before

    def difference(self, found):
        """Names at most 10 files that differ from those of a run without faults."""
        names = sorted(name for name in {*found, *self.names} if found.get(name) != self.expected.get(name))
        return f"{len(names)} files differ: {', '.join(names[:10])}"

    def shown(self):
        return f"{self.options.thimble} {' '.join(map(str, self.words))}"

    def repeat(self, fault, is_old):
        options = self.options
        return (f"repeat: python3 {pathlib.Path(__file__).resolve()} {options.thimble} {options.library} {options.repo.resolve()} "
                f"--command '{self.name}' --fault {fault}{' --old' if is_old else ''}")

    def run(self, folder, environment, words=None):
        words = [str(word).format(out=".", **{"in": self.inputs}) for word in words or self.words]
        return subprocess.run([self.options.thimble, *words], cwd=folder, capture_output=True, text=True, errors="replace",
                              env={**os.environ, "LD_PRELOAD": str(self.options.library), **environment})

    def is_unchanged(self, found, before):
        """Returns true if a command that failed has left the files from before; each stage may be complete instead."""
        stages = {name for name in {*found, *before} if STAGE.match(name)}
        others = {name: content for name, content in found.items() if name not in stages}
        return (others == {name: content for name, content in before.items() if name not in stages} and
                all(found.get(name) in (before.get(name), self.expected.get(name)) for name in stages))

    def check(self, fault, is_old, may_fail=True):
        """Runs with the fault. Returns the outcome, or ends the test."""
        with tempfile.TemporaryDirectory() as folder:
            before = self.write_old(folder, is_old)
            ran = self.run(folder, {"THIMBLE_FAULT": fault})
            found = content_of(folder)

            def fail(text):
                sys.exit(f"{text}: exit code {ran.returncode}, {self.difference(found)}, stderr: {ran.stderr[-500:]}\n"
                         f"{self.repeat(fault, is_old)}")

            if fault.endswith(":kill"):
                if ran.returncode != -signal.SIGKILL:
                    fail("not killed")
                for name, content in before.items():
                    if name in self.names and name not in found:
                        fail(f"{name} is missing")
                    if name not in self.names and found.get(name, content) != content:
                        fail(f"{name} was changed")
                for name, content in found.items():
                    if name in self.names and content not in (self.expected[name], before.get(name)):
                        fail(f"{name} is neither old nor complete")
                    if name not in (*self.names, *before) and ".tmp" not in name and not name.endswith("/"):
                        fail(f"{name} is left over")
                return "killed"
            if fault.startswith("remove:"):  # files that could not be removed
                left = [name for name in before if name in found and name not in self.names]
                for name in left:
                    if ran.returncode != 2 or name.encode() not in found[f"{EXPORT_FOLDER}/thimble_files.txt"].replace(
                            b"  ", f"  {EXPORT_FOLDER}/".encode()):
                        fail(f"{name} is left over and not in the list")
                found = {name: self.expected[name] if left and name.endswith("thimble_files.txt") else content
                         for name, content in found.items() if ".tmp" not in name and name not in left}
            if ran.returncode == 0:
                if found != self.expected:
                    fail("success with other files than a run without fault")
                return "success"
            if ran.returncode != 2 or not ran.stderr.strip() or not may_fail:
                fail("expected success" if not may_fail else "expected exit code 2 and a message")
            kind, _, action = fault.split(":")
            # A report that cannot be printed has no file to name.
            needs_reason = kind in ("read", "openread") or (kind != "allocate" and found != self.expected)
            if needs_reason and os.strerror(int(action)) not in ran.stderr:
                fail(f"the message does not say '{os.strerror(int(action))}'")
            if found == self.expected:
                return AFTER
            if not self.is_unchanged(found, before):
                fail("failed, but the files are neither those from before nor complete")
            return "failure"

    def check_all_allocations(self, folder, step):
        """Every allocation fails: in children of one run until it makes the names of its outputs, then each in a run of its own.
        Returns the outcomes with their counts, or ends the test."""
        folder = pathlib.Path(folder)
        environment = {"THIMBLE_FAULT_FORK": f"{folder}:1:{step}", "THIMBLE_FAULT_OLD": ":".join(self.old_of_child()),
                       "THIMBLE_THREADS": "1"}
        words = [str(word).format(out=".", **{"in": self.inputs}) for word in self.words]
        ran = subprocess.Popen([self.options.thimble, *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               env={**os.environ, "LD_PRELOAD": str(self.options.library), **environment})
        outcomes, read, last, is_running = collections.Counter(), 0, 0, True
        while is_running:
            is_running = ran.poll() is None
            time.sleep(0.2)
            results = folder / "results"
            lines = results.read_text() if results.exists() else ""
            for line in lines[read:lines.rfind("\n") + 1].splitlines():
                last, status = map(int, line.split())
                outcomes[self.check_child(folder, last, status)] += 1
            read = lines.rfind("\n") + 1
        if ran.returncode != 0:
            sys.exit(f"{self.shown()}: exit code {ran.returncode} of the run that makes the children: {ran.stderr.read()}")
        found = {name: content for name, content in content_of(folder).items() if name != "results"}
        if found != self.expected:
            sys.exit(f"{self.shown()}: the run that makes the children: {self.difference(found)}")
        # The number of an allocation depends on the length of the folder's name, so the two ranges overlap.
        for number in range(max(1, last - OVERLAP), self.counts[True]["allocate"] + OVERLAP, step):
            outcomes[self.check(f"allocate:{number}:{errno.ENOMEM}", is_old=True)] += 1
        return outcomes

    def old_of_child(self):
        """The files that a child writes first: fail_call.cpp can only write OLD."""
        return {} if self.has_own_old else self.old

    def check_child(self, folder, number, status):
        """Checks files and exit code of the child whose allocation failed, and removes its folder."""
        own, text = folder / str(number), folder / f"{number}.text"
        found = content_of(own)
        message = text.read_text(errors="replace")
        exited = os.waitstatus_to_exitcode(status)
        outcome = None
        # Stages that were written before the child was made are in the folder of the run, and the child has the old ones.
        expected = {name: OLD if STAGE.match(name) and found.get(name) == OLD else content for name, content in self.expected.items()}
        if exited == 0 and found == expected:
            outcome = "success"
        elif exited == 2 and message.strip():
            if found == expected:
                outcome = AFTER
            elif self.is_unchanged(found, self.old_of_child()):
                outcome = "failure"
        if outcome is None:
            sys.exit(f"allocation {number} of {self.shown()}: exit code {exited}, {self.difference(found)}, stderr: {message[-500:]}\n"
                     f"{self.repeat(f'allocate:{number}:{errno.ENOMEM}', True)}")
        shutil.rmtree(own)
        text.unlink()
        return outcome


def check_files(command, is_old, chosen, outcomes):
    """Calls of the C library that concern a file fail once, are interrupted, or end the process: of each function all, or a sample."""
    for kind, count in command.counts[is_old].items():
        if kind == "allocate":
            continue
        numbers = range(1, count + 1)
        # The last call of a function concerns the last output file, when the others are renamed.
        for number in numbers if count <= command.calls_max else sorted({*chosen.sample(numbers, command.calls_max), count}):
            for action in FAILURES.get(kind, ()):
                outcomes[kind, command.check(f"{kind}:{number}:{action}", is_old)] += 1
            for action in HARMLESS.get(kind, ()):
                # An old file of an export that cannot be removed is an error.
                may_fail = kind == "remove" and is_old and command.has_own_old
                outcomes[kind, command.check(f"{kind}:{number}:{action}", is_old, may_fail)] += 1
            outcomes[kind, command.check(f"{kind}:{number}:kill", is_old)] += 1


def check_allocations(command, step, sample, outcomes):
    """Every `step`-th allocation fails in a child process, and those of `sample` in a run of their own."""
    with tempfile.TemporaryDirectory() as folder:
        for outcome, count in command.check_all_allocations(folder, step).items():
            outcomes["allocate", outcome] += count
    for number in sorted(sample):
        outcomes["allocate", command.check(f"allocate:{number}:{errno.ENOMEM}", is_old=True)] += 1


def table_of(outcomes):
    """A row per command and fault: runs, and runs by outcome."""
    columns = ("success", "failure", AFTER, "killed")
    lines = ["| command | fault | runs | success | failure, old files | failure, complete files | killed |", "|---|---|--:|--:|--:|--:|--:|"]
    for command, counts in outcomes.items():
        for kind in sorted({kind for kind, _ in counts}):
            cells = [counts[kind, column] for column in columns]
            lines.append(f"| {command} | {kind} | {sum(cells):,} | " + " | ".join(f"{cell:,}" for cell in cells) + " |")
    return "\n".join(lines)


def write_table(document, text):
    before, rest = document.read_text().split(BEGIN)
    document.write_text(before + BEGIN + text + "\n" + rest[rest.index(END):])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("thimble", type=pathlib.Path)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("repo", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--command", help="only this command", choices=list(commands(pathlib.Path())))
    parser.add_argument("--step", type=int, default=1, help="every N-th allocation, with --all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fault", help="only this fault: a name, number and action of fail_call.cpp (NAME:NUMBER:ACTION); with --command")
    parser.add_argument("--old", action="store_true", help="with --fault: old files exist")
    options = parser.parse_args()
    options.thimble, options.library = options.thimble.resolve(), options.library.resolve()
    if not options.library.is_file():
        sys.exit(f"{options.library}: no such file; the target fail_call builds it")
    chosen = random.Random(options.seed)
    outcomes = {}
    with tempfile.TemporaryDirectory() as inputs:
        shutil.copyfile(options.repo / "models/hello_sin/hello_sin.pt2", pathlib.Path(inputs) / "second.pt2")
        for name, (words, names) in commands(options.repo.resolve()).items():
            command = Command(options, name, words, names, inputs)
            for output, content in command.expected.items():
                (pathlib.Path(inputs) / pathlib.PurePath(output).name).write_bytes(content)
            if options.command not in (None, name):
                continue
            if options.fault:
                print(command.check(options.fault, options.old))
                return
            counts = outcomes[name] = collections.Counter()
            for is_old in command.counts:
                check_files(command, is_old, chosen, counts)
            numbers = range(1, command.counts[True]["allocate"] + 1)
            if options.all:
                check_allocations(command, options.step, (), counts)
            else:
                sample = {*chosen.sample(numbers, min(SAMPLED, len(numbers))), *numbers[-LAST:]}
                check_allocations(command, len(numbers) // CHILDREN + 1, sample, counts)
    print(table_of(outcomes))
    if options.write:
        write_table(options.repo / "docs/faults.md", table_of(outcomes))
    found = {key for counts in outcomes.values() for key in counts}
    needed = {(kind, "failure") for kind in [*FAILURES, "allocate"]} | {(kind, "success") for kind in HARMLESS}
    if options.command is None and needed - found:
        sys.exit(f"no fault had this outcome: {sorted(needed - found)}")


if __name__ == "__main__":
    main()
