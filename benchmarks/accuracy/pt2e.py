"""Measures PyTorch's own PT2E int8 quantization on the networks of models/, as a reference for Thimble.

    python benchmarks/accuracy/pt2e.py [NAME ...] [--folder DIR] [--out FILE.json]

Two quantizers: ExecuTorch's CortexMQuantizer, which requires channels-last examples, and XNNPACKQuantizer with per-channel
symmetric weights. Each network is calibrated on its calibrate.npz and measured on its test.npz, one sample at a time. State
in buffers starts both times with the content of the file. --folder is the folder of a network that is not in models/.

SQNR is 10 log10(sum (ref - mean of ref over samples)^2 / sum (ref - got)^2) over all samples of an output, in dB: a list
if there are several outputs, null if an output equals the float output bit for bit. `float_ops` counts the operators that
compute in float after quantization, without those that only move data. No quantizer supports a recurrent layer (`aten.lstm`
etc.), so it is also measured `decomposed`, as torch.export writes it in elementary operators.
Networks that are not measured keep their entry in the output file.
"""

import argparse
import json
import math
import platform
import sys
import time
from collections import Counter
from functools import cache
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
sys.path.insert(0, str(ROOT / "models"))
from make import COMMITTED, ON_DEMAND  # noqa: E402

LARGE_TEST_IMAGES = 32  # for the networks with 224x224 images
RECURRENT = ("aten.lstm.", "aten.gru.", "aten.rnn_tanh.", "aten.rnn_relu.")
MOVES = {
    "_to_copy", "alias", "cat", "chunk", "clone", "constant_pad_nd", "contiguous", "copy", "copy_", "detach", "dropout",
    "expand", "flatten", "full", "narrow", "pad", "permute", "reshape", "select", "slice", "split", "split_with_sizes",
    "squeeze", "stack", "t", "transpose", "unbind", "unflatten", "unsqueeze", "view", "zeros",
}  # fmt: skip
ACTIVATIONS = {"relu", "relu_", "relu6", "hardtanh", "hardtanh_", "clamp", "hardsigmoid", "hardswish"}


def inputs_of(program, data):
    names = program.graph_signature.user_inputs
    return [torch.from_numpy(data[name]) for name in names]


def is_state(name):
    """A buffer of the network, not of an observer."""
    return "activation_post_process" not in name


class Network:
    """A module that restores its buffers after a run. Modules of one program share the buffers."""

    def __init__(self, module):
        self.module = module
        self.writes_state = False  # set by the first run
        self.buffers = {name: b.clone() for name, b in module.named_buffers() if is_state(name)}

    def run(self, inputs, prepare=lambda sample: sample):
        with torch.no_grad():
            calls = []
            for i in range(len(inputs[0])):
                got = self.module(*[prepare(array[i : i + 1].clone()) for array in inputs])
                calls.append([part.clone() for part in (got if isinstance(got, (tuple, list)) else (got,))])
            for name, buffer in self.module.named_buffers():
                if name in self.buffers and not torch.equal(buffer, self.buffers[name]):
                    self.writes_state = True
                    buffer.copy_(self.buffers[name])
        return [torch.cat(parts) for parts in zip(*calls)]


def sqnr_db(reference, got):
    reference, got = reference.double(), got.double()
    signal = ((reference - reference.mean(0, keepdim=True)) ** 2).sum()
    noise = ((reference - got) ** 2).sum()
    return round((10 * torch.log10(signal / noise)).item(), 2) if noise > 0 else None


def one_or_list(values):
    return values[0] if len(values) == 1 else values


def channels_last(sample):
    return sample.contiguous(memory_format=torch.channels_last) if sample.dim() == 4 else sample


def unchanged(sample):
    return sample


def base_name(node):
    """Returns `conv2d` for aten.conv2d.default; None for a node that is no such operator."""
    schema = getattr(node.target, "_schema", None)
    return schema and schema.name.split("::")[-1]


def is_float(node):
    value = node.meta.get("val")
    return not isinstance(value, torch.Tensor) or value.is_floating_point()


def float_ops(module):
    """Operators with a float operand that is not a dequantized value, or a float result that is not quantized."""

    @cache
    def integer_above(node):
        """Returns true if the value is dequantized or a constant, possibly moved."""
        name = base_name(node)
        if node.op == "get_attr" or (name and name.startswith("dequantize")):
            return True
        if node.op == "call_function" and (name in MOVES or node.target.__name__ == "getitem"):
            return all(integer_above(above) for above in node.all_input_nodes)
        return False

    @cache
    def integer_below(node):
        """Returns true if all uses of the value quantize it, possibly after moves or a clamp."""
        for user in node.users:
            name = base_name(user) or ""
            passes = name in MOVES or (name in ACTIVATIONS and len(node.users) == 1)
            if not (name.startswith("quantize") or (passes and integer_below(user))):
                return False
        return bool(node.users)

    def integer_inputs(node):
        for above in node.all_input_nodes:
            fused = base_name(node) in ACTIVATIONS and above.op == "call_function" and len(above.users) == 1
            if not integer_above(above) and not (fused and integer_inputs(above)):
                return False
        return True

    found = Counter()
    for node in module.graph.nodes:
        name = base_name(node) if node.op == "call_function" else None
        if not name or name in MOVES or "quantize" in name or not is_float(node):
            continue
        if not (integer_inputs(node) and integer_below(node)):
            found[name.removesuffix("_")] += 1
    return dict(sorted(found.items()))


