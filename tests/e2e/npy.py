# SPDX-License-Identifier: Apache-2.0
"""Writes and reads NumPy's .npy without NumPy."""

import struct


def write_npy(path, descr, shape, data):
    header = repr({"descr": descr, "fortran_order": False, "shape": tuple(shape)})
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header.encode() + data)


def read_floats(path):
    """Returns all elements of a float32 array."""
    data = path.read_bytes()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    if b"'<f4'" not in data[:start]:
        raise ValueError(f"{path} holds no float32")
    return struct.unpack(f"<{(len(data) - start) // 4}f", data[start:])
