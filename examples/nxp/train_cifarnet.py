#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains CifarNet and exports it, with and without softmax.

    python examples/nxp/train_cifarnet.py [--epochs 8] [--out DIR]

Needs PyTorch (models/requirements.txt). CIFAR-10 is not in this repository and is not downloaded: ten kinds of synthetic
texture of the same size replace it (models/common/textures.py). Without --out the files are written to
build/models/cifarnet; those in models/cifarnet are from eight epochs.
"""
import argparse
import importlib.util
import sys
from pathlib import Path

MODELS = Path(__file__).resolve().parents[2] / "models"


def main():
    sys.path.insert(0, str(MODELS))
    spec = importlib.util.spec_from_file_location("cifarnet", MODELS / "cifarnet" / "export.py")
    cifarnet = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(cifarnet)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=cifarnet.EPOCHS, help="passes over the training data; 0: untrained")
    parser.add_argument("--out", type=Path, default=MODELS.parent / "build" / "models" / "cifarnet")
    options = parser.parse_args()
    if options.epochs < 0:
        parser.error("--epochs is not negative")
    cifarnet.build(options.out, options.epochs)


if __name__ == "__main__":
    main()
