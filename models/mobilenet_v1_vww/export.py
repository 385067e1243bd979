"""mobilenet_v1_vww: the visual-wake-words network of MLPerf Tiny (MobileNetV1 0.25, 96x96x3, 2 classes), on synthetic
pictures with and without a figure; ends in logits."""

from pathlib import Path

import torch
from torch import nn

from common.export import on_grid, save
from common.textures import object_or_not
from common.train import accuracy, batches, fit, seed_everything

# Output channels and stride of the 13 separable layers.
LAYERS = [(16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2)] + 5 * [(128, 1)] + [(256, 2), (256, 1)]


def conv_bn_relu(inputs, outputs, kernel, stride=1, groups=1):
    return [
        nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, groups=groups),
        nn.BatchNorm2d(outputs),
        nn.ReLU(),
    ]


class MobileNetV1(nn.Module):
    def __init__(self):
        super().__init__()
        layers, width = conv_bn_relu(3, 8, 3, stride=2), 8
        for outputs, stride in LAYERS:
            layers += conv_bn_relu(width, width, 3, stride, groups=width)
            layers += conv_bn_relu(width, outputs, 1)
            width = outputs
        self.features = nn.Sequential(*layers)
        self.pool = nn.AvgPool2d(3)
        self.last = nn.Linear(width, 2)

    def forward(self, x):
        return self.last(torch.flatten(self.pool(self.features(x)), 1))


def data(count, seed):
    images, labels = object_or_not(count, seed)
    return torch.from_numpy(on_grid(images)), torch.from_numpy(labels)


def build(out: Path):
    seed_everything(31)
    train, test = data(4096, seed=3101), data(64, seed=3102)
    model = fit(
        MobileNetV1(),
        batches(*train, 32, torch.Generator().manual_seed(31)),
        nn.CrossEntropyLoss(label_smoothing=0.05),
        steps=700,
        peak_rate=4e-3,
        weight_decay=1e-3,
        log_every=100,
    )
    print(f"  accuracy on new pictures: {accuracy(model, *data(500, seed=3103)):.4f}, on test.npz: {accuracy(model, *test):.4f}")
    save("mobilenet_v1_vww", model, out, calibrate=(train[0][:32], train[1][:32]), test=test)
