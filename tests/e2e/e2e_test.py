# SPDX-License-Identifier: Apache-2.0
"""One network through all stages: every target, both dialects, and every way to run the result.

usage: e2e_test.py THIMBLE MODEL_FOLDER [--bless]

For each target and dialect: the host's outputs for five inputs equal the evaluator's on the graph
read back from the `.pte`, and those of the emulated boards. No operator stays in float. The arena
has its proven minimum. The file has the size in pte_sizes.json (--bless writes that file) and is
smaller than ExecuTorch's file of the same network, where tests/data/executorch has one.
"""

import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "matrix"))
from ledger import record
SIZES = HERE / "pte_sizes.json"
DIALECTS = {"native": [], "stock": ["--compat", "executorch"]}
BOARDS = ["cortex-m3", "cortex-m33", "cortex-m4", "cortex-m55"]  # one per instruction set, and the M4

# Files that ExecuTorch 1.5.1 made of the same networks (tests/peers/executorch_make.py).
EXECUTORCH = HERE.parent / "data" / "executorch"
EXECUTORCH_FILES = {
    ("hello_sin", "cortex-m55"): EXECUTORCH / "hello_sin.pte",
    ("hello_sin", "cortex-m4"): EXECUTORCH / "hello_sin_m4.pte",
    ("digits_cnn", "cortex-m55"): EXECUTORCH / "digits_cnn.pte",
    ("dscnn_kws", "cortex-m55"): EXECUTORCH / "dscnn_kws.pte",
}


class Test:
    def __init__(self, thimble, model, folder):
        self.thimble, self.model, self.folder = thimble, model, folder
        self.failures = []
        self.evaluated = {}  # outputs by file content without the target's name
        with zipfile.ZipFile(model / "golden.npz") as archive:
            archive.extract("x.npy", folder)

    def expect(self, holds, message):
        if not holds:
            self.failures.append(message)
            print("FAILED", message, flush=True)

    def json(self, *arguments):
        command = [str(self.thimble), *map(str, arguments), "--json"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            self.expect(False, f"exit {done.returncode}: {' '.join(command)}\n{done.stderr}")
            return None
        return json.loads(done.stdout)

    def outputs(self, pte, on):
        answer = self.json("run", pte, "--input", self.folder / "x.npy", "--steps", "--on", on)
        return answer and [output["sha256"] for output in answer["outputs"]]

    def evaluator_outputs(self, pte, target):
        name = target.encode().ljust(16, b"\0")
        content = hashlib.sha256(pte.read_bytes().replace(name, bytes(16))).hexdigest()
        if content not in self.evaluated:
            self.evaluated[content] = self.outputs(pte, "eval")
        return self.evaluated[content]

    def check(self, target, dialect):
        """Compiles and checks; returns the file's size."""
        name, label = self.model.name, f"{self.model.name} {target} {dialect}"
        pte = self.folder / f"{target}-{dialect}.pte"
        report = self.json("compile", self.model / f"{name}.pt2", "--target", target, "--calibrate",
                           self.model / "calibrate.npz", "-o", pte, *DIALECTS[dialect])
        if report is None:
            return None
        size = pte.stat().st_size
        self.expect(report["pte_bytes"] == size, f"{label}: pte_bytes")
        self.expect(report["float_ops"] == 0, f"{label}: {report['float_ops']} float operators")
        arena, least = report["arena_bytes"], report["arena_lower_bound_bytes"]
        self.expect(arena == least, f"{label}: arena {arena}, lower bound {least}")
        peer = EXECUTORCH_FILES.get((name, target))
        if peer is not None:
            self.expect(size < peer.stat().st_size, f"{label}: {size} bytes, {peer} has {peer.stat().st_size}")
        wanted = self.evaluator_outputs(pte, target)
        for on in ["host"] + (["qemu"] if target in BOARDS else []):
            got = self.outputs(pte, on)
            record(report, target if on == "qemu" else on, got == wanted)
            self.expect(got == wanted, f"{label}: {on} gives {got}, the evaluator {wanted}")
        return size


def check_sizes(test, sizes, bless):
    known = json.loads(SIZES.read_text()) if SIZES.exists() else {}
    name = test.model.name
    if bless:
        known[name] = sizes
        SIZES.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
        return
    for dialect, by_target in sizes.items():
        for target, size in by_target.items():
            before = known.get(name, {}).get(dialect, {}).get(target)
            test.expect(size == before, f"{name} {target} {dialect}: {size} bytes, pte_sizes.json "
                        f"has {before}; --bless if that is right")


def main():
    thimble, model = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        test = Test(thimble, model, pathlib.Path(folder))
        listed = test.json("targets")
        sizes = {dialect: {} for dialect in DIALECTS}
        for target in [row["name"] for row in listed["targets"] if row["name"] == row["cpu"]]:
            for dialect in DIALECTS:
                sizes[dialect][target] = test.check(target, dialect)
        check_sizes(test, sizes, "--bless" in sys.argv)
    print(f"{model.name}: {len(test.failures)} failures")
    return 1 if test.failures else 0


if __name__ == "__main__":
    sys.exit(main())
