# SPDX-License-Identifier: Apache-2.0
"""Parses the text that `thimble inspect` prints for an Ethos-U command stream to operations."""

import re
import subprocess


class Kernel:
    """One operation with the register values at its issue."""

    def __init__(self, name, mode, registers):
        self.name, self.mode, self.registers = name, mode, dict(registers)

    def __getitem__(self, key):
        return self.registers.get(key, 0)

    def fields(self, key):
        return self.registers.get(key, {})


class Dma:
    def __init__(self, registers):
        self.registers = dict(registers)
        source = registers.get("DMA0_SRC_REGION", {})
        target = registers.get("DMA0_DST_REGION", {})
        self.source_region = int(source.get("region", 0))
        self.target_region = int(target.get("region", 0))
        self.internal = int(target.get("internal", 0)) == 1
        self.length = registers.get("DMA0_LEN", 0)
        self.source = registers.get("DMA0_SRC", 0)
        self.target = registers.get("DMA0_DST", 0)


OPERATIONS = {"CONV", "DEPTHWISE", "POOL", "ELEMENTWISE", "RESIZE"}


def inspect(thimble, path):
    done = subprocess.run([thimble, "inspect", str(path)], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{path}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def number(text):
    try:
        return int(text, 0)
    except ValueError:
        return text


def operations(text):
    """Returns the configuration's name and the operations in order."""
    config = re.search(r"# config \S+ (ethos-\S+),", text).group(1)
    registers, found = {}, []
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        name, values = words[0], words[1:]
        if name in OPERATIONS:
            found.append(Kernel(name, number(values[0]) if values else 0, registers))
        elif name == "DMA_START":
            found.append(Dma(registers))
        elif values and "=" in values[0]:
            registers[name] = {k: number(v) for k, v in (v.split("=") for v in values)}
        elif values:
            registers[name] = number(values[0])
    return config, found
