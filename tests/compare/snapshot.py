# SPDX-License-Identifier: Apache-2.0
"""Records what a build computes for every network on every target, and compares two records.

usage: snapshot.py BUILD_DIR -o FILE.json [--jobs 2] [--only REGEX] [--repo SOURCE_DIR]
       snapshot.py --diff BEFORE.json AFTER.json

A refactoring must not change any result. Record the build before it and the build after it, then compare:

    python3 tests/compare/snapshot.py build -o before.json --repo .
    python3 tests/compare/snapshot.py --diff before.json after.json

Each network of models/ is compiled for each target of `thimble targets`, with its calibration data. A record has
  - the exit code, the SHA-256 of the .pte and all numbers of `compile --json` except wall-clock times;
  - the SHA-256 of each output of two consecutive calls on the host, for samples of the model's golden.npz;
  - the SHA-256 of the C files for targets without an NPU, and of the files of VARIANTS;
  - instructions under QEMU, in total and per operator, for COUNTED networks on COUNTED_ON cores;
  - what `thimble targets` lists, and with --repo the files of expected sizes.
Numbers, Booleans and hashes are figures. Texts (names, reasons, messages) are wording; so is the hash of a C file with its
comments, while the hash of the same file without them is a figure. --diff prints each difference as
`path: old -> new` and exits with 1 if a figure differs. Differences in wording that repeat are printed once, with a count.

--only selects recordings whose name matches, for example 'resnet8/cortex-m' or 'instructions'. If a file was made with
--only, --diff compares the recordings that both files have. The two files of a comparison must be made by the same version
of this script. A complete record takes about nine minutes on two cores.
"""

import argparse
import ast
import collections
import concurrent.futures
import hashlib
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CALLS = 2  # on the host; the second call shows state that the first one has left
TIME_LIMIT = 1800  # seconds for one command
ABSENT = "absent"
# Options beyond the defaults: name, target, options, what is hashed in addition to the .pte.
VARIANTS = (
    ("--compat executorch", "cortex-m55", ("--compat", "executorch"), ()),
    ("--optimize size", "cortex-m55", ("--optimize", "size"), ()),
    ("--optimize flash", "cortex-m4", ("--optimize", "flash"), ()),
    ("--activations int16", "cortex-m4", ("--activations", "int16"), ()),
    ("--io int8 --inputs arena", "cortex-m0plus", ("--io", "int8", "--inputs", "arena"), ()),
    ("--names --emit ir", "cortex-m33", ("--names", "--emit", "pte,ir"), (".ir",)),
    ("--emit tosa", "cortex-m33", ("--emit", "pte,tosa"), (".tosa",)),
    ("--emit tflite", "cortex-m33", ("--emit", "pte,tflite"), (".tflite",)),
)
COUNTED = ("resnet8", "dscnn_kws", "mobilenet_v1_vww", "ad_autoencoder")
COUNTED_ON = ("cortex-m55", "cortex-m4", "cortex-m33", "cortex-m0plus")
COMMENTS = {".c": rb"(?s)/\*.*?\*/|//[^\n]*", ".h": rb"(?s)/\*.*?\*/|//[^\n]*", ".cmake": rb"#[^\n]*"}
EXPECTED_SIZES = ("tests/e2e/pte_sizes.json", "tests/firmware/sizes.json")


# --- Figures and wording -----------------------------------------------------------------------

def is_wall_clock(key):
    return key.endswith("_seconds")


def has_text(value):
    if isinstance(value, dict):
        return any(has_text(item) for item in value.values())
    if isinstance(value, list):
        return any(has_text(item) for item in value)
    return isinstance(value, str)


def split(record):
    """Returns (figures, wording) of a JSON object. A list of objects becomes one list for each key; empty lists are left
    out, because they do not say what they would hold."""
    figures, wording = {}, {}
    for key, value in record.items():
        if is_wall_clock(key) or value == []:
            continue
        if isinstance(value, list) and all(isinstance(row, dict) for row in value):
            value = {name: [row.get(name) for row in value] for name in sorted({name for row in value for name in row})}
        if isinstance(value, dict):
            figures[key], wording[key] = split(value)
        else:
            (wording if has_text(value) else figures)[key] = value
    return ({key: part for key, part in side.items() if part != {}} for side in (figures, wording))


# --- Recording ---------------------------------------------------------------------------------

def sha256(path, comments=None):
    return hashlib.sha256(re.sub(comments or rb"(?!)", b"", path.read_bytes())).hexdigest()


