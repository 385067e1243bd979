#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes .pte files with ExecuTorch's own Cortex-M flow (wheel 1.5.1), and their reference outputs.

    executorch_make.py OUT [NAME...]

Per network: OUT/NAME.pte, and OUT/NAME.npz with inputs input_0, ..., and the outputs output_0, ... that ExecuTorch's
Python reference of its operators (backends/cortex_m/ops/operators.py) computes on the lowered graph. The flow is that
of the vendor's ahead-of-time compiler: CortexMQuantizer, convert, to_edge, CortexMPassManager, to_executorch.
Exit 0 if all are made, 77 if ExecuTorch is not installed.
"""

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def networks():
    """Per name: a function that returns (module, calibration inputs), the core, and whether layouts are explicit. Without a
    core the network stays in float32 and PyTorch itself is the reference."""
    import torch
    from torch import nn

    def trained(name):
        """A network of models/ with its trained weights."""
        import numpy as np

        def make():
            folder = ROOT / "models" / name
            module = torch.export.load(str(folder / f"{name}.pt2")).module()
            samples = torch.from_numpy(np.load(folder / "calibrate.npz")["x"])
            return module, [(samples[i : i + 1].clone(),) for i in range(len(samples))]

        return make

    class Separable(nn.Module):
        """Depthwise with multiplier 1 and 2, pointwise, average pool."""

        def __init__(self):
            super().__init__()
            self.first = nn.Conv2d(3, 8, 3, stride=2, padding=1)
            self.depthwise = nn.Conv2d(8, 8, 3, padding=1, groups=8)
            self.pointwise = nn.Conv2d(8, 12, 1)
            self.twice = nn.Conv2d(12, 24, 3, padding=1, groups=12)
            self.pool = nn.AvgPool2d(2)
            self.last = nn.Linear(24, 5)

        def forward(self, x):
            x = torch.relu(self.first(x))
            x = torch.relu(self.pointwise(torch.relu(self.depthwise(x))))
            x = self.pool(torch.relu(self.twice(x)))
            return self.last(x.mean((2, 3)))

    class Residual(nn.Module):
        """Adds, grouped and dilated convolutions, max pool."""

        def __init__(self):
            super().__init__()
            self.a = nn.Conv2d(4, 8, 3, padding=1)
            self.b = nn.Conv2d(8, 8, 3, padding=2, dilation=2, groups=2)
            self.c = nn.Conv2d(8, 8, 1)
            self.pool = nn.MaxPool2d(2)

        def forward(self, x):
            x = torch.relu(self.a(x))
            return self.pool(torch.relu(x + self.c(torch.relu(self.b(x)))))

    class SqueezeExcite(nn.Module):
        """mul, sigmoid, hardswish, hardsigmoid."""

        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 8, 3, padding=1)
            self.down = nn.Conv2d(8, 4, 1)
            self.up = nn.Conv2d(4, 8, 1)
            self.last = nn.Conv2d(8, 8, 1)

        def forward(self, x):
            x = nn.functional.hardswish(self.conv(x))
            s = nn.functional.adaptive_avg_pool2d(x, 1)
            s = torch.sigmoid(self.up(torch.relu(self.down(s))))
            return nn.functional.silu(self.last(x * s))

    class SoftmaxHead(nn.Module):
        """linear, tanh, gelu, softmax over the last dimension, several rows."""

        def __init__(self):
            super().__init__()
            self.a = nn.Linear(12, 24)
            self.b = nn.Linear(24, 7)

        def forward(self, x):
            return torch.softmax(self.b(nn.functional.gelu(torch.tanh(self.a(x)))), -1)

    class Transpose(nn.Module):
        """permute, transpose, view, cat, slice, minimum and maximum."""

        def __init__(self):
            super().__init__()
            self.a = nn.Linear(10, 16)
            self.b = nn.Linear(6, 10)

        def forward(self, x):
            y = self.a(x).permute(0, 2, 1)
            y = self.b(y)
            y = torch.cat((y[:, :8], y[:, 8:].reshape(1, 8, 10)), 2)
            return torch.maximum(torch.minimum(y, y * 0.5), y[:, :, :1].expand(1, 8, 20))

    class Pools(nn.Module):
        """pad, max pools, average pools that include their padding in the mean."""

        def __init__(self, ceil_mode=True):
            super().__init__()
            self.conv = nn.Conv2d(2, 6, 3)
            self.max = nn.MaxPool2d(3, 2, padding=1)
            self.ceil = nn.MaxPool2d(2, 2, ceil_mode=ceil_mode)
            self.mean = nn.AvgPool2d(3, 1, padding=1, count_include_pad=True)
            self.inside = nn.AvgPool2d((2, 3), (1, 2), padding=(1, 1), count_include_pad=False)

        def forward(self, x):
            x = self.conv(nn.functional.pad(x, (1, 2, 0, 1)))
            return self.inside(self.mean(self.ceil(self.max(x))))

    class Attention(nn.Module):
        """batch matmul, softmax, div."""

        def forward(self, q, k, v):
            a = torch.softmax(torch.bmm(q, k), -1)
            y = torch.bmm(a, v)
            return y / q

    class FloatIsland(nn.Module):
        """Operators that the quantizer leaves in float32 (layer norm, exp, sub, mean, where), between int8 ones."""

        def __init__(self):
            super().__init__()
            self.a = nn.Linear(16, 32)
            self.norm = nn.LayerNorm(32)
            self.b = nn.Linear(32, 16)
            self.conv = nn.Conv1d(6, 4, 3)

        def forward(self, x):
            y = self.norm(self.a(x))
            y = self.b(y * torch.exp(-y.abs())) - y.mean(-1, keepdim=True)
            y = torch.where(y > 0, y, 0.1 * y) + torch.rsqrt(x.pow(2).sum(-1, keepdim=True) + 1.0)
            y = self.conv(y)
            return torch.log_softmax(y.flatten(1), -1), y.amax(-1), torch.sqrt(y * y + 0.5)

    class Upward(nn.Module):
        """Transposed convolutions."""

        def __init__(self):
            super().__init__()
            self.down = nn.Conv2d(3, 6, 3, stride=2, padding=1)
            self.up = nn.ConvTranspose2d(6, 4, 2, stride=2)
            self.wide = nn.ConvTranspose2d(4, 3, 3, stride=1, padding=1)

        def forward(self, x):
            return self.wide(torch.relu(self.up(torch.relu(self.down(x)))))

    class ManyWays(nn.Module):
        """Two inputs and three outputs, one of which is an input; a float operator between."""

        def __init__(self):
            super().__init__()
            self.a = nn.Linear(8, 8)

        def forward(self, x, z):
            y = self.a(x)
            s, t = torch.split(torch.stack((y, z), 0), 1, 0)
            return y - z, (s * t).squeeze(0), torch.nn.functional.pad(t, (0, 3), value=1.5)

    F = torch.nn.functional

    class FloatElementwise(nn.Module):
        def forward(self, x, z):
            p = x.abs() + 0.25
            y = torch.stack((
                x.neg().exp(), p.log(), p.sqrt(), p.rsqrt(), p.reciprocal(), x.sin(), x.cos(), x.erf(),
                x.floor(), x.ceil(), x.sigmoid(), x.tanh(), x.relu(), F.gelu(x), F.gelu(x, approximate="tanh"),
                F.hardtanh(x, -0.5, 0.75), x.clamp(min=-0.3), x.clamp(max=0.4), F.leaky_relu(x, 0.2), F.elu(x),
                x.pow(3), p.pow(1.7), x.pow(-1)))
            w = torch.add(x, z, alpha=0.5) - torch.sub(z, x, alpha=2) * 1.5 / p + (x + 3) - (z - 1)
            m = torch.maximum(torch.minimum(x, z), z * 0.5)
            c = [x == z, x != z, x < z, x <= z, x > z, x >= z, x == 1, x != 1, x < 0.1, x <= 0.2, x > 0.3, x >= 0.4]
            s = sum(torch.where(one, x, z * i) for i, one in enumerate(c))
            b = torch.logical_and(x > 0, z > 0)
            b = torch.logical_or(b, torch.logical_not(z > -1))
            return y, w, m, s, torch.where(b, x, 0.5)

    class FloatMovement(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(7, 3)
            self.register_buffer("index", torch.tensor([2, 0, 1, 1]))

        def forward(self, x, image):
            a = x.permute(2, 0, 1).transpose(0, 2).unsqueeze(1).squeeze(1)
            b = torch.cat((a.flip(0, 2), a[:, 1:, ::2].repeat(1, 2, 2)[:, : a.shape[1], : a.shape[2]]), 0)
            c = torch.stack(torch.unbind(x, 1), 0)
            d = torch.cat(torch.split(x, [1, 2], 1)[::-1], 1) + torch.cat(torch.chunk(x, 2, 2)[::-1], 2)
            e = F.pad(x[:, -1], (1, 2, 0, 1), value=-0.5) + torch.full((3, 9), 2.0)
            f = torch.index_select(x, 2, self.index) + torch.full_like(x, 3.0)[:, :, :4]
            g = F.interpolate(image, scale_factor=2.0, mode="nearest") + F.interpolate(image, (8, 6), mode="nearest")
            h = self.table(self.index) + self.table.weight[:4].t().clone().t()
            return b.expand(2, *b.shape).reshape(-1), c, d, e, f, g, h

    class FloatReductions(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.LayerNorm((3, 4))
            self.batch = nn.BatchNorm2d(3)
            with torch.no_grad():
                self.batch.running_mean.uniform_(-1, 1)
                self.batch.running_var.uniform_(0.5, 2)

        def forward(self, x):
            a = x.mean((2, 3)) + x.sum((1,)).sum((1, 2), keepdim=True).reshape(-1, 1)
            b = x.amax((1, 2)) - x.amin((1, 2)) + x.var((1, 2)) + x.var((1, 2), correction=0)
            c = torch.softmax(x, 1) + torch.log_softmax(x, -1)
            return a, b, c, x.argmax(2), self.norm(x.transpose(1, 2)), self.batch(x)

    class FloatProducts(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(6, 5)
            self.wide = nn.Conv1d(4, 6, 3, padding=1, groups=2)
            self.conv = nn.Conv2d(3, 4, 3, stride=2, padding=1)
            self.dilated = nn.Conv2d(4, 4, 3, padding=2, dilation=2, groups=4, bias=False)
            self.up = nn.ConvTranspose2d(4, 3, 3, stride=2, padding=1, output_padding=1)
            self.register_buffer("matrix", torch.randn(5, 4))

        def forward(self, x, image):
            a = self.wide(self.linear(x) @ self.matrix)
            b = torch.addmm(x[0, :, :4].sum(0), x[0], x[1].t(), beta=0.5, alpha=2)
            c = torch.bmm(x, x.transpose(1, 2)) + torch.mm(x[0], x[1].t())
            y = self.dilated(self.conv(image))
            z = self.up(y)
            return (a, b, c, z, F.avg_pool2d(image, 3, 2, 1), F.avg_pool2d(image, 2, count_include_pad=False),
                    F.adaptive_avg_pool2d(y, (2, 3)), F.max_pool2d(image, 3, 2, 1), F.avg_pool2d(y, 3, 2, 1, True))

    return {
        "float_elementwise": (fresh(FloatElementwise, (3, 5), (3, 5)), None, False),
        "float_movement": (fresh(FloatMovement, (2, 3, 6), (1, 2, 4, 3)), None, False),
        "float_products": (fresh(FloatProducts, (2, 4, 6), (1, 3, 7, 7)), None, False),
        "float_reductions": (fresh(FloatReductions, (2, 3, 3, 4)), None, False),
        "hello_sin": (trained("hello_sin"), "m55", False),
        "hello_sin_m4": (trained("hello_sin"), "m4", False),
        "digits_cnn": (trained("digits_cnn"), "m55", False),
        "dscnn_kws": (trained("dscnn_kws"), "m55", False),
        "dscnn_kws_m4": (trained("dscnn_kws"), "m4", False),
        "resnet8": (trained("resnet8"), "m55", False),
        "separable": (fresh(Separable, (1, 3, 12, 12)), "m55", False),
        "separable_nhwc": (fresh(Separable, (1, 3, 12, 12)), "m55", True),
        "residual": (fresh(Residual, (1, 4, 8, 8)), "m0plus", False),
        "squeeze_excite": (fresh(SqueezeExcite, (1, 3, 8, 8)), "m55", False),
        "squeeze_excite_nhwc": (fresh(SqueezeExcite, (1, 3, 8, 8)), "m4", True),
        "softmax_head": (fresh(SoftmaxHead, (3, 12)), "m4", False),
        "transpose": (fresh(Transpose, (1, 6, 10)), "m55", False),
        "pools": (fresh(Pools, (1, 2, 13, 11)), "m4", False),
        "pools_nhwc": (fresh(lambda: Pools(ceil_mode=False), (1, 2, 13, 11)), "m55", True),
        "attention": (fresh(Attention, (2, 5, 8), (2, 8, 6), (2, 6, 8)), "m55", False),
        "float_island": (fresh(FloatIsland, (1, 6, 16)), "m55", False),
        "upward": (fresh(Upward, (1, 3, 8, 8)), "m55", False),
        "upward_nhwc": (fresh(Upward, (1, 3, 8, 8)), "m4", True),
        "many_ways": (fresh(ManyWays, (2, 8), (2, 8)), "m55", False),
    }


def lower(module, samples, core, explicit, reference=None):
    """Returns the samples, the outputs of the reference for the lowered program, and the file's bytes. The default
    reference is `run_eagerly`."""
    import torch
    from executorch.backends.cortex_m.edge_compile_config import cortex_m_edge_compile_config
    from executorch.backends.cortex_m.passes.cortex_m_pass_manager import CortexMPassManager
    from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer
    from executorch.backends.cortex_m.target_config import CortexM, CortexMTargetConfig
    from executorch.exir import ExecutorchBackendConfig, to_edge
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    def ordered(inputs):
        if explicit:
            return inputs
        return tuple(x.to(memory_format=torch.channels_last) if x.dim() == 4 else x for x in inputs)

    if core is None:
        judge = run(module, samples[:3])
        edge = to_edge(
            torch.export.export(module, samples[0], strict=False),
            compile_config=cortex_m_edge_compile_config(),
        )
        return samples[:3], judge, edge.to_executorch().buffer
    samples = [ordered(sample) for sample in samples]
    if not explicit and not isinstance(module, torch.fx.GraphModule):
        module = module.to(memory_format=torch.channels_last)
    graph = torch.export.export(module, samples[0], strict=False).module()
    prepared = prepare_pt2e(graph, CortexMQuantizer(use_explicit_layout=explicit))
    for sample in samples:
        prepared(*sample)
    converted = convert_pt2e(prepared)
    edge = to_edge(
        torch.export.export(converted, samples[0], strict=False),
        compile_config=cortex_m_edge_compile_config(),
    )
    manager = CortexMPassManager(
        edge.exported_program(),
        target_config=CortexMTargetConfig(cpu=CortexM[core.upper()]),
        use_explicit_layout=explicit,
    )
    lowered = manager.transform()
    edge._edge_programs["forward"] = lowered
    judge = (reference or run_eagerly)(lowered, samples[:3])
    program = edge.to_executorch(config=ExecutorchBackendConfig(extract_delegate_segments=False))
    return samples[:3], judge, program.buffer


def make_delegate(path):
    """A small file with a delegate: ExecuTorch's demonstration backend computes the sine."""
    import torch
    from executorch.exir import to_edge
    from executorch.exir.backend.backend_api import to_backend
    from executorch.exir.backend.compile_spec_schema import CompileSpec
    from executorch.exir.backend.test.backend_with_compiler_demo import BackendWithCompilerDemo

    class Sine(torch.nn.Module):
        def forward(self, x):
            return torch.sin(x)

    class Outer(torch.nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, x):
            return self.inner(x) + 1.0

    x = (torch.ones(1, 4),)
    specs = [CompileSpec("max_value", bytes([4])), CompileSpec("note", b"hello")]
    inner = to_backend(
        BackendWithCompilerDemo.__name__, to_edge(torch.export.export(Sine(), x)).exported_program(), specs
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(to_edge(torch.export.export(Outer(inner), x)).to_executorch().buffer)


def run_eagerly(lowered, samples):
    """Runs the reference, operator by operator. PyTorch has no dilated convolution of integers; it is computed in float64,
    in which every sum is exact."""
    import torch
    from executorch.backends.cortex_m.ops import operators

    conv2d = torch.nn.functional.conv2d

    def exact_conv2d(x, w, bias=None, *window, **options):
        if x.dtype != torch.int32:
            return conv2d(x, w, bias, *window, **options)
        bias = None if bias is None else bias.double()
        return conv2d(x.double(), w.double(), bias, *window, **options).to(torch.int32)

    operators.F.conv2d = exact_conv2d
    return run(lowered.module(), samples)


def run(module, samples):
    import torch

    results = []
    for sample in samples:
        with torch.no_grad():
            result = module(*sample)
        results.append(result if isinstance(result, (tuple, list)) else (result,))
    return results


def arguments(description):
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    return args


def write_case(out, name, samples, judge, pte, core):
    """Writes the file and its recorded calls, and prints a line about them."""
    import numpy as np

    arrays = {}
    for kind, calls in (("input", samples), ("output", judge)):
        for i in range(len(calls[0])):
            arrays[f"{kind}_{i}"] = np.stack([call[i].contiguous().numpy() for call in calls])
    (out / f"{name}.pte").write_bytes(pte)
    np.savez_compressed(out / f"{name}.npz", **arrays)
    print(json.dumps({"name": name, "core": core, "bytes": len(pte)}), flush=True)


def fresh(module, *shapes, seed=7, count=8, scale=1.0):
    """Returns an untrained network and calibration inputs."""

    def make():
        import torch

        torch.manual_seed(seed)
        net = module().eval()
        return net, [tuple(scale * torch.randn(s) for s in shapes) for _ in range(count)]

    return make


def main():
    args = arguments(__doc__)
    try:
        import executorch.backends.cortex_m.quantizer.quantizer  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error}", file=sys.stderr)
        return 77
    table = networks()
    if not args.names:
        make_delegate(args.out / "delegates" / "demo.pte")
    for name in args.names or table:
        make, core, explicit = table[name]
        module, samples = make()
        samples, judge, pte = lower(module, samples, core, explicit)
        write_case(args.out, name, samples, judge, pte, core or "float32")
    return 0


if __name__ == "__main__":
    sys.exit(main())
