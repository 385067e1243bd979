#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ExecuTorch's flow with Thimble's partitioners, quantizers and Cortex-M pipeline, in both runtimes.

    flow_peer.py SOURCE THIMBLE LIBRARIES FOLDER [ENGINE or CASE...]

Per case, a network of models/ or examples/ goes through prepare_pt2e, convert_pt2e, to_edge_transform_and_lower with the
partitioner, the Cortex-M pipeline and to_executorch. The file runs in Thimble's runtime on the host and on an emulated board,
and in executorch.runtime with Thimble's kernels and delegates (LIBRARIES). All results must be equal bit for bit, also to those
of Thimble's own flow for the same quantized program. Exit 0 if all agree, 1 if not, 77 if ExecuTorch is not installed.
"""

import json
import os
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "executorch_runtime"))
from loading import emulated, executorch_run, is_missing, load_libraries, run_cases, thimble_run  # noqa: E402
from networks import FULL_SIZE, full_size, trained  # noqa: E402

warnings.filterwarnings("ignore")

NETWORKS = ["mobilenet_v2_tiny", "mobilenet_v3_tiny", "dscnn_kws", "deit_tiny_like", "hello_axon", "multi_layer", "simple_rnn"]
EXAMPLES = ("hello_axon", "multi_layer", "simple_rnn")
ENGINES = ["ethos_u", "axon", "neutron", "imxrt700cm", "cortex_m"]
#: Case: engine, network. Those of networks of full size run only if they are named.
CASES = {f"{engine}-{name}": (engine, name) for engine in ENGINES for name in (*NETWORKS, *FULL_SIZE)}
CASES["cortex_m-operators"] = ("cortex_m", "operators")
CASES["axon-wide_head"] = ("axon", "wide_head")
#: Numbers of delegates that ExecuTorch's examples state, and networks that an Ethos-U runs whole. Other cases with an NPU
#: have at least one, cases of the Cortex-M pipeline none.
DELEGATES = {
    "axon-hello_axon": 1,
    "axon-multi_layer": 1,
    "axon-simple_rnn": 2,
    "ethos_u-mobilenet_v2_tiny": 1,
    "ethos_u-mobilenet_v2": 1,
}
#: Networks with operators that ExecuTorch has no kernel for: the Cortex-M pipeline calls Thimble's.
NATIVE = ("deit_tiny_like", "operators")
BOARDS = {
    "ethos_u": "corstone-300",
    "axon": "nrf54lm20b",
    "neutron": "imxrt700",
    "imxrt700cm": "imxrt700cm",
    "cortex_m": "cortex-m55",
}
TESTS = 4


def network(source, name):
    """Returns the float module and its calibration samples, tuples of tensors."""
    if name == "simple_rnn":
        return step_network(source)
    if name == "operators":
        return operators()
    if name == "wide_head":
        return wide_head()
    if name in FULL_SIZE:
        return full_size(source, name)
    return trained(source, name, "examples/nordic" if name in EXAMPLES else "models")


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


def operators():
    """Operators that only Thimble has kernels for."""
    import torch
    from torch import nn

    class Operators(nn.Module):
        def __init__(self):
            super().__init__()
            self.groups, self.rows, self.mean_square = nn.GroupNorm(2, 4), nn.LayerNorm([6, 6]), nn.RMSNorm(6, eps=1e-5)

        def forward(self, x):
            x = self.mean_square(self.rows(self.groups(x)))
            x = torch.cumsum(x, 2) / (1 + x.abs())
            return torch.log_softmax(torch.matmul(x, x.transpose(2, 3)), 3)

    torch.manual_seed(1)
    samples = [(torch.randn(1, 4, 6, 6),) for _ in range(8)]
    return torch.export.export(Operators().eval(), samples[0]).module(check_guards=False), samples


def wide_head():
    """The end of MobileNetV2 with more channels than the AXON has, so that convolution and average are on the core."""
    import torch
    from torch import nn

    torch.manual_seed(1)
    layers = [nn.Conv2d(3, 8, 3), nn.ReLU6(), nn.Conv2d(8, 1040, 1), nn.ReLU6(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    samples = [(torch.randn(1, 3, 9, 9),) for _ in range(8)]
    module = nn.Sequential(*layers, nn.Linear(1040, 16)).eval()
    return torch.export.export(module, samples[0]).module(check_guards=False), samples


def engine(engine_name, network_name, is_qat=False):
    """Returns the quantizer, the partitioners, the core of the rest, the target of Thimble's own flow, and its options."""
    from thimble_ml import executorch as et

    if engine_name == "ethos_u":
        spec = et.EthosUCompileSpec("ethos-u55-128")
        return et.EthosUQuantizer(spec, is_qat=is_qat), [et.EthosUPartitioner(spec)], "cortex-m55", "ethos-u55-128", {}
    if engine_name == "axon":
        options = {"npu_small": True}
        spec = et.AxonCompileSpec()
        if network_name == "simple_rnn":
            spec = et.AxonCompileSpec(operators_not_to_delegate=["tanh"])
            options["engine_off"] = "tanh"
        return et.AxonQuantizer(spec, is_qat=is_qat), [et.AxonPartitioner(spec)], "cortex-m33", "axon", options
    if engine_name in ("neutron", "imxrt700cm"):
        target = "imxrt700" if engine_name == "neutron" else engine_name
        spec = et.generate_neutron_compile_spec(target)
        quantizer = et.NeutronQuantizer if engine_name == "neutron" else et.IMXRT700CMQuantizer
        return quantizer(target, is_qat=is_qat), [et.NeutronPartitioner(spec)], "cortex-m33", target, {}
    options = {} if network_name in NATIVE else {"compat": "executorch"}
    return et.CortexMQuantizer("cortex-m55", is_qat=is_qat), [], "cortex-m55", "cortex-m55", options


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
        assert not manager.reasons, manager.reasons
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


