# SPDX-License-Identifier: Apache-2.0
"""Quantizes networks with PyTorch's PT2E flow and the quantizers of ExecuTorch's backends (peers.py calls it).

QUANTIZERS: CortexMQuantizer, which requires channels-last examples; XNNPACKQuantizer; the quantizer of Arm's backend for the
Ethos-U (that of VGF gives the same number on resnet8). All of them have per-channel weights here. Samples run one at a time. State in buffers starts with the content
of the file, for calibration and for measurement.

`float_ops` counts the operators that compute in float after quantization, without those that only move data; `float_nodes` has
their names in the export, where they have one. No quantizer supports a recurrent layer (`aten.lstm` etc.), so it is decomposed
into elementary operators.
"""

from collections import Counter
from functools import cache

import torch
from executorch.backends.arm.ethosu import EthosUCompileSpec
from executorch.backends.arm.quantizer import EthosUQuantizer
from executorch.backends.arm.quantizer import get_symmetric_quantization_config as arm_config
from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

RECURRENT = ("aten.lstm.", "aten.gru.", "aten.rnn_tanh.", "aten.rnn_relu.")
MOVES = {
    "_to_copy", "alias", "cat", "chunk", "clone", "constant_pad_nd", "contiguous", "copy", "copy_", "detach", "dropout",
    "expand", "flatten", "full", "narrow", "pad", "permute", "reshape", "select", "slice", "split", "split_with_sizes",
    "squeeze", "stack", "t", "transpose", "unbind", "unflatten", "unsqueeze", "view", "zeros",
}  # fmt: skip
ACTIVATIONS = {"relu", "relu_", "relu6", "hardtanh", "hardtanh_", "clamp", "hardsigmoid", "hardswish"}


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
    """Operators with a float operand that is not a dequantized value, or a float result that is not quantized: the count of
    each, and the names of the nodes."""

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

    found, nodes = Counter(), []
    for node in module.graph.nodes:
        name = base_name(node) if node.op == "call_function" else None
        if not name or name in MOVES or "quantize" in name or not is_float(node):
            continue
        if not (integer_inputs(node) and integer_below(node)):
            found[name.removesuffix("_")] += 1
            nodes.append(node.name)
    return dict(sorted(found.items())), nodes


def decomposed(program):
    """The program with recurrent layers decomposed into elementary operators; the rest is unchanged."""
    table = {
        op: rule
        for op, rule in torch.export.default_decompositions().items()
        if any(str(op).startswith(prefix) for prefix in RECURRENT)
    }
    return program.run_decompositions(table)


def quantizer_of(which):
    if which == "cortex_m":
        return CortexMQuantizer()
    if which == "xnnpack":
        return XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
    return EthosUQuantizer(EthosUCompileSpec("ethos-u85-256")).set_global(arm_config())


QUANTIZERS = ("cortex_m", "xnnpack", "ethos_u")


def quantized(program, calibrate, which):
    """Returns the quantized network, and the function that prepares a sample for it."""
    module = program.module(check_guards=False)
    prepare = unchanged
    if which == "cortex_m":
        prepare = channels_last
        for tensor in module.parameters():
            if tensor.dim() == 4:
                tensor.data = channels_last(tensor.data)
        example = tuple(prepare(array[:1].clone()) for array in calibrate)
        module = torch.export.export(module, example, strict=False).module(check_guards=False)
    observed = Network(prepare_pt2e(module, quantizer_of(which)))
    observed.run(calibrate, prepare)
    # Constant folding would replace a buffer that the network writes to.
    return Network(convert_pt2e(observed.module, fold_quantize=not observed.writes_state)), prepare


def measure(program, calibrate, inputs, which):
    """Returns the outputs for `inputs` after quantization, and `float_ops`, `float_nodes`."""
    if any(str(node.target).startswith(RECURRENT) for node in program.graph.nodes):
        program = decomposed(program)
    network, prepare = quantized(program, calibrate, which)
    outputs = network.run(inputs, prepare)
    counts, nodes = float_ops(network.module)
    return outputs, {"float_ops": counts, "float_nodes": nodes}
