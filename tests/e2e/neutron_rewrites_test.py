"""What networks become on the way to the Neutron: one row per rewriting, from the export to the list of kernels.

usage: neutron_rewrites_test.py THIMBLE ROOT

Each row is a case of tests/data/pt2, the kernels that it takes on the part imxrt700 and what shows the rewriting in
them. Nothing else is in the list, and nothing stays on the CPU. Then the network with squeeze-and-excitation: its gates
do not split it, and the NPU's wishes cost its outputs at most 0.3 dB.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from corpus_test import write_calibration

# A kernel that only renames memory, or that is part of the one before, is left out of the lists.
ROWS = {
    # a signal is a picture of one row; what follows it is folded into its weights and bounds
    "conv1d_bn_relu": ["Transpose + Conv2DStandard 1x3 s1x2", "Conv2DDepthwise 1x1 + Transpose"],
    "conv_bn_relu": ["Conv2DStandard 3x3"],
    "linear_bn": ["FullyConnected"],
    "linear_relu_linear": ["FullyConnected", "FullyConnected"],
    "rewrite_linear_add": ["FullyConnected"],  # of constants behind it, its bias
    # relu behind a concat belongs to its branches, whose results need no copy
    "rewrite_branches": ["Conv2DPointwise 1x1", "Conv2DStandard 3x3"],
    # no bias: zeros
    "conv_no_bias": ["Conv2DStandard 3x3"],
    "linear_no_bias": ["FullyConnected"],
    "q_conv_bn_no_bias": ["Conv2DStandard 3x3"],
    "q_linear_bn_no_bias": ["FullyConnected"],
    # a quotient by constants is a product
    "div_buffer": ["Mul"],
    # groups: as many together as fill eight channels; a channel multiplier; 3 groups of 8, 12 of 2
    "conv_groups2": ["Conv2DStandard 3x3"],
    "conv_depthwise_mult2": ["Conv2DStandard 3x3"],
    "rewrite_groups": ["Conv2DStandard 3x3"] * 3 + ["Conv2DPointwise 1x1"] * 3,
    # phases of a transposed convolution are channels of another one; of a signal, they are in place already
    "rewrite_rise": ["Transpose + Conv2DStandard 1x3", "Conv2DStandard 1x3 + Transpose"],
    # one that LiteRT's operator can say, strides of 3, dilation, four groups, rows beyond what inputs reach
    "conv_transpose_2d": ["TransposeConv2D 3x3 s2", "Conv2DStandard 1x3", "Transpose + Slice", "Conv2DStandard 5x7",
                          "TransposeConv2D 4x4 s2", "Conv2DStandard 1x1", "Transpose + Slice"],
    # zeros around a picture are padding of the convolution; other numbers are not
    "pad_tf_same": ["Conv2DStandard 3x3", "Conv2DStandard 3x3 s2"],
    "pad_value_conv": ["Conv2DPointwise 1x1", "Pad", "Conv2DStandard 3x3"],
    "conv_reflect": ["MirrorPad", "Conv2DStandard 3x3"],
    # PRelu, hardswish and the reflection stay what they are; hardsigmoid, a convolution of one tap in LiteRT, and silu,
    # LOGISTIC and MUL there, depend on one code each: tables of the convolutions before them
    "rewrite_activations": ["Conv2DStandard 3x3 with TABLE", "Conv2DPointwise 1x1 with TABLE", "PRelu", "MirrorPad",
                            "Conv2DStandard 3x3 with HARD_SWISH"],
    "prelu_one": ["LEAKY_RELU"],
    # quantized by NXP's own quantizer: what it puts between quantize and dequantize for factors is a table
    # here (in LiteRT a convolution of one tap), and splits nothing
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
        elif op["reason"] != "between float and integer: the CPU's":
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
