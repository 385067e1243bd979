#!/usr/bin/env python3
"""ExecuTorch's flow with Thimble's partitioners, quantizers and Cortex-M pipeline.

    flow_peer.py SOURCE_DIR [CASE...]

Per case, a network of models/ or examples/ goes through prepare_pt2e, convert_pt2e, to_edge_transform_and_lower with the
partitioner and to_executorch. Thimble's runtime runs the file, and its results are compared bit for bit with those of
Thimble's own flow for the same quantized program. Exit 0 if all agree, 1 if not, 77 if ExecuTorch is not installed.
"""

import os
import subprocess
import sys
import traceback
import warnings
from pathlib import Path

import numpy as np

warnings.filterwarnings("ignore")

#: Network: folder, and the number of delegates that the AXON examples of ExecuTorch state.
NETWORKS = {
    "mobilenet_v2_tiny": "models",
    "mobilenet_v3_tiny": "models",
    "dscnn_kws": "models",
    "resnet8": "models",
    "deit_tiny_like": "models",
    "hello_axon": "examples/nordic",
    "multi_layer": "examples/nordic",
    "simple_rnn": "examples/nordic",
}
#: Case: network, engine, expected number of delegates (None: at least one). The layer norms of deit_tiny_like are float in
#: ExecuTorch's flow and int8 in Thimble's own, so the results of its cases are close, not equal.
FLOAT = {"deit_tiny_like"}
CASES = {
    "ethos_u-mobilenet_v2_tiny": ("mobilenet_v2_tiny", "ethos-u", 1),
    "ethos_u-mobilenet_v3_tiny": ("mobilenet_v3_tiny", "ethos-u", None),
    "ethos_u-dscnn_kws": ("dscnn_kws", "ethos-u", None),
    "ethos_u-deit_tiny_like": ("deit_tiny_like", "ethos-u", None),
    "axon-hello_axon": ("hello_axon", "axon", 1),
    "axon-multi_layer": ("multi_layer", "axon", 1),
    "axon-simple_rnn": ("simple_rnn", "axon-without-tanh", 2),
    "axon-dscnn_kws": ("dscnn_kws", "axon", None),
    "axon-mobilenet_v2_tiny": ("mobilenet_v2_tiny", "axon", None),
    "neutron-mobilenet_v2_tiny": ("mobilenet_v2_tiny", "neutron", None),
    "neutron-mobilenet_v3_tiny": ("mobilenet_v3_tiny", "neutron", None),
    "neutron-dscnn_kws": ("dscnn_kws", "neutron", None),
    "imxrt700cm-mobilenet_v2_tiny": ("mobilenet_v2_tiny", "imxrt700cm", None),
    "imxrt700cm-deit_tiny_like": ("deit_tiny_like", "imxrt700cm", None),
    "cortex_m-mobilenet_v2_tiny": ("mobilenet_v2_tiny", "cortex-m", 0),
    "cortex_m-mobilenet_v3_tiny": ("mobilenet_v3_tiny", "cortex-m", 0),
    "cortex_m-dscnn_kws": ("dscnn_kws", "cortex-m", 0),
    "cortex_m-deit_tiny_like": ("deit_tiny_like", "cortex-m", 0),
}
TESTS = 8


def network(source, name):
    """Returns the float module and its calibration samples, tuples of tensors."""
    import torch

    if name == "simple_rnn":
        return step_network(source)

    folder = source / NETWORKS[name] / name
    program = torch.export.load(str(folder / f"{name}.pt2"))
    data = np.load(folder / "calibrate.npz")
    (key,) = [each for each in data.files if each != "labels"]
    samples = torch.from_numpy(data[key])
    shape = program.example_inputs[0][0].shape
    return program.module(check_guards=False), [(each.reshape(shape),) for each in samples[:16]]


