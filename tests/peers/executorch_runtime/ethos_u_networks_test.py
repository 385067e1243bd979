#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks that ExecuTorch's own Ethos-U flow and Vela compile, in Thimble's simulator.

    ethos_u_networks_test.py THIMBLE SOURCE LIBRARIES FOLDER [CASE...]

Each file runs in Thimble's runtime, in ExecuTorch's runtime with Thimble's libraries, and on an emulated board. The reference
is the TOSA reference model: it runs the TOSA graph that Vela compiled for each delegate call; PyTorch runs the other operators of
the lowered program. All results must be equal bit for bit. Exit 77 if ExecuTorch, Vela or the reference model is not installed.
"""

import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import executorch_ethos_u  # noqa: E402
from loading import arrays, differences, emulated, executorch_run, is_missing  # noqa: E402
from loading import load_libraries, run_cases, thimble_run  # noqa: E402
from networks import FULL_SIZE, network  # noqa: E402

#: Per NPU: the emulated board that has it.
BOARDS = {"ethos-u55-128": "corstone-300", "ethos-u85-256": "corstone-320"}
NETWORKS = ("resnet8", "mobilenet_v2_tiny", "mobilenet_v3_tiny", "deit_tiny_like")
#: Case: network, NPU. Those of networks of full size run only if they are named.
CASES = {f"{name}-{npu}": (name, npu) for npu in BOARDS for name in (*NETWORKS, *FULL_SIZE)}


def check(judge, thimble, source, folder, case):
    name, npu = CASES[case]
    module, samples = network(source, name)
    answers, data = executorch_ethos_u.lower(judge, module, samples, npu, {})
    path = folder / f"{case}.pte"
    path.write_bytes(data)
    inputs, required = arrays(samples[: len(answers)]), arrays(answers)
    found = thimble_run(thimble, path, inputs)
    in_executorch = executorch_run(thimble, path, inputs)
    board, facts = emulated(thimble, path, inputs[0], BOARDS[npu], folder, "--profile")
    wrong = [differences(required, found), differences(in_executorch, found), differences([found[0]], [board])]
    line = (
        f"{case}: {len(data):,} B, {len(inputs)} samples; outputs that differ: {wrong[0]} from the TOSA reference model, "
        f"{wrong[1]} from ExecuTorch's runtime, {wrong[2]} from {BOARDS[npu]} with {facts['instructions']:,} instructions of the core "
        f"and {facts['npu_cycles']:,} cycles of the NPU"
    )
    return line, not any(wrong) and facts["npu_cycles"] > 0


def main():
    thimble, source, libraries, folder, *names = sys.argv[1:]
    source, folder = Path(source), Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if is_missing("executorch.backends.arm.ethosu", "tosa_reference_model", "ethosu.vela.vela"):
        return 77
    load_libraries(libraries)
    judge = executorch_ethos_u.Judge()
    judge.watch()
    names = names or [case for case in CASES if CASES[case][0] in NETWORKS]
    return run_cases([(case, partial(check, judge, thimble, source, folder, case)) for case in names])


if __name__ == "__main__":
    sys.exit(main())
