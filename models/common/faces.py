"""Synthetic faces: an oval with eyes, brows, a nose and a mouth, whose measures and colours are a person's."""

import numpy as np

from .shapes import enlarge, ground
from .textures import coarse, colour

MEASURES = 12


def person(rng):
    return rng.uniform(0, 1, MEASURES).astype(np.float32)


def oval(rows, columns, y, x, height, width):
    return ((rows - y) / height) ** 2 + ((columns - x) / width) ** 2 < 1


def draw(rng, who, size):
    """One picture of a person, [3, size, size] in 0..1: elsewhere, in another light, a little turned."""
    rows, columns = np.mgrid[0:size, 0:size].astype(np.float32) / size
    image = ground(rng, size)
    y, x = 0.5 + rng.uniform(-0.05, 0.05, 2)
    grown, light = rng.uniform(0.92, 1.08), rng.uniform(0.8, 1.1)
    (long, wide, hue, dark, apart, high, eye, iris, brow, nose, mouth, lips) = who
    long, wide = grown * (0.34 + 0.1 * long), grown * (0.24 + 0.1 * wide)

    def paint(where, tint):
        image[:, where] = tint[:, None]

    skin = light * (0.85 - 0.5 * dark) * (0.6 + 0.4 * colour(0.02 + 0.09 * hue))
    paint(oval(rows, columns, y, x, long, wide), skin)
    down = y - long * (0.1 + 0.25 * high)
    for side in (-1, 1):
        across = x + side * wide * (0.3 + 0.25 * apart)
        height, width = wide * (0.1 + 0.1 * eye), wide * (0.16 + 0.1 * eye)
        paint(oval(rows, columns, down, across, height, width), light * np.full(3, 0.95, np.float32))
        paint(oval(rows, columns, down, across, height, height), 0.6 * light * colour(iris))
        arch = down - wide * (0.2 + 0.2 * brow)
        paint(oval(rows, columns, arch, across, 0.06 * wide, 0.3 * wide), 0.3 * skin)
    paint(oval(rows, columns, y + 0.1 * long, x, long * (0.1 + 0.15 * nose), 0.09 * wide), 0.75 * skin)
    tint = light * (0.5 * colour(0.95 + 0.1 * lips) + 0.2)
    paint(oval(rows, columns, y + 0.5 * long, x, long * 0.07, wide * (0.25 + 0.35 * mouth)), tint)
    return image


def faces(count: int, seed: int, size: int, people: int, people_seed: int, noise=0.03, step=16):
    """Pictures [count, 3, size, size] as uint8 of `people` persons, and who it is. Drawn at half size and doubled."""
    known = np.random.default_rng(people_seed)
    persons = [person(known) for _ in range(people)]
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, people, count)
    images = np.empty((count, 3, size, size), np.uint8)
    for i, label in enumerate(labels):
        image = draw(rng, persons[label], size // 2)
        images[i] = enlarge(coarse(image + noise * rng.standard_normal(image.shape), step), 2)
    return images, labels