def step_network(source):
    """One step of examples/nordic/simple_rnn with its state as an input and an output, as in ExecuTorch's example."""
    import torch

    folder = source / "examples" / "nordic" / "simple_rnn"
    weights = torch.export.load(str(folder / "simple_rnn.pt2")).state_dict

    class Step(torch.nn.Module):
        def __init__(self):
            super().__init__()
            for name in ("enter", "again", "last"):
                rows, columns = weights[f"{name}.weight"].shape
                setattr(self, name, torch.nn.Linear(columns, rows))
            self.load_state_dict({key: each for key, each in weights.items() if key != "h"})

        def forward(self, x, h):
            h = torch.tanh(self.enter(x) + self.again(h))
            return self.last(h), h

    inputs = torch.from_numpy(np.load(folder / "calibrate.npz")["x"]).reshape(-1, 1, 4)
    module, h, samples = Step().eval(), torch.zeros(1, 8), []
    for x in inputs[:16]:
        samples.append((x, h))
        with torch.no_grad():
            _, h = module(x, h)
    return torch.export.export(module, samples[0]).module(check_guards=False), samples


def engine(name):
    """Returns the quantizer, the partitioners, the core of the rest (None: portable kernels), the target
    of Thimble's own flow, and its options."""
    from thimble_ml import executorch as et

    if name == "ethos-u":
        spec = et.EthosUCompileSpec("ethos-u55-128")
        return et.EthosUQuantizer(spec), [et.EthosUPartitioner(spec)], None, "ethos-u55-128", {}
    if name == "axon":
        spec = et.AxonCompileSpec()
        return et.AxonQuantizer(spec), [et.AxonPartitioner(spec)], None, "axon", {}
    if name == "axon-without-tanh":
        spec = et.AxonCompileSpec(operators_not_to_delegate=["tanh"])
        options = {"engine_off": "tanh", "npu_small": True}
        return et.AxonQuantizer(spec), [et.AxonPartitioner(spec)], "cortex-m33", "axon", options
    if name == "neutron":
        spec = et.generate_neutron_compile_spec("imxrt700")
        return et.NeutronQuantizer(spec), [et.NeutronPartitioner(spec)], None, "imxrt700", {}
    if name == "imxrt700cm":
        spec = et.generate_neutron_compile_spec("imxrt700cm")
        partitioners = [et.NeutronPartitioner(spec)]
        return et.IMXRT700CMQuantizer(), partitioners, "cortex-m33", "imxrt700cm", {}
    options = {"compat": "executorch"}
    return et.CortexMQuantizer("cortex-m55"), [], "cortex-m55", "cortex-m55", options


def quantized(module, samples, quantizer):
    import torch
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    prepared = prepare_pt2e(module, quantizer)
    for sample in samples:
        prepared(*sample)
    return torch.export.export(convert_pt2e(prepared), samples[0])


def lowered(exported, partitioners, core):
    """Returns the edge manager and the bytes of the program."""
    from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge_transform_and_lower
    from thimble_ml import executorch as et

    edge = to_edge_transform_and_lower(
        exported,
        partitioner=partitioners,
        compile_config=EdgeCompileConfig(_check_ir_validity=False),
    )
    if core is not None:
        manager = et.CortexMPassManager(edge.exported_program(), target_config=core)
        edge._edge_programs["forward"] = manager.transform()
        for each in manager.reasons:
            assert each.reason and each.source, each
    config = ExecutorchBackendConfig(extract_delegate_segments=False)
    return edge, edge.to_executorch(config).buffer


def decibels(pairs):
    """Returns the signal-to-noise ratio of pairs of arrays."""
    a, b = (np.concatenate([pair[i].ravel() for pair in pairs]) for i in (0, 1))
    return 10 * np.log10(np.sum(b**2) / max(np.sum((a - b) ** 2), 1e-30))


def outputs(interpreter, arrays):
    results = interpreter.run(*arrays)
    return results if isinstance(results, tuple) else (results,)


def delegates_of(edge):
    from executorch.exir.backend.utils import get_delegates

    return len(get_delegates(edge.exported_program().graph))


