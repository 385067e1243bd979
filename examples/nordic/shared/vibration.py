# SPDX-License-Identifier: Apache-2.0
"""Synthesizes accelerometer data of an electric motor: healthy, and with three faults.

A window is 512 samples at 2 kHz. A healthy motor turns at 22 to 28 Hz, with small second and third harmonics, mains hum
and noise. A fault adds to this, with a severity between just noticeable and grave:

    unbalance   the rotation frequency, many times stronger
    looseness   a series of harmonics and half harmonics
    bearing     3.6 impulses per turn, each with a decaying oscillation of 500 to 700 Hz

The input of a network is the logarithm of the power in eight bands, on a grid of 8 bits.
"""

import numpy as np

RATE, SAMPLES = 2000, 512
STATES = ("healthy", "unbalance", "looseness", "bearing")
EDGES = (8, 35, 65, 110, 180, 300, 480, 720, 1000)  # limits of the bands in Hz
QUIET, LOUD = -2.0, 4.0  # base-10 logarithms of power that map to -1 and 1


def _draw(rng, low, high, count):
    return rng.uniform(low, high, (count, 1))


def _turning(rng, count, time):
    """Signal of a healthy motor, and phase and speed of its shaft."""
    speed, phase = _draw(rng, 22, 28, count), _draw(rng, 0, 2 * np.pi, count)
    turn = 2 * np.pi * speed * time + phase
    load = _draw(rng, 0.5, 1.5, count)
    signal = load * (0.10 * np.sin(turn) + 0.05 * np.sin(2 * turn + 1) + 0.03 * np.sin(3 * turn + 2))
    signal += _draw(rng, 0.01, 0.03, count) * np.sin(2 * np.pi * 100 * time + _draw(rng, 0, 2 * np.pi, count))
    signal += _draw(rng, 0.02, 0.05, count) * rng.standard_normal((count, SAMPLES))
    return signal, turn, speed


def _fault(rng, state, turn, speed, time):
    count = len(turn)
    severity = _draw(rng, 0.1, 1.0, count)
    if state == "unbalance":
        return severity * 0.8 * np.sin(turn + 0.3)
    if state == "looseness":
        row = (0.5, 1.5, 2, 2.5, 3, 4, 5, 6)
        return severity * sum(0.16 * np.sin(k * turn + 5 * k) for k in row)
    knock = (3.6 * speed * time + _draw(rng, 0, 1, count)) % 1 / (3.6 * speed)  # seconds since the last impulse
    ring = 2 * np.pi * _draw(rng, 500, 700, count)
    return severity * 0.9 * np.exp(-knock / 0.004) * np.sin(ring * knock)


def windows(state: str, count: int, seed: int) -> np.ndarray:
    """[count, SAMPLES] in g."""
    rng = np.random.default_rng((seed, STATES.index(state)))
    time = np.arange(SAMPLES)[None] / RATE
    signal, turn, speed = _turning(rng, count, time)
    if state != "healthy":
        signal = signal + _fault(rng, state, turn, speed, time)
    return signal


def bands(signal: np.ndarray) -> np.ndarray:
    """[count, 8] float32 on the grid k/127.5 - 1."""
    spectrum = np.abs(np.fft.rfft(signal * np.hanning(SAMPLES), axis=1)) ** 2
    frequency = np.fft.rfftfreq(SAMPLES, 1 / RATE)
    power = [spectrum[:, (frequency >= low) & (frequency < high)].sum(1) for low, high in zip(EDGES, EDGES[1:])]
    level = (np.log10(np.stack(power, 1)) - QUIET) / (LOUD - QUIET)
    return (np.round(np.clip(level, 0, 1) * 255) / 127.5 - 1).astype(np.float32)


def features(count: int, seed: int, states=STATES) -> tuple[np.ndarray, np.ndarray]:
    """`count` windows of each state, state by state: bands and indices of states."""
    x = np.concatenate([bands(windows(state, count, seed)) for state in states])
    return x, np.repeat([STATES.index(state) for state in states], count)
