#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The delegate payloads of networks for the Neutron, read by a reader that shares no code with ours.

    neutron_payload_test.py THIMBLE MODEL_DIR...

The reader is written from docs/neutron.md, "Payload" and "Program". It checks each block field by field and follows the
offsets from one block to another.
"""

import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

WEIGHTS = 4  # value of a view's memory field for weights
KERNEL = {"operands": 2, "offsets": (72, "<6I"), "prefetch": (100, "<3I"), "cycles": 116}
VIEWS = (124, 180, 236, 292)
ABSENT = 0xFFFFFFFF


def run(thimble, *words):
    result = subprocess.run([thimble, *map(str, words), "--json"], capture_output=True, text=True)
    assert result.returncode == 0, f"{words}: {result.stderr or result.stdout}"
    return json.loads(result.stdout)


def aligned(size):
    return (size + 15) // 16 * 16


def fnv(*parts):
    value = 0x811C9DC5
    for part in parts:
        for byte in part:
            value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def zeros(data, start, end):
    assert data[start:end] == bytes(end - start), f"padding from {start} to {end}"


def header(data, program_at, inputs, outputs):
    """Checks the payload's own header, before the program. Returns the formats of inputs and of outputs."""
    size = 4 + 2 * (inputs + outputs)
    start = program_at - aligned(size)
    fields = data[start:start + size]
    zeros(data, start + size, program_at)
    assert fields[:3] == bytes([inputs, outputs, inputs]), fields[:3]
    formats = fields[3:3 + inputs + outputs]
    maps = fields[3 + inputs + outputs:-1]
    assert set(formats) <= {0, 1} and fields[-1] == 1, fields
    assert sorted(maps[:inputs]) == list(range(inputs)) and sorted(maps[inputs:]) == list(range(outputs)), maps
    return start, formats[:inputs], formats[inputs:]


def tensors(program, at, formats):
    for i, last in enumerate(formats):
        rank, channels_last, reserved = struct.unpack_from("<2BH", program, at + 40 * i)
        dims = struct.unpack_from("<6I", program, at + 40 * i + 4)
        (size,) = struct.unpack_from("<I", program, at + 40 * i + 36)
        elements = 1
        for dim in dims:
            elements *= dim
        assert 1 <= rank <= 6 and dims[rank:] == (1,) * (6 - rank) and elements == size, (rank, dims, size)
        assert channels_last == last and reserved == 0, "what the program says of orders is what the header says"
        yield size


def view(program, at, memories):
    memory, rank, index, offset = struct.unpack_from("<2BHI", program, at)
    dims, strides = struct.unpack_from("<6I", program, at + 8), struct.unpack_from("<6i", program, at + 32)
    if memory == 0:
        assert program[at:at + 56] == bytes(56), "an unused view"
        return
    reach = [(dim - 1) * stride for dim, stride in zip(dims, strides)]
    first = offset + sum(step for step in reach if step < 0)
    last = offset + sum(step for step in reach if step > 0)
    assert 1 <= rank <= 6 and 0 <= first and last < memories[memory][index], (memory, index, first, last)


def kernels(program, at, count, memories, prefetch_bytes):
    total = 0
    for i in range(count):
        start = at + 348 * i
        assert program[start + KERNEL["operands"]] in (1, 2)
        for offset in struct.unpack_from(KERNEL["offsets"][1], program, start + KERNEL["offsets"][0]):
            assert offset == ABSENT or offset < memories[WEIGHTS][0], offset
        source, size, target = struct.unpack_from(KERNEL["prefetch"][1], program, start + KERNEL["prefetch"][0])
        assert source + size <= memories[WEIGHTS][0] and target + size <= prefetch_bytes, (source, size, target)
        for place in VIEWS:
            view(program, start + place, memories)
        total += struct.unpack_from("<I", program, start + KERNEL["cycles"])[0]
    return total


def payload(data, program_at):
    """Returns bytes of the payload, bytes of a call's memory, kernels, cycles."""
    words = struct.unpack_from("<16I", data, program_at)
    _, version, count, io_at, kernels_at, cycles, program_bytes, weight_bytes, digest, scratch, profile, debug, prefetch, \
        inputs, outputs, reserved = words
    assert (version, debug, reserved) == (1, 0, 0) and scratch % 16 == prefetch % 16 == 0, words
    start, in_formats, out_formats = header(data, program_at, inputs, outputs)
    assert start % 16 == 0, "blocks lie at multiples of 16 of the file"
    program = data[program_at:program_at + program_bytes]
    weights_at = program_at + aligned(program_bytes)
    weights = data[weights_at:weights_at + weight_bytes]
    assert len(weights) == weight_bytes, "the file ends inside the weights"
    zeros(data, program_at + program_bytes, weights_at)
    zeros(data, weights_at + weight_bytes, weights_at + aligned(weight_bytes))
    assert fnv(program[:32], bytes(4), program[36:], weights) == digest, "content hash"
    sizes = list(tensors(program, io_at, in_formats + out_formats))
    memories = {1: sizes[:inputs], 2: sizes[inputs:], 3: [scratch], WEIGHTS: [weight_bytes]}
    assert kernels_at + 348 * count == program_bytes
    parts = kernels(program, kernels_at, count, memories, prefetch)
    assert 0 < parts <= cycles, (parts, cycles)
    call = aligned(8 * (inputs + outputs + 3)) + scratch + aligned(profile) + prefetch
    return weights_at + aligned(weight_bytes) - start, call, count, cycles


def check(thimble, model, work, words):
    pte = work / "x.pte"
    report = run(thimble, "compile", model / f"{model.name}.pt2", "--target", "imxrt700", "--calibrate",
                 model / "calibrate.npz", "-o", pte, *words)
    data = pte.read_bytes()
    shown = [row for row in run(thimble, "inspect", pte)["methods"][0]["delegates"] if row["id"] == "ThimbleNeutronModel"]
    found, at = [], 0
    while (at := data.find(b"TNeu", at)) >= 0:
        if at % 16 == 0:
            found.append(payload(data, at))
        at += 4
    assert len(found) == len(shown) > 0, (len(found), len(shown))
    for (size, call, count, cycles), row in zip(found, shown):
        assert size == row["bytes"], (size, row)
        assert call <= report["arena_bytes"], (call, report["arena_bytes"])
        print(f"{model.name} {' '.join(words)}: {size} B, {count} kernels, {cycles} cycles, {call} B of a call's memory", flush=True)


def main():
    with tempfile.TemporaryDirectory() as work:
        for model in sys.argv[2:]:
            for words in ([], ["--neutron-prefetch"]):
                check(sys.argv[1], Path(model), Path(work), words)


if __name__ == "__main__":
    main()
