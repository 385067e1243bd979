"""Synthetic scenes: discs, squares and crosses on a shaded ground, with what each pixel shows and where each shape is."""

import numpy as np

from .textures import coarse, colour

KINDS = ("disc", "square", "cross")


def covers(kind: str, rows, columns, y, x, radius):
    down, across = np.abs(rows - y), np.abs(columns - x)
    if kind == "disc":
        return down**2 + across**2 < radius**2
    if kind == "square":
        return np.maximum(down, across) < 0.85 * radius
    return (np.minimum(down, across) < 0.3 * radius) & (np.maximum(down, across) < radius)


def ground(rng, size):
    """A ground of one colour, [3, size, size], that darkens to one side."""
    rows, columns = np.mgrid[0:size, 0:size].astype(np.float32) / size - 0.5
    angle = rng.uniform(0, 2 * np.pi)
    slope = rng.uniform(0, 0.4) * (np.cos(angle) * rows + np.sin(angle) * columns)
    return rng.uniform(0.2, 0.5) + 0.1 * colour(rng.uniform())[:, None, None] + slope[None]


def enlarge(images, factor):
    return images.repeat(factor, axis=-2).repeat(factor, axis=-1)


def scenes(count: int, seed: int, size: int, *, most=3, factor=1, noise=0.05, step=16):
    """Pictures [count, 3, size, size] as uint8; what each pixel shows, 0 or 1 + kind; and lists of (kind, y, x, radius) in
    pixels. Drawn at 1/`factor` of the size and enlarged, so that the files compress."""
    rng = np.random.default_rng(seed)
    small = size // factor
    rows, columns = np.mgrid[0:small, 0:small].astype(np.float32)
    images = np.empty((count, 3, size, size), np.uint8)
    shown = np.zeros((count, small, small), np.int64)
    lists = []
    for i in range(count):
        image, things = ground(rng, small), []
        for _ in range(rng.integers(1, most + 1)):
            kind, radius = int(rng.integers(3)), rng.uniform(0.1, 0.24) * small
            y, x = rng.uniform(radius, small - radius, 2)
            if any(np.hypot(y - q, x - p) < radius + r for _, q, p, r in things):
                continue
            inside = covers(KINDS[kind], rows, columns, y, x, radius)
            image[:, inside] = 0.2 * image[:, inside] + 0.8 * (colour(rng.uniform()) * rng.uniform(0.7, 1.0))[:, None]
            shown[i][inside] = 1 + kind
            things.append((kind, y, x, radius))
        image = image + noise * rng.standard_normal(image.shape)
        images[i] = enlarge(coarse(image, step), factor)
        lists.append([(kind, y * factor, x * factor, radius * factor) for kind, y, x, radius in things])
    return images, enlarge(shown, factor), lists


HUES = 3


def shape_classes(count: int, seed: int, size: int, *, factor=2, noise=0.04, step=16):
    """One shape in each picture; nine classes, the kind by the colour."""
    rng = np.random.default_rng(seed)
    small = size // factor
    rows, columns = np.mgrid[0:small, 0:small].astype(np.float32)
    labels = rng.integers(0, len(KINDS) * HUES, count)
    images = np.empty((count, 3, size, size), np.uint8)
    for i, label in enumerate(labels):
        image, radius = ground(rng, small), rng.uniform(0.15, 0.3) * small
        y, x = rng.uniform(radius, small - radius, 2)
        inside = covers(KINDS[label // HUES], rows, columns, y, x, radius)
        tint = colour(label % HUES / HUES + rng.normal(0, 0.05))
        image[:, inside] = 0.2 * image[:, inside] + 0.8 * (tint * rng.uniform(0.7, 1.0))[:, None]
        images[i] = enlarge(coarse(image + noise * rng.standard_normal(image.shape), step), factor)
    return images, labels
