# SPDX-License-Identifier: Apache-2.0
"""Writes transformer_4.pt2 and transformer_20.pt2: vision transformers of 4 and 20 blocks with random weights.

usage: make_transformers.py        with a Python that has PyTorch 2.13

The network is that of models/deit_tiny_like, narrower. The second one has more than 500 operators on a part with an NPU.
The archives are compressed; torch.export.save does not.
"""

import importlib.util
import sys
import tempfile
import zipfile
from pathlib import Path

import torch

HERE = Path(__file__).resolve().parent
MODELS = HERE.parents[1] / "models"


def network(blocks, width):
    spec = importlib.util.spec_from_file_location("deit_tiny_like", MODELS / "deit_tiny_like/export.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["deit_tiny_like"] = module
    spec.loader.exec_module(module)
    module.DEPTH, module.WIDTH, module.PATCH = blocks, width, 8
    torch.manual_seed(blocks)
    return module.DeitTinyLike()


def main():
    sys.path.insert(0, str(MODELS))
    from common.export import save_program

    for blocks, width in ((4, 24), (20, 12)):
        name = f"transformer_{blocks}"
        with tempfile.TemporaryDirectory() as folder:
            save_program(name, network(blocks, width), Path(folder), (torch.zeros(1, 3, 32, 32),))
            with zipfile.ZipFile(Path(folder) / f"{name}.pt2") as made:
                with zipfile.ZipFile(HERE / f"{name}.pt2", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as kept:
                    for member in made.infolist():
                        kept.writestr(zipfile.ZipInfo(member.filename), made.read(member), zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    main()
