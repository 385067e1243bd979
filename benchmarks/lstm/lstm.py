#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares one LSTM layer as one operator and as a loop of elementary operators.

usage: lstm.py [--build build] [--target NAME ...] [--check]

The same layer (input 40, 64 cells, 49 steps, the weights of one seed) is exported as torch.nn.LSTM
(aten.lstm) and as a loop of linear, sigmoid, tanh, mul and add, and compiled for each target. Writes
README.md in this folder, or compares with it (--check): bytes of the `.pte`, bytes of the kernels it links, calls, arena, and
instructions of one run under QEMU. Needs PyTorch.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import numpy
import torch
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
INPUT, CELLS, STEPS = 40, 64, 49
SAMPLES = 32
HEADER = f"""# An LSTM in one call

This table is written by `lstm.py`. The layer has {CELLS} cells and runs over {STEPS} steps of {INPUT} numbers. It is exported as
`torch.nn.LSTM` (`aten.lstm`) and as its separate steps (linear, sigmoid, tanh, mul, add). Thimble compiles both for the core.
Kernels: bytes of flash that linking them adds (`-O2`, with the library functions they call). Instructions: one run of all
steps under QEMU, including quantize and dequantize. SQNR: against PyTorch's float result, on samples that are not used for
calibration.

| form | core | `.pte` B | kernels B | calls | arena B | instructions | SQNR dB |
|---|---|--:|--:|--:|--:|--:|--:|
"""


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(INPUT, CELLS, batch_first=True)

    def forward(self, x):
        return self.lstm(x)[0]


class Steps(nn.Module):
    """The layer's equations with the layer's own weights, as PyTorch decomposes it: the inputs' part of the
    gates for all steps at once, then the rest step by step."""

    def __init__(self, lstm):
        super().__init__()
        self.x_gates, self.h_gates = nn.Linear(INPUT, 4 * CELLS), nn.Linear(CELLS, 4 * CELLS)
        with torch.no_grad():
            self.x_gates.weight.copy_(lstm.weight_ih_l0)
            self.x_gates.bias.copy_(lstm.bias_ih_l0)
            self.h_gates.weight.copy_(lstm.weight_hh_l0)
            self.h_gates.bias.copy_(lstm.bias_hh_l0)

    def forward(self, x):
        h = c = torch.zeros(1, CELLS)
        inputs, steps = self.x_gates(x), []
        for t in range(STEPS):
            gates = inputs[:, t] + self.h_gates(h)
            i, f, g, o = gates.chunk(4, dim=1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            steps.append(h)
        return torch.stack(steps, dim=1)


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def kernel_bytes(build, core, source, scratch):
    """Flash bytes of the kernels in a generated table, linked from the archive of the core without anything else."""
    flags = re.search(rf"^thimble_core\({core} \S+ FLAGS (.*?)(?: ISA .*)?\)",
                      (ROOT / "firmware/cores.cmake").read_text(), re.M).group(1).split()
    compiler = ["arm-none-eabi-g++", *flags, "-mthumb", "-std=c++17", "-fno-exceptions", "-fno-rtti", f"-I{ROOT}",
                f"-I{ROOT}/runtime/include"]
    table, image = scratch / "table.o", scratch / "kernels.elf"
    run([*compiler, "-Os", "-c", source, "-o", table])
    run([*compiler, "-nostdlib", "-nostartfiles", "-static", "-Wl,--gc-sections", "-Wl,-e,thimble_model_kernels",
         table, "-Wl,--start-group", build / "firmware" / core / "libkernels.a", "-lm", "-lc", "-lgcc",
         "-Wl,--end-group", "-o", image])
    return int(run(["arm-none-eabi-size", image]).splitlines()[1].split()[0])


def measure(build, model, core, calibration, tests, expected, scratch):
    program, pte, kernels = build / "thimble", scratch / "model.pte", scratch / "kernels.cpp"
    report = json.loads(run([program, "compile", model, "--target", core, "--calibrate", calibration, "-o", pte,
                             "--kernels", kernels, "--json"]))
    assert report["float_ops"] == 0
    ran = json.loads(run([program, "run", pte, "--input", tests[0], "--on", "qemu", "--json"]))
    on_host = json.loads(run([program, "run", pte, "--input", tests[0], "--json"]))
    assert ran["outputs"][0]["sha256"] == on_host["outputs"][0]["sha256"]
    noise = signal = 0.0
    for path, wanted in zip(tests, expected, strict=True):
        run([program, "run", pte, "--input", path, "--output", scratch])
        got = numpy.load(scratch / "output_0.npy").astype(numpy.float64)
        noise, signal = noise + ((got - wanted) ** 2).sum(), signal + (wanted ** 2).sum()
    return {"pte": pte.stat().st_size, "kernels": kernel_bytes(build, core, kernels, scratch),
            "calls": len(report["ops"]), "arena": report["arena_bytes"], "instructions": ran["instructions"],
            "sqnr": 10 * numpy.log10(signal / noise)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--target", nargs="+", default=["cortex-m55", "cortex-m4"])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    torch.manual_seed(11)
    layer = Layer().eval()
    forms = {"aten.lstm": layer, "steps": Steps(layer.lstm).eval()}
    x = torch.randn(SAMPLES + 4, STEPS, INPUT).cumsum(1) / 4
    with torch.no_grad():
        assert torch.allclose(forms["aten.lstm"](x[:1]), forms["steps"](x[:1]), atol=1e-5)
        expected = [layer(sample[None]).numpy() for sample in x[SAMPLES:]]
    page = HEADER
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        calibration, tests = scratch / "calibrate.npz", []
        numpy.savez(calibration, x=x[:SAMPLES].numpy())
        for index, sample in enumerate(x[SAMPLES:]):
            tests.append(scratch / f"test_{index}.npy")
            numpy.save(tests[-1], sample[None].numpy())
        for name, module in forms.items():
            model = scratch / "model.pt2"
            with warnings.catch_warnings(action="ignore"):  # about the storage of torch.nn.LSTM's weights
                torch.export.save(torch.export.export(module, (x[:1],)), str(model))
            for core in options.target:
                r = measure(options.build.resolve(), model, core, calibration, tests, expected, scratch)
                page += (f"| {name} | {core} | {r['pte']:,} | {r['kernels']:,} | {r['calls']:,} | {r['arena']:,} "
                         f"| {r['instructions']:,} | {r['sqnr']:.1f} |\n")
                print(page.splitlines()[-1], flush=True)
    if options.check and page != (HERE / "README.md").read_text():
        sys.exit(f"{HERE}/README.md differs; to write it: python benchmarks/lstm/lstm.py")
    (HERE / "README.md").write_text(page)


if __name__ == "__main__":
    main()
