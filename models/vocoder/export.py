"""vocoder: frames of a tone's partials (1x12x32) to its wave (1x1x512), by transposed convolutions, as HiFi-GAN does it.

A frame of 16 samples says sine and cosine of three partials, times their loudness, at its beginning and in its middle; four
transposed convolutions double the rate, each followed by dilated residual convolutions.
"""

from pathlib import Path

import torch
from torch import nn

from common.export import save
from common.sounds import partials_and_wave
from common.train import batches, fit, predict, seed_everything

FRAMES, FEATURES = 32, 12
CHANNELS = (32, 24, 16, 12, 8)


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.convolutions = nn.ModuleList(
            nn.Conv1d(channels, channels, 3, padding=dilation, dilation=dilation) for dilation in (1, 3)
        )

    def forward(self, x):
        for convolution in self.convolutions:
            x = x + convolution(nn.functional.leaky_relu(x, 0.1))
        return x


class Vocoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(FEATURES, CHANNELS[0], 5, padding=2)
        self.rise = nn.ModuleList(
            nn.ConvTranspose1d(wide, narrow, 4, stride=2, padding=1) for wide, narrow in zip(CHANNELS, CHANNELS[1:])
        )
        self.residuals = nn.ModuleList(Residual(narrow) for narrow in CHANNELS[1:])
        self.last = nn.Conv1d(CHANNELS[-1], 1, 7, padding=3)

    def forward(self, x):
        x = self.first(x)
        for rise, residual in zip(self.rise, self.residuals):
            x = residual(rise(nn.functional.leaky_relu(x, 0.1)))
        return torch.tanh(self.last(nn.functional.leaky_relu(x, 0.1)))


def data(count, seed):
    return tuple(torch.from_numpy(part) for part in partials_and_wave(count, seed, FRAMES, FEATURES // 4))


def loss(got, wanted):
    return 100 * nn.functional.mse_loss(got, wanted)


def build(out: Path):
    seed_everything(82)
    train, test = data(1024, 8201), data(32, 8202)
    model = fit(
        Vocoder(),
        batches(*train, 16, torch.Generator().manual_seed(82)),
        loss,
        steps=800,
        peak_rate=4e-3,
        log_every=100,
    )
    features, wave = data(200, 8203)
    error = ((predict(model, features) - wave) ** 2).mean()
    print(f"  new tones: signal to distortion {10 * torch.log10((wave**2).mean() / error).item():.1f} dB")
    save("vocoder", model, out, calibrate=(train[0][:32], None), test=(test[0], None))
