# SPDX-License-Identifier: Apache-2.0
"""The networks of ExecuTorch's pull request for the i.MX RT700 pair. Each has the calls in the order shown there. The
evaluator, the host and the emulated M33 agree in every bit.

usage: neutron_seeds_test.py THIMBLE SOURCE_DIR [MOBILENET_V2_DIR]

CifarNet is one call of the NPU; with its softmax forced off the NPU, two calls. MobileNetV2 with one `add` forced off is two
NPU calls around it; that add is `cortex_m::quantized_add` if the file is for ExecuTorch's own runtime. add-min-max and
mul-min are one call, without a dequantize or quantize inside; none is added if the minimum runs on the M33.
Squeeze-and-excitation is also one call, within 0.3 dB of a core that scales factors without restrictions.
"""

import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from network_test import thimble, write_inputs
from npu_test import agree
from npy import write_npy

TARGET = "imxrt700cm"
NPU = "NPU"
PROGRAM, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
MODELS = SOURCE / "models"


def calls(pte):
    """Returns the program's calls in order; a delegate call is NPU."""
    text = subprocess.run([PROGRAM, "inspect", pte], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^instruction \d+ (?:call|delegate) \d+ .*# (\S+?)\(", text, re.M)
    return [NPU if name.endswith(("NeutronModel", "NeutronBackend")) else name for name in found]


def checked(title, model, calibrate, inputs, expected, *options):
    """Compiles, compares the calls, and runs on all engines. A name in `expected` without a namespace stands for the operator
    in any namespace, width and packed form."""
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        pte = scratch / "model.pte"
        report = thimble(PROGRAM, "compile", model, "--target", TARGET, "--calibrate", calibrate, "--emit", "pte,ir",
                         "-o", pte, "--npu-small", *options)
        got = calls(pte)
        short = [name if name == NPU or "::" in want else re.sub(r"^.*::|\..*$", "", name)
                 for name, want in zip(got, expected)]
        print(f"-- {title}: {', '.join(got)}")
        if len(got) != len(expected) or short != expected:
            sys.exit(f"{title}: {got}, expected {expected}")
        for op in report["ops"]:
            if not op["engine"] or (op["engine"] == "cortex-m33" and not op["reason"]):
                sys.exit(f"{title}: {op['op']} has no engine or no reason")
        agree(PROGRAM, pte, inputs(report, scratch), ["--steps"])
        return report


def of_folder(folder):
    return lambda report, scratch: write_inputs(folder, report["inputs"], scratch)


def cifarnet():
    folder = MODELS / "cifarnet"
    data, inputs = folder / "calibrate.npz", of_folder(folder)
    checked("CifarNet", folder / "cifarnet.pt2", data, inputs, ["quantize", NPU, "dequantize"])
    checked("CifarNet without softmax", folder / "cifarnet_logits.pt2", data, inputs, ["quantize", NPU, "dequantize"])
    checked("CifarNet, softmax off", folder / "cifarnet.pt2", data, inputs, ["quantize", NPU, "softmax", "dequantize"],
            "--engine-off", "softmax")
    for title, model in (("CifarNet", "cifarnet/cifarnet"), ("MobileNetV2", "mobilenet_v2_tiny/mobilenet_v2_tiny"),
                         ("U-Net", "unet_small/unet_small"), ("ResNet-8", "resnet8/resnet8")):
        model = MODELS / f"{model}.pt2"
        report = checked(f"{title}, channels last and int8", model, model.parent / "calibrate.npz", bytes_inputs, [NPU],
                         "--io", "int8", "--io-layout", "nhwc")
        moved = [op["op"] for op in report["ops"] if re.search(r"::(Transpose|Copy|Slice|Pad|Rescale)\b", op["op"])]
        if moved:
            sys.exit(f"{title}: channels last at both ends, and yet {moved}")


def mobilenet(folder):
    model, data, inputs = folder / f"{folder.name}.pt2", folder / "calibrate.npz", of_folder(folder)
    checked(folder.name, model, data, inputs, ["quantize", NPU, "dequantize"])
    checked(f"{folder.name}, add_2 off", model, data, inputs, ["quantize", NPU, "add", NPU, "dequantize"],
            "--engine-off", "add_2")


def floats(seed, count):
    """Returns `count` float32 values in -1..1 that only depend on the seed."""
    state, values = seed, []
    for _ in range(count):
        state = (1103515245 * state + 12345) % 2**31
        values.append(state / 2**30 - 1)
    return struct.pack(f"<{count}f", *values)


def element_count(shape):
    count = 1
    for size in shape:
        count *= size
    return count


def bytes_inputs(report, scratch):
    """Returns three int8 samples for each input."""
    words = []
    for index, port in enumerate(report["inputs"]):
        path, count = scratch / f"input_{index}.npy", 3 * element_count(port["shape"])
        write_npy(path, "|i1", (3, *port["shape"]), bytes((97 * i * i + 13 * i + index) % 256 for i in range(count)))
        words += ["--input", path]
    return words


def exported_channels_last():
    """An image that is channels-last in the export is passed to the NPU without a transposition."""
    data = SOURCE / "tests/data/pt2"
    with tempfile.TemporaryDirectory() as scratch:
        pte = pathlib.Path(scratch) / "model.pte"
        thimble(PROGRAM, "compile", data / "q_neutron_nhwc_image.pt2", "--target", TARGET, "--npu-small", "-o", pte)
        got = calls(pte)
        text = subprocess.run([PROGRAM, "inspect", pte], capture_output=True, text=True, check=True).stdout
    print(f"-- exported channels last: {', '.join(got)}")
    order = re.search(r"^value (\d+) tensor float32 \[1, 3, 12, 12\] order \[(.*?)\]", text, re.M)
    if got != ["thimble::quantize.nest", NPU, "thimble::dequantize.nest"] or order[2] != "0, 2, 3, 1":
        sys.exit(f"calls {got}, input in order {order and order[2]}\n{text}")


def pairs(name, with_npu, without):
    """Compiles and compares a network of tests/data/pt2 with two inputs, x and y."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        shape = (1, 4, 6, 8)
        samples = {}
        for index, port in enumerate("xy"):
            samples[port] = folder / f"{port}.npy"
            write_npy(samples[port], "<f4", (3, *shape), floats(index + 1, 3 * element_count(shape)))
        data = folder / "data.npz"
        with zipfile.ZipFile(data, "w") as archive:
            for port, path in samples.items():
                archive.write(path, f"{port}.npy")
        def inputs(report, scratch):
            return [word for port in report["inputs"] for word in ("--input", samples[port["name"]])]
        model = SOURCE / f"tests/data/pt2/{name}.pt2"
        checked(name, model, data, inputs, with_npu)
        for node, order in without:
            checked(f"{name}, {node} off", model, data, inputs, order, "--engine-off", node)


def squeeze_and_excitation():
    """Products of an image and a factor per channel run on the NPU and lose no accuracy."""
    folder = MODELS / "se_classifier"
    model, data = folder / "se_classifier.pt2", folder / "calibrate.npz"
    checked("squeeze-and-excitation", model, data, of_folder(folder), ["quantize", NPU, "dequantize"])
    with tempfile.TemporaryDirectory() as scratch:
        quality = {target: thimble(PROGRAM, "compile", model, "--target", target, "--calibrate", data, "-o",
                                   f"{scratch}/{target}.pte")["sqnr_db"][0] for target in (TARGET, "cortex-m33")}
    print(f"SQNR {quality}")
    if quality[TARGET] < quality["cortex-m33"] - 0.3:
        sys.exit(f"squeeze-and-excitation loses: {quality}")


def main():
    cifarnet()
    squeeze_and_excitation()
    exported_channels_last()
    mobilenet(MODELS / "mobilenet_v2_tiny")
    for folder in sys.argv[3:]:
        mobilenet(pathlib.Path(folder).resolve())
    edges = ["quantize", "quantize", NPU, "dequantize"]
    pairs("add_min_max", edges, [("maximum", ["quantize", "quantize", NPU, "maximum", "dequantize"]),
                                 ("minimum", ["quantize", "quantize", NPU, "minimum", NPU, "dequantize"])])
    pairs("mul_min", edges, [("minimum", ["quantize", "quantize", NPU, "minimum", "dequantize"]),
                             ("mul", ["quantize", "quantize", "mul", NPU, "dequantize"])])


if __name__ == "__main__":
    main()
