"""cifarnet: three 5x5 convolutions, each padded and pooled, and a linear layer (32x32x3, 10 classes), on synthetic textures.

It has the shape of the CifarNet in ExecuTorch's examples for NXP, to the parameter: no activations but the pools, the last of which
only takes every other pixel. `cifarnet.pt2` ends in softmax, `cifarnet_logits.pt2` is the same network without it.
examples/nxp/train_cifarnet.py has the number of epochs as an option.
"""

from pathlib import Path

import torch
from torch import nn

from common.classifier import textures
from common.export import save, save_program
from common.train import accuracy, batches, fit, seed_everything

EPOCHS, BATCH, SAMPLES = 8, 32, 4096


class CifarNet(nn.Module):
    def __init__(self, softmax=True):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, 5)
        self.conv2 = nn.Conv2d(32, 32, 5)
        self.conv3 = nn.Conv2d(32, 64, 5)
        self.pool1 = nn.MaxPool2d(2)
        self.pool2 = nn.MaxPool2d(1, 2)
        self.last = nn.Linear(1024, 10)
        self.softmax = softmax

    def forward(self, x):
        x = self.pool1(self.conv1(nn.functional.pad(x, (2, 2, 2, 2))))
        x = self.pool1(self.conv2(nn.functional.pad(x, (2, 2, 2, 2))))
        x = self.pool2(self.conv3(nn.functional.pad(x, (2, 2, 2, 2))))
        x = self.last(torch.flatten(x, 1))
        return torch.softmax(x, 1) if self.softmax else x


def build(out: Path, epochs: int = EPOCHS):
    seed_everything(78)
    train, test = textures(SAMPLES, 7801), textures(64, 7802)
    model = CifarNet(softmax=False)
    if epochs > 0:
        fit(
            model,
            batches(*train, BATCH, torch.Generator().manual_seed(78)),
            nn.CrossEntropyLoss(label_smoothing=0.05),
            steps=epochs * (SAMPLES // BATCH),
            peak_rate=1e-3,
            weight_decay=1e-2,
            log_every=SAMPLES // BATCH,
        )
    fresh = accuracy(model, *textures(500, 7803))
    print(f"  accuracy on new textures: {fresh:.4f}, on test.npz: {accuracy(model, *test):.4f}")
    out.mkdir(parents=True, exist_ok=True)
    save_program("cifarnet_logits", model, out, (test[0][:1],))
    model.softmax = True
    save("cifarnet", model, out, calibrate=(train[0][:32], train[1][:32]), test=test)
