"""Each write, open, close, rename and link of a command fails once, and memory runs out at sampled allocations.

usage: faults_test.py THIMBLE FAIL_CALL_LIBRARY REPO [--all] [--seed N]

For every fault the command must end with exit code 0 and the files of a run without faults, or with exit code 2, a message and
the files from before, without a further file. If only the report cannot be printed, the files are those of a run without faults.
A command that is killed leaves each file as it was or complete; only its temporary files may remain, as does one that cannot be
removed. --all lets every allocation fail instead of a sample. The counts of outcomes are printed.
"""

import argparse
import collections
import errno
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile

SAMPLED, LAST = 20, 10  # allocations per command: by seed, and the last ones, when files exist
OLD = b"old content"
FAILURES = {"write": (errno.ENOSPC, errno.EIO), "open": (errno.EACCES, errno.EROFS), "close": (errno.EIO,), "rename": (errno.EIO,)}
# These do not prevent the result: the C++ library repeats the write, and a link is only needed to undo a rename.
HARMLESS = {"write": (errno.EINTR, "short"), "link": (errno.EPERM,), "remove": (errno.EACCES,)}


def commands(repo):
    """Name: words, and the files that they write, after {out}."""
    sin, digits = (repo / "models" / name for name in ("hello_sin", "digits_cnn"))
    return {
        "compile": (["compile", sin / "hello_sin.pt2", "--target", "cortex-m4", "--calibrate", sin / "calibrate.npz", "-o",
                     "{out}/net.pte", "--emit", "pte,c,ir"],
                    ["net.pte", "net.ir", "net.c", "net.h", "net.cmake"]),
        "compile for an NPU": (["compile", digits / "digits_cnn.pt2", "--target", "corstone-300", "--calibrate",
                                digits / "calibrate.npz", "-o", "{out}/npu.pte"], ["npu.pte"]),
        "opt": (["opt", "{in}/net.ir", "-o", "{out}/net.ir"], ["net.ir"]),
        "run": (["run", "{in}/net.pte", "--input", sin / "calibrate.npz", "--output", "{out}"], ["output_0.npy"]),
    }


class Command:
    """A command with its fault-free outputs."""

    def __init__(self, options, words, names, inputs):
        self.options, self.names, self.inputs = options, names, inputs
        self.words = words
        self.expected, self.counts = {}, {}
        for is_old in (False, True):
            self.counts[is_old] = self.count(is_old)

    def count(self, is_old):
        """Runs without a fault and keeps the files. Returns the number of calls by name."""
        with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile("r") as counts:
            self.write_old(folder, is_old)
            ran = self.run(folder, {"THIMBLE_FAULT_COUNTS": counts.name})
            found = {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}
            self.expected = self.expected or found
            if ran.returncode != 0 or set(found) != set(self.names) or found != self.expected:
                sys.exit(f"{self.shown()}: exit code {ran.returncode}, wrote {sorted(found)}, expected {self.names}: {ran.stderr}")
            return {name: int(count) for name, count in map(str.split, counts.read().splitlines())}

    def write_old(self, folder, is_old):
        """Returns the files that are there before the command."""
        before = {name: OLD for name in self.names} if is_old else {}
        for name, content in before.items():
            (pathlib.Path(folder) / name).write_bytes(content)
        return before

    def shown(self):
        return f"{self.options.thimble} {' '.join(map(str, self.words))}"

    def run(self, folder, environment):
        words = [str(word).format(out=folder, **{"in": self.inputs}) for word in self.words]
        return subprocess.run([self.options.thimble, *words], capture_output=True, text=True, errors="replace",
                              env={**os.environ, "LD_PRELOAD": str(self.options.library), **environment})

    def check(self, fault, is_old, may_fail=True):
        """Runs with the fault. Returns the outcome, or ends the test."""
        with tempfile.TemporaryDirectory() as folder:
            before = self.write_old(folder, is_old)
            ran = self.run(folder, {"THIMBLE_FAULT": fault})
            found = {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}

            def fail(text):
                sys.exit(f"{text}: exit code {ran.returncode}, files {sorted(found)}, stderr: {ran.stderr[-500:]}\n"
                         f"repeat: THIMBLE_FAULT={fault} LD_PRELOAD={self.options.library} {self.shown()}")

            if fault.endswith(":kill"):
                if ran.returncode != -signal.SIGKILL:
                    fail("not killed")
                for name, content in found.items():
                    if name in self.names and content not in (self.expected[name], before.get(name)):
                        fail(f"{name} is neither old nor complete")
                    if name not in self.names and ".tmp" not in name:
                        fail(f"{name} is left over")
                return "killed"
            if fault.startswith("remove:"):  # a temporary file that cannot be removed
                found = {name: content for name, content in found.items() if ".tmp" not in name}
            if ran.returncode == 0:
                if found != self.expected:
                    fail("success with other files than a run without fault")
                return "success"
            if ran.returncode != 2 or not ran.stderr.strip() or not may_fail:
                fail("expected success" if not may_fail else "expected exit code 2 and a message")
            if found == self.expected:
                return "failure after the files were written"
            if found != before:
                fail("failed, but the files are neither those from before nor complete")
            return "failure"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("thimble", type=pathlib.Path)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("repo", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.thimble, options.library = options.thimble.resolve(), options.library.resolve()
    chosen = random.Random(options.seed)
    outcomes = collections.Counter()
    with tempfile.TemporaryDirectory() as inputs:
        for name, (words, names) in commands(options.repo.resolve()).items():
            command = Command(options, words, names, inputs)
            for output, content in command.expected.items():
                (pathlib.Path(inputs) / output).write_bytes(content)
            numbers = range(1, command.counts[True]["allocate"] + 1)
            sample = {*chosen.sample(numbers, min(SAMPLED, len(numbers))), *numbers[-LAST:]}
            for number in numbers if options.all else sorted(sample):
                outcomes["allocate", command.check(f"allocate:{number}:{errno.ENOMEM}", is_old=True)] += 1
            for is_old, counts in command.counts.items():
                for kind, count in counts.items():
                    if kind == "allocate":
                        continue
                    for number in range(1, count + 1):
                        for action in FAILURES.get(kind, ()):
                            outcomes[kind, command.check(f"{kind}:{number}:{action}", is_old)] += 1
                        for action in HARMLESS.get(kind, ()):
                            outcomes[kind, command.check(f"{kind}:{number}:{action}", is_old, may_fail=False)] += 1
                        outcomes[kind, command.check(f"{kind}:{number}:kill", is_old)] += 1
    for (kind, outcome), count in sorted(outcomes.items()):
        print(f"{kind}: {count} {outcome}")
    needed = {(kind, "failure") for kind in [*FAILURES, "allocate"]} | {(kind, "success") for kind in HARMLESS}
    if needed - set(outcomes):
        sys.exit(f"no fault had this outcome: {sorted(needed - set(outcomes))}")


if __name__ == "__main__":
    main()
