# SPDX-License-Identifier: Apache-2.0
"""A Python with packages from PyPI, in a virtual environment of the build folder."""

import fcntl
import subprocess
import sys
from pathlib import Path

SKIPPED = 77


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def python_with(folder, packages, base=sys.executable):
    """The interpreter of the virtual environment `folder`, which has `packages`.

    Creates the environment with the interpreter `base` and installs what it lacks. Ends the test as skipped if that is impossible, for example
    without a network. A lock makes tests that run at the same time take turns.
    """
    folder = Path(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    installed = folder / "installed.txt"
    with open(folder.with_name(folder.name + ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if installed.is_file() and installed.read_text().split("\n") == packages:
            return folder / "bin/python"
        made = subprocess.run([base, "-m", "venv", "--clear", folder], capture_output=True, text=True)
        if made.returncode != 0:
            skip(f"python3 -m venv fails (Debian: apt-get install python3-venv): {made.stdout}{made.stderr}")
        pip = subprocess.run([folder / "bin/pip", "install", "-q", "--retries", "1", "--timeout", "20", *packages],
                             capture_output=True, text=True)
        if pip.returncode != 0:
            skip(f"pip cannot install {' '.join(packages)}: {pip.stderr.strip().splitlines()[-1:]}")
        installed.write_text("\n".join(packages))
    return folder / "bin/python"
