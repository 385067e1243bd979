"""Synthetic sounds: spectrograms of gliding tones, and log-mel frames of a running machine, as uint8 on a coarse grid."""

import numpy as np

from .textures import coarse

FRAMES, COEFFICIENTS = 49, 10
SILENCE, UNKNOWN = 0, 1
# Each word's pitch at the start, middle and end of its tone, in coefficients.
WORDS = np.array(
    [[1, 1, 1], [4.5, 4.5, 4.5], [8, 8, 8], [1, 4.5, 8], [8, 4.5, 1], [1, 8, 1], [8, 1, 8], [1, 1, 8], [8, 8, 1], [4.5, 8, 1]],
    dtype=np.float32,
)


def spoken_words(count: int, seed: int, step: int = 4, coefficients: int = COEFFICIENTS):
    """Twelve classes: silence, an unknown glide, ten known glides. Returns [count, 1, 49, coefficients]."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 12, count)
    pitch = np.where(labels[:, None] < 2, rng.uniform(0, 9, (count, 3)), WORDS[np.maximum(labels - 2, 0)])
    pitch = pitch + rng.normal(0, 0.45, (count, 3))
    start, length = rng.uniform(2, 14, (count, 1)), rng.uniform(22, 34, (count, 1))
    progress = (np.arange(FRAMES)[None] - start) / length
    inside = np.clip(np.minimum(progress, 1 - progress) * 8, 0, 1)
    first = np.clip(progress, 0, 0.5) * 2
    second = np.clip(progress - 0.5, 0, 0.5) * 2
    track = pitch[:, :1] + (pitch[:, 1:2] - pitch[:, :1]) * first + (pitch[:, 2:] - pitch[:, 1:2]) * second
    loudness = rng.uniform(0.35, 0.8, (count, 1)) * inside * (labels != SILENCE)[:, None]
    places = np.arange(coefficients) * (COEFFICIENTS / coefficients)
    distance = places[None, None] - track[:, :, None]
    values = 0.3 + loudness[:, :, None] * np.exp(-(distance**2) / 1.6)
    values += 0.1 * rng.standard_normal(values.shape)
    return coarse(values, step)[:, None], labels


MELS, STACKED = 128, 5


def machine_frames(count: int, seed: int, step: int = 2):
    """Five log-mel frames in a row of a machine that runs at some speed and load. Returns [count, 640]."""
    rng = np.random.default_rng(seed)
    mel = np.arange(MELS, dtype=np.float32)[None, None]
    time = np.arange(STACKED, dtype=np.float32)[None, :, None]

    def draw(low, high):
        return rng.uniform(low, high, (count, 1, 1)).astype(np.float32)

    speed, load, hum, tilt, depth, phase = (
        draw(0, 1), draw(0.2, 1), draw(0, 1), draw(-1, 1), draw(0, 0.3), draw(0, 2 * np.pi)
    )
    values = 0.35 + 0.12 * tilt * (mel / 64 - 1) + np.zeros((count, STACKED, MELS), np.float32)
    swing = 1 + depth * np.sin(phase + 0.9 * time)
    for harmonic in range(1, 6):
        centre = 10 + 18 * harmonic + 2.4 * speed * harmonic
        values += load * swing * 0.5 / harmonic**0.5 * np.exp(-((mel - centre) ** 2) / (12 + 4 * harmonic))
    for centre in (8, 16):
        values += 0.35 * hum * np.exp(-((mel - centre) ** 2) / 6)
    values += 0.02 * rng.standard_normal(values.shape, dtype=np.float32)
    return coarse(values, step).reshape(count, STACKED * MELS)


def gliding_tones(count: int, seed: int, step: int = 8, frames: int = FRAMES, coefficients: int = COEFFICIENTS):
    """Frames in which a tone wanders and swells under noise. Returns [count, coefficients, frames] as uint8, and the tone's
    place and loudness, [count, 2, frames], both about -1..1."""
    rng = np.random.default_rng(seed)
    time = np.arange(frames)[None]

    def wave(slowest, fastest):
        phase, rate = rng.uniform(0, 2 * np.pi, (count, 1)), rng.uniform(slowest, fastest, (count, 1))
        return np.sin(phase + rate * time)

    place = 0.6 * wave(0.05, 0.2) + 0.3 * wave(0.2, 0.4)
    loudness = 0.5 + 0.5 * wave(0.05, 0.3)
    middle = (coefficients - 1) / 2
    distance = np.arange(coefficients)[None, :, None] - middle * (1 + place[:, None])
    values = 0.25 + 0.6 * loudness[:, None] * np.exp(-(distance**2) / 1.6)
    values += 0.08 * rng.standard_normal(values.shape)
    return coarse(values, step), np.stack([place, 2 * loudness - 1], 1).astype(np.float32)


def two_sources(count: int, seed: int, length: int = 512):
    """A low hum and a high warble, [count, 2, length] in -1..1 as float32, each on the grid k/128 of an 8-bit recording."""
    rng = np.random.default_rng(seed)
    time = np.arange(length)[None]

    def draw(low, high):
        return rng.uniform(low, high, (count, 1))

    swell = 0.6 + 0.4 * np.sin(draw(0, 2 * np.pi) + draw(0.005, 0.03) * time)
    hum = draw(0.15, 0.45) * swell * np.sin(draw(0, 2 * np.pi) + draw(0.08, 0.25) * time)
    bend = draw(2, 8) * np.sin(draw(0, 2 * np.pi) + draw(0.01, 0.04) * time)
    gate = np.clip(4 * np.sin(draw(0, 2 * np.pi) + draw(0.01, 0.04) * time) + 2, 0, 1)
    warble = draw(0.15, 0.45) * gate * np.sin(draw(0, 2 * np.pi) + draw(0.9, 1.6) * time + bend)
    return (np.round(np.stack([hum, warble], 1) * 128) / 128).astype(np.float32)


def partials_and_wave(count: int, seed: int, frames: int, partials: int, hop: int = 16):
    """Sine and cosine, times loudness, of each partial of a tone at the beginning and in the middle of every frame,
    [count, 4 * partials, frames]; and the tone, [count, 1, frames * hop]; both float32 on the grid k/128."""
    rng = np.random.default_rng(seed)
    length = frames * hop
    time = np.arange(length)[None, None]

    def draw(low, high, *shape):
        return rng.uniform(low, high, (count, *shape, 1))

    bend = 1 + draw(0, 0.15, 1) * np.sin(draw(0, 2 * np.pi, 1) + draw(0.005, 0.02, 1) * time)
    pitch = np.cumsum(draw(0.06, 0.16, 1) * bend, axis=2)
    phase = draw(0, 2 * np.pi, partials) + np.arange(1, partials + 1)[None, :, None] * pitch
    swell = 0.5 + 0.5 * np.sin(draw(0, 2 * np.pi, partials) + draw(0.004, 0.02, partials) * time)
    loudness = draw(0.1, 0.8, partials) / partials * swell
    parts = np.stack([np.sin(phase), np.cos(phase)], 1) * loudness[:, None]
    told = np.stack([parts[..., ::hop], parts[..., hop // 2 :: hop]], 1).reshape(count, 4 * partials, frames)
    wave = parts[:, 0].sum(1, keepdims=True)
    return tuple((np.round(values * 128) / 128).astype(np.float32) for values in (told, wave))
