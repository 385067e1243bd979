#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports which parts of the command table the streams of a folder of cases use, and which they do not.

    coverage.py FOLDER [--rows]

Reads engines/ethos_u/isa/commands.def. Per generation: commands that no stream has, values of modes
and small fields that no stream has, and registers that only ever hold one value. `--rows`: also
how often each value occurs.
"""

import collections
import re
import struct
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
GENERATIONS = {"u55": 1, "u65": 2, "u85": 4}
SETS = {"k55": 1, "k65": 2, "k85": 4, "k556": 3, "k658": 6, "kAll": 7}
ROW = re.compile(r"ETHOS_U_(OPERATION|CMD0|CMD1|FIELD)\((.*)\)")
MODES = {
    "POOL": ["MAX", "AVERAGE", "REDUCE_SUM", "SUM", "NONE", "MIN", "ARGMAX_X", "ARGMAX_Y"],
    "RESIZE": ["BILINEAR", "REPLICATE", "NEAREST"],
    "CONV": ["weights", "weights are IFM2"],
}
ELEMENTWISE = {
    0: "MUL", 1: "ADD", 2: "SUB", 3: "MIN", 4: "MAX", 5: "LRELU", 6: "ABS", 7: "CLZ", 8: "SHR",
    9: "SHL", 10: "LSR", 11: "DIV", 16: "EQ", 17: "NE", 18: "GE", 19: "GT", 33: "AND", 34: "OR",
    35: "XOR", 36: "NOT", 42: "AND_NOT",
}


def table(bit):
    """Returns the commands of a generation: (payload, code) -> name, and name -> fields."""
    commands, fields = {}, collections.defaultdict(list)
    for line in (ROOT / "engines/ethos_u/isa/commands.def").read_text().splitlines():
        match = ROW.match(line)
        if not match:
            continue
        kind, words = match[1], [word.strip() for word in match[2].split(",")]
        generations = words[4] if kind == "FIELD" else words[2]
        if not SETS[generations] & bit:
            continue
        if kind == "FIELD":
            fields[words[0]].append((words[1], int(words[2]), int(words[3])))
        else:
            payload = kind == "CMD1" or (kind == "OPERATION" and words[3] == "true")
            commands[payload, int(words[1], 16)] = words[0]
    return commands, fields


def stream(payload):
    """Yields (has payload, code, parameter) of each command of a COP1 or COP2 payload."""
    words = struct.unpack(f"<{len(payload) // 4}I", payload)
    at = 1
    if payload[:4] == b"COP2":
        at = (24 + words[6] + 15) // 16 * 4  # after the header, an entry and its metadata
    else:
        while words[at] & 0xFF != 2:
            at += 3 if words[at] & 0xFF == 1 else 1
        at += 1
    while at < len(words):
        word = words[at]
        has_payload = word & 0xC000 == 0x4000
        yield has_payload, word & 0x3FF, word >> 16
        at += 1 + has_payload


def report(generation, folders, rows):
    commands, fields = table(GENERATIONS[generation])
    seen, values, count = collections.Counter(), collections.defaultdict(collections.Counter), 0
    for folder in folders:
        count += 1
        for has_payload, code, parameter in stream((folder / "cmd.bin").read_bytes()):
            name = commands[has_payload, code]
            seen[name] += 1
            if not has_payload or fields[name]:
                values[name][parameter] += 1
    print(f"{generation}: {count} streams, {sum(seen.values())} commands")
    print("  never:", ", ".join(sorted(set(commands.values()) - set(seen))) or "-")
    for name in ("POOL", "RESIZE", "CONV"):
        known = MODES[name][:3] if name == "POOL" and generation != "u85" else MODES[name]
        lacking = [word for value, word in enumerate(known) if not values[name][value]]
        if lacking and seen[name] and not (name == "CONV" and generation != "u85"):
            print(f"  {name} never:", ", ".join(lacking))
    lacking = [word for value, word in ELEMENTWISE.items()
               if not values["ELEMENTWISE"][value] and (value < 10 or generation == "u85")]
    print("  ELEMENTWISE never:", ", ".join(lacking) or "-")
    for name in sorted(fields):
        for field, lsb, width in fields[name]:
            found = collections.Counter()
            for parameter, times in values[name].items():
                found[parameter >> lsb & (1 << width) - 1] += times
            text = "" if field == "_" else "." + field
            if width <= 5:
                lacking = [str(value) for value in range(1 << width) if not found[value]]
                if lacking:
                    print(f"  {name}{text} never: {' '.join(lacking)}")
            elif len(found) == 1:
                print(f"  {name}{text} always: {next(iter(found))}")
            if rows:
                print(f"    {name}{text}: {dict(sorted(found.items()))}")


def main():
    root = Path(sys.argv[1])
    for generation in GENERATIONS:
        folders = sorted(path.parent for path in root.glob(f"ethos-{generation}-*/*/cmd.bin"))
        if folders:
            report(generation, folders, "--rows" in sys.argv[2:])
    return 0


if __name__ == "__main__":
    sys.exit(main())
