# SPDX-License-Identifier: Apache-2.0
"""Networks for the tests of ExecuTorch's flow and runtime."""

import sys
from pathlib import Path

import numpy as np

#: Networks of full size, 224 x 224 pixels and 1000 classes. A test uses them only if it is told to.
FULL_SIZE = ("mobilenet_v2", "mobilenet_v3_small")
SAMPLES = 16


def network(source, name):
    """Returns the float module and its calibration samples, tuples of tensors."""
    return full_size(source, name) if name in FULL_SIZE else trained(source, name)


def trained(source, name, folder="models"):
    """A network of models/ or examples/ with its weights, and its calibration samples."""
    import torch

    here = Path(source) / folder / name
    program = torch.export.load(str(here / f"{name}.pt2"))
    with np.load(here / "calibrate.npz") as data:
        (key,) = [each for each in data.files if each != "labels"]
        samples = torch.from_numpy(data[key])
    shape = program.example_inputs[0][0].shape
    return program.module(check_guards=False), [(each.reshape(shape).clone(),) for each in samples[:SAMPLES]]


def full_size(source, name):
    """A network that models/ has without its weights: random weights, and batch-norm statistics of pictures."""
    import torch

    sys.path.insert(0, str(Path(source) / "models"))
    from common.mobilenet_v2 import MobileNetV2
    from common.mobilenet_v3 import MobileNetV3Small
    from common.thousand import data, settle

    torch.manual_seed(1)
    model = {"mobilenet_v2": MobileNetV2, "mobilenet_v3_small": MobileNetV3Small}[name](1000)
    pictures, _ = data(2 * SAMPLES, 1, 224)
    settle(model, pictures)
    samples = [(each[None].clone(),) for each in pictures[:SAMPLES]]
    return torch.export.export(model.eval(), samples[0], strict=False).module(check_guards=False), samples
