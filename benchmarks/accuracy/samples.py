# SPDX-License-Identifier: Apache-2.0
"""The calibration samples and the held-out samples of each seed.

Seed 0 calibrates with calibrate.npz as it is. Other seeds draw as many calibration samples at random from calibrate.npz and test.npz.
Held out are FRESH_COUNT samples that are in no file, drawn by the generator of the training data with another seed. A network
without a generator here has the samples of test.npz that are not drawn, so no held-out sample is training data. The order of
samples matters for a network with its state in buffers (STATE_IN_BUFFERS): seed 1 exchanges the files, seed 2 exchanges their
first halves, so the held-out samples of these seeds can be training data of the network. They are not calibration data.
"""

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "models"))
from common.faces import faces  # noqa: E402
from common.shapes import scenes, shape_classes  # noqa: E402
from common.sounds import machine_frames, partials_and_wave, spoken_words, two_sources  # noqa: E402
from common.textures import object_or_not, ten_classes  # noqa: E402

SEEDS = (0, 1, 2)
# Networks within 1 dB of the best tool after three seeds: the figure of one seed varies by as much.
MORE_SEEDS = tuple(range(11))
CLOSE = ("conv_tasnet_like", "deit_tiny_like", "mobilenet_v1_vww", "mobilenet_v2_tiny", "vocoder", "yolo_nano_like")
STATE_IN_BUFFERS = ("decoder_step", "streaming_conv_buffer")
FRESH_COUNT, FRESH_SEED = 256, 91_000
TEXTURES = ("cifarnet", "convnext_femto_like", "deit_tiny_like", "efficientnet_lite_like", "mnasnet_like", "se_classifier",
            "shufflenet_v2_like", "squeezenet_like")


def seeds_of(name: str) -> tuple[int, ...]:
    return MORE_SEEDS if name in CLOSE else SEEDS


def on_grid(values: np.ndarray) -> np.ndarray:
    """8-bit values as float32 in [-1, 1], as in the training data."""
    return (values.astype(np.float32) / np.float32(127.5) - np.float32(1)).astype(np.float32)


def rounded(values: np.ndarray) -> np.ndarray:
    """Multiples of 2^-16: the same on machines whose sine differs in the last bit."""
    return (np.round(values.astype(np.float64) * 65536) / 65536).astype(np.float32)


def glides(count, seed, coefficients=10, step=8):
    frames, labels = spoken_words(count, seed, step, coefficients)
    return frames[:, 0], labels


def over_time(count, seed):
    frames, labels = glides(count, seed)
    return frames.transpose(0, 2, 1), labels


# Returns 8-bit values, with labels if the files have some.
GENERATORS = {
    **{name: lambda count, seed: ten_classes(count, seed, 32, 16) for name in TEXTURES},
    "ad_autoencoder": lambda count, seed: (machine_frames(count, seed), None),
    "dscnn_kws": spoken_words,
    "face_embedding": lambda count, seed: (faces(count, seed, 48, 200, 81)[0], None),
    "gru_classifier": glides,
    "lstm_classifier": lambda count, seed: glides(count, seed, 40, 16),
    "mobilenet_v1_vww": object_or_not,
    "mobilenet_v2_tiny": lambda count, seed: shape_classes(count, seed, 96),
    "mobilenet_v3_tiny": lambda count, seed: shape_classes(count, seed, 96),
    "resnet8": ten_classes,
    "tcn": over_time,
    "unet_small": lambda count, seed: (scenes(count, seed, 32)[0], None),
    "yolo_nano_like": lambda count, seed: (scenes(count, seed, 64, factor=2)[0], None),
}
FLOAT_GENERATORS = {
    "conv_tasnet_like": lambda count, seed: two_sources(count, seed).sum(1, keepdims=True),
    "vocoder": lambda count, seed: partials_and_wave(count, seed, 32, 3)[0],
}


def generated(name: str, count: int, seed: int) -> dict[str, np.ndarray] | None:
    """New samples as in the files of the network; None if there is no generator."""
    if name in FLOAT_GENERATORS:
        return {"x": rounded(FLOAT_GENERATORS[name](count, seed))}
    if name not in GENERATORS:
        return None
    values, labels = GENERATORS[name](count, seed)
    x = np.ascontiguousarray(on_grid(values))
    return {"x": x} if labels is None else {"x": x, "labels": labels.astype(np.int64)}


def load(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as arrays:
        return {name: arrays[name] for name in arrays.files}


def split(folder: Path, seed: int) -> tuple[dict, dict]:
    """Returns the calibration samples and the held-out samples, arrays by name."""
    calibrate, test = drawn(folder, seed)
    return calibrate, generated(folder.name, FRESH_COUNT, FRESH_SEED + seed) or test


def drawn(folder: Path, seed: int) -> tuple[dict, dict]:
    """Returns the samples of both files that calibrate, and those of test.npz that do not."""
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
