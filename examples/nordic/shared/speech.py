# SPDX-License-Identifier: Apache-2.0
"""Synthesizes spoken words with espeak-ng (Debian package) and computes mel-frequency cepstral coefficients.

One second of sound at 16 kHz becomes 40 frames of 13 coefficients on a grid of 8 bits. Voices differ in accent, speaker
("variant"), pitch and speed. A recording adds a random start of the word, a random volume, and background noise (hum and
hiss) to the synthesizer's output.
"""

import io
import subprocess
import wave
from math import gcd

import numpy as np
from scipy.signal import resample_poly

RATE, FRAMES, COEFFICIENTS = 16000, 40, 13
HOP, WINDOW, POINTS, MELS = 400, 640, 1024, 26
KNOWN = ("yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go")
UNKNOWN = ("house", "marvin", "seven", "bird", "happy", "tree", "wow", "three", "sheila", "backward", "follow", "bed",
           "visual", "nine", "forward", "learn", "cat", "zero")
LABELS = ("silence", "unknown", *KNOWN)
# Standard deviation of each coefficient over speech, for scaling to 1. Each recording subtracts its own means.
SPREAD = np.array([14.0, 9.0, 6.0, 5.0, 4.5, 4.0, 3.6, 3.2, 2.9, 2.7, 2.5, 2.3, 2.1])

ACCENTS = ("en-us", "en-gb", "en-gb-x-rp", "en-gb-scotland", "en-gb-x-gbclan", "en-029")
VARIANTS = ("m1", "m2", "m3", "m4", "m5", "m6", "m8", "f1", "f2", "f3")
NEW_VARIANTS = ("m7", "f4", "f5")  # speakers that are not in the training data


def spoken(word: str, voice: str, words_per_minute: int, pitch: int) -> np.ndarray:
    """The word alone, as synthesized, at RATE."""
    answer = subprocess.run(["espeak-ng", "-v", voice, "-s", str(words_per_minute), "-p", str(pitch), "--stdout", word],
                            capture_output=True, check=True).stdout
    with wave.open(io.BytesIO(answer)) as sound:
        rate = sound.getframerate()
        data = np.frombuffer(answer[44:], np.int16).astype(np.float64) / 32768
    common = gcd(rate, RATE)
    data = resample_poly(data, RATE // common, rate // common)
    loud = np.flatnonzero(np.abs(data) > 0.01 * np.abs(data).max())
    return data[loud[0] : loud[-1] + 1]


def background(rng, count: int) -> np.ndarray:
    """Recordings of one second of hiss and hum, [count, RATE], with an amplitude of about 1."""
    white = np.fft.rfft(rng.standard_normal((count, RATE)))
    colour = rng.uniform(0, 1.2, (count, 1))  # 0 is white, 1 is pink
    shaped = np.fft.irfft(white / np.maximum(np.arange(white.shape[1]), 20) ** (colour / 2), RATE)
    shaped /= shaped.std(1, keepdims=True)
    time = np.arange(RATE) / RATE
    hum = np.sin(2 * np.pi * rng.uniform(45, 65, (count, 1)) * time + rng.uniform(0, 6.28, (count, 1)))
    return shaped + rng.uniform(0, 1, (count, 1)) * hum


def recorded(rng, word: np.ndarray | None, noise: np.ndarray) -> np.ndarray:
    """One second with the word at a random position, 5 to 30 dB above the noise; silence is only noise."""
    if word is None:
        return noise * 10 ** rng.uniform(-3, -1.5)
    word = word[: int(0.9 * RATE)]
    sound = np.zeros(RATE)
    start = rng.integers(0, RATE - len(word) + 1)
    sound[start : start + len(word)] = word
    level = np.sqrt((word**2).mean())
    return (sound + noise * level * 10 ** (-rng.uniform(5, 30) / 20)) * 10 ** rng.uniform(-1, 0)


def mel_filters() -> np.ndarray:
    """Triangular filters from 20 Hz to 7.6 kHz, evenly spaced on the mel scale; [MELS, POINTS / 2 + 1]."""
    mel = np.linspace(*(2595 * np.log10(1 + np.array([20.0, 7600.0]) / 700)), MELS + 2)
    corner = 700 * (10 ** (mel / 2595) - 1)
    frequency = np.fft.rfftfreq(POINTS, 1 / RATE)[None]
    rising = (frequency - corner[:-2, None]) / (corner[1:-1] - corner[:-2])[:, None]
    falling = (corner[2:, None] - frequency) / (corner[2:] - corner[1:-1])[:, None]
    return np.clip(np.minimum(rising, falling), 0, None)


FILTERS = mel_filters()
# The first COEFFICIENTS rows of the type-II cosine transform of MELS values.
COSINES = np.cos(np.pi * np.arange(COEFFICIENTS)[:, None] * (np.arange(MELS)[None] + 0.5) / MELS) * np.sqrt(2 / MELS)


def mfcc(sound: np.ndarray) -> np.ndarray:
    """[FRAMES, COEFFICIENTS] as uint8: 128 is the mean of the recording."""
    sound = np.pad(sound, (0, (FRAMES - 1) * HOP + WINDOW - len(sound)))
    frames = np.stack([sound[k * HOP : k * HOP + WINDOW] for k in range(FRAMES)]) * np.hamming(WINDOW)
    power = np.abs(np.fft.rfft(frames, POINTS)) ** 2
    coefficients = np.log(power @ FILTERS.T + 1e-6) @ COSINES.T
    coefficients = (coefficients - coefficients.mean(0)) / SPREAD
    return np.clip(np.round(128 + 48 * coefficients), 0, 255).astype(np.uint8)


def utterances(rng, count: int, variants) -> list[tuple[np.ndarray | None, int]]:
    """`count` utterances of each class, each with a different voice: the sounds and the classes."""
    found = []
    for label in range(len(LABELS)):
        for i in range(count):
            if label == 0:
                found.append((None, 0))
                continue
            word = LABELS[label] if label > 1 else UNKNOWN[i % len(UNKNOWN)]
            voice = f"{rng.choice(ACCENTS)}+{rng.choice(variants)}"
            found.append((spoken(word, voice, int(rng.integers(120, 220)), int(rng.integers(20, 80))), label))
    return found


def features(rng, said, copies: int) -> tuple[np.ndarray, np.ndarray]:
    """`copies` recordings of each utterance: [n, 1, FRAMES, COEFFICIENTS] as uint8, and classes."""
    rows, labels = [], []
    for _ in range(copies):
        noise = background(rng, len(said))
        for (word, label), behind in zip(said, noise):
            rows.append(mfcc(recorded(rng, word, behind)))
            labels.append(label)
    return np.stack(rows)[:, None], np.array(labels)
