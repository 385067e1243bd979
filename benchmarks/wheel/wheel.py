# SPDX-License-Identifier: Apache-2.0
"""Measures a wheel as a user meets it: in a new virtual environment, without compilers in PATH, without a network.

usage: wheel.py WHEEL FOLDER [--json]

FOLDER has the wheels of NumPy (pip download numpy). Prints the size of the wheel, and the seconds to install it and NumPy,
to import it (beyond NumPy), to compile a network and run it on this machine, and to run it on an emulated Cortex-M55.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
MODEL = SOURCE / "models/digits_cnn"
REPETITIONS = 5

# Each prints seconds of its own process: the time of the interpreter's start is not part of them.
IMPORT = """
import sys, time
import numpy
start = time.perf_counter()
import thimble_ml
print(time.perf_counter() - start)
assert "torch" not in sys.modules
"""
COMPILE_AND_RUN = """
import sys, time
import numpy
import thimble_ml as thimble
model, on = sys.argv[1:]
golden = numpy.load(model + "/golden.npz")
start = time.perf_counter()
compiled = thimble.compile(model + "/digits_cnn.pt2", target="cortex-m55", calibration=model + "/calibrate.npz")
result = compiled.run(golden["x"][:1], on=on)
print(time.perf_counter() - start)
assert result.argmax() == golden["y"][0].argmax(), result
"""


class Venv:
    """A virtual environment whose processes find only its own programs, and `programs` of this machine."""

    def __init__(self, folder, programs=()):
        self.folder = folder
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        path = folder / "path"
        path.mkdir()
        for program in programs:
            (path / program).symlink_to(shutil.which(program))
        self.environment = {"PATH": f"{folder}/bin:{path}", "HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8",
                            "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}

    def run(self, *command, **options):
        """Runs a program of the environment; its working directory is the environment's folder."""
        return subprocess.run([self.folder / "bin" / command[0], *command[1:]], env=self.environment, cwd=self.folder,
                              text=True, **options)

    def python(self, code, *arguments):
        return self.run("python", "-c", code, *map(str, arguments), check=True, stdout=subprocess.PIPE).stdout

    def install(self, *names, folders):
        """Installs packages, with what they require, from the folders. Returns the seconds."""
        start = time.perf_counter()
        links = [word for folder in folders for word in ("--find-links", folder)]
        self.run("pip", "install", "--quiet", *links, *names, check=True)
        return time.perf_counter() - start


def median(values):
    return sorted(values)[len(values) // 2]


def measure(venv, wheel, packages, platforms, repetitions=REPETITIONS):
    """Installs the wheel. Returns the measured values: bytes, and seconds."""
    values = {"bytes": wheel.stat().st_size, "install": venv.install(wheel, folders=[packages])}
    values["import"] = median([float(venv.python(IMPORT)) for _ in range(repetitions)])
    for on in platforms:
        values[on] = median([float(venv.python(COMPILE_AND_RUN, MODEL, on)) for _ in range(repetitions)])
    return values


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("packages", type=pathlib.Path)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    programs, platforms = (["qemu-system-arm"], ["host", "qemu"]) if shutil.which("qemu-system-arm") else ([], ["host"])
    with tempfile.TemporaryDirectory() as folder:
        venv = Venv(pathlib.Path(folder) / "venv", programs)
        values = measure(venv, arguments.wheel.resolve(), arguments.packages.resolve(), platforms)
    if arguments.json:
        print(json.dumps(values))
        return
    print(f"{arguments.wheel.name}: {values['bytes'] / 1e6:.2f} MB")
    for key, text in (("install", "install, with NumPy from a local folder"), ("import", "import, beyond import numpy"),
                      ("host", "compile and run on this machine"), ("qemu", "compile and run on an emulated Cortex-M55")):
        print(f"{values[key]:6.2f} s  {text}" if key in values else f"   not measured: {text}: qemu-system-arm not found")


if __name__ == "__main__":
    main()
