#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes every network of a script in this folder and runs a test on the files.

    executorch_peer.py SCRIPT TEST_PROGRAM FOLDER VARIABLE

VARIABLE is the environment variable that gives the test the folder of the files.

Exit 77 if ExecuTorch is not installed, else the exit code of the test.
"""

import os
import subprocess
import sys
from pathlib import Path


def main():
    script, program, folder, variable = sys.argv[1:]
    maker = Path(__file__).resolve().parent / script
    made = subprocess.run([sys.executable, str(maker), folder])
    if made.returncode != 0:
        return made.returncode
    return subprocess.run([program], env={**os.environ, variable: folder}).returncode


if __name__ == "__main__":
    sys.exit(main())
