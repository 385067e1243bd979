#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The delegate payload of a network, read by a reader that shares no code with ours.

    payload_test.py THIMBLE MODEL_DIR

The reader is written from docs/formats/ethos-u-payload.md: blocks, tables, and the header of the command stream.
Each block is checked field by field, on an NPU of each generation.
"""

import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from network_test import write_inputs

TARGETS = {  # name: CONFIG and ID words of the command stream's header
    "ethos-u55-128": (0x00001807, 0x10066001),
    "ethos-u65-256": (0x10003008, 0x10066001),
    "ethos-u85-256": (0x20000118, 0x20007000),
}
DMA_WAIT, KERNEL_WAIT, PMU_MASK = 0x11, 0x12, 0x13
ORDER = ["vela_bin_stream", "cmd_data", "weight_data", "scratch_size", "inputs", "outputs", "vela_end_stream"]


def run(thimble, *words):
    result = subprocess.run([thimble, *map(str, words), "--json"], capture_output=True, text=True)
    assert result.returncode == 0, f"{words}: {result.stderr or result.stdout}"
    return json.loads(result.stdout)


def blocks_at(data, start):
    """Returns [(name, content)] and the position after the last block."""
    blocks, at = [], start
    while not blocks or blocks[-1][0] != ORDER[-1]:
        header = data[at:at + 32]
        assert len(header) == 32, "the file ends inside a header"
        name, size, external = header[:16], int.from_bytes(header[16:20], "little"), header[20]
        text = name.rstrip(b"\0")
        assert name == text + b"\0" * (16 - len(text)) and 0 < len(text) < 16, name
        assert external == 0 and header[21:] == b"\0" * 11, header
        end = at + 32 + size
        padded = (end + 15) // 16 * 16
        assert padded <= len(data), "the file ends inside a block"
        assert data[end:padded] == b"\0" * (padded - end), f"{text}: padding that is not zero"
        blocks.append((text.decode(), data[at + 32:end]))
        at = padded
    return blocks, at


def table(content):
    (count,) = struct.unpack_from("<i", content)
    assert len(content) == 4 + 36 * count, (len(content), count)
    rows = []
    for i in range(count):
        *shape, element, offset, region = struct.unpack_from("<9i", content, 4 + 36 * i)
        elements = 1
        for size in shape:
            assert size >= 1, shape
            elements *= size
        rows.append({"shape": shape, "bytes": elements * element, "element": element, "offset": offset, "region": region})
    return rows


def check_commands(content, config, identity):
    words = struct.unpack(f"<{len(content) // 4}I", content)
    assert len(content) % 4 == 0 and content[:4] == b"COP1", content[:4]
    assert words[1] & 0xFF == 1, "the first action is the configuration"
    assert (words[2], words[3]) == (config, identity), [hex(w) for w in words[2:4]]
    at = 4
    while words[at] & 0xFF == 5:
        at += 1
    tag = words[at]
    assert tag & 0xFF == 2, f"action {tag & 0xFF}"
    stream = words[at + 1:]
    assert (tag >> 8 & 0xFF) << 16 | tag >> 16 == len(stream), "as many words as its tag says"
    assert (at + 1) * 4 % 16 == 0, "the stream starts at a multiple of 16 bytes"
    i, last, waits = 0, None, []
    while i < len(stream):
        control = stream[i] >> 14 & 3
        assert control in (0, 1) and stream[i] >> 10 & 15 == 0, f"word {i}: {stream[i]:#x}"
        last = stream[i] & 0xFFFF
        if last in (DMA_WAIT, KERNEL_WAIT):
            waits.append((at + 1 + i) * 4)
        i += 1 + control
    assert i == len(stream) and last == 0, "ends with STOP"
    return len(stream), waits


def check_races(thimble, data, payloads, inputs, work):
    """A stream without its waits has outputs that depend on timing: it is refused by name, and listed by --profile."""
    raced, count = bytearray(data), 0
    for blocks, end in payloads:
        content = dict(blocks)["cmd_data"]
        start = data.rindex(content, 0, end)
        for wait in check_commands(content, *struct.unpack_from("<II", content, 8))[1]:
            raced[start + wait:start + wait + 4] = struct.pack("<I", PMU_MASK)
            count += 1
    file = work / "raced.pte"
    file.write_bytes(raced)
    words = [thimble, "run", file, *inputs, "--steps"]
    for place in ("host", "qemu"):
        refused = subprocess.run([*words, "--on", place], capture_output=True, text=True)
        assert refused.returncode == 2 and "conflicts with word" in refused.stderr, (place, refused)
    (npu, *_) = run(thimble, *words[1:], "--profile")["npu"]
    assert npu["hazards"], "none listed"
    print(f"  without {count} waits: {len(npu['hazards'])} hazards, {refused.stderr.strip()}", flush=True)


def check(thimble, model, target, work):
    config, identity = TARGETS[target]
    pte = work / "x.pte"
    report = run(thimble, "compile", model / f"{model.name}.pt2", "--target", target, "--calibrate",
                 model / "calibrate.npz", "-o", pte)
    data = pte.read_bytes()
    shown = run(thimble, "inspect", pte)["methods"][0]["delegates"]
    start, payloads = 0, []
    while (start := data.find(b"vela_bin_stream\0", start)) >= 0:
        assert start % 16 == 0, start
        blocks, start = blocks_at(data, start)
        payloads.append((blocks, start))
    assert len(payloads) == len(shown) > 0, (len(payloads), shown)
    for blocks, _ in payloads:
        assert [name for name, _ in blocks] == ORDER, blocks
        content = dict(blocks)
        assert content["vela_bin_stream"] == b"" == content["vela_end_stream"]
        words, _ = check_commands(content["cmd_data"], config, identity)
        (scratch,) = struct.unpack("<I", content["scratch_size"])
        inputs, outputs = table(content["inputs"]), table(content["outputs"])
        assert inputs and outputs
        for row in inputs + outputs:
            assert row["element"] in (1, 2, 4) and row["region"] == 1, row
            assert 0 <= row["offset"] and row["offset"] + row["bytes"] <= scratch, (row, scratch)
        assert scratch <= report["arena_bytes"], (scratch, report["arena_bytes"])
        print(f"{model.name} {target}: {words} words, {len(content['weight_data'])} B of constants, {scratch} B of scratch, "
              f"{len(inputs)} in, {len(outputs)} out", flush=True)
    check_interface(shown, payloads)
    check_races(thimble, data, payloads, write_inputs(model, report["inputs"], work), work)


def check_interface(shown, payloads):
    """The tables' sizes equal those of the call's arguments, tensor by tensor."""
    sizes = {"int8": 1, "uint8": 1, "bool": 1, "int16": 2, "int32": 4}
    for delegate in shown:
        assert delegate["id"] == "EthosUBackend", delegate
        wanted = []
        for text in delegate["inputs"] + delegate["outputs"]:
            name, dims = text.rstrip("]").split("[")
            total = sizes[name]
            for size in filter(None, dims.split(",")):
                total *= int(size)
            wanted.append(total)
        found = [[row["bytes"] for part in ("inputs", "outputs") for row in table(dict(blocks)[part])]
                 for blocks, _ in payloads]
        assert wanted in found, (wanted, found)


def main():
    thimble, model = sys.argv[1], Path(sys.argv[2])
    for target in TARGETS:
        with tempfile.TemporaryDirectory() as work:
            check(thimble, model, target, Path(work))
    return 0


if __name__ == "__main__":
    sys.exit(main())
