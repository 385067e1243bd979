# SPDX-License-Identifier: Apache-2.0
"""Reads and writes NumPy's .npy and .npz without NumPy, so that checks and notebooks need only Python."""

import ast
import io
import struct
import zipfile
from array import array
from dataclasses import dataclass
from math import prod
from pathlib import Path

CODES = {"<f4": "f", "<i8": "q", "|i1": "b"}  # descr -> typecode of Python's array


@dataclass
class Array:
    descr: str
    shape: tuple
    data: array

    def rows(self):
        """The first axis as a list of flat arrays."""
        size = prod(self.shape[1:])
        return [self.data[i : i + size] for i in range(0, len(self.data), size)]

    def first(self, count):
        count = min(count, self.shape[0])
        return Array(self.descr, (count, *self.shape[1:]), self.data[: count * prod(self.shape[1:])])


def floats(values, shape) -> Array:
    return Array("<f4", tuple(shape), array("f", values))


def bytes_of(values, shape) -> Array:
    return Array("|i1", tuple(shape), array("b", values))


def parse(data: bytes) -> Array:
    major, = struct.unpack_from("<B", data, 6)
    start = 10 if major == 1 else 12
    length, = struct.unpack_from("<H" if major == 1 else "<I", data, 8)
    header = ast.literal_eval(data[start : start + length].decode())
    if header["descr"] not in CODES or header["fortran_order"]:
        raise ValueError(f"{header['descr']} in this order is not read here; {', '.join(CODES)} in C order are")
    values = array(CODES[header["descr"]])
    values.frombytes(data[start + length :])
    return Array(header["descr"], header["shape"], values)


def load(path) -> Array:
    return parse(Path(path).read_bytes())


def load_all(path) -> dict[str, Array]:
    with zipfile.ZipFile(path) as archive:
        return {name.removesuffix(".npy"): parse(archive.read(name)) for name in archive.namelist()}


def save(path, value: Array) -> None:
    header = repr({"descr": value.descr, "fortran_order": False, "shape": value.shape})
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    out = io.BytesIO()
    out.write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header.encode() + value.data.tobytes())
    Path(path).write_bytes(out.getvalue())
