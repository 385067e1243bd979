#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Features of ExecuTorch's backends that no other test has. docs/executorch.md lists them by the names of the functions.

    features_test.py THIMBLE SOURCE COMPILER FOLDER [FEATURE...]

COMPILER is the stand-in for Nordic's compiler library. Exit 77 if ExecuTorch is not installed.
"""

import json
import os
import shutil
import sys
import traceback
import warnings
from pathlib import Path

import numpy as np

from switching_test import Bench, delegate_ids
from axon_driver_test import make_sdk  # switching_test adds its folder
from networks import trained

warnings.filterwarnings("ignore")
FEATURES = []
MOVEMENT = ("aten.view_copy.", "aten.expand_copy.", "aten.permute_copy.")


def feature(function):
    FEATURES.append(function)
    return function


def quantized(module, x, quantizer):
    """The program of a small module, quantized for one sample."""
    import torch
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    prepared = prepare_pt2e(torch.export.export(module.eval(), (x,)).module(check_guards=False), quantizer)
    prepared(x)
    return torch.export.export(convert_pt2e(prepared), (x,))


def calls(program):
    """Names of the operators of a graph, without delegate calls and getitem."""
    return [str(node.target) for node in program.graph.nodes
            if node.op == "call_function" and "::" in str(getattr(node.target, "name", lambda: "")())]


@feature
def axon_limits(bench):
    """The partitioner keeps what exceeds a limit of the AXON on the core, with reason and source line."""
    import torch
    from torch import nn

    limits = [
        (lambda n: nn.Linear(n, 4), lambda n: torch.randn(1, n), 2048, "linear"),
        (lambda n: nn.Conv2d(2, 4, (n, 1)), lambda n: torch.randn(1, 2, 20, 4), 16, "convolution"),
        (lambda n: nn.AvgPool2d((n, 1), 1), lambda n: torch.randn(1, 2, 40, 4), 32, "avg_pool"),
    ]
    for make, sample, limit, name in limits:
        for size, refused in ((limit, False), (limit + 1, True)):
            torch.manual_seed(1)
            partitioner = bench.et.AxonPartitioner()
            edge = bench.edge(quantized(nn.Sequential(make(size)), sample(size), bench.et.AxonQuantizer()), [partitioner])
            assert (len(delegate_ids(edge)) == 0) == refused, (name, size, delegate_ids(edge))
            if refused:
                assert any(str(limit) in each.reason and each.source for each in partitioner.reasons), partitioner.reasons


@feature
def axon_names(bench):
    """The name of a subgraph has a hash of its content."""
    import torch

    sdk = bench.folder / "sdk"
    make_sdk(bench.compiler, sdk)
    os.environ["AXON_STANDIN"] = ""
    names = []
    for index, seed in enumerate((1, 1, 2)):
        torch.manual_seed(seed)
        module = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
        spec = bench.et.AxonCompileSpec(sdk_edge_ai_path=sdk)
        here = bench.folder / str(index)
        here.mkdir()
        os.chdir(here)  # the headers are written to the current folder
        torch.manual_seed(3)
        bench.edge(quantized(module, torch.randn(1, 8), bench.et.AxonQuantizer(spec)), [bench.et.AxonPartitioner(spec)])
        names.append(sorted(path.name for path in here.glob("axon_subgraph_*.h")))
    assert names[0] == names[1] != names[2] and all(len(each) == 1 for each in names), names


@feature
def cifarnet(bench):
    """i.MX RT700: the Neutron, and softmax on the Cortex-M."""
    spec = bench.et.generate_neutron_compile_spec("imxrt700cm", operators_not_to_delegate=["softmax"])
    partitioner = bench.et.NeutronPartitioner(spec)
    edge, ids = bench.lowered(bench.et.IMXRT700CMQuantizer(), partitioner, name="cifarnet")
    assert ids == ["ThimbleNeutronModel"] and len(partitioner.reasons) == 1, (ids, partitioner.reasons)
    program = bench.et.CortexMPassManager(edge.exported_program(), target_config="cortex-m33").transform()
    names = calls(program)
    assert sum("cortex_m.softmax" in name for name in names) == 1, names
    assert all("cortex_m" in name or "dim_order" in name for name in names), names


@feature
def add_2(bench):
    """i.MX RT700: one addition of MobileNetV2 on the Cortex-M, by the name of its node."""
    spec = bench.et.generate_neutron_compile_spec("imxrt700cm", operators_not_to_delegate=["aten_add_tensor_2"])
    partitioner = bench.et.NeutronPartitioner(spec)
    edge, ids = bench.lowered(bench.et.IMXRT700CMQuantizer(), partitioner, name="mobilenet_v2_tiny")
    assert len(ids) == 2 and [each.node for each in partitioner.reasons] == ["aten_add_tensor_2"], (ids, partitioner.reasons)
    program = bench.et.CortexMPassManager(edge.exported_program(), target_config="cortex-m33").transform()
    assert sum("cortex_m.quantized_add" in name for name in calls(program)) == 1, calls(program)


@feature
def stock_quantizer(bench):
    """Programs of ExecuTorch's own CortexMQuantizer compile without data and without float operators."""
    import torch
    from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    for name in ("mobilenet_v2_tiny", "mobilenet_v3_tiny"):
        module, samples = trained(bench.source, name)
        # The quantizer annotates images in channels-last memory only.
        samples = [(each.to(memory_format=torch.channels_last),) for each, in samples[:4]]
        prepared = prepare_pt2e(torch.export.export(module, samples[0]).module(check_guards=False), CortexMQuantizer())
        for sample in samples:
            prepared(*sample)
        path = bench.folder / f"{name}.pt2"
        torch.export.save(torch.export.export(convert_pt2e(prepared), samples[0]), str(path))
        text = bench.run("compile", path, "--target", "cortex-m55", "--json", "-o", bench.folder / f"{name}.pte")
        assert json.loads(text)["float_ops"] == 0, text


