#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the perplexity of the held-out text: float network and compiled programs.

    python examples/text/evaluate.py FOLDER [THIMBLE]      # after train.py FOLDER; needs numpy
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np


def logits_of(thimble, model, tokens, positions, *options):
    """Returns the logits of a series of calls."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        np.save(folder / "tokens.npy", tokens)
        np.save(folder / "positions.npy", positions)
        subprocess.run([thimble, "run", model, "--input", folder / "tokens.npy", "--input", folder / "positions.npy", "--steps",
                        "--output", folder, *options], check=True, stdout=subprocess.DEVNULL)
        return np.load(folder / "output_0.npy")


def perplexity(logits, tokens, length):
    """Of each token, given those before it in its sequence of `length` tokens."""
    logits = logits.reshape(-1, length, logits.shape[-1]).astype(np.float64)
    logits -= logits.max(-1, keepdims=True)
    logs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    wanted = tokens.reshape(-1, length)[:, 1:]
    return float(np.exp(-np.take_along_axis(logs[:, :-1], wanted[..., None], -1).mean()))


def main(folder, thimble="thimble"):
    folder = Path(folder)
    held_out = np.load(folder / "test.npz")
    tokens, positions = held_out["input_ids"], held_out["cache_position"]
    length = int(positions.max()) + 1
    best = perplexity(logits_of(thimble, folder / "step.pt2", tokens, positions, "--on", "eval"), tokens, length)
    print(f"float  perplexity {best:.3f}")
    for name in ("int8", "int16"):
        with tempfile.TemporaryDirectory() as place:
            program = Path(place) / "step.pte"
            subprocess.run([thimble, "compile", folder / "step.pt2", "--target", "cortex-m55", "--calibrate",
                            folder / "calibrate.npz", "--activations", name, "-o", program],
                           check=True, stdout=subprocess.DEVNULL)
            value = perplexity(logits_of(thimble, program, tokens, positions), tokens, length)
        print(f"{name:6} perplexity {value:.3f} ({100 * (value / best - 1):+.1f} %)")


if __name__ == "__main__":
    main(*sys.argv[1:])
