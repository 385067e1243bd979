"""Training and export of a classifier of ten textures or twelve gliding tones; a network adds its layers."""

import torch
from torch import nn

from .export import on_grid, save
from .sounds import spoken_words
from .textures import ten_classes
from .train import accuracy, batches, fit, seed_everything


def textures(count, seed, size=32, step=16):
    images, labels = ten_classes(count, seed, size, step)
    return torch.from_numpy(on_grid(images)), torch.from_numpy(labels)


def glides(count, seed, coefficients=10, step=8):
    """[count, frames, coefficients]: the frames as a sequence."""
    frames, labels = spoken_words(count, seed, step, coefficients)
    return torch.from_numpy(on_grid(frames[:, 0])), torch.from_numpy(labels)


def train_and_save(name, network, out, data, *, seed, steps, peak_rate, weight_decay=1e-3, batch=32, samples=2048):
    """`network` makes the model, after the seed is set."""
    seed_everything(seed)
    train, test = data(samples, 100 * seed + 1), data(32, 100 * seed + 2)
    model = fit(
        network(),
        batches(*train, batch, torch.Generator().manual_seed(seed)),
        nn.CrossEntropyLoss(label_smoothing=0.05),
        steps=steps,
        peak_rate=peak_rate,
        weight_decay=weight_decay,
        log_every=100,
    )
    fresh = accuracy(model, *data(500, 100 * seed + 3))
    print(f"  accuracy on new samples: {fresh:.4f}, on test.npz: {accuracy(model, *test):.4f}")
    save(name, model, out, calibrate=(train[0][:32], train[1][:32]), test=test)
