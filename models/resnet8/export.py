"""resnet8: the image classifier of MLPerf Tiny (ResNet-8, 32x32x3, 10 classes), on synthetic textures; ends in softmax."""

from pathlib import Path

import torch
from torch import nn

from common.export import on_grid, save
from common.textures import ten_classes
from common.train import accuracy, batches, fit, seed_everything


class Stack(nn.Module):
    """Two 3x3 convolutions and a way around them, which is a 1x1 convolution where the shape changes."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.around = nn.Conv2d(inputs, outputs, 1, stride) if stride != 1 else nn.Identity()

    def forward(self, x):
        y = torch.relu(self.norm1(self.conv1(x)))
        y = self.norm2(self.conv2(y))
        return torch.relu(y + self.around(x))


class ResNet8(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, padding=1)
        self.norm = nn.BatchNorm2d(16)
        self.stack1 = Stack(16, 16, 1)
        self.stack2 = Stack(16, 32, 2)
        self.stack3 = Stack(32, 64, 2)
        self.pool = nn.AvgPool2d(8)
        self.last = nn.Linear(64, 10)

    def forward(self, x):
        x = torch.relu(self.norm(self.conv(x)))
        x = self.stack3(self.stack2(self.stack1(x)))
        x = torch.flatten(self.pool(x), 1)
        return torch.softmax(self.last(x), 1)


def data(count, seed):
    images, labels = ten_classes(count, seed)
    return torch.from_numpy(on_grid(images)), torch.from_numpy(labels)


def build(out: Path):
    seed_everything(11)
    train, test = data(4096, seed=1101), data(128, seed=1102)
    cross_entropy = nn.CrossEntropyLoss(label_smoothing=0.05)
    model = fit(
        ResNet8(),
        batches(*train, 32, torch.Generator().manual_seed(11)),
        lambda probabilities, y: cross_entropy(probabilities.clamp_min(1e-7).log(), y),
        steps=400,
        peak_rate=4e-3,
        weight_decay=1e-3,
        log_every=100,
    )
    print(f"  accuracy on new textures: {accuracy(model, *data(1000, seed=1103)):.4f}, on test.npz: {accuracy(model, *test):.4f}")
    save("resnet8", model, out, calibrate=(train[0][:32], train[1][:32]), test=test)
