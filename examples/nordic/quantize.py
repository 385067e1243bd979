#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Quantizes networks of this folder in PyTorch, so that Thimble needs no calibration data.

    python examples/nordic/quantize.py [multi_layer | image_cnn]

The quantizer for the AXON is ExecuTorch's TOSAQuantizer for integer TOSA: symmetric int8, with one scale per output channel
of weights. Writes NAME/NAME_ptq.pt2, quantized after training, and NAME/NAME_qat.pt2, trained with quantization.
Needs torch, torchao and executorch (with tosa-tools).
"""
import argparse
import importlib.util
import sys
from pathlib import Path

import torch
from executorch.backends.arm.quantizer.arm_quantizer import TOSAQuantizer, get_symmetric_quantization_config
from executorch.backends.arm.tosa.specification import TosaSpecification
from torch import nn
from torchao.quantization.pt2e import move_exported_model_to_eval
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e

NORDIC = Path(__file__).resolve().parent
sys.path.insert(0, str(NORDIC))
from shared import training  # noqa: E402, F401, makes models/ importable
from common.export import tidy_source_names  # noqa: E402
from common.train import accuracy, batches, seed_everything  # noqa: E402

STEPS, BATCH, CALIBRATION = 200, 32, 64


def script(name: str):
    spec = importlib.util.spec_from_file_location(name, NORDIC / name / "export.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def trained(name: str):
    """The trained network, its training data and its test data."""
    module = script(name)
    model, data = {"multi_layer": lambda: (module.MultiLayer(), (module.data(1000, 1101), module.data(100, 1102))),
                   "image_cnn": lambda: (module.ImageCnn(), [module.few(*part) for part in module.data()])}[name]()
    model.load_state_dict(torch.export.load(NORDIC / name / f"{name}.pt2").state_dict)
    return model, *data


def quantizer(qat: bool):
    config = get_symmetric_quantization_config(is_per_channel=True, is_qat=qat)
    return TOSAQuantizer(TosaSpecification.create_from_string("TOSA-1.0+INT")).set_global(config)


def captured(model, batch):
    """Exported with a dynamic batch size, so that one graph is used for training and for tests."""
    return torch.export.export(model, (batch,), dynamic_shapes=({0: torch.export.Dim("batch", min=1, max=1024)},)).module(
        check_guards=False)


def post_training(model, x):
    prepared = prepare_pt2e(captured(model.eval(), x), quantizer(False))
    prepared(x)
    return convert_pt2e(prepared)


def aware(model, x, labels):
    """Continues training with rounding in the forward pass."""
    prepared = prepare_qat_pt2e(captured(model.train(), x[:BATCH]), quantizer(True))
    move_exported_model_to_eval(prepared)
    optimizer = torch.optim.AdamW(prepared.parameters(), lr=3e-4)
    loss_function = nn.CrossEntropyLoss(label_smoothing=0.05)
    stream = batches(x, labels, BATCH, torch.Generator().manual_seed(1))
    for _ in range(STEPS):
        some, wanted = next(stream)
        loss = loss_function(prepared(some), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return convert_pt2e(prepared)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=["multi_layer", "image_cnn"])
    for name in parser.parse_args().names:
        seed_everything(7)
        model, (x, labels), (test_x, test_labels) = trained(name)
        print(f"{name} float {accuracy(model.eval(), test_x, test_labels):.2%}")
        for kind, make in (("ptq", lambda: post_training(model, x[:CALIBRATION])), ("qat", lambda: aware(model, x, labels))):
            quantized = make()
            program = torch.export.export(quantized, (x[:1].clone(),))
            tidy_source_names(program)
            for node in program.graph.nodes:
                node.meta.pop("from_node", None)  # contains numbers that differ between runs
            torch.export.save(program, NORDIC / name / f"{name}_{kind}.pt2")
            print(f"{name} {kind} {accuracy(quantized, test_x, test_labels):.2%}", flush=True)


if __name__ == "__main__":
    main()
