# SPDX-License-Identifier: Apache-2.0
"""One network on parts with an Ethos-U: the NPU's simulator, called by the driver, gives the evaluator's outputs.

usage: ethos_u_test.py THIMBLE MODEL_DIR [TARGET...]

Compiles MODEL_DIR/<name>.pt2 for each target, prints which integer operators are not on the NPU and why (each must
have a reason), and runs a few consecutive calls: the evaluator on the graph that the compiler reports, the host, and
the emulated board with the simulator in the firmware. All outputs agree by SHA-256, the streams have no
hazard, and the compiler's estimate of cycles is close to the simulator's timeline.
"""

import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from network_test import thimble, write_inputs

TARGETS = ("ethos-u55-128", "ethos-u85-256")
EDGES = ("quantize", "dequantize")
# Maximum relative difference of the compiler's estimate and the simulator's timeline. It is largest for tiny networks.
ESTIMATE_WITHIN = 0.30


def check(program, folder, target, scratch):
    pte = scratch / f"{target}.pte"
    report = thimble(program, "compile", folder / f"{folder.name}.pt2", "--target", target,
                     "--calibrate", folder / "calibrate.npz", "--emit", "pte,ir", "-o", pte)
    on_npu = [op for op in report["ops"] if op["engine"] == target]
    left = [op for op in report["ops"]
            if op["engine"] != target and not any(edge in op["op"] for edge in EDGES)]
    for op in left:
        if not op["reason"]:
            sys.exit(f"{target}: {op['op']} of {op['node']} is not on the NPU and nothing says why")
        print(f"  on the CPU: {op['op']} {op['node']}: {op['reason']}")
    if not on_npu:
        sys.exit(f"{target}: nothing runs on the NPU")
    inputs = write_inputs(folder, report["inputs"], scratch)
    hashes = {}
    for place, file in (("eval", pte.with_suffix(".ir")), ("host", pte), ("qemu", pte)):
        profile = ["--profile"] if place == "host" else []
        ran = thimble(program, "run", file, *inputs, "--steps", "--on", place, *profile)
        for npu in ran.get("npu", []):
            if npu["hazards"]:
                sys.exit(f"{target}: {npu['hazards']}")
        timeline = sum(npu["cycles"] for npu in ran.get("npu", []))
        if timeline and abs(report["npu_cycles"] / timeline - 1) > ESTIMATE_WITHIN:
            sys.exit(f"{target}: estimated {report['npu_cycles']} cycles, the timeline has {timeline:.0f}")
        hashes[place] = [output["sha256"] for output in ran["outputs"]]
        if place == "qemu" and ran["arena_bytes_used"] != report["arena_bytes"]:
            sys.exit(f"{target}: arena {ran['arena_bytes_used']}, planned {report['arena_bytes']}")
    if len(set(map(tuple, hashes.values()))) != 1:
        sys.exit(f"{target}: outputs differ\n{json.dumps(hashes, indent=2)}")
    print(f"{target}: {len(on_npu)} operators on the NPU, {len(left)} on the CPU, {report['npu_cycles']} cycles, "
          f"arena {report['arena_bytes']}, {hashes['host'][0][:16]} everywhere")


def main():
    program, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        for target in sys.argv[3:] or TARGETS:
            check(program, folder, target, pathlib.Path(scratch))


if __name__ == "__main__":
    main()