@feature
def cores(bench):
    """CortexMPassManager accepts each core of ExecuTorch's CortexM."""
    from executorch.backends.cortex_m.target_config import CortexM, CortexMTargetConfig

    edge = bench.edge(bench.quantized(bench.et.CortexMQuantizer("cortex-m55")))
    for cpu in CortexM:
        config = CortexMTargetConfig(cpu=cpu)
        program = bench.et.CortexMPassManager(edge.exported_program(), target_config=config).transform()
        assert any("quantized_conv2d" in name for name in calls(program)), (cpu, calls(program))


@feature
def lowered_whole(bench):
    """MobileNetV2 and MobileNetV3: each operator is one of ExecuTorch's Cortex-M kernels, or moves data."""
    for name in ("mobilenet_v2_tiny", "mobilenet_v3_tiny"):
        edge = bench.edge(bench.quantized(bench.et.CortexMQuantizer("cortex-m55"), name=name))
        manager = bench.et.CortexMPassManager(edge.exported_program(), target_config="cortex-m55")
        names = calls(manager.transform())
        assert not manager.reasons and len(names) > 50, (manager.reasons, names)
        others = {name for name in names if not any(each in name for each in ("cortex_m.", "dim_order_ops.", *MOVEMENT))}
        assert not others, others


@feature
def portable_kernels(bench):
    """What has no int8 kernel of ExecuTorch is an operator of Thimble, or stays in float with reason and source line."""
    import torch

    torch.manual_seed(1)
    module = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.LayerNorm(8))
    edge = bench.edge(quantized(module, torch.randn(1, 8), bench.et.CortexMQuantizer("cortex-m55")))
    for uses in (True, False):
        manager = bench.et.CortexMPassManager(edge.exported_program(), target_config="cortex-m55", thimble_operators=uses)
        names = calls(manager.transform())
        assert any("cortex_m.quantized_" in name for name in names), names
        assert any("thimble.layer_norm" in name for name in names) == uses, names
        assert any("aten.native_layer_norm" in name for name in names) != uses, names
        assert [each.op for each in manager.reasons] == ([] if uses else ["aten.native_layer_norm.default"]), manager.reasons
        assert all(each.source and each.reason for each in manager.reasons), manager.reasons


@feature
def borders(bench):
    """Quantize and dequantize next to a delegate are operators of cortex_m."""
    spec = bench.et.EthosUCompileSpec("ethos-u55-128")
    edge, ids = bench.lowered(bench.et.EthosUQuantizer(spec), bench.et.EthosUPartitioner(spec))
    names = calls(bench.et.CortexMPassManager(edge.exported_program(), target_config="cortex-m55").transform())
    assert ids == ["EthosUBackend"] and not any("quantized_decomposed" in name for name in names), (ids, names)
    assert any("cortex_m.quantize_per_tensor" in name for name in names), names
    assert any("cortex_m.dequantize_per_tensor" in name for name in names), names


@feature
def two_packages(bench):
    """A partitioner of another package gets what the first one leaves."""
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

    spec = bench.et.EthosUCompileSpec("ethos-u55-128")
    first = bench.et.EthosUPartitioner(spec, [Keeps("linear", "addmm")])
    edge = bench.edge(bench.quantized(bench.et.EthosUQuantizer(spec)), [first, XnnpackPartitioner()])
    assert set(delegate_ids(edge)) == {"EthosUBackend", "XnnpackBackend"}, delegate_ids(edge)


class Keeps:
    """A check of EthosUPartitioner that keeps nodes on the core by their names."""

    def __init__(self, *names):
        self.names = names

    def is_node_supported(self, submodules, node):
        return not any(name in node.name for name in self.names)


@feature
def preserve_ops(bench):
    """EdgeCompileConfig(preserve_ops=...) does not change the result of the Cortex-M pipeline."""
    import executorch.kernels.quantized  # noqa: F401
    import torch
    from executorch.exir import EdgeCompileConfig, to_edge

    exported = bench.quantized(bench.et.CortexMQuantizer("cortex-m55"))
    found = []
    for preserved in ([], [torch.ops.aten.linear.default]):
        config = EdgeCompileConfig(preserve_ops=preserved, _check_ir_validity=False)
        edge = to_edge(exported, compile_config=config)
        assert any("aten.linear" in name for name in calls(edge.exported_program())) == bool(preserved)
        found.append(calls(bench.et.CortexMPassManager(edge.exported_program(), target_config="cortex-m55").transform()))
    assert found[0] == found[1], found


def main():
    thimble, source, compiler, folder, *names = sys.argv[1:]
    # Features change the current folder.
    thimble, source, compiler, folder = (Path(each).resolve() for each in (thimble, source, compiler, folder))
    try:
        import executorch.exir  # noqa: F401
        import thimble_ml.executorch  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error}", file=sys.stderr)
        return 77
    shutil.rmtree(folder, ignore_errors=True)
    failed = []
    for function in FEATURES:
        if names and function.__name__ not in names:
            continue
        here = folder / function.__name__
        here.mkdir(parents=True)
        np.random.seed(1)
        try:
            function(Bench(thimble, source, compiler, here))
            print(f"{function.__name__}: ok", flush=True)
        except Exception:  # the other features are tested too
            print(f"{function.__name__}: {function.__doc__}\n{traceback.format_exc()}", flush=True)
            failed.append(function.__name__)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