def decomposed(program):
    """The program with recurrent layers decomposed into elementary operators; the rest is unchanged."""
    table = {
        op: rule
        for op, rule in torch.export.default_decompositions().items()
        if any(str(op).startswith(prefix) for prefix in RECURRENT)
    }
    return program.run_decompositions(table)


def quantized(program, calibrate, which):
    module = program.module(check_guards=False)
    if which == "cortex_m":
        prepare, quantizer = channels_last, CortexMQuantizer()
        for tensor in module.parameters():
            if tensor.dim() == 4:
                tensor.data = channels_last(tensor.data)
        example = tuple(prepare(array[:1].clone()) for array in calibrate)
        module = torch.export.export(module, example, strict=False).module(check_guards=False)
    else:
        prepare = unchanged
        quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
    observed = Network(prepare_pt2e(module, quantizer))
    observed.run(calibrate, prepare)
    # Constant folding would replace a buffer that the network writes to.
    return Network(convert_pt2e(observed.module, fold_quantize=not observed.writes_state)), prepare


def measure(name, folder):
    program = torch.export.load(str(folder / f"{name}.pt2"))
    calibrate = inputs_of(program, np.load(folder / "calibrate.npz"))
    data = np.load(folder / "test.npz")
    inputs = inputs_of(program, data)
    labels = torch.from_numpy(data["labels"]) if "labels" in data else None
    if name in ON_DEMAND:
        inputs, labels = [array[:LARGE_TEST_IMAGES] for array in inputs], labels[:LARGE_TEST_IMAGES]
    original = Network(program.module(check_guards=False))
    reference = original.run(inputs)

    result = {"test_samples": len(inputs[0]), "calibration_samples": len(calibrate[0])}
    if labels is not None:
        result["accuracy_float"] = round((reference[0].argmax(1) == labels).double().mean().item(), 4)
    turn = torch.linspace(0, 2 * math.pi, 1000)[:, None]
    if name == "hello_sin":
        result["max_error_against_sin_float"] = round((original.run([turn])[0] - torch.sin(turn)).abs().max().item(), 5)

    def judge(program, which):
        network, prepare = quantized(program, calibrate, which)
        got = network.run(inputs, prepare)
        entry = {"sqnr_db": one_or_list([sqnr_db(*pair) for pair in zip(reference, got)])}
        if labels is not None:
            entry["top1_agreement"] = round((reference[0].argmax(1) == got[0].argmax(1)).double().mean().item(), 4)
            entry["accuracy"] = round((got[0].argmax(1) == labels).double().mean().item(), 4)
        if name == "hello_sin":
            sine = network.run([turn], prepare)[0]
            entry["max_error_against_sin"] = round((sine - torch.sin(turn)).abs().max().item(), 5)
        entry["float_ops"] = float_ops(network.module)
        return entry

    recurrent = any(str(node.target).startswith(RECURRENT) for node in program.graph.nodes)
    for which in ("cortex_m", "xnnpack"):
        result[which] = judge(program, which)
        if recurrent:
            result[which]["decomposed"] = judge(decomposed(program), which)
    return result


def main():
    parser = argparse.ArgumentParser(description="PT2E int8 accuracy of the networks of models/.")
    parser.add_argument("names", nargs="*", help="networks; all committed ones if none is given")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="where the one named network is")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("pt2e.json"))
    arguments = parser.parse_args()
    if arguments.folder and len(arguments.names) != 1:
        parser.error("--folder needs one network")
    torch.set_num_threads(1)

    report = json.loads(arguments.out.read_text()) if arguments.out.exists() else {}
    networks = report.get("networks", {})
    versions = {package: version(package) for package in ("torch", "torchao", "executorch", "numpy")}
    for name in arguments.names or COMMITTED:
        base = "build/models" if name in ON_DEMAND else "models"
        started = time.monotonic()
        networks[name] = measure(name, arguments.folder or ROOT / base / name)
        print(f"{name}: {json.dumps(networks[name])} ({time.monotonic() - started:.0f} s)", flush=True)
        report = {
            "versions": {"python": platform.python_version(), **versions},
            "networks": {name: networks[name] for name in COMMITTED + ON_DEMAND if name in networks},
        }
        arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
