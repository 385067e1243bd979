# SPDX-License-Identifier: Apache-2.0
"""Runs the `thimble` command on an example's network."""

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from . import arrays

ROOT = Path(__file__).resolve().parents[3]
NORDIC = ROOT / "examples" / "nordic"
TARGET = "nrf54lm20b"


class Failed(Exception):
    """A thimble command failed or gave a wrong result."""


def command(thimble, *words, json_answer=True):
    full = [str(thimble), *map(str, words), *(["--json"] if json_answer else [])]
    done = subprocess.run(full, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"exit {done.returncode}: {' '.join(full)}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout) if json_answer else done.stdout


def encoded(x: arrays.Array, port: dict) -> arrays.Array:
    """`x` quantized for the program's input; `port` is its row of the report."""
    if port["dtype"] != "int8":
        return x
    codes = (round(value / port["scale"]) + port["zero_point"] for value in x.data)
    return arrays.bytes_of((max(-128, min(127, code)) for code in codes), x.shape)


def decoded(y: arrays.Array, port: dict) -> arrays.Array:
    """The program's output, dequantized."""
    if port["dtype"] != "int8":
        return y
    return arrays.floats(((code - port["zero_point"]) * port["scale"] for code in y.data), y.shape)


@dataclass
class Run:
    outputs: list  # of Array; int8 outputs are dequantized
    hashes: list
    answer: dict


@dataclass
class Compiled:
    """A compiled network of this folder. `model` is one that PyTorch quantized; it needs no calibration data."""

    thimble: Path
    name: str
    folder: Path
    target: str
    io: str = "float"
    options: tuple = ()
    model: str = ""
    report: dict = field(init=False)
    pte: Path = field(init=False)

    def __post_init__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        source, model = NORDIC / self.name, self.model or self.name
        self.pte = self.folder / f"{'-'.join([model, self.target, *(word.strip('-') for word in self.options)])}.pte"
        calibrate = [] if self.model else ["--calibrate", source / "calibrate.npz"]
        self.report = command(self.thimble, "compile", source / f"{model}.pt2", "--target", self.target, *calibrate, "--io",
                              self.io, *self.options, "--emit", "pte,ir", "-o", self.pte)

    def run(self, x: arrays.Array, on: str = "host", profile: bool = False) -> Run:
        """Calls the model with each sample of `x`. The evaluator runs the integer graph, the others run the file."""
        arrays.save(self.folder / "x.npy", encoded(x, self.report["inputs"][0]))
        out = self.folder / f"out-{on}"
        program = self.pte.with_suffix(".ir") if on == "eval" else self.pte
        answer = command(self.thimble, "run", program, "--input", self.folder / "x.npy", "--steps", "--on", on, "--output",
                         out, *(["--profile"] if profile else []))
        outputs = [decoded(arrays.load(out / f"output_{i}.npy"), port) for i, port in enumerate(self.report["outputs"])]
        return Run(outputs, [output["sha256"] for output in answer["outputs"]], answer)

    def everywhere(self, x: arrays.Array) -> dict:
        """Runs the evaluator, this machine and an emulated Cortex-M33, which counts instructions."""
        runs = {on: self.run(x, on, profile=on == "qemu") for on in ("eval", "host", "qemu")}
        if len({tuple(run.hashes) for run in runs.values()}) != 1:
            raise Failed(f"{self.pte}: outputs differ: " + ", ".join(f"{on} {run.hashes}" for on, run in runs.items()))
        return runs