def series(raw, port, calls):
    """The .npy of the first `calls` samples of the array in the .npy `raw`, as inputs of the port. A port of int8 codes gets
    the first bytes of the array: any codes will do."""
    start = 10 + int.from_bytes(raw[8:10], "little")
    descr = "|i1" if port["dtype"] == "int8" else ast.literal_eval(raw[10:start].decode().strip())["descr"]
    shape = port["shape"]
    bytes_each = math.prod(shape) * int(descr[2:])
    header = repr({"descr": descr, "fortran_order": False, "shape": (calls, *shape)}).encode()
    header += b" " * (-(11 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + raw[start:start + calls * bytes_each]


class Recorder:
    def __init__(self, build, repo):
        self.program, self.repo = build / "thimble", repo

    def run(self, scratch, *arguments):
        """Returns exit code and answer of a command of thimble; an answer that is no JSON is a failure."""
        command = [str(self.program), *map(str, arguments), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, cwd=scratch)
        try:
            answer = json.loads(done.stdout)
        except ValueError:
            answer = {"error": (done.stdout + done.stderr).replace(str(scratch), "").replace(str(self.repo), "")}
        return done.returncode, answer

    def inputs(self, folder, ports, calls, scratch):
        """Options that give the first samples of golden.npz, or of calibrate.npz, to the ports."""
        source = folder / "golden.npz"
        if not source.exists():
            source = folder / "calibrate.npz"
        with zipfile.ZipFile(source) as archive:
            arrays = {name.removesuffix(".npy"): archive.read(name) for name in archive.namelist()}
        arrays = {name: raw for name, raw in arrays.items() if not re.fullmatch(r"y\d*|labels", name)}
        words = []
        for index, port in enumerate(ports):
            path = scratch / f"input_{index}.npy"
            raw = arrays.get(port["name"], list(arrays.values())[index])
            path.write_bytes(series(raw, port, calls))
            words += ["--input", path]
        return words

    def compile(self, model, target, options, scratch):
        calibration = model.parent / "calibrate.npz"
        words = ["--calibrate", calibration] if calibration.exists() else []
        return self.run(scratch, "compile", model, "--target", target, *words, *options, "--out-dir", scratch)

    def run_pte(self, model, report, calls, scratch, *options):
        inputs = self.inputs(model.parent, report["inputs"], calls, scratch)
        return self.run(scratch, "run", scratch / f"{model.stem}.pte", *inputs, "--steps", *options)

    def network(self, model, target, options, suffixes):
        """One compilation, the hashes of its files, and the outputs on the host."""
        with tempfile.TemporaryDirectory() as folder:
            scratch = pathlib.Path(folder)
            code, report = self.compile(model, target, options, scratch)
            record = {"exit_code": code, "compile": report}
            if code == 0:
                files = sorted(path for path in scratch.iterdir() if path.suffix in suffixes)
                record["sha256"] = {path.name: sha256(path, COMMENTS.get(path.suffix)) for path in files}
                record["with_comments"] = {path.name: sha256(path) for path in files if path.suffix in COMMENTS}
            if code == 0 and ".pte" in suffixes:
                ran_code, ran = self.run_pte(model, report, CALLS, scratch)
                record["run"] = {"exit_code": ran_code, **ran}
        return record

    def instructions(self, model, core):
        with tempfile.TemporaryDirectory() as folder:
            scratch = pathlib.Path(folder)
            code, report = self.compile(model, core, (), scratch)
            if code != 0:
                return {"exit_code": code, "compile": report}
            code, ran = self.run_pte(model, report, 1, scratch, "--on", "qemu", "--profile")
        return {"exit_code": code, **ran}

    def command(self, *arguments):
        code, answer = self.run(ROOT, *arguments)
        return {"exit_code": code, **answer}

    def expected_sizes(self, name):
        return {"sha256": {"file": sha256(self.repo / name)}, "sizes": json.loads((self.repo / name).read_text())}


def recordings(recorder, models, targets, with_sizes):
    """All there is to record, as {name: (function, arguments)}."""
    jobs = {"targets": (recorder.command, ("targets",)), "targets --ops": (recorder.command, ("targets", "--ops"))}
    for name in EXPECTED_SIZES if with_sizes else ():
        jobs[name] = (recorder.expected_sizes, (name,))
    for model in models:
        for target in targets:
            jobs[f"{model.stem}/{target['name']}"] = (recorder.network, (model, target["name"], (), (".pte",)))
            if not target["npus"]:
                jobs[f"{model.stem}/{target['name']} --emit c"] = (
                    recorder.network, (model, target["name"], ("--emit", "c"), (".c", ".h", ".cmake")))
        for name, target, options, suffixes in VARIANTS:
            jobs[f"{model.stem}/{target} {name}"] = (recorder.network, (model, target, options, (".pte", *suffixes)))
        if model.stem in COUNTED:
            for core in COUNTED_ON:
                jobs[f"instructions {model.stem}/{core}"] = (recorder.instructions, (model, core))
    return jobs


def separated(record):
    """(figures, wording) of a recording. Hashes are figures."""
    outputs = record.get("run", record).get("outputs", [])
    hashes = dict(record.pop("sha256", {}))
    for index, output in enumerate(outputs if isinstance(outputs, list) else []):
        if "sha256" in output:
            hashes[f"output_{index}"] = output.pop("sha256")
    figures, wording = split(record)
    return {"sha256": hashes, **figures}, wording


def write(path, head, records):
    """One line for each recording, so that text tools can compare two files too."""
    lines = [f" {json.dumps(name)}: {json.dumps(records[name], sort_keys=True, separators=(',', ':'))}"
             for name in sorted(records)]
    path.write_text(json.dumps(head)[:-1] + ', "records": {\n' + ",\n".join(lines) + "\n}}\n")


def record_build(arguments):
    repo = arguments.repo or ROOT
    recorder = Recorder(arguments.build.resolve(), repo.resolve())
    targets = recorder.command("targets")["targets"]
    models = sorted(recorder.repo.glob("models/*/*.pt2"))
    jobs = recordings(recorder, models, targets, arguments.repo is not None)
    jobs = {name: job for name, job in jobs.items() if re.search(arguments.only, name)}
    records = {}
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        running = {pool.submit(function, *words): name for name, (function, words) in jobs.items()}
        for done in concurrent.futures.as_completed(running):
            figures, wording = separated(done.result())
            records[running[done]] = {"figures": figures, "wording": wording}
            if sys.stderr.isatty():
                print(f"\r{len(records)} of {len(jobs)}", end="", file=sys.stderr, flush=True)
    head = {"only": arguments.only, "networks": [model.stem for model in models],
            "targets": [target["name"] for target in targets]}
    write(arguments.output, head, records)
    failed = sum(record["figures"]["exit_code"] != 0 for record in records.values() if "exit_code" in record["figures"])
    print(f"{len(records)} recordings, {failed} with an exit code other than 0")
    return 0


# --- Comparing ---------------------------------------------------------------------------------

def differences(path, old, new):
    """Yields (path, old, new) for each value that differs."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from differences(f"{path}.{key}", old.get(key, ABSENT), new.get(key, ABSENT))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, pair in enumerate(zip(old, new)):
            yield from differences(f"{path}[{index}]", *pair)
    elif old != new or type(old) is not type(new):
        yield path, old, new


def shown(value):
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 200 else f"{text[:200]}... ({len(text)} characters)"


def with_new_names(text):
    """Replaces operators' earlier names, renamed_operators.txt."""
    for line in (ROOT / "tests/compare/renamed_operators.txt").read_text().split("\n"):
        if line and not line.startswith("#"):
            text = text.replace(*line.split(" "))
    return text


def diff(before, after):
    old, new = json.loads(with_new_names(before.read_text())), json.loads(after.read_text())
    names = old["records"].keys() | new["records"].keys()
    if old["only"] or new["only"]:
        names = old["records"].keys() & new["records"].keys()
    figures, wording = 0, collections.defaultdict(list)
    for name in sorted(names):
        pair = [side["records"].get(name, {}) for side in (old, new)]
        for path, was, now in differences(f"{name}: figures", *(side.get("figures", ABSENT) for side in pair)):
            figures += 1
            print(f"{path}: {shown(was)} -> {shown(now)}")
        for path, was, now in differences(f"{name}: wording", *(side.get("wording", ABSENT) for side in pair)):
            wording[shown(was), shown(now)].append(path)
    for (was, now), paths in wording.items():
        more = f" (and in {len(paths) - 1} more places)" if len(paths) > 1 else ""
        print(f"{paths[0]}: {was} -> {now}{more}")
    count = sum(map(len, wording.values()))
    networks, targets = ({*old[key], *new[key]} for key in ("networks", "targets"))
    print(f"{len(networks)} networks x {len(targets)} targets, {len(names)} recordings: "
          f"{figures} differences in figures, {count} in wording")
    return 1 if figures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=pathlib.Path, help="a build folder with the program and firmware images")
    parser.add_argument("-o", "--output", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="record what matches this regular expression")
    parser.add_argument("--repo", type=pathlib.Path, help="the source tree: also record its files of expected sizes")
    parser.add_argument("--diff", nargs=2, type=pathlib.Path, metavar=("BEFORE", "AFTER"))
    arguments = parser.parse_args()
    if arguments.diff:
        return diff(*arguments.diff)
    if not arguments.build or not arguments.output:
        parser.error("BUILD_DIR and -o FILE.json expected")
    return record_build(arguments)


if __name__ == "__main__":
    sys.exit(main())
