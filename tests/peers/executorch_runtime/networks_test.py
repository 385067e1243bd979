#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks that ExecuTorch's own Cortex-M flow compiles, with Thimble's kernels.

    networks_test.py THIMBLE SOURCE LIBRARIES FOLDER [NAME...]

Each file runs in Thimble's runtime, in ExecuTorch's runtime with Thimble's libraries, and on an emulated Cortex-M55. The
references are the Python implementations of cortex_m::* that the wheel has. The wheel's quantized_avg_pool2d divides in float and
rounds halves to even; CMSIS-NN, which ExecuTorch's C++ kernel calls, divides integers and rounds halves away from zero. So the
reference runs twice: as the wheel has it, and with CMSIS-NN's division; the second one must be equal. Networks of full size
(mobilenet_v2, mobilenet_v3_small) run only if they are named. Exit 77 if ExecuTorch is not installed.
"""

import sys
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import executorch_make
from loading import arrays, differences, emulated, executorch_run, is_missing, load_libraries, run_cases, thimble_run
from networks import network

CASES = ("resnet8", "mobilenet_v2_tiny", "mobilenet_v3_tiny", "deit_tiny_like")
#: Networks that the wheel compiles with explicit layouts. With implicit ones it serializes the view of an image in channels-last
#: memory as the same bytes, where PyTorch copies them into the order of the view: the file computes another network.
EXPLICIT = {"deit_tiny_like"}


def cmsis_avg_pool2d(x, kernel, stride, padding, ceil_mode, *_):
    """Average pool as CMSIS-NN computes it: int32 sum, half of the count added, division toward zero."""
    import torch
    from torch.nn.functional import avg_pool2d

    def sums(values):
        return avg_pool2d(values.double(), kernel, stride, padding, ceil_mode, True, divisor_override=1)

    total, count = sums(x).long(), sums(torch.ones_like(x)).long()
    half = torch.where(total > 0, count // 2, -(count // 2))
    result = torch.div(total + half, count, rounding_mode="trunc").clamp(-128, 127)
    return result.to(torch.int8).contiguous(memory_format=torch.channels_last)


def references(lowered, samples):
    """Outputs as the wheel computes them, those with CMSIS-NN's average pool, and the scale of the first output."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class Cmsis(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            if function is torch.ops.cortex_m.quantized_avg_pool2d.default:
                return cmsis_avg_pool2d(*args)
            return function(*args, **(kwargs or {}))

    wheel = executorch_make.run_eagerly(lowered, samples)
    with Cmsis():
        cmsis = executorch_make.run_eagerly(lowered, samples)
    scales = [node.args[1] for node in lowered.graph.nodes if "dequantize_per_tensor" in str(node.target)]
    return wheel, cmsis, scales[-1] if scales else 1.0


def largest(a, b):
    return max(float(np.max(np.abs(x.astype(np.float64) - y))) for p, q in zip(a, b) for x, y in zip(p, q))


def check(thimble, source, folder, name):
    module, samples = network(source, name)
    samples, (wheel, required, scale), data = executorch_make.lower(module, samples, "m55", name in EXPLICIT, references)
    path = folder / f"{name}.pte"
    path.write_bytes(data)
    inputs = arrays(samples)
    wheel, required = arrays(wheel), arrays(required)
    ours = thimble_run(thimble, path, inputs)
    theirs = executorch_run(thimble, path, inputs)
    line = f"{name}: {len(inputs)} samples, {differences(wheel, ours)} outputs differ from the wheel's Python"
    if differences(wheel, ours):
        line += f" (at most {largest(wheel, ours) / scale:.3g} steps)"
    found = [differences(required, ours), differences(theirs, ours)]
    line += f"; {found[0]} with CMSIS-NN's division, {found[1]} from ExecuTorch's runtime"
    good = not any(found)
    outputs, facts = emulated(thimble, path, inputs[0], "cortex-m55", folder, "--profile")
    wrong = differences([ours[0]], [outputs])
    line += f", {wrong} from the emulated M55 with {facts['instructions']:,} instructions"
    good = good and not wrong
    return line, good


def main():
    thimble, source, libraries, folder, *names = sys.argv[1:]
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if is_missing("executorch.runtime"):
        return 77
    load_libraries(libraries)
    return run_cases([(name, partial(check, thimble, source, folder, name)) for name in names or CASES])


if __name__ == "__main__":
    sys.exit(main())
