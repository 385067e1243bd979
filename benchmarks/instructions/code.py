#!/usr/bin/env python3
"""Measures the code and constants that each kernel adds to an image, in bytes, on one core of each kind.

usage: code.py [--firmware build/firmware] [--cxx arm-none-eabi-g++] [--size arm-none-eabi-size]

An image is linked with nothing but the kernel that the core calls for an operator, and what that needs; the image
without any comes off. Two kernels share what both need, so a sum over several is an upper bound. Writes
engines/cortex_m/compiler/code.def, which `thimble compile --optimize flash` weighs constants against: the operators of
costs.def, for no other has a form to choose.
"""

import argparse
import pathlib
import re
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
VARIANTS = {
    "cortex-m0plus": ("v6m", "portable"),
    "cortex-m3": ("v7m", "portable"),
    "cortex-m4": ("dsp", "v7m", "portable"),
    "cortex-m55": ("mve", "dsp", "v7m", "portable"),
}
TABLE = ROOT / "engines/cortex_m/compiler/code.def"
HEADER = """\
// Bytes of code and constants that a kernel adds to an image: THIMBLE_CODE(operator, core, bytes).
// Measured by linking and written by benchmarks/instructions/code.py; do not edit.
"""


def kernels():
    """The existing variants of each operator."""
    costs = (TABLE.parent / "costs.def").read_text()
    found = {operator: [] for operator in re.findall(r"THIMBLE_COST\((\w+),", costs)}
    for line in (ROOT / "kernels/kernels.def").read_text().splitlines():
        if line.startswith("THIMBLE_KERNEL("):
            variant, operator = line.split("(")[1].split(")")[0].split(", ")
            if operator in found:
                found[operator].append(variant)
    for variants in found.values():
        variants.append("portable")
    return found


def mangled(name):
    return f"_ZN7thimble7kernels{len(name)}{name}E"


def linked(arguments, core, symbol, scratch):
    image = scratch / "image.elf"
    keep = [f"-Wl,-u,{symbol}"] if symbol else []
    archive = arguments.firmware / core / "libkernels.a"
    floats = "soft" if core in ("cortex-m0plus", "cortex-m3") else "hard"
    subprocess.run([arguments.cxx, f"-mcpu={core}", "-mthumb", f"-mfloat-abi={floats}", "-nostdlib", "-nostartfiles",
                    "-static", "-Wl,--gc-sections", "-Wl,-e,0", *keep, "-Wl,--start-group", archive, "-lm", "-lc",
                    "-lgcc", "-Wl,--end-group", "-o", image], check=True)
    said = subprocess.run([arguments.size, image], check=True, capture_output=True, text=True).stdout
    text, data = (int(word) for word in said.splitlines()[1].split()[:2])
    return text + data


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--firmware", type=pathlib.Path, default=ROOT / "build/firmware")
    parser.add_argument("--cxx", default="arm-none-eabi-g++")
    parser.add_argument("--size", default="arm-none-eabi-size")
    arguments = parser.parse_args()
    rows = {}
    with tempfile.TemporaryDirectory() as temporary:
        scratch = pathlib.Path(temporary)
        for core, variants in VARIANTS.items():
            nothing = linked(arguments, core, None, scratch)
            for operator, there in kernels().items():
                variant = next((v for v in variants if v in there), None)
                if variant is None:
                    continue
                size = linked(arguments, core, mangled(f"{variant}_{operator}"), scratch) - nothing
                rows[f'{operator}, "{core}"'] = size
    TABLE.write_text(HEADER + "".join(f"THIMBLE_CODE({key}, {rows[key]})\n" for key in sorted(rows)))


if __name__ == "__main__":
    main()
