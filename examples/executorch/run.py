#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a .pte file in ExecuTorch's own runtime with Thimble's kernels and delegates.

    run.py LIBRARIES MODEL.pte DATA.npz

LIBRARIES is the folder of libthimble_executorch_*.so (docs/executorch.md). Prints the outputs for the first sample of the
first array.
"""

import ctypes
import sys
from pathlib import Path

import numpy as np
import torch
from executorch.runtime import Runtime


def main():
    libraries, model, data = sys.argv[1:]
    # A library registers its kernels or delegates when it is loaded.
    for library in sorted(Path(libraries).glob("libthimble_executorch_*.so")):
        ctypes.CDLL(str(library.resolve()), mode=ctypes.RTLD_GLOBAL)
    method = Runtime.get().load_program(model).load_method("forward")
    with np.load(data) as arrays:
        sample = torch.from_numpy(arrays[arrays.files[0]][:1])
    for output in method.execute([sample]):
        print(*output.flatten().tolist())


if __name__ == "__main__":
    main()
