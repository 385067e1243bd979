#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the networks of this folder from random weights, on data that it generates.

usage: train.py    (with PyTorch 2.13; writes pose.pt2, regression.pt2 and their samples to this folder)

`pose` finds the ends of a bent line of three points in an image of 24 x 24 pixels: six coordinates. `regression` computes
the position and the speed of a damped oscillation at a later time from eight noisy samples of it.
"""
import pathlib

import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
SIZE = 24


def poses(random, count):
    """Returns images [count, 1, SIZE, SIZE] and the coordinates of the points in 0 .. 1, [count, 6]."""
    points = random.uniform(0.12, 0.88, (count, 3, 2))
    images = random.normal(0, 0.04, (count, SIZE, SIZE))
    rows, columns = (np.mgrid[0:SIZE, 0:SIZE] + 0.5) / SIZE
    for i, limbs in enumerate(points):
        for k in range(2):
            for t in np.linspace(0, 1, 40):
                x, y = (1 - t) * limbs[k] + t * limbs[k + 1]
                images[i] += 0.25 * (1 + k) * np.exp(-((columns - x) ** 2 + (rows - y) ** 2) / 0.002) / 4
    return np.clip(images, 0, 1)[:, None].astype(np.float32), points.reshape(count, 6).astype(np.float32)


def oscillations(random, count):
    """Returns samples [count, 8] and the later position and speed [count, 2]."""
    amplitude, phase = random.uniform(0.2, 1, (2, count, 1)) * [[[1]], [[6]]]
    rate, damping = random.uniform(2, 5, (count, 1)), random.uniform(0.1, 0.8, (count, 1))

    def position(t):
        return amplitude * np.exp(-damping * t) * np.sin(rate * t + phase)

    past, later = np.linspace(0, 1, 8)[None], 1.25
    samples = position(past) + random.normal(0, 0.002, (count, 8))
    speed = (position(later + 1e-3) - position(later - 1e-3)) / 2e-3
    return samples.astype(np.float32), np.concatenate([position(later), speed], 1).astype(np.float32)


class Pose(torch.nn.Module):
    def __init__(self):
        super().__init__()
        channels = [1, 12, 24, 32]
        layers = []
        for before, after in zip(channels, channels[1:]):
            layers += [torch.nn.Conv2d(before, after, 3, stride=2, padding=1), torch.nn.BatchNorm2d(after), torch.nn.ReLU()]
        self.features = torch.nn.Sequential(*layers)
        self.hidden = torch.nn.Linear(32 * 9, 48)
        self.points = torch.nn.Linear(48, 6)

    def forward(self, image):
        return self.points(torch.relu(self.hidden(self.features(image).flatten(1))))


class Regression(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(8, 48), torch.nn.Tanh(), torch.nn.Linear(48, 48),
                                          torch.nn.Tanh(), torch.nn.Linear(48, 2))

    def forward(self, samples):
        return self.layers(samples)


def train(name, network, data, steps):
    torch.manual_seed(1)
    random = np.random.default_rng(1)
    x, y = (torch.from_numpy(part) for part in data(random, 4000))
    model = network().train()
    optimizer = torch.optim.Adam(model.parameters(), 2e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, steps)
    for _ in range(steps):
        batch = torch.from_numpy(random.integers(0, len(x), 64))
        loss = ((model(x[batch]) - y[batch]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    model.eval()
    inputs, wanted = data(np.random.default_rng(2), 96)
    with torch.no_grad():
        error = ((model(torch.from_numpy(inputs)) - torch.from_numpy(wanted)) ** 2).mean()
    print(f"{name}: root mean square error {error.sqrt():.4f} on new samples, {y.std():.4f} is the spread of the results")
    exported = torch.export.export(model, (torch.from_numpy(inputs[:1]),))
    torch.export.save(exported, HERE / f"{name}.pt2")
    argument = "image" if name == "pose" else "samples"
    np.savez_compressed(HERE / f"{name}_calibrate.npz", **{argument: inputs[:32]})
    np.savez_compressed(HERE / f"{name}_test.npz", **{argument: inputs[32:]})


if __name__ == "__main__":
    torch.set_num_threads(1)
    train("regression", Regression, oscillations, 4000)
    train("pose", Pose, poses, 2500)
