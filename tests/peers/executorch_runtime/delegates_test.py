#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Thimble's delegates in ExecuTorch's own runtime: damaged payloads, several models at once, and leaks.

    delegates_test.py THIMBLE SOURCE HOST FOLDER

HOST is built from host.cpp with LeakSanitizer. Exit 77 if ExecuTorch is not installed.
"""

import struct
import subprocess
import sys
from pathlib import Path

from runtime_test import compile_network

REPEATS = 1000
DAMAGED = 3000
MODELS = {
    "axon": ("ThimbleAxonModel", "digits_cnn", ["--target", "nrf54lm20b"]),
    "ethos_u": ("EthosUBackend", "digits_cnn", ["--target", "corstone-300"]),
    "neutron": ("ThimbleNeutronModel", "digits_cnn", ["--target", "imxrt700cm"]),
}


def payload_of(path):
    """The id of the first delegate, its payload, and the payload's offset in the file."""
    from executorch.exir._serialize._program import deserialize_pte_binary

    file = path.read_bytes()
    program = deserialize_pte_binary(file).program
    delegate = program.execution_plan[0].delegates[0]
    payload = bytes(program.backend_delegate_data[delegate.processed.index].data)
    return delegate.id, payload, file.index(payload)


def host(program, *words):
    run = subprocess.run([program, *map(str, words)], capture_output=True, text=True)
    lines = (run.stderr if run.returncode else run.stdout).splitlines()
    print(words[0], *map(str, words[1:3]), "->", " ".join(lines[-3:]), flush=True)
    return run.returncode == 0


def word(offset, value):
    """Changes of the bytes of a little-endian word that make it `value`."""
    return [(offset + i, byte) for i, byte in enumerate(struct.pack("<I", value & 0xFFFFFFFF))]


def ethos_u_fields(payload):
    """An invalid value for each field: lists of changes (offset, byte), one list per field."""
    fields = []
    at = 0
    while at + 32 <= len(payload):
        name = payload[at:at + 16].rstrip(b"\0").decode()
        size, external = struct.unpack_from("<IB", payload, at + 16)
        fields += [[(at, ord("x"))], [(at + 15, 1)], word(at + 16, size + 4), word(at + 16, 0xFFFFFFF0), [(at + 20, 1)],
                   [(at + 20, 2)]]
        content = at + 32
        if name == "scratch_size":
            fields += [word(content, 0), word(content, 0x80000000)]
        if name in ("inputs", "outputs"):
            count = struct.unpack_from("<i", payload, content)[0]
            fields += [word(content, 0), word(content, count + 1)]
            for entry in range(content + 4, content + 4 + 36 * count, 36):
                for dimension in range(6):
                    fields += [word(entry + 4 * dimension, value) for value in (-1, 0, 7777)]
                fields += [word(entry + 24, value) for value in (0, 3, 8, -1)]  # bytes of an element
                fields += [word(entry + 28, value) for value in (-1, 0x40000000)]  # offset
                fields += [word(entry + 32, value) for value in (0, 2, 9)]  # region
        if name == "cmd_data":
            config = content + 8  # after the magic number and the action
            fields += [word(content, 0), word(content + 4, 0x77), word(config, 0xFFFFFFFF), word(config + 4, 0)]
            end = content + size
            fields += [word(end - 4, 0x3FF)]  # the last command is not STOP
        at = content + (size + 15) // 16 * 16
    return fields


def neutron_fields(payload):
    """The same for the header of the Neutron's payload: each byte."""
    size = 3 + 2 * (payload[0] + payload[1]) + 1
    return [[(at, payload[at] ^ bit)] for at in range(size) for bit in (2, 64)]


def main():
    thimble, source, program, folder = sys.argv[1:]
    source, folder = Path(source), Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        import executorch.exir  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error}", file=sys.stderr)
        return 77
    files = {}
    passed = True
    for name, (delegate, network, options) in MODELS.items():
        files[name], _ = compile_network(thimble, source, folder, name, network, options)
        found, payload, offset = payload_of(files[name])
        assert found == delegate, (found, delegate)
        blob = folder / f"{name}.payload"
        blob.write_bytes(payload)
        passed &= host(program, "repeat", files[name], REPEATS)
        passed &= host(program, "damage", delegate, blob, DAMAGED)
        if name == "ethos_u":
            # Its container has no checksum: each field is given values that are invalid.
            changes = ethos_u_fields(payload)
        else:
            # The list has a hash. The Neutron's payload has a header in front of it.
            first = 0 if name == "axon" else payload.index(b"TNeu")
            passed &= host(program, "refuse_all", delegate, blob, first)
            changes = neutron_fields(payload) if name == "neutron" else []
        words = [",".join(f"{offset + at}:{byte}" for at, byte in change if payload[at] != byte) for change in changes]
        if words:
            passed &= host(program, "refuse", files[name], *filter(None, words))
    passed &= host(program, "together", files["axon"], files["neutron"])
    passed &= host(program, "together", files["ethos_u"], files["axon"])
    for name in MODELS:
        other, _ = compile_network(thimble, source, folder, f"{name}_2", "dscnn_kws", MODELS[name][2])
        passed &= host(program, "together", files[name], other)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
