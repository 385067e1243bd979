#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes .pte files with ExecuTorch's own Ethos-U flow (wheel 1.5.1, Vela 5.1.0), and their reference outputs.

    executorch_ethos_u.py OUT [NAME...]

Per network: OUT/NAME.pte, and OUT/NAME.npz with inputs input_0, ... and outputs output_0, .... Python runs the lowered
program, and the TOSA reference model runs the TOSA graph of each delegate call, which is the graph that Vela compiled. The
flow is that of the vendor's ahead-of-time compiler: EthosUQuantizer, convert, EthosUPartitioner, ReplaceQuantNodesPass.
Exit 0 if all are made, 77 if ExecuTorch, Vela or the TOSA reference model is not installed.
"""

import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import executorch_make


def networks():
    """Per name: a function that returns (module, calibration inputs), the NPU, and more arguments of EthosUCompileSpec."""
    import torch
    from torch import nn

    F = nn.functional
    fresh = partial(executorch_make.fresh, seed=11, count=6)

    class Image(nn.Module):
        """Convolution, depthwise, residual add, pool, linear."""

        def __init__(self):
            super().__init__()
            self.first = nn.Conv2d(3, 8, 3, stride=2, padding=1)
            self.depthwise = nn.Conv2d(8, 8, 3, padding=1, groups=8)
            self.pointwise = nn.Conv2d(8, 8, 1)
            self.pool = nn.MaxPool2d(2)
            self.last = nn.Linear(8, 5)

        def forward(self, x):
            x = torch.relu(self.first(x))
            x = x + self.pointwise(torch.relu(self.depthwise(x)))
            return self.last(self.pool(x).mean((2, 3)))

    class Add(nn.Module):
        def forward(self, x, y):
            return x + y

    class Rows(nn.Module):
        """Linear layers, sigmoid, softmax."""

        def __init__(self):
            super().__init__()
            self.a = nn.Linear(12, 24)
            self.b = nn.Linear(24, 7)

        def forward(self, x):
            return torch.softmax(self.b(torch.sigmoid(self.a(x))), -1)

    class Island(nn.Module):
        """Two delegate calls with float between them, and outputs of both."""

        def __init__(self):
            super().__init__()
            self.a = nn.Linear(6, 8)
            self.between = nn.LayerNorm(8)
            self.b = nn.Linear(8, 3)

        def forward(self, x):
            y = torch.relu(self.a(x))
            z = self.b(torch.sqrt(self.between(y).abs() + 0.5))
            return y, z

    class Pair(nn.Module):
        """Two inputs and two outputs of one call; upsampling and a product."""

        def forward(self, x, y):
            up = F.interpolate(x, scale_factor=2.0, mode="nearest")
            return up * y, torch.maximum(up, y)

    dedicated = {"memory_mode": "Dedicated_Sram_384KB"}
    return {
        "add_u55_32": (fresh(Add, (1, 4, 5, 16), (1, 4, 5, 16)), "ethos-u55-32", {}),
        "image_u55_128": (fresh(Image, (1, 3, 16, 16)), "ethos-u55-128", {}),
        "image_u65_256": (fresh(Image, (1, 3, 16, 16)), "ethos-u65-256", dedicated),
        "image_u85_256": (fresh(Image, (1, 3, 16, 16)), "ethos-u85-256", {}),
        "island_u55_256": (fresh(Island, (4, 6)), "ethos-u55-256", {}),
        "pair_u55_64": (fresh(Pair, (1, 4, 4, 4), (1, 4, 8, 8)), "ethos-u55-64", {}),
        "rows_u85_128": (fresh(Rows, (3, 12)), "ethos-u85-128", {}),
        "rows_cop2_u85_512": (fresh(Rows, (3, 12)), "ethos-u85-512", {"extra_flags": ["--cop-format=COP2"]}),
    }


class Judge:
    """Runs call_delegate nodes in the TOSA reference model."""

    def __init__(self):
        self.graphs = {}  # payload -> TOSA flatbuffer

    def watch(self):
        from executorch.backends.arm.ethosu.backend import EthosUBackend

        compile_tosa = EthosUBackend._compile_tosa_flatbuffer

        def compile_and_note(tosa_flatbuffer, compile_spec):
            result = compile_tosa(tosa_flatbuffer, compile_spec)
            self.graphs[bytes(result.processed_bytes)] = bytes(tosa_flatbuffer)
            return result

        EthosUBackend._compile_tosa_flatbuffer = staticmethod(compile_and_note)

    def mode(self):
        import torch
        from executorch.backends.arm.test.runner_utils import run_tosa_graph
        from executorch.backends.arm.tosa.specification import TosaSpecification
        from torch.overrides import TorchFunctionMode

        graphs = self.graphs

        class Mode(TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                if func is not torch._higher_order_ops.executorch_call_delegate:
                    return func(*args, **(kwargs or {}))
                module, inputs = args[0], list(args[1:])
                spec = next(s for s in module.compile_specs if s.key == "tosa_spec")
                version = TosaSpecification.create_from_string(bytes(spec.value).decode())
                output = module.original_module.graph.output_node()
                return run_tosa_graph(graphs[bytes(module.processed_bytes)], version, inputs, output)

        return Mode()


def lower(judge, module, samples, npu, options):
    """Returns the reference's outputs and the file's bytes."""
    import torch
    from executorch.backends.arm.ethosu import EthosUCompileSpec, EthosUPartitioner
    from executorch.backends.arm.quantizer import EthosUQuantizer, get_symmetric_quantization_config
    from executorch.backends.cortex_m.passes.replace_quant_nodes_pass import ReplaceQuantNodesPass
    from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge_transform_and_lower
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    spec = EthosUCompileSpec(npu, **options)
    quantizer = EthosUQuantizer(spec)
    quantizer.set_global(get_symmetric_quantization_config())
    quantizer.set_module_type(torch.nn.LayerNorm, None)
    graph = torch.export.export(module, samples[0], strict=False).module()
    prepared = prepare_pt2e(graph, quantizer)
    for sample in samples:
        prepared(*sample)
    converted = convert_pt2e(prepared)
    edge = to_edge_transform_and_lower(
        torch.export.export(converted, samples[0], strict=False),
        partitioner=[EthosUPartitioner(spec)],
        compile_config=EdgeCompileConfig(_check_ir_validity=False),
    ).transform([ReplaceQuantNodesPass()])
    program = edge.exported_program().module()
    answers = []
    for sample in samples[:3]:
        with torch.no_grad(), judge.mode():
            result = program(*sample)
        answers.append(result if isinstance(result, (tuple, list)) else (result,))
    config = ExecutorchBackendConfig(extract_delegate_segments=False)
    return answers, edge.to_executorch(config=config).buffer


def main():
    args = executorch_make.arguments(__doc__)
    try:
        import executorch.backends.arm.ethosu  # noqa: F401
        import tosa_reference_model  # noqa: F401
        from ethosu.vela import vela  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error}", file=sys.stderr)
        return 77
    judge = Judge()
    judge.watch()
    table = networks()
    for name in args.names or table:
        make, npu, options = table[name]
        module, samples = make()
        answers, pte = lower(judge, module, samples, npu, options)
        executorch_make.write_case(args.out, name, samples[:3], answers, pte, npu)
    return 0


if __name__ == "__main__":
    sys.exit(main())
