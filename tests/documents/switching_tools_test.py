# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of Thimble in docs/switching.md, from TensorFlow Lite Micro on: they succeed in a folder with the files that
the page names. The commands of ExecuTorch's part have a test of their own, with ExecuTorch.

usage: switching_tools_test.py THIMBLE SOURCE
"""

import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

THIMBLE, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
MODEL = SOURCE / "models/digits_cnn"


def main():
    page = (SOURCE / "docs/switching.md").read_text().partition("\n## TensorFlow Lite Micro")[2]
    commands = re.findall(r"`(thimble [^`]+)`", page)
    # A .tflite is refused: tests/e2e/transcripts/wrong_files.txt.
    commands = [text for text in dict.fromkeys(commands) if "model.tflite" not in text]
    assert len(commands) >= 12, f"{len(commands)} commands"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        shutil.copy(MODEL / "digits_cnn.pt2", folder / "digits.pt2")
        shutil.copy(MODEL / "calibrate.npz", folder)
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 8, 8), }".ljust(117) + "\n"
        (folder / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(4 * 64))
        for command in commands:
            print(command, flush=True)
            done = subprocess.run([str(THIMBLE), *shlex.split(command)[1:]], cwd=folder, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


main()
