#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Zephyr module refuses invalid combinations, at configuration of the application and at load of a model.

usage: zephyr_module_test.py SOURCE_DIR THIMBLE
"""
import os
import pathlib
import subprocess
import sys
import tempfile

from nordic_application import build, configure, python_with_kconfig
from app_test import serial_output

SOURCE, THIMBLE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
EXAMPLE = SOURCE / "examples/nordic/hello_axon"

# Settings added to those of prj.conf, and words that the message must contain.
REFUSED = {
    "CONFIG_NRF_AXON=n": "CONFIG_THIMBLE_NORDIC_AXON was set to y and is n; it depends on NRF_AXON && THIMBLE",
    "CONFIG_CPP=n": "CONFIG_THIMBLE was set to y and is n",
    "CONFIG_THIMBLE=n": "CONFIG_THIMBLE_NORDIC_AXON was set to y and is n",
    "CONFIG_THIMBLE_NORDIC_AXON_COUNTERS=0": "THIMBLE_NORDIC_AXON_COUNTERS",
    "CONFIG_THIMBLE_NORDIC_AXON_COUNTERS=65": "THIMBLE_NORDIC_AXON_COUNTERS",
    "CONFIG_THIMBLE_NORDIC_AXON_MODELS=y": "THIMBLE_NORDIC_AXON_MODELS",
    **{f"CONFIG_{name}=y": f"CONFIG_{name} was set to y and is n; it depends on EXECUTORCH" for name in (
        "EXECUTORCH_BUILD_THIMBLE_KERNELS", "EXECUTORCH_BUILD_NORDIC_AXON", "EXECUTORCH_BUILD_NXP_NEUTRON",
        "EXECUTORCH_BUILD_THIMBLE_ETHOS_U")},
}


def check_refusals(folder):
    for setting, message in REFUSED.items():
        done = subprocess.run([python_with_kconfig(), SOURCE / "tests/examples/zephyr/configure.py", EXAMPLE / "prj.conf", folder,
                               "--modules", SOURCE, "--settings", setting], capture_output=True, text=True)
        assert done.returncode == 1 and message in done.stderr, f"{setting}: exit {done.returncode}\n{done.stderr}"
        print(f"{setting}: {done.stderr.strip()}")


def check_without_sdk(folder):
    """Refused: no SDK to make a program for the NPU, and a board that cannot run layer lists itself."""
    done = subprocess.run(configure(SOURCE, THIMBLE, EXAMPLE, folder / "no_sdk", []), capture_output=True, text=True,
                          env={name: value for name, value in os.environ.items() if name != "SDK_EDGE_AI_PATH"})
    assert done.returncode == 1 and "SDK_EDGE_AI_PATH is not set" in done.stderr, done.stderr
    print(done.stderr)


def check_without_program(folder):
    """The same combination, explicitly requested: it builds, and loading the model fails."""
    printed = serial_output("mps2-an505", build(SOURCE, THIMBLE, EXAMPLE, folder / "build", ["-DNORDIC_AXON=layers"]))
    assert printed == "init: a delegate that the model calls is not linked\nEND failed\n", printed
    print(printed)


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_refusals(pathlib.Path(folder))
        check_without_sdk(pathlib.Path(folder))
        check_without_program(pathlib.Path(folder))


if __name__ == "__main__":
    main()
