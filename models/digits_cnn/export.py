"""digits_cnn: a small convolutional network on scikit-learn's scanned 8x8 digits; ends in logits."""

from pathlib import Path

import torch
from sklearn.datasets import load_digits
from torch import nn

from common.export import save
from common.train import accuracy, batches, fit, seed_everything


def conv_bn_relu(inputs, outputs):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()
    )


class DigitsCnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = conv_bn_relu(1, 16)
        self.conv2 = conv_bn_relu(16, 32)
        self.pool = nn.MaxPool2d(2)
        self.conv3 = conv_bn_relu(32, 32)
        self.last = nn.Linear(32 * 2 * 2, 10)

    def forward(self, x):
        x = self.pool(self.conv2(self.conv1(x)))
        x = self.pool(self.conv3(x))
        return self.last(torch.flatten(x, 1))


def data():
    """Two thirds to train on, one third held back; pixel values 0..16 become -1..1."""
    digits = load_digits()
    x = torch.tensor(digits.images, dtype=torch.float32)[:, None] / 8 - 1
    y = torch.tensor(digits.target, dtype=torch.int64)
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(5))
    held = len(x) // 3
    return (x[order[held:]], y[order[held:]]), (x[order[:held]], y[order[:held]])


def jittered(stream, generator):
    """Moves each batch by up to one pixel and adds a little noise."""
    for x, y in stream:
        dy, dx = torch.randint(-1, 2, (2,), generator=generator).tolist()
        x = torch.nn.functional.pad(x, (1, 1, 1, 1), value=-1.0)[:, :, 1 + dy : 9 + dy, 1 + dx : 9 + dx]
        yield x + 0.1 * torch.randn(x.shape, generator=generator), y


def build(out: Path):
    seed_everything(3)
    generator = torch.Generator().manual_seed(3)
    train, test = data()
    model = fit(
        DigitsCnn(),
        jittered(batches(*train, 64, generator), generator),
        nn.CrossEntropyLoss(label_smoothing=0.05),
        steps=1200,
        peak_rate=5e-3,
        weight_decay=1e-3,
        log_every=300,
    )
    print(f"  accuracy on the held-back third: {accuracy(model, *test):.4f}")
    save("digits_cnn", model, out, calibrate=(train[0][:64], train[1][:64]), test=test)
