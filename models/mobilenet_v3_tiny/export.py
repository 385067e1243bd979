"""mobilenet_v3_tiny: MobileNetV3-Small at 0.35 of its width (96x96x3, 9 classes), on one synthetic shape in each picture."""

from pathlib import Path

import torch

from common.classifier import train_and_save
from common.export import on_grid
from common.mobilenet_v3 import MobileNetV3Small
from common.shapes import shape_classes


def data(count, seed):
    images, labels = shape_classes(count, seed, 96)
    return torch.from_numpy(on_grid(images)), torch.from_numpy(labels)


def build(out: Path):
    def network():
        return MobileNetV3Small(classes=9, last=96, width=0.35)

    train_and_save("mobilenet_v3_tiny", network, out, data, seed=62, steps=300, peak_rate=4e-3, samples=1024)
