"""Every small exported module of tests/data/pt2, compiled and run.

usage: corpus_test.py THIMBLE DATA_FOLDER

Whatever a module is, `compile` ends with exit code 0, 1 or 2 and a message, never with a crash;
what it accepts runs on the host with the evaluator's outputs, bit for bit, in both dialects, for a
core with and one without vectors, with float and with int8 inputs and outputs.
"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import zipfile

from npy import write_npy

DIALECTS = {"native": [], "stock": ["--compat", "executorch"]}
COMBINATIONS = [("cortex-m55", "native", "float"), ("cortex-m55", "stock", "int8"),
                ("cortex-m3", "native", "int8"), ("cortex-m3", "stock", "float")]
DTYPES = {"float32": ("<f4", 4), "int8": ("|i1", 1)}


def write_calibration(thimble, model, path):
    """One sample: the inputs that PyTorch's outputs were recorded for, by their names."""
    shown = run(thimble, "inspect", model, "--json")
    ports = json.loads(shown.stdout)["inputs"] if shown.returncode == 0 else []
    names = [port["name"] for port in ports if port["kind"] == "input"]
    with zipfile.ZipFile(model.with_suffix(".npz")) as recorded, zipfile.ZipFile(path, "w") as out:
        for index, name in enumerate(names):
            out.writestr(f"{name}.npy", recorded.read(f"in{index}.npy"))


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)


def inputs_of(thimble, pte, folder):
    """Files with some bytes for each input: patterns that make small finite floats."""
    ports = json.loads(run(thimble, "inspect", pte, "--json").stdout)["inputs"]
    files = []
    for index, port in enumerate(ports):
        descr, width = DTYPES[port["dtype"]]
        count = 1
        for size in port["shape"]:
            count *= size
        values = [(37 * i + 11 * index) % 201 - 100 for i in range(count)]
        data = (struct.pack(f"<{count}b", *values) if width == 1 else
                struct.pack(f"<{count}f", *[value / 50 for value in values]))
        files.append(folder / f"in_{index}.npy")
        write_npy(files[-1], descr, port["shape"], data)
    return [word for file in files for word in ("--input", file)]


def check(thimble, model, calibration, folder, target, dialect, io):
    """Answers what is wrong, or nothing; and whether the module was accepted."""
    pte = folder / "model.pte"
    pte.unlink(missing_ok=True)
    done = run(thimble, "compile", model, "--target", target, "--calibrate",
               calibration, "--io", io, "-o", pte, *DIALECTS[dialect])
    if done.returncode not in (0, 1, 2):
        return f"exit {done.returncode}: {done.stderr}", False
    if done.returncode != 0:
        silent = not done.stderr.strip()
        return ("no message" if silent else "a file was left" if pte.exists() else None), False
    inputs = inputs_of(thimble, pte, folder)
    answers = {on: run(thimble, "run", pte, *inputs, "--on", on, "--json") for on in ("host", "eval")}
    for on, answer in answers.items():
        if answer.returncode != 0:
            return f"on {on}: exit {answer.returncode}: {answer.stderr}", True
    host, judge = (json.loads(answers[on].stdout)["outputs"] for on in ("host", "eval"))
    return (None if host == judge else "host and evaluator differ"), True


def main():
    thimble, data = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    accepted = failures = runs = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        calibration = folder / "calibrate.npz"
        for model in sorted(data.glob("*.pt2")):
            write_calibration(thimble, model, calibration)
            for target, dialect, io in COMBINATIONS:
                wrong, took = check(thimble, model, calibration, folder, target,
                                    dialect, io)
                runs, accepted = runs + 1, accepted + took
                if wrong:
                    failures += 1
                    print(f"FAILED {model.stem} {target} {dialect} {io}: {wrong}", flush=True)
    print(f"{runs} compilations, {accepted} accepted and run, {failures} failures")
    return 1 if failures or not accepted else 0


if __name__ == "__main__":
    sys.exit(main())
