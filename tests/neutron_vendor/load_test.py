#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks compiled with a stand-in for NXP's converter, loaded and run by the runtime with a driver that simulates the NPU's.

    load_test.py THIMBLE SOURCE_FOLDER STANDIN_CONVERTER LOADER
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

THIMBLE, ROOT, STANDIN, LOADER = (Path(argument).resolve() for argument in sys.argv[1:5])
NETWORKS = ("dscnn_kws", "resnet8", "digits_cnn")
OPTIONS = ([], ["--io", "int8"], ["--io-layout", "nhwc"])


def main():
    with tempfile.TemporaryDirectory() as work:
        sdk, files = Path(work) / "sdk", Path(work) / "files"
        (sdk / "bin").mkdir(parents=True)
        files.mkdir()
        shutil.copy(STANDIN, sdk / "bin/neutron-converter")
        for name in NETWORKS:
            model = ROOT / "models" / name
            for i, options in enumerate(OPTIONS):
                subprocess.run([THIMBLE, "compile", model / f"{name}.pt2", "--target", "imxrt700", "--calibrate",
                                model / "calibrate.npz", "--neutron", "sdk", "--neutron-sdk", sdk, *options,
                                "-o", files / f"{name}_{i}.pte"], check=True, stdout=subprocess.DEVNULL)
        return subprocess.run([LOADER], env={**os.environ, "THIMBLE_NEUTRON_FILES": str(files)}).returncode


if __name__ == "__main__":
    sys.exit(main())
