#!/usr/bin/env python3
"""Makes every network of executorch_make.py and runs executorch_files_test on the files.

    executorch_peer.py TEST_PROGRAM FOLDER

Exit 77 if ExecuTorch is not installed, else that of the test.
"""

import os
import subprocess
import sys
from pathlib import Path


def main():
    program, folder = sys.argv[1:]
    maker = Path(__file__).resolve().parent / "executorch_make.py"
    made = subprocess.run([sys.executable, str(maker), folder])
    if made.returncode != 0:
        return made.returncode
    environment = dict(os.environ, THIMBLE_EXECUTORCH_FILES=folder)
    return subprocess.run([program], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
