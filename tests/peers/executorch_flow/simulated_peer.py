#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Quantizers of thimble_ml.executorch: the integers that PyTorch simulates are those of the device.

    simulated_peer.py THIMBLE LIBRARIES FOLDER [ENGINE...]

Per engine, a network is quantized after training (PTQ) and with training (QAT), lowered with the partitioner and the Cortex-M
pipeline, and run in Thimble's runtime on the host and on an emulated board, and in executorch.runtime. On every sample, all outputs
must be equal to those of integer_reference, bit for bit. Exit 0 if all agree, 1 if not, 77 if ExecuTorch is not installed.
"""

import sys
import warnings
from functools import partial
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "executorch_runtime")]
from flow_peer import BOARDS, ENGINES, delegates_of, engine, lowered  # noqa: E402
from loading import arrays, differences, emulated, executorch_run, is_missing  # noqa: E402
from loading import load_libraries, run_cases, thimble_run  # noqa: E402

warnings.filterwarnings("ignore")
SAMPLES = 32
STEPS = 8


def network():
    """A residual network with batch norm, and its samples and labels."""
    import torch
    from torch import nn

    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
            self.depthwise = nn.Sequential(nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.BatchNorm2d(8), nn.ReLU())
            self.pointwise = nn.Sequential(nn.Conv2d(8, 8, 1), nn.BatchNorm2d(8))
            self.pool, self.last = nn.MaxPool2d(2), nn.Linear(128, 4)

        def forward(self, x):
            x = self.first(x)
            x = torch.relu(x + self.pointwise(self.depthwise(x)))
            return self.last(self.pool(x).flatten(1))

    torch.manual_seed(0)
    return Residual(), torch.randn(SAMPLES, 3, 8, 8), torch.arange(SAMPLES) % 4


def after_training(quantizer):
    """The quantized program, the samples, and no losses."""
    import torch
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    model, x, _ = network()
    with torch.no_grad():
        for _ in range(20):
            model(x)  # batch-norm statistics
    prepared = prepare_pt2e(torch.export.export(model.eval(), (x[:1],)).module(check_guards=False), quantizer)
    for sample in x:
        prepared(sample[None])
    return torch.export.export(convert_pt2e(prepared), (x[:1],)), x, []


def with_training(quantizer):
    """The quantized program, the samples, and the losses of the training."""
    import torch
    from torchao.quantization.pt2e import move_exported_model_to_eval
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_qat_pt2e

    model, x, labels = network()
    size = torch.export.Dim("batch", min=1, max=64)
    module = torch.export.export(model.train(), (x,), dynamic_shapes=({0: size},)).module(check_guards=False)
    prepared = prepare_qat_pt2e(module, quantizer)
    optimizer = torch.optim.SGD(prepared.parameters(), 0.05)
    losses = []
    for _ in range(STEPS):
        loss = torch.nn.functional.cross_entropy(prepared(x), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    move_exported_model_to_eval(prepared)
    return torch.export.export(convert_pt2e(prepared), (x[:1],)), x, losses


def check(thimble, folder, engine_name, kind):
    """Returns a line about the case, and whether it is as expected."""
    import executorch.kernels.quantized  # noqa: F401  the portable quantize and dequantize
    from thimble_ml.integer_reference import integer_reference

    quantizer, partitioners, core, target, _ = engine(engine_name, "", is_qat=kind == "qat")
    program, x, losses = (with_training if kind == "qat" else after_training)(quantizer)
    edge, data = lowered(program, partitioners, core)
    path = folder / f"{kind}-{engine_name}.pte"
    path.write_bytes(data)
    reference = integer_reference(program, target)
    required = arrays([reference(sample[None]) for sample in x])
    samples = arrays([(sample[None],) for sample in x])
    runs = {
        "host": thimble_run(thimble, path, samples),
        "executorch.runtime": executorch_run(thimble, path, samples),
        "board": [emulated(thimble, path, sample, BOARDS[engine_name], folder)[0] for sample in samples],
    }
    wrong = {where: differences(required, results) for where, results in runs.items()}
    count = delegates_of(edge)
    varied = len({each[0].tobytes() for each in required}) > SAMPLES // 2
    good = not any(wrong.values()) and (count > 0) == bool(partitioners) and varied
    line = f"{kind}-{engine_name:<12} {count} delegates, {len(x)} samples, different: "
    line += ", ".join(f"{where} {number}" for where, number in wrong.items())
    if losses:
        good = good and min(losses) < losses[0]
        line += f"; loss {losses[0]:.3f}, least {min(losses):.3f}"
    return line, good


def main():
    if is_missing("executorch.exir", "thimble_ml.executorch"):
        return 77
    thimble, libraries, folder, *names = sys.argv[1:]
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    load_libraries(libraries)
    return run_cases([
        (f"{kind}-{name}", partial(check, thimble, folder, name, kind)) for name in names or ENGINES for kind in ("ptq", "qat")
    ])


if __name__ == "__main__":
    sys.exit(main())
