"""conv_tasnet_like: tells a hum from a warble in their sum (1x1x512 samples to 1x2x512), as Conv-TasNet does.

A learned filter bank, masks from dilated depthwise convolutions over it, and the filter bank's way back.
"""

from pathlib import Path

import torch
from torch import nn

from common.export import save
from common.sounds import two_sources
from common.train import batches, fit, predict, seed_everything

SOURCES, FILTERS, WINDOW, NARROW, WIDE = 2, 32, 16, 16, 32
DILATIONS = (1, 2, 4, 8)


class Block(nn.Module):
    def __init__(self, dilation):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(NARROW, WIDE, 1),
            nn.PReLU(),
            nn.GroupNorm(1, WIDE, eps=1e-8),
            nn.Conv1d(WIDE, WIDE, 3, padding=dilation, dilation=dilation, groups=WIDE),
            nn.PReLU(),
            nn.GroupNorm(1, WIDE, eps=1e-8),
        )
        self.residual = nn.Conv1d(WIDE, NARROW, 1)
        self.skip = nn.Conv1d(WIDE, NARROW, 1)

    def forward(self, x):
        y = self.layers(x)
        return x + self.residual(y), self.skip(y)


class ConvTasNetLike(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Conv1d(1, FILTERS, WINDOW, stride=WINDOW // 2, padding=WINDOW // 4, bias=False)
        self.norm = nn.GroupNorm(1, FILTERS, eps=1e-8)
        self.narrow = nn.Conv1d(FILTERS, NARROW, 1)
        self.blocks = nn.ModuleList(Block(dilation) for dilation in DILATIONS)
        self.prelu = nn.PReLU()
        self.masks = nn.Conv1d(NARROW, SOURCES * FILTERS, 1)
        self.decoder = nn.ConvTranspose1d(
            FILTERS, 1, WINDOW, stride=WINDOW // 2, padding=WINDOW // 4, bias=False
        )

    def forward(self, x):
        features = torch.relu(self.encoder(x))
        y, skips = self.narrow(self.norm(features)), 0
        for block in self.blocks:
            y, skip = block(y)
            skips = skips + skip
        masks = torch.sigmoid(self.masks(self.prelu(skips)))
        batch, _, frames = masks.shape
        masked = features.unsqueeze(1) * masks.view(batch, SOURCES, FILTERS, frames)
        sources = self.decoder(masked.view(batch * SOURCES, FILTERS, frames))
        return sources.view(batch, SOURCES, -1)


def data(count, seed):
    sources = torch.from_numpy(two_sources(count, seed))
    return sources.sum(1, keepdim=True), sources


def loss(got, wanted):
    return 100 * nn.functional.mse_loss(got, wanted)


def build(out: Path):
    seed_everything(71)
    train, test = data(1024, 7101), data(32, 7102)
    model = fit(
        ConvTasNetLike(),
        batches(*train, 16, torch.Generator().manual_seed(71)),
        loss,
        steps=600,
        peak_rate=5e-3,
        log_every=100,
    )
    mixed, wanted = data(200, 7103)
    error = ((predict(model, mixed) - wanted) ** 2).mean((0, 2))
    ratio = [round(value, 1) for value in (10 * torch.log10((wanted**2).mean((0, 2)) / error)).tolist()]
    print(f"  new mixtures: signal to distortion of hum and warble {ratio} dB")
    save("conv_tasnet_like", model, out, calibrate=(train[0][:32], None), test=(test[0], None))
