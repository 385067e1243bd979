#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Selects a few small cases that together use all features that the streams of a folder use.

    pack_golden.py FOLDER OUTPUT [--bytes N]

Writes OUTPUT/<config>.cases, archives as described in tests/npu/case.h, for one or two
configurations of each generation. Greedy: the next case is the one that adds the most coverage for its
size (commands, modes, values of small fields, families of operators). A feature of few cases has a
higher weight.
"""

import argparse
import collections
import re
from pathlib import Path

import coverage

CONFIGS = ["ethos-u55-32", "ethos-u55-128", "ethos-u65-512", "ethos-u85-256", "ethos-u85-1024"]
FILES = re.compile(r"^(meta\.txt|cmd\.bin|weights\.bin|(in|out)put\d+\.bin)$")
NUMBERS = {"REGION", "M1", "BLOCKDEP", "POINT", "MIN", "MAX", "END", "START", "SCALAR"}


def features(folder, config):
    """Returns the features that a stream uses, as a set."""
    generation = config.split("-")[1]
    commands, fields = coverage.table(coverage.GENERATIONS[generation])
    family = re.sub(r"^(tosa_|small_)+", "", folder.name).split("_")[0]
    found = {("family", family)}
    if family in ("conv", "depthwise", "fully"):  # families with a weight order of their own
        found.add(("config", config, family))
    for has_payload, code, parameter in coverage.stream((folder / "cmd.bin").read_bytes()):
        name = commands[has_payload, code]
        found.add((generation, name))
        if name in ("POOL", "ELEMENTWISE", "RESIZE", "CONV"):
            found.add((generation, name, parameter))
        if set(name.split("_")) & NUMBERS or has_payload and not fields[name]:
            continue
        for field, lsb, width in fields[name]:
            if width <= 5 and field != "double_round":
                found.add((generation, name, field, parameter >> lsb & (1 << width) - 1))
    return found


def packed(folder):
    parts = []
    for path in sorted(folder.iterdir()):
        if FILES.match(path.name):
            data = path.read_bytes()
            parts.append(f"file {folder.name}/{path.name} {len(data)}\n".encode() + data)
    return b"".join(parts)


def choose(folder, budget):
    candidates = {}
    for config in CONFIGS:
        for case in sorted((folder / config).iterdir()):
            if (case / "cmd.bin").exists():
                data = packed(case)
                if len(data) <= budget // 8:
                    candidates[config, case.name] = (data, features(case, config))
    rarity = collections.Counter(word for _, used in candidates.values() for word in used)
    wanted = set(rarity)
    chosen, size = {}, 0
    while wanted:
        best = max(candidates, key=lambda key: (
            sum(rarity[word] ** -0.3 for word in candidates[key][1] & wanted) /
            (len(candidates[key][0]) + 200), key))
        data, used = candidates.pop(best)
        if not used & wanted or not candidates:
            break
        if size + len(data) > budget:
            continue
        chosen[best] = data
        size += len(data)
        wanted -= used
    return chosen, wanted


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--bytes", type=int, default=199_500)
    options = parser.parse_args()
    chosen, left = choose(options.folder, options.bytes)
    options.output.mkdir(parents=True, exist_ok=True)
    for config in CONFIGS:
        data = b"".join(chosen[key] for key in sorted(chosen) if key[0] == config)
        (options.output / f"{config}.cases").write_bytes(data)
    print(f"{len(chosen)} cases, {sum(map(len, chosen.values()))} bytes")
    for words in sorted(left, key=str):
        print("left out:", *words)


if __name__ == "__main__":
    main()
