# SPDX-License-Identifier: Apache-2.0
"""Rewrites of networks for the Neutron: one row per rewrite, from the export to the kernel list.

usage: neutron_rewrites_test.py THIMBLE ROOT

Each row is a case of tests/data/pt2 with its kernels on the part imxrt700 and the fields that show the rewrite. The list
has no other kernels, and no operator stays on the CPU. Then the network with squeeze-and-excitation: its gates do not
split it, and the NPU's preferences reduce the accuracy of its outputs by at most 0.3 dB.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from corpus_test import write_calibration

# Kernels that only rename memory, or that are part of the kernel before, are left out of the lists.
ROWS = {
    # a signal is an image with one row; the following operators are folded into its weights and bounds
    "conv1d_bn_relu": ["Transpose + Conv2DStandard 1x3 s1x2", "Conv2DDepthwise 1x1 + Transpose"],
    "conv_bn_relu": ["Conv2DStandard 3x3"],
    "linear_bn": ["FullyConnected"],
    "linear_relu_linear": ["FullyConnected", "FullyConnected"],
    "rewrite_linear_add": ["FullyConnected"],  # the constants added after it are its bias
    # a relu after a concat moves to the branches, whose results need no copy
    "rewrite_branches": ["Conv2DPointwise 1x1", "Conv2DStandard 3x3"],
    # a missing bias becomes zeros
    "conv_no_bias": ["Conv2DStandard 3x3"],
    "linear_no_bias": ["FullyConnected"],
    "q_conv_bn_no_bias": ["Conv2DStandard 3x3"],
    "q_linear_bn_no_bias": ["FullyConnected"],
    # a division by constants becomes a product
    "div_buffer": ["Mul"],
    # groups are combined up to eight channels; a channel multiplier; 3 groups of 8, 12 of 2
    "conv_groups2": ["Conv2DStandard 3x3"],
    "conv_depthwise_mult2": ["Conv2DStandard 3x3"],
    "rewrite_groups": ["Conv2DStandard 3x3"] * 3 + ["Conv2DPointwise 1x1"] * 3,
    # phases of a transposed convolution are channels of another convolution; for a signal, they are in order already
    "rewrite_rise": ["Transpose + Conv2DStandard 1x3", "Conv2DStandard 1x3 + Transpose"],
    # supported by LiteRT's operator; strides of 3; dilation; four groups; output rows that no input reaches
    "conv_transpose_2d": ["TransposeConv2D 3x3 s2", "Conv2DStandard 1x3", "Transpose + Slice", "Conv2DStandard 5x7",
                          "TransposeConv2D 4x4 s2", "Conv2DStandard 1x1", "Transpose + Slice"],
    # zeros around an image become padding of the convolution; other values do not
    "pad_tf_same": ["Conv2DStandard 3x3", "Conv2DStandard 3x3 s2"],
    "pad_value_conv": ["Conv2DPointwise 1x1", "Pad", "Conv2DStandard 3x3"],
    "conv_reflect": ["MirrorPad", "Conv2DStandard 3x3"],
    # PRelu, hardswish and the reflection do not change. hardsigmoid (a 1x1 convolution in LiteRT) and silu (LOGISTIC and
    # MUL in LiteRT) are functions of one value: they become tables of the preceding convolutions
    "rewrite_activations": ["Conv2DStandard 3x3 with TABLE", "Conv2DPointwise 1x1 with TABLE", "PRelu", "MirrorPad",
                            "Conv2DStandard 3x3 with HARD_SWISH"],
    "prelu_one": ["LEAKY_RELU"],
    # quantized by NXP's own quantizer: its quantize and dequantize around factors become a table (a 1x1 convolution in
    # LiteRT) and do not split the subgraph
    "q_neutron_mixed": ["Conv2DStandard 3x3 s2 with CLAMP", "Table", "Table", "Mul", "Conv2DPointwise 1x1",
                        "Table", "Sub", "AvgPool 2x2 s2", "Conv2DStandard 3x3", "AvgPool 1x1"],
    "q_neutron_mul_min": ["Table", "Table", "Mul", "Minimum"],
}
LOSS_MAX = 0.3  # dB


def compiled(thimble, model, target, scratch, *options):
    command = [thimble, "compile", model, "--target", target, "--json", "-o", scratch / "model.pte", *options]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{model.name}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def kernels(report):
    found = []
    for op in report["ops"]:
        name = op["op"].split("::")[1]
        if op["engine"] == "neutron-n3-64":
            if name != "view" and not name.startswith("in "):
                found.append(name)
        elif op["reason"] != "converts between float and integer: runs on the CPU":
            sys.exit(f"on the CPU: {op['op']}: {op['reason']}")
    return found


def check_row(thimble, root, case, expected, scratch):
    model = root / "tests/data/pt2" / f"{case}.pt2"
    options = ["--npu-small"]
    if not case.startswith("q_"):
        write_calibration(thimble, model, scratch / "calibrate.npz")
        options += ["--calibrate", scratch / "calibrate.npz"]
    report = compiled(thimble, model, "imxrt700", scratch, *options)
    found = kernels(report)
    if found != expected or report["npu_calls"] != 1:
        sys.exit(f"{case}: {report['npu_calls']} calls\n  found    {found}\n  expected {expected}")
    print(f"{case}: {', '.join(found)}")


def check_gates(thimble, root, scratch):
    folder = root / "models/se_classifier"
    calibration = ["--calibrate", folder / "calibrate.npz"]
    model = folder / "se_classifier.pt2"
    wished = compiled(thimble, model, "imxrt700", scratch, *calibration)
    plain = compiled(thimble, model, "cortex-m33", scratch, *calibration)
    gates = kernels(wished).count("Mul")
    if wished["npu_calls"] != 1 or gates != 4:
        sys.exit(f"se_classifier: {wished['npu_calls']} calls, {gates} products, expected 1 and 4")
    loss = plain["sqnr_db"][0] - wished["sqnr_db"][0]
    print(f"se_classifier: one call, {wished['sqnr_db'][0]:.2f} dB, {loss:.2f} dB below free choice of ranges")
    if loss > LOSS_MAX:
        sys.exit(f"more than {LOSS_MAX} dB")


def main():
    thimble, root = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        for case, expected in ROWS.items():
            check_row(thimble, root, case, expected, pathlib.Path(folder))
        check_gates(thimble, root, pathlib.Path(folder))


main()