def check(source, case):
    """Returns a line about the case, and whether it is as expected."""
    import executorch.kernels.quantized  # noqa: F401  the portable quantize and dequantize
    import thimble_ml as thimble

    name, engine_name, expected = CASES[case]
    module, samples = network(source, name)
    quantizer, partitioners, core, target, options = engine(engine_name)
    if name in FLOAT:
        options = {}  # with kernels of ExecuTorch alone, Thimble's own flow has no layer norm
    exported = quantized(module, samples, quantizer)
    edge, data = lowered(exported, partitioners, core)
    count = delegates_of(edge)
    ours = thimble.Interpreter(thimble.compile(exported, target=target, **options))
    theirs = thimble.Interpreter(data, target=target)
    different = elements = 0
    pairs = []
    for sample in samples[:TESTS]:
        arrays = [each.numpy() for each in sample]
        for a, b in zip(outputs(theirs, arrays), outputs(ours, arrays)):
            different += int(np.sum(a != b))
            elements += a.size
            pairs.append((a, b))
    good = count == expected if expected is not None else count > 0
    good = good and (different == 0 if name not in FLOAT else decibels(pairs) > 15)
    reasons = sum(len(each.reasons) for each in partitioners)
    return (
        f"{case:<30} {count} delegates, {len(data):,} B, {different} of {elements} different, "
        f"{reasons} operators not delegated"
    ), good


def check_qat(source):
    """Quantization-aware training for an Ethos-U: the file's outputs are those of the integer reference."""
    import torch
    from thimble_ml import executorch as et
    from thimble_ml.integer_reference import integer_reference
    from torch import nn
    from torchao.quantization.pt2e import move_exported_model_to_eval
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_qat_pt2e
    import executorch.kernels.quantized  # noqa: F401  the portable quantize and dequantize
    import thimble_ml as thimble

    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(128, 4)
    )
    x, labels = torch.randn(32, 3, 8, 8), torch.arange(32) % 4
    spec = et.EthosUCompileSpec("ethos-u55-128")
    size = torch.export.Dim("batch", min=1, max=64)
    module = torch.export.export(model.train(), (x,), dynamic_shapes=({0: size},)).module(check_guards=False)
    prepared = prepare_qat_pt2e(module, et.EthosUQuantizer(spec, is_qat=True))
    optimizer = torch.optim.SGD(prepared.parameters(), 0.05)
    losses = []
    for _ in range(8):
        loss = nn.functional.cross_entropy(prepared(x), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    move_exported_model_to_eval(prepared)
    exported = torch.export.export(convert_pt2e(prepared), (x[:1],))
    partitioner = et.EthosUPartitioner(spec)
    edge, data = lowered(exported, [partitioner], None)
    count = delegates_of(edge)
    theirs = thimble.Interpreter(data, target="ethos-u55-128")
    reference = integer_reference(exported, "ethos-u55-128")
    different = elements = 0
    for sample in x:
        (expected,) = reference(sample[None])
        (found,) = outputs(theirs, [sample[None].numpy()])
        different += int(np.sum(found != expected.numpy()))
        elements += found.size
    good = count == 1 and different == 0 and losses[-1] < losses[0] and not partitioner.reasons
    return (
        f"{'qat-ethos_u':<30} {count} delegates, {len(data):,} B, {different} of {elements} different, "
        f"loss {losses[0]:.3f} to {losses[-1]:.3f}"
    ), good


def check_passes(source):
    """The passes of the Cortex-M pipeline are those of the compiler; unknown names are refused."""
    from thimble_ml import BadInput
    from thimble_ml.executorch import CortexMPassManager

    program = os.environ.get("THIMBLE", Path(sys.modules["thimble_ml"].__file__).parents[2] / "thimble")
    listed = subprocess.run([program, "opt", "--list"], capture_output=True, text=True, check=True).stdout.split()
    good = CortexMPassManager.pass_list == [*dict.fromkeys(listed)]
    for argument in ("passes", "skip_passes"):
        try:
            CortexMPassManager(None, **{argument: ["no_such_pass"]})
            good = False
        except BadInput as error:
            good = good and "no_such_pass" in str(error)
    return f"{'cortex_m-passes':<30} {len(CortexMPassManager.pass_list)} passes", good


#: Cases that are not a network with an engine.
OTHERS = {"qat-ethos_u": check_qat, "cortex_m-passes": check_passes}


def main():
    try:
        import executorch.exir  # noqa: F401
        import thimble_ml.executorch  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error}", file=sys.stderr)
        return 77
    source = Path(sys.argv[1])
    failed = []
    for case in sys.argv[2:] or [*OTHERS, *CASES]:
        try:
            line, good = OTHERS[case](source) if case in OTHERS else check(source, case)
        except Exception:  # the other cases run too
            line, good = f"{case}\n{traceback.format_exc()}", False
        print(line if good else f"{line}  WRONG", flush=True)
        if not good:
            failed.append(case)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
