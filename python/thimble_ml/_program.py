# SPDX-License-Identifier: Apache-2.0
"""The command ``thimble``: starts the program that the package contains."""

import os
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent


def main() -> None:
    """Replaces this process by the program, with the same arguments."""
    program = FOLDER / "bin" / ("thimble.exe" if os.name == "nt" else "thimble")
    if os.name == "nt":  # execv returns to the shell before the program ends
        sys.exit(subprocess.run([program, *sys.argv[1:]]).returncode)
    os.execv(program, [sys.argv[0], *sys.argv[1:]])
