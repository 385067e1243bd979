# SPDX-License-Identifier: Apache-2.0
"""Instructions and cycles of an emulated core depend on the version of the cross compiler. The READMEs of examples/ have those
of the compiler that benchmarks/sizes/sizes.json names."""
import json
import subprocess


def recorded_compiler(source):
    return json.loads((source / "benchmarks/sizes/sizes.json").read_text())["compiler"]


def is_recorded_compiler(source):
    """Returns true if the installed cross compiler is the one whose cycles the READMEs have."""
    done = subprocess.run(["arm-none-eabi-gcc", "--version"], check=True, capture_output=True, text=True)
    same = done.stdout.splitlines()[0] == recorded_compiler(source)
    if not same:
        print(f"cycles of the core are not compared: the READMEs have those of {recorded_compiler(source)}")
    return same
