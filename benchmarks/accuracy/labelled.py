# SPDX-License-Identifier: Apache-2.0
"""Accuracy of the networks with the shapes of MLPerf Tiny on 1,000 labelled samples that are in no file: float and int8.

The samples are drawn by the generators that the training data comes from, with other seeds. The anomaly detector was trained on
frames of intact machines. Its samples are frames of intact machines and of worn ones, and its metric is the area under the ROC
curve of the squared error of the reconstruction, as in MLPerf Tiny. A worn machine has an additional tone, and less of one of
its harmonics.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "models"), str(Path(__file__).parent)]
from common.sounds import MELS, STACKED, machine_frames, spoken_words  # noqa: E402
from common.textures import object_or_not, ten_classes  # noqa: E402
from samples import on_grid  # noqa: E402

COUNT, SEED = 1000, 90_001


def machines():
    """Returns frames, and labels: 1 for a worn machine."""
    rng = np.random.default_rng(SEED)
    labels = np.arange(COUNT) % 2
    frames = machine_frames(COUNT, SEED).reshape(COUNT, STACKED, MELS).astype(np.float32)
    mel = np.arange(MELS)[None, None]

    def draw(low, high):
        return rng.uniform(low, high, (COUNT, 1, 1))

    tone = 255 * draw(0.02, 0.12) * np.exp(-((mel - draw(20, 120)) ** 2) / draw(6, 30))
    lost = 1 - draw(0, 0.25) * np.exp(-((mel - draw(20, 120)) ** 2) / 60)
    worn = np.clip(np.round((frames * lost + tone) / 2) * 2, 0, 255)
    frames = np.where(labels[:, None, None] == 1, worn, frames)
    return frames.reshape(COUNT, STACKED * MELS).astype(np.uint8), labels


def area_under_curve(outputs, inputs, labels):
    errors = ((outputs.astype(np.float64) - inputs) ** 2).mean(1)
    order = np.argsort(np.argsort(errors, kind="stable"), kind="stable") + 1  # ranks; equal errors do not occur
    positive = int(labels.sum())
    return float((order[labels == 1].sum() - positive * (positive + 1) / 2) / (positive * (len(labels) - positive)))


NETWORKS = {
    "dscnn_kws": lambda: spoken_words(COUNT, SEED),
    "resnet8": lambda: ten_classes(COUNT, SEED),
    "mobilenet_v1_vww": lambda: object_or_not(COUNT, SEED),
    "ad_autoencoder": machines,
}


def measure(program, name, run):
    """Returns the metric of the float network and of int8, calibrated on calibrate.npz."""
    values, labels = NETWORKS[name]()
    inputs = on_grid(values)
    folder = ROOT / "models" / name
    source = folder / f"{name}.pt2"
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        compiled = work / "model.pte"
        run(program, "compile", source, "--target", "cortex-m55", "--calibrate", folder / "calibrate.npz", "-o", compiled)
        if name != "ad_autoencoder":
            np.savez(work / "x.npz", x=inputs, labels=labels.astype(np.int64))
            found = run(program, "compare", source, compiled, "--data", work / "x.npz")
            return {"float": round(found["accuracy_float"], 4), "int8": round(found["accuracy"], 4)}
        np.save(work / "x.npy", inputs)
        entry = {}
        for key, file in (("float", source), ("int8", compiled)):
            out = work / key
            run(program, "run", file, "--input", work / "x.npy", "--output", out)
            outputs = np.load(out / "output_0.npy").reshape(COUNT, -1)
            entry[key] = round(area_under_curve(outputs, inputs, labels), 4)
    return entry