def compare(a, b):
    """Returns the number of different elements of two lists of samples, and their decibels."""
    pairs = [(x, y.reshape(x.shape)) for p, q in zip(a, b, strict=True) for x, y in zip(p, q, strict=True)]
    return sum(int(np.sum(x != y)) for x, y in pairs), decibels(pairs)


def check(source, thimble_program, folder, case):
    """Returns a line about the case, and whether it is as expected."""
    import executorch.kernels.quantized  # noqa: F401  the portable quantize and dequantize
    import thimble_ml as thimble

    engine_name, name = CASES[case]
    module, samples = network(source, name)
    quantizer, partitioners, core, target, options = engine(engine_name, name)
    exported = quantized(module, samples, quantizer)
    edge, data = lowered(exported, partitioners, core)
    path = folder / f"{case}.pte"
    path.write_bytes(data)
    count = delegates_of(edge)
    expected = DELEGATES.get(case, 0 if engine_name == "cortex_m" else None)
    good = count == expected if expected is not None else count > 0
    inspected = subprocess.run([thimble_program, "inspect", path, "--json"], capture_output=True, text=True, check=True)
    listed = json.loads(inspected.stdout)["methods"][0]["delegates"]
    good = good and len(listed) == count and all(each["inputs"] and each["outputs"] for each in listed)
    own_flow = thimble.Interpreter(thimble.compile(exported, target=target, **options))
    tested = samples[: 1 if name in FULL_SIZE else TESTS]
    arrays = [[each.numpy() for each in sample] for sample in tested]
    found = thimble_run(thimble_program, path, arrays)
    runs = {
        "own flow": [outputs(own_flow, sample) for sample in arrays],
        "executorch.runtime": executorch_run(thimble_program, path, arrays),
        "board": [emulated(thimble_program, path, arrays[0], BOARDS[engine_name], folder)[0]],
    }
    texts = []
    for kind, results in runs.items():
        different, ratio = compare(found[: len(results)], results)
        texts.append(f"{kind} {different}" + (f" ({ratio:.1f} dB)" if different else ""))
        good = good and different == 0
    elements = sum(each.size for sample in found for each in sample)
    reasons = sum(len(each.reasons) for each in partitioners)
    return (
        f"{case:<30} {count} delegates, {len(data):,} B, {elements} outputs, different: {', '.join(texts)}; "
        f"{reasons} operators not delegated"
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
OTHERS = {"cortex_m-passes": check_passes}


def main():
    if is_missing("executorch.exir", "thimble_ml.executorch"):
        return 77
    source, thimble_program, libraries, folder, *names = sys.argv[1:]
    source, folder = Path(source), Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    load_libraries(libraries)
    names = names or [*OTHERS, *ENGINES]
    label = {case: engine for case, (engine, network) in CASES.items() if network not in FULL_SIZE}
    cases = [case for case in [*OTHERS, *CASES] if case in names or label.get(case) in names]
    return run_cases([
        (case, partial(OTHERS[case], source) if case in OTHERS else partial(check, source, thimble_program, folder, case))
        for case in cases
    ])


if __name__ == "__main__":
    sys.exit(main())
