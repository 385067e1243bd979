"""ad_autoencoder: the anomaly detector of MLPerf Tiny (640-128x4-8-128x4-640), on synthetic log-mel frames of a machine."""

from pathlib import Path

import torch
from torch import nn

from common.export import on_grid, save
from common.sounds import machine_frames
from common.train import batches, fit, predict, seed_everything

WIDTHS = [640, 128, 128, 128, 128, 8, 128, 128, 128, 128]


class AdAutoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        layers = []
        for inputs, outputs in zip(WIDTHS, WIDTHS[1:]):
            layers += [nn.Linear(inputs, outputs), nn.BatchNorm1d(outputs), nn.ReLU()]
        self.hidden = nn.Sequential(*layers)
        self.last = nn.Linear(WIDTHS[-1], WIDTHS[0])

    def forward(self, x):
        return self.last(self.hidden(x))


def data(count, seed):
    return torch.from_numpy(on_grid(machine_frames(count, seed)))


def explained(model, x):
    """The share of the frames' variance that the reconstruction explains."""
    error = ((predict(model, x) - x) ** 2).sum()
    return (1 - error / ((x - x.mean(0)) ** 2).sum()).item()


def build(out: Path):
    seed_everything(41)
    train, test = data(8192, seed=4101), data(256, seed=4102)
    model = fit(
        AdAutoencoder(),
        batches(train, train, 128, torch.Generator().manual_seed(41)),
        nn.MSELoss(),
        steps=3000,
        peak_rate=3e-3,
        weight_decay=1e-4,
        log_every=500,
    )
    print(f"  variance explained on test.npz: {explained(model, test):.4f}")
    save("ad_autoencoder", model, out, calibrate=(train[:64], None), test=(test, None))
