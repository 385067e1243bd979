"""unet_small: a U-Net that says what each pixel of a synthetic scene shows (32x32x3, 4 classes of pixel); ends in logits."""

from pathlib import Path

import torch
from torch import nn

from common.blocks import conv_bn
from common.export import on_grid, save
from common.shapes import scenes
from common.train import batches, fit, predict, seed_everything

CLASSES = 4


def double(inputs, outputs):
    return nn.Sequential(
        conv_bn(inputs, outputs, 3, activation=nn.ReLU), conv_bn(outputs, outputs, 3, activation=nn.ReLU)
    )


class UNetSmall(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.bottom = double(3, 12), double(12, 24), double(24, 36)
        self.pool = nn.MaxPool2d(2)
        self.rise2 = nn.ConvTranspose2d(36, 24, 2, stride=2)
        self.up2 = double(48, 24)
        self.rise1 = nn.ConvTranspose2d(24, 12, 3, stride=2, padding=1, output_padding=1)
        self.up1 = double(24, 12)
        self.last = nn.Conv2d(12, CLASSES, 1)

    def forward(self, x):
        high = self.down1(x)
        middle = self.down2(self.pool(high))
        x = self.rise2(self.bottom(self.pool(middle)))
        x = self.rise1(self.up2(torch.cat([middle, x], dim=1)))
        return self.last(self.up1(torch.cat([high, x], dim=1)))


def data(count, seed):
    images, shown, _ = scenes(count, seed, 32)
    return torch.from_numpy(on_grid(images)), torch.from_numpy(shown)


def build(out: Path):
    seed_everything(67)
    train, test = data(1024, 6701), data(32, 6702)
    model = fit(
        UNetSmall(),
        batches(*train, 16, torch.Generator().manual_seed(67)),
        nn.functional.cross_entropy,
        steps=300,
        peak_rate=4e-3,
        weight_decay=1e-3,
        log_every=100,
    )
    images, shown = data(200, 6703)
    right = predict(model, images).argmax(1) == shown
    print(
        f"  pixels of new scenes told right: {right.float().mean().item():.4f}, "
        f"of the shapes: {right[shown > 0].float().mean().item():.4f}"
    )
    save("unet_small", model, out, calibrate=(train[0][:32], None), test=(test[0], None))
