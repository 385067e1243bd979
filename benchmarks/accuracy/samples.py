"""The calibration samples and the held-out samples of each seed.

Seed 0: calibrate.npz and test.npz as they are. Other seeds draw as many calibration samples at random from both files; the
samples of test.npz that are not drawn are held out, so no held-out sample is training data. The order of samples matters for a
network with its state in buffers (STATE_IN_BUFFERS): seed 1 exchanges the files, seed 2 exchanges their first halves, so the
held-out samples of these seeds can be training data of the network. They are not calibration data.
"""

from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
SEEDS = (0, 1, 2)
STATE_IN_BUFFERS = ("decoder_step", "streaming_conv_buffer")


def load(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as arrays:
        return {name: arrays[name] for name in arrays.files}


def split(folder: Path, seed: int) -> tuple[dict, dict]:
    """Returns the calibration samples and the held-out samples, arrays by name."""
    calibrate, test = load(folder / "calibrate.npz"), load(folder / "test.npz")
    if seed == 0:
        return calibrate, test
    count, held = (len(next(iter(arrays.values()))) for arrays in (calibrate, test))
    names = [name for name in calibrate if name in test]
    pool = {name: np.concatenate([calibrate[name], test[name]]) for name in names}
    if folder.name in STATE_IN_BUFFERS:
        first, second = np.arange(count), count + np.arange(held)
        if seed == 2:
            half = min(count, held) // 2
            first[:half], second[:half] = second[:half].copy(), first[:half].copy()
        else:
            first, second = second, first
    else:
        first = np.random.default_rng(seed).permutation(count + held)[:count]
        second = np.setdiff1d(count + np.arange(held), first)
    return tuple({name: pool[name][chosen] for name in names} for chosen in (first, second))
