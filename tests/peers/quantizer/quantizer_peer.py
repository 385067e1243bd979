#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""thimble_ml.Quantizer with PyTorch's prepare_pt2e and prepare_qat_pt2e, on networks with most operators.

usage: quantizer_peer.py SOURCE_DIR THIMBLE

For each network and target: the converted graph compiles without calibration data and without float
operators, its result is close to the float network, and the integers of integer_reference are those of
`thimble run`. Networks that cannot be quantized are refused with their source line.
"""
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE, THIMBLE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
MISSING = [name for name in ("torch", "torchao") if importlib.util.find_spec(name) is None]
if MISSING:
    print(f"skipped: this Python has no {', '.join(MISSING)}")
    sys.exit(77)

import numpy as np  # noqa: E402
import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402
from torchao.quantization.pt2e import move_exported_model_to_eval  # noqa: E402
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e  # noqa: E402

from thimble_ml import BadInput, Unsupported  # noqa: E402
from thimble_ml.integer_reference import integer_reference  # noqa: E402
from thimble_ml.quantizer import Quantizer  # noqa: E402

TARGETS = ["cortex-m4", "cortex-m55", "ethos-u55-128", "nrf54lm20b", "imxrt700cm"]


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm0 = nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16)
        self.depthwise, self.norm1 = nn.Conv2d(16, 16, 3, 1, 1, groups=16, bias=False), nn.BatchNorm2d(16)
        self.pointwise, self.norm2 = nn.Conv2d(16, 16, 1), nn.BatchNorm2d(16)
        self.last = nn.Linear(16, 10)

    def forward(self, x):
        x = torch.relu(self.norm0(self.first(x)))
        y = functional.relu6(self.norm1(self.depthwise(x)))
        x = torch.relu(x + self.norm2(self.pointwise(y)))
        x = functional.max_pool2d(x, 2)
        return self.last(functional.adaptive_avg_pool2d(x, 1).flatten(1))


class Gated(nn.Module):
    """Tables after convolutions, concat of a fixed scale, a constant, conv1d, a transposed convolution."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.gate = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 1), nn.Conv2d(8, 8, 1)
        self.up, self.along = nn.ConvTranspose2d(16, 8, 2, 2), nn.Conv1d(8, 8, 3, padding=1)
        self.offset, self.last = nn.Parameter(torch.randn(1, 8, 1, 1)), nn.Linear(128, 4)

    def forward(self, x):
        x = functional.hardswish(self.a(x))
        gate = functional.hardsigmoid(self.gate(x.mean((2, 3), keepdim=True)))
        y = self.up(torch.cat([x * gate, torch.sigmoid(self.b(x))], 1)) + self.offset
        y = functional.silu(functional.avg_pool2d(torch.relu(functional.max_pool2d(y, 2)), 2))
        return self.last(self.along(y.flatten(2)).flatten(1))


