"""Networks of two sizes for the tests of ExecuTorch's flow and runtime."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "models"))

#: Networks of models/common at 224x224, whose trained weights are not in the tree.
FULL = {"mobilenet_v2": ("mobilenet_v2", "MobileNetV2"), "mobilenet_v3_small": ("mobilenet_v3", "MobileNetV3Small")}


def settled(name):
    """A network of full size with seeded weights, and pictures. The batch norms have seen pictures, so that no range is
    degenerate."""
    from importlib import import_module

    import torch

    torch.manual_seed(3)
    where, kind = FULL[name]
    module = getattr(import_module(f"common.{where}"), kind)(1000)
    pictures = torch.nn.functional.interpolate(torch.randn(12, 3, 28, 28), (224, 224), mode="bilinear")
    with torch.no_grad():
        for _ in range(3):
            module.train()(pictures)
    return module.eval(), [(each[None].clone(),) for each in pictures[:4]]


def trained(source, name, folder="models"):
    """A network of models/ or examples/ with its weights, and its calibration samples: tuples of tensors."""
    import torch

    here = Path(source) / folder / name
    program = torch.export.load(str(here / f"{name}.pt2"))
    with np.load(here / "calibrate.npz") as data:
        (key,) = [each for each in data.files if each != "labels"]
        samples = torch.from_numpy(data[key])
    shape = program.example_inputs[0][0].shape
    return program.module(check_guards=False), [(each.reshape(shape).clone(),) for each in samples[:16]]
