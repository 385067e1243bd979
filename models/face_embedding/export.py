"""face_embedding: a picture of a made-up face (1x3x48x48) to a unit vector of 32 numbers, as MobileFaceNet does it.

PReLU throughout, residual bottlenecks, one depthwise filter as large as the map instead of a mean, and the Euclidean norm at
the end. Trained to tell 200 faces; judged by pairs of faces that training has not seen.
"""

from pathlib import Path

import torch
from torch import nn

from common.export import on_grid, save
from common.faces import faces
from common.train import fit, predict, seed_everything

PEOPLE, SIZE, WIDTH = 200, 48, 32
# Expanded and output channels, stride and how often.
BLOCKS = [(32, 24, 2, 1), (48, 24, 1, 2), (64, 32, 2, 1), (64, 32, 1, 2)]


def conv(inputs, outputs, kernel, stride=1, groups=1, prelu=True):
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs)]
    return nn.Sequential(*layers, *([nn.PReLU(outputs)] if prelu else []))


class Bottleneck(nn.Module):
    def __init__(self, inputs, wide, outputs, stride):
        super().__init__()
        self.layers = nn.Sequential(
            conv(inputs, wide, 1), conv(wide, wide, 3, stride, groups=wide), conv(wide, outputs, 1, prelu=False)
        )
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.layers(x) if self.residual else self.layers(x)


class FaceEmbedding(nn.Module):
    def __init__(self):
        super().__init__()
        now, layers = 16, [conv(3, 16, 3, 2)]
        for wide, outputs, stride, times in BLOCKS:
            for i in range(times):
                layers.append(Bottleneck(now, wide, outputs, stride if i == 0 else 1))
                now = outputs
        self.features = nn.Sequential(*layers, conv(now, 64, 1))
        self.whole = nn.Conv2d(64, 64, SIZE // 8, groups=64, bias=False)
        self.norm = nn.BatchNorm2d(64)
        self.last = nn.Linear(64, WIDTH)

    def forward(self, x):
        x = self.norm(self.whole(self.features(x)))
        return nn.functional.normalize(self.last(torch.flatten(x, 1)))


class Told(nn.Module):
    """Cosines with one direction per face, to train on."""

    def __init__(self, embedding):
        super().__init__()
        self.embedding = embedding
        self.directions = nn.Parameter(torch.randn(PEOPLE, WIDTH))

    def forward(self, x):
        return 12 * self.embedding(x) @ nn.functional.normalize(self.directions).T


def data(count, seed, people):
    """`people`: the seed of the faces, of which there are PEOPLE."""
    images, labels = faces(count, seed, SIZE, PEOPLE, people)
    return torch.from_numpy(on_grid(images)), torch.from_numpy(labels)


def stream(size, seed):
    while True:
        yield data(size, seed, 80)
        seed += 1


def pairs_told(vectors, labels):
    """How often a face is nearest to another picture of the same face."""
    cosines = vectors @ vectors.T - 2 * torch.eye(len(vectors))
    return (labels[cosines.argmax(1)] == labels).float().mean().item()


def build(out: Path):
    seed_everything(80)
    model = Told(FaceEmbedding())
    fit(model, stream(64, 8000000), nn.CrossEntropyLoss(), steps=700, peak_rate=4e-3, weight_decay=1e-3, log_every=100)
    fresh, labels = data(1000, 8001, 81)
    print(f"  nearest of 1000 pictures is of the same new face: {pairs_told(predict(model.embedding, fresh), labels):.4f}")
    calibrate, test = data(32, 8002, 80), data(64, 8003, 81)
    save("face_embedding", model.embedding, out, calibrate=(calibrate[0], None), test=(test[0], None))
