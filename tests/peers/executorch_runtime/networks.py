"""Networks for the tests of ExecuTorch's flow and runtime."""

from pathlib import Path

import numpy as np


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
