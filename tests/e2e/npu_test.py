# SPDX-License-Identifier: Apache-2.0
"""Networks on a part whose NPU has an integer model: the model's outputs equal the evaluator's.

usage: npu_test.py PART THIMBLE MODEL_DIR              compiled from float with its calibration data
       npu_test.py PART THIMBLE tests/data/pt2 CASE... quantized by PyTorch like the vendor's quantizer, with its parameters

PART is nrf54lm20b, imxrt700 or imxrt700cm. Each integer operator that is not on the NPU has a reason, which is printed. The
evaluator on the graph that the compiler reports, the host and the emulated M33 agree by SHA-256 over a few consecutive
runs, including the state.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from network_test import thimble, write_inputs
from npy import read_floats

# By part: the NPU's engine, and the variable that a note of the report must name because real silicon needs it.
PARTS = {"nrf54lm20b": ("axon", "SDK_EDGE_AI_PATH"), "imxrt700": ("neutron-n3-64", "EIQ_NEUTRON_SDK_PATH"),
         "imxrt700cm": ("neutron-n3-64", "EIQ_NEUTRON_SDK_PATH")}
# Maximum difference of our integers and PyTorch's quantized graph (computed in float), in steps of the output's scale.
STEPS_MOST = 3.01
EDGE = re.compile(r"^\w+::(de)?quantize(_per_tensor)?\.")


def compiled(part, program, model, scratch, *options):
    pte = scratch / "model.pte"
    engine, needed = PARTS[part]
    report = thimble(program, "compile", model, "--target", part, "--emit", "pte,ir", "-o", pte, *options)
    on_npu = [op for op in report["ops"] if op["engine"] == engine]
    left = [op for op in report["ops"]
            if op["engine"] != engine and not EDGE.match(op["op"])]
    for op in left:
        if not op["reason"]:
            sys.exit(f"{op['op']} of {op['node']} is not on the NPU and nothing says why")
        print(f"  on the CPU: {op['op']} {op['node']}: {op['reason']}")
    if not on_npu:
        sys.exit("nothing runs on the NPU")
    if not any(needed in note for note in report["notes"]):
        sys.exit("the report does not say what silicon needs")
    print(f"{len(on_npu)} operators on the NPU, {len(left)} on the CPU, {report['npu_calls']} calls, "
          f"{report['npu_cycles']} cycles, {report['time_us'] and round(report['time_us'])} us")
    return pte, report


def agree(program, pte, inputs, steps):
    hashes = {}
    for place, file in (("eval", pte.with_suffix(".ir")), ("host", pte), ("qemu", pte)):
        ran = thimble(program, "run", file, *inputs, *steps, "--on", place)
        hashes[place] = [output["sha256"] for output in ran["outputs"]]
    if len(set(map(tuple, hashes.values()))) != 1:
        sys.exit(f"outputs differ\n{json.dumps(hashes, indent=2)}")
    print(f"{hashes['host'][0][:16]} everywhere")


def check_float(part, program, folder, scratch):
    pte, report = compiled(part, program, folder / f"{folder.name}.pt2", scratch, "--npu-small", "--calibrate",
                           folder / "calibrate.npz")
    agree(program, pte, write_inputs(folder, report["inputs"], scratch), ["--steps"])


def check_parameters(program, pte, scale, inputs, archive, scratch):
    """PyTorch's recorded values are multiples of the file's own scale; the file's outputs differ by a step at most."""
    thimble(program, "run", pte, *inputs, "--output", scratch)
    archive.extract("out0.npy", scratch)
    recorded, got = (read_floats(scratch / name) for name in ("out0.npy", "output_0.npy"))
    off_grid = max(abs(value / scale - round(value / scale)) for value in recorded)
    steps = max(abs(a - b) / scale for a, b in zip(recorded, got, strict=True))
    print(f"  at most {steps:.0f} steps of {scale} from what PyTorch computed")
    if off_grid > 0.01 or steps > STEPS_MOST:
        sys.exit(f"{steps} steps of {scale} apart, the grid is {off_grid} off")


def check_quantized(part, program, data, case, scratch):
    print(f"-- {case}")
    # Only a file with quantized inputs and outputs contains their scale.
    scale = compiled(part, program, data / f"{case}.pt2", scratch, "--npu-small", "--io", "int8")[1]["outputs"][0].get("scale")
    pte, _ = compiled(part, program, data / f"{case}.pt2", scratch, "--npu-small")
    inputs = []
    with zipfile.ZipFile(data / f"{case}.npz") as archive:
        for name in sorted(name for name in archive.namelist() if name.startswith("in")):
            archive.extract(name, scratch)
            inputs += ["--input", scratch / name]
        if part != "nrf54lm20b":  # the AXON has its own arithmetic
            check_parameters(program, pte, scale, inputs, archive, scratch)
    agree(program, pte, inputs, [])


def main():
    part, (program, folder) = sys.argv[1], (pathlib.Path(word).resolve() for word in sys.argv[2:4])
    if not sys.argv[4:]:
        with tempfile.TemporaryDirectory() as scratch:
            check_float(part, program, folder, pathlib.Path(scratch))
    for case in sys.argv[4:]:
        with tempfile.TemporaryDirectory() as scratch:
            check_quantized(part, program, folder, case, pathlib.Path(scratch))


if __name__ == "__main__":
    main()
