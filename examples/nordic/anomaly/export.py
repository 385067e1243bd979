#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""anomaly: an autoencoder trained on healthy motors only; input that it cannot reconstruct is a fault. 428 parameters.

    python examples/nordic/anomaly/export.py [--out DIR]

Input and output `x` [1, 8], the bands of shared/vibration.py. The score of a window is the mean square of the difference.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from shared.checks import limit  # noqa: E402
from shared.training import main  # noqa: E402, also makes models/ importable
from shared.vibration import features  # noqa: E402
from common.export import save  # noqa: E402
from common.train import batches, fit, seed_everything  # noqa: E402

SEED = 31


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode1 = nn.Linear(8, 16)
        self.encode2 = nn.Linear(16, 4)
        self.decode1 = nn.Linear(4, 16)
        self.decode2 = nn.Linear(16, 8)

    def forward(self, x):
        x = torch.relu(self.encode1(x))
        x = torch.relu(self.encode2(x))
        x = torch.relu(self.decode1(x))
        return self.decode2(x)


@torch.no_grad()
def scores(model, x):
    return (model(x) - x).pow(2).mean(1)


def build(out: Path):
    seed_everything(SEED)
    train = torch.from_numpy(features(2000, 3101, ("healthy",))[0])
    model = fit(Autoencoder(), batches(train, train, 64, torch.Generator().manual_seed(SEED)), nn.MSELoss(), steps=4000,
                peak_rate=1e-2)
    x, labels = features(100, 3102)
    x, faulty = torch.from_numpy(x), labels != 0
    found = (scores(model, x) > limit("anomaly")).numpy()
    print(f"  score above {limit('anomaly')}: {found[faulty].mean():.1%} of new faults, {found[~faulty].mean():.1%} of new well motors")
    # Faults are part of the calibration data: the input must not saturate to values of a healthy motor.
    calibrate = np.concatenate([train[:96].numpy(), features(11, 3103)[0][11:]])
    save("anomaly", model, out, calibrate=(torch.from_numpy(calibrate), None), test=(x, torch.from_numpy(faulty.astype(np.int64))))


if __name__ == "__main__":
    main(__file__, build)
