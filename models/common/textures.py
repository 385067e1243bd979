"""Synthetic pictures: gratings, checkers and blobs. Pixels are uint8 values on a coarse grid, so that files compress."""

import colorsys

import numpy as np


def coarse(values: np.ndarray, step: int) -> np.ndarray:
    """Values in 0..1 to 0..255, rounded to multiples of `step`."""
    levels = np.round(np.clip(values, 0, 1) * 255 / step) * step
    return np.clip(levels, 0, 255).astype(np.uint8)


def colour(hue) -> np.ndarray:
    return np.array(colorsys.hsv_to_rgb(hue % 1.0, 0.75, 1.0), dtype=np.float32)


def field(kind: str, size: int, period: float, angle: float, phase, rows, columns) -> np.ndarray:
    """A pattern in -1..1; `period` is in pixels."""
    along = (np.cos(angle) * columns + np.sin(angle) * rows) * (2 * np.pi / period) + phase[0]
    if kind == "grating":
        return np.sin(along)
    across = (np.cos(angle) * rows - np.sin(angle) * columns) * (2 * np.pi / period) + phase[1]
    product = np.sin(along) * np.sin(across)
    if kind == "checker":
        return np.sign(product) * np.sqrt(np.abs(product))
    return 2 * np.clip(np.sin(along), 0, 1) ** 2 * np.clip(np.sin(across), 0, 1) ** 2 - 1  # blob


def picture(rng, size, kind, period, angle, hue, *, noise, contrast=(0.5, 1.0), tint=0.0) -> np.ndarray:
    """One picture, [3, size, size], in 0..1."""
    rows, columns = np.mgrid[0:size, 0:size].astype(np.float32)
    pattern = field(kind, size, period, angle, rng.uniform(0, 2 * np.pi, 2), rows, columns)
    strength = rng.uniform(*contrast)
    image = 0.5 + 0.45 * strength * pattern[None] * colour(hue)[:, None, None] - 0.1 * colour(hue + 0.5)[:, None, None]
    image += noise * rng.standard_normal((3, size, size), dtype=np.float32)
    image += tint * (colour(hue)[:, None, None] - 0.5)
    return image + rng.uniform(-0.1, 0.1)


KINDS = ("grating", "checker", "blob")


def ten_classes(count: int, seed: int, size: int = 32, step: int = 8):
    """Ten classes of kind, period, direction and colour, which all spread into each other."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 10, count)
    images = np.empty((count, 3, size, size), np.uint8)
    for i, label in enumerate(labels):
        period = (5.0 + 1.6 * ((label * 3) % 10 // 2)) * rng.uniform(0.8, 1.25)
        angle = np.pi * (label * 0.3 % 1.0) + rng.normal(0, 0.25)
        hue = label * 0.1 + rng.normal(0, 0.1)
        images[i] = coarse(picture(rng, size, KINDS[label % 3], period, angle, hue, noise=0.16), step)
    return images, labels


def object_or_not(count: int, seed: int, size: int = 96, step: int = 16):
    """Two classes: a background texture (0), or one with an upright figure, a head over a body, somewhere on it (1).

    Half of the pictures of class 0 carry a head without a body. Drawn at half size and doubled, so that the files compress.
    """
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, count)
    half = size // 2
    rows, columns = np.mgrid[0:half, 0:half].astype(np.float32)
    images = np.empty((count, 3, size, size), np.uint8)
    for i, label in enumerate(labels):
        image = picture(
            rng, half, KINDS[rng.integers(3)], rng.uniform(4, 9), rng.uniform(0, np.pi), rng.uniform(), noise=0.04,
            contrast=(0.2, 0.6),
        )
        radius = rng.uniform(3.0, 5.5)
        y, x = rng.uniform(8, 20), rng.uniform(9, half - 9)
        head = (rows - y) ** 2 + (columns - x) ** 2 < radius**2
        body = ((rows - y - 3.2 * radius) / (2.4 * radius)) ** 2 + ((columns - x) / (1.2 * radius)) ** 2 < 1
        figure = head | body if label == 1 else head & (rng.random() < 0.5)
        tint = colour(rng.uniform())[:, None] * rng.uniform(0.6, 1.0)
        image[:, figure] = 0.2 * image[:, figure] + 0.8 * tint
        images[i] = coarse(image, step).repeat(2, axis=1).repeat(2, axis=2)
    return images, labels


def thousand_classes(count: int, seed: int, size: int, step: int = 8, labels=None):
    """1000 classes: the hundreds are ten patterns, the tens ten periods, the ones ten colours."""
    rng = np.random.default_rng(seed)
    if labels is None:
        labels = rng.integers(0, 1000, count)
    images = np.empty((count, 3, size, size), np.uint8)
    for i, label in enumerate(labels):
        pattern, pitch, hue = label // 100, label // 10 % 10, label % 10
        kind = KINDS[0] if pattern < 5 else KINDS[1] if pattern < 8 else KINDS[2]
        angle = (
            np.pi * pattern / 5 if pattern < 5 else np.pi / 2 * (pattern - 5) / 3 if pattern < 8 else np.pi / 4 * (pattern - 8)
        )
        period = 5.0 * 1.18**pitch * rng.uniform(0.97, 1.03)
        angle += rng.normal(0, 0.05)
        images[i] = coarse(
            picture(rng, size, kind, period, angle, hue / 10 + rng.normal(0, 0.012), noise=0.06, contrast=(0.7, 1.0)), step
        )
    return images, labels
