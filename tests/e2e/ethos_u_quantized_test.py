# SPDX-License-Identifier: Apache-2.0
"""Models that PyTorch quantized for an Ethos-U compile from their .pt2 with the graph's own parameters.

usage: ethos_u_quantized_test.py THIMBLE tests/data/pt2

Post-training quantization with a scale per channel and per tensor, and quantization-aware training, all by ExecuTorch's
EthosUQuantizer. No calibration data is given. All integer operators run on the NPU, and host, emulated board and
evaluator agree.
"""

import json
import pathlib
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from network_test import thimble

CASES = ("q_ethos_u_image", "q_ethos_u_mixed", "q_ethos_u_rows", "q_ethos_u_per_tensor_image", "q_ethos_u_qat_image",
         "q_ethos_u_upscaled")
TARGETS = ("ethos-u55-128", "ethos-u65-512", "ethos-u85-256")


def check(program, data, case, target, scratch):
    pte = scratch / "model.pte"
    report = thimble(program, "compile", data / f"{case}.pt2", "--target", target, "--emit", "pte,ir", "-o", pte)
    engines = report["engines"]
    if report["fallbacks"]:
        sys.exit(f"{case} for {target}: {report['fallbacks']}")
    with zipfile.ZipFile(data / f"{case}.npz") as archive:
        names = sorted(name for name in archive.namelist() if name.startswith("in"))
        inputs = []
        for name in names:
            archive.extract(name, scratch)
            inputs += ["--input", scratch / name]
    hashes = {}
    for place, file in (("eval", pte.with_suffix(".ir")), ("host", pte), ("qemu", pte)):
        ran = thimble(program, "run", file, *inputs, "--on", place)
        hashes[place] = [output["sha256"] for output in ran["outputs"]]
    if len(set(map(tuple, hashes.values()))) != 1:
        sys.exit(f"{case} for {target}: outputs differ\n{json.dumps(hashes, indent=2)}")
    print(f"{case} for {target}: {engines}, {hashes['host'][0][:16]} everywhere")


def main():
    program, data = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    for case in CASES:
        for target in TARGETS:
            with tempfile.TemporaryDirectory() as scratch:
                check(program, data, case, target, pathlib.Path(scratch))


if __name__ == "__main__":
    main()
