#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hello_axon: a 1-16-16-1 perceptron that computes sin x for x in [0, 2 pi].

    python examples/nordic/hello_axon/export.py [--out DIR]

The network of models/hello_sin. Samples are on the grid k/64, so that 1.578 is the nearest value to pi / 2.
"""

import math
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from shared.training import main  # noqa: E402, also makes models/ importable
from common.export import save  # noqa: E402
from hello_sin.export import TURN, largest_error, train  # noqa: E402

SEED = 1


def build(out: Path):
    model = train(SEED)
    print(f"  largest error against sin over 1000 points: {largest_error(model):.4f}")
    calibrate = torch.linspace(0, TURN, 64)[:, None]
    # The values of main.c, then a full turn in 128 steps.
    test = torch.cat([torch.tensor([1.57, 0.0, math.pi, 3 * math.pi / 2]), torch.linspace(0, TURN, 128)])[:, None]
    with torch.no_grad():
        print(f"  sin(1.57) in float: {model(test[:1]).item():.4f}")
    save("hello_axon", model, out, calibrate=(calibrate, None), test=(test, None))


if __name__ == "__main__":
    main(__file__, build)
