#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles MobileNetV2 with Vela, with weights distributed as in trained networks.

    make_networks.py FOLDER [--config NAME]... [--pt2 mobilenet_v2.pt2]

Writes FOLDER/<config>/<weights>/ as tests/peers/ethos_u/make_cases.py does, without inputs and
outputs. The exit code is 77 if Vela is not installed.
"""

import argparse
import math
import sys
import zipfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/peers/ethos_u"))
try:
    import cases_conv
    import cases_networks
    import vela_run
    from ethosu.vela import vela  # noqa: F401  (imported once, before child processes start)
    from tflite_net import Net
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


def quantized(floats, axis):
    """Quantizes to int8, symmetric, per channel."""
    rest = tuple(i for i in range(floats.ndim) if i != axis)
    top = np.abs(floats).max(axis=rest, keepdims=True)
    return np.round(floats / np.maximum(top, 1e-9) * 127).astype(np.int64)


def normal(net, shape, axis):
    return quantized(net.random.normal(size=shape), axis)


def laplace(net, shape, axis):
    """Returns weights with heavier tails, as after long training."""
    return quantized(net.random.laplace(size=shape), axis)


def pruned(net, shape, axis):
    """Returns weights of which the smallest 70 % are zero."""
    floats = net.random.normal(size=shape)
    floats[np.abs(floats) < np.quantile(np.abs(floats), 0.7)] = 0
    return quantized(floats, axis)


def four_bits(net, shape, axis):
    """Returns weights of fifteen values, as after 4-bit quantization-aware training."""
    return np.round(normal(net, shape, axis) / 127 * 7).astype(np.int64) * 16


def of_model(path):
    """Returns a function that takes the model's weights, matched by size in the order of layers."""
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if "/data/weights/weight_" in name]
        names.sort(key=lambda name: int(name.rsplit("_", 1)[1]))
        arrays = [np.frombuffer(archive.read(name), np.float32) for name in names]

    def take(net, shape, axis):
        if not hasattr(net, "model"):
            net.model = iter(arrays)
        count = math.prod(shape)
        floats = next(array for array in net.model if array.size == count)
        depthwise = axis == 3
        torch_shape = (shape[3], 1, *shape[1:3]) if depthwise else (shape[0], shape[-1], *shape[1:-1])
        floats = floats.reshape(torch_shape)
        floats = np.moveaxis(floats, 0, -1) if depthwise else np.moveaxis(floats, 1, -1)
        return quantized(floats.reshape(shape), axis)

    return take


def network(draw):
    def weights_and_bias(net, x, shape, axis, terms, per_channel, bias, zeros=0.0):
        scale = net.random.uniform(0.4, 1.6, shape[axis]) / (74 * math.sqrt(terms))
        none = [0] * shape[axis]
        w = net.constant(draw(net, shape, axis), "int8", scale, none, axis)
        values = net.random.integers(-2000, 2000, shape[axis])
        return w, net.constant(values, "int32", scale * x.scale, none), scale

    kept = cases_conv.weights_and_bias
    cases_conv.weights_and_bias = weights_and_bias
    net = Net(1, [0.02] * 200)  # the scales of feature maps are irrelevant here
    cases_networks.mobilenet_v2(net)
    cases_conv.weights_and_bias = kept
    return net.bytes()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--config", action="append", choices=vela_run.CONFIGS)
    parser.add_argument("--pt2", type=Path)
    arguments = parser.parse_args()
    kinds = {"normal": normal, "laplace": laplace, "pruned": pruned, "four_bits": four_bits}
    if arguments.pt2:
        kinds["model"] = of_model(arguments.pt2)
    scratch = arguments.folder / ".work"
    scratch.mkdir(parents=True, exist_ok=True)
    for name, draw in kinds.items():
        path = scratch / "net.tflite"
        path.write_bytes(network(draw))
        for config in arguments.config or vela_run.CONFIGS:
            made = vela_run.run(config, path, scratch / "out")
            folder = arguments.folder / config / name
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "cmd.bin").write_bytes(made.commands)
            (folder / "weights.bin").write_bytes(made.weights)
            lines = [f"config {config}",
                     f"region {made.weight_region} weights.bin {len(made.weights)}"]
            for region, size in ((made.scratch_region, made.scratch_size),
                                 (made.fast_region, made.fast_size)):
                if size:
                    lines.append(f"region {region} zero {size}")
            (folder / "meta.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
