"""What PyTorch's own PT2E int8 quantization reaches on the networks of models/, as a reference for Thimble.

    python benchmarks/accuracy/pt2e.py [NAME ...] [--mobilenet-v2 DIR] [--out FILE.json]

Two quantizers: ExecuTorch's CortexMQuantizer, which wants channels-last examples, and XNNPACKQuantizer with per-channel
symmetric weights; the latter leaves a final softmax's output in float. Each network is calibrated on its calibrate.npz
and judged on its test.npz; samples go in one at a time.

SQNR is 10 log10(sum (ref - mean of ref over samples)^2 / sum (ref - got)^2) over all samples and outputs, in dB.
Networks that are not measured keep their entry in the output file.
"""

import argparse
import json
import math
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

ROOT = Path(__file__).resolve().parents[2]
NETWORKS = ["hello_sin", "digits_cnn", "ad_autoencoder", "dscnn_kws", "resnet8", "mobilenet_v1_vww"]
MOBILENET_V2_TEST_IMAGES = 32


def each(model, x, prepare=lambda sample: sample):
    with torch.no_grad():
        return torch.cat([model(prepare(x[i : i + 1].clone())) for i in range(len(x))])


def sqnr_db(reference, got):
    reference, got = reference.double(), got.double()
    signal = ((reference - reference.mean(0, keepdim=True)) ** 2).sum()
    noise = ((reference - got) ** 2).sum()
    return round((10 * torch.log10(signal / noise)).item(), 2)


def channels_last(sample):
    return sample.contiguous(memory_format=torch.channels_last) if sample.dim() == 4 else sample


def unchanged(sample):
    return sample


def float_module(path):
    return torch.export.load(str(path)).module(check_guards=False)


def quantized(path, calibrate, which):
    module = float_module(path)
    if which == "cortex_m":
        prepare, quantizer = channels_last, CortexMQuantizer()
        for owner in (module.parameters(), module.buffers()):
            for tensor in owner:
                if tensor.dim() == 4:
                    tensor.data = channels_last(tensor.data)
        example = (prepare(calibrate[:1].clone()),)
        module = torch.export.export(module, example, strict=False).module(check_guards=False)
    else:
        prepare = unchanged
        quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
    module = prepare_pt2e(module, quantizer)
    each(module, calibrate, prepare)
    return convert_pt2e(module), prepare


def measure(name, folder):
    calibrate = torch.from_numpy(np.load(folder / "calibrate.npz")["x"])
    data = np.load(folder / "test.npz")
    x, labels = torch.from_numpy(data["x"]), None
    if "labels" in data:
        labels = torch.from_numpy(data["labels"])
    if name == "mobilenet_v2":
        x, labels = x[:MOBILENET_V2_TEST_IMAGES], labels[:MOBILENET_V2_TEST_IMAGES]
    path = folder / f"{name}.pt2"
    original = float_module(path)
    reference = each(original, x)

    result = {"test_samples": len(x), "calibration_samples": len(calibrate)}
    if labels is not None:
        result["accuracy_float"] = round((reference.argmax(1) == labels).double().mean().item(), 4)
    turn = torch.linspace(0, 2 * math.pi, 1000)[:, None]
    if name == "hello_sin":
        result["max_error_against_sin_float"] = round((each(original, turn) - torch.sin(turn)).abs().max().item(), 5)
    for which in ("cortex_m", "xnnpack"):
        module, prepare = quantized(path, calibrate, which)
        got = each(module, x, prepare)
        entry = {"sqnr_db": sqnr_db(reference, got)}
        if labels is not None:
            entry["top1_agreement"] = round((reference.argmax(1) == got.argmax(1)).double().mean().item(), 4)
            entry["accuracy"] = round((got.argmax(1) == labels).double().mean().item(), 4)
        if name == "hello_sin":
            entry["max_error_against_sin"] = round(
                (each(module, turn, prepare) - torch.sin(turn)).abs().max().item(), 5
            )
        result[which] = entry
    return result


def main():
    parser = argparse.ArgumentParser(description="PT2E int8 accuracy of the networks of models/.")
    parser.add_argument(
        "names", nargs="*", help="committed networks; all of them if neither a name nor --mobilenet-v2 is given"
    )
    parser.add_argument("--mobilenet-v2", type=Path, metavar="DIR", help="measure mobilenet_v2, from this folder")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("pt2e.json"))
    arguments = parser.parse_args()
    torch.set_num_threads(1)

    report = json.loads(arguments.out.read_text()) if arguments.out.exists() else {}
    networks = report.get("networks", {})
    names = arguments.names or ([] if arguments.mobilenet_v2 else NETWORKS)
    folders = {name: ROOT / "models" / name for name in names}
    if arguments.mobilenet_v2:
        folders["mobilenet_v2"] = arguments.mobilenet_v2
    for name, folder in folders.items():
        started = time.monotonic()
        networks[name] = measure(name, folder)
        print(f"{name}: {json.dumps(networks[name])} ({time.monotonic() - started:.0f} s)", flush=True)
    report = {
        "versions": {
            "python": platform.python_version(),
            **{package: version(package) for package in ("torch", "torchao", "executorch", "numpy")},
        },
        "networks": {name: networks[name] for name in NETWORKS + ["mobilenet_v2"] if name in networks},
    }
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
