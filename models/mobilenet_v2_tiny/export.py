"""mobilenet_v2_tiny: MobileNetV2 at a quarter of its width (96x96x3, 9 classes), on one synthetic shape in each picture."""

from pathlib import Path

import torch

from common.classifier import train_and_save
from common.export import on_grid
from common.mobilenet_v2 import MobileNetV2
from common.shapes import shape_classes


def data(count, seed):
    images, labels = shape_classes(count, seed, 96)
    return torch.from_numpy(on_grid(images)), torch.from_numpy(labels)


def build(out: Path):
    def network():
        return MobileNetV2(classes=9, width=0.25, last=160)

    train_and_save("mobilenet_v2_tiny", network, out, data, seed=83, steps=600, peak_rate=4e-3, samples=1024)
