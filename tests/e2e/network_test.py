# SPDX-License-Identifier: Apache-2.0
"""One network with any inputs and state: every way to run the compiled file gives the same bytes.

usage: network_test.py THIMBLE MODEL_DIR

Compiles MODEL_DIR/<name>.pt2 for cortex-m55 and cortex-m4, and with 16-bit activations for cortex-m4. No operator
stays in float. The evaluator (on the file read back), the host and the emulated board agree by SHA-256 on a few
consecutive calls, with the state kept between them.
"""

import ast
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "matrix"))
from ledger import record

CALLS = 3
BUILDS = (("cortex-m55", "int8"), ("cortex-m4", "int8"), ("cortex-m4", "int16"))


def thimble(program, *arguments):
    done = subprocess.run([str(program), *map(str, arguments), "--json"], capture_output=True, text=True,
                          timeout=600)
    if done.returncode != 0:
        sys.exit(f"thimble {' '.join(map(str, arguments))}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def npy_shape(raw):
    """Returns header length and shape of a .npy (format 1)."""
    length = 10 + int.from_bytes(raw[8:10], "little")
    header = ast.literal_eval(raw[10:length].decode().strip())
    assert not header["fortran_order"]
    return length, header["shape"], header["descr"]


def series(raw, sample, calls):
    """Returns the first `calls` samples of an array [samples, ...] as a series of inputs of shape `sample`."""
    length, shape, descr = npy_shape(raw)
    width = int(descr[2:])
    elements = 1
    for size in sample:
        elements *= size
    count = 1
    for size in shape:
        count *= size
    calls = min(calls, count // elements)
    header = str({"descr": descr, "fortran_order": False, "shape": (calls, *sample)}).encode()
    header += b" " * (-(11 + len(header)) % 64) + b"\n"
    data = raw[length:length + calls * elements * width]
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


def write_inputs(folder, ports, scratch):
    with zipfile.ZipFile(folder / "test.npz") as archive:
        arrays = {name.removesuffix(".npy"): archive.read(name) for name in archive.namelist()}
    arrays.pop("labels", None)
    paths = []
    for index, port in enumerate(ports):
        raw = arrays.get(port["name"], list(arrays.values())[index])
        paths.append(scratch / f"input_{index}.npy")
        paths[-1].write_bytes(series(raw, port["shape"], CALLS))
    return [word for path in paths for word in ("--input", path)]


def check(program, folder, target, activations, scratch):
    label = f"{target}, {activations}"
    pte = scratch / f"{target}-{activations}.pte"
    report = thimble(program, "compile", folder / f"{folder.name}.pt2", "--target", target,
                     "--calibrate", folder / "calibrate.npz", "--activations", activations, "-o", pte)
    if report["float_ops"] != 0:
        sys.exit(f"{label}: {report['float_ops']} float operators")
    inputs = write_inputs(folder, report["inputs"], scratch)
    hashes = {}
    for place in ("eval", "host", "qemu"):
        ran = thimble(program, "run", pte, *inputs, "--steps", "--on", place)
        hashes[place] = [output["sha256"] for output in ran["outputs"]]
        if place != "eval":
            record(report, target if place == "qemu" else place, hashes[place] == hashes["eval"])
        if place == "qemu" and ran["arena_bytes_used"] != report["arena_bytes"]:
            sys.exit(f"{label}: arena {ran['arena_bytes_used']}, planned {report['arena_bytes']}")
    if len(set(map(tuple, hashes.values()))) != 1:
        sys.exit(f"{label}: outputs differ\n{json.dumps(hashes, indent=2)}")
    print(f"{label}: {len(report['ops'])} calls, {hashes['host'][0][:16]} everywhere")


def main():
    program, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        for target, activations in BUILDS:
            check(program, folder, target, activations, pathlib.Path(scratch))


if __name__ == "__main__":
    main()
