"""MobileNetV2 for pictures of 224 x 224 pixels with random weights: its graph, memory and time are those of the trained one."""

from pathlib import Path

import numpy as np
import torch

from .mobilenet_v2 import MobileNetV2


def export_mobilenet_v2(folder: Path) -> None:
    """Writes mobilenet_v2.pt2 and calibrate.npz."""
    torch.manual_seed(1)
    x = torch.rand(4, 3, 224, 224)
    torch.export.save(torch.export.export(MobileNetV2(1000).eval(), (x[:1],)), folder / "mobilenet_v2.pt2")
    np.savez(folder / "calibrate.npz", x=x.numpy())