class Attention(nn.Module):
    def __init__(self, width=32, heads=4):
        super().__init__()
        self.heads, self.embed = heads, nn.Linear(8, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.widen, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.last = nn.Linear(width, 5)

    def forward(self, x):
        x = self.embed(x)
        batch, steps, width = x.shape
        qkv = self.qkv(self.norm1(x)).reshape(batch, steps, 3, self.heads, width // self.heads)
        y = functional.scaled_dot_product_attention(*qkv.permute(2, 0, 3, 1, 4).unbind(0))
        x = x + self.out(y.transpose(1, 2).reshape(batch, steps, width))
        x = x + self.narrow(functional.gelu(self.widen(self.norm2(x))))
        return self.last(x.mean(1)).softmax(-1)


class Recurrent(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer(8, 16, batch_first=True)

    def forward(self, x):
        return self.layer(x)[0][:, -1]


def exported(model, x):
    return torch.export.export(model, (x,)).module(check_guards=False)


def post_training(model, x, target):
    prepared = prepare_pt2e(exported(model.eval(), x[:1]), Quantizer(target))
    for sample in x:
        prepared(sample[None])
    return torch.export.export(convert_pt2e(prepared), (x[:1],))


def aware(model, x, target, rate=1e-3):
    size = torch.export.Dim("batch", min=1, max=64)
    module = torch.export.export(model.train(), (x,), dynamic_shapes=({0: size},)).module(check_guards=False)
    prepared = prepare_qat_pt2e(module, Quantizer(target, qat=True))
    optimizer = torch.optim.SGD(prepared.parameters(), rate)
    for _ in range(3):
        loss = (prepared(x) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    move_exported_model_to_eval(prepared)
    return torch.export.export(convert_pt2e(prepared), (x[:1],))


class QuantizerTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        torch.set_num_threads(1)

    def device(self, program, target, x):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            torch.export.save(program, folder / "net.pt2")
            done = self.thimble("compile", folder / "net.pt2", "--target", target, "-o", folder / "net.pte", "--json")
            self.assertEqual(json.loads(done)["float_ops"], 0)
            np.save(folder / "x.npy", x[:, None].numpy())
            self.thimble("run", folder / "net.pte", "--steps", "--input", folder / "x.npy", "--output", folder)
            return torch.from_numpy(np.load(folder / "output_0.npy").reshape(len(x), -1))

    def thimble(self, *words):
        done = subprocess.run([str(THIMBLE), *map(str, words)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def compare(self, program, target, x, expected=None, db=20.0, integers=True):
        got = self.device(program, target, x)
        if expected is not None:
            error = ((expected - got) ** 2).sum()
            self.assertGreater(10 * torch.log10(((expected - expected.mean()) ** 2).sum() / error).item(), db)
        if integers:
            reference = integer_reference(program, target)
            computed = torch.cat([reference(sample[None])[0] for sample in x])
            self.assertTrue(torch.equal(computed, got), f"{target}: {(computed != got).sum()} elements differ")

    def test_residual(self):
        model, x = Residual(), torch.randn(16, 3, 16, 16)
        for _ in range(20):
            model(x)
        for target in TARGETS:
            with self.subTest(target):
                program = post_training(model, x, target)
                self.compare(program, target, x, model(x).detach())

    def test_residual_with_training(self):
        x = torch.randn(16, 3, 16, 16)
        for target in ("cortex-m55", "nrf54lm20b"):
            with self.subTest(target):
                self.compare(aware(Residual(), x, target), target, x)

    def test_operands_of_different_ranges_with_training(self):
        class Joined(nn.Module):
            def __init__(self):
                super().__init__()
                self.small, self.large, self.last = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(16, 4)
                nn.init.normal_(self.large.weight, std=20.0)

            def forward(self, x):
                return self.last(torch.cat([self.small(x), self.large(x)], 1))

        model, x = Joined(), torch.randn(16, 8)
        expected = model(x).detach()
        program = aware(model, x, "cortex-m55", rate=0.0)
        self.compare(program, "cortex-m55", x, expected, db=30.0)

    def test_gated(self):
        model, x = Gated(), torch.randn(16, 3, 8, 8)
        for target in TARGETS:
            with self.subTest(target):
                program = post_training(model, x, target)
                rounds_to_even = target == "nrf54lm20b"
                self.compare(program, target, x, model(x).detach(), integers=not rounds_to_even)
                if rounds_to_even:  # its NPU computes functions in its own arithmetic
                    with self.assertRaisesRegex(Unsupported, "halves to even"):
                        integer_reference(program, target)(x[:1])

    def test_attention(self):
        model, x = Attention(), torch.randn(16, 12, 8)
        for target in TARGETS:
            with self.subTest(target):
                program = post_training(model, x, target)
                rounds_to_even = target == "nrf54lm20b"
                self.compare(program, target, x, model(x).detach(), integers=not rounds_to_even)
                if rounds_to_even:  # its NPU computes softmax in its own arithmetic
                    with self.assertRaises(Unsupported):
                        integer_reference(program, target)(x[:1])

    def test_refusals(self):
        for layer in (nn.LSTM, nn.GRU):
            with self.assertRaisesRegex(Unsupported, "recurrent layer"):
                post_training(Recurrent(layer), torch.randn(1, 12, 8), "cortex-m55")
        with self.assertRaisesRegex(BadInput, "no-such-part"):
            post_training(Residual(), torch.randn(1, 3, 16, 16), "no-such-part")
        module = exported(Residual().train(), torch.randn(4, 3, 16, 16))
        with self.assertRaisesRegex(BadInput, "qat=True"):
            prepare_qat_pt2e(module, Quantizer("cortex-m55"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
