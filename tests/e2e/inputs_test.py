# SPDX-License-Identifier: Apache-2.0
"""Types of inputs and outputs, and frames of cameras: the same bytes from the evaluator, the host and emulated boards.

usage: inputs_test.py THIMBLE SOURCE

docs/inputs.md describes the options. With uint8, the quantized values are those of int8 plus 128. A frame of a camera
gives the network nearly the image that float arithmetic makes of it: `compare` runs both.
"""

import array
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from network_test import npy_shape, thimble
from npy import write_npy

CORES = ("cortex-m4", "cortex-m55")


def arrays(path):
    with zipfile.ZipFile(path) as archive:
        return {name.removesuffix(".npy"): archive.read(name) for name in archive.namelist()}


def array_of(raw):
    start, shape, _ = npy_shape(raw)
    return shape, raw[start:]


def content(path):
    return array_of(path.read_bytes())[1]


def write_npz(path, scratch, descr, shape, data):
    write_npy(scratch / "x.npy", descr, shape, data)
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(scratch / "x.npy")


class Network:
    def __init__(self, program, source, name, scratch):
        self.program, self.scratch = program, scratch
        self.model = source / "models" / name / f"{name}.pt2"
        self.calibration = source / "models" / name / "calibrate.npz"
        self.count = 0

    def compile(self, target, *options, calibration=None):
        self.count += 1
        self.pte = self.scratch / f"{self.model.stem}_{self.count}.pte"
        self.report = thimble(self.program, "compile", self.model, "--target", target, "--calibrate",
                              calibration or self.calibration, *options, "-o", self.pte)
        return self.pte

    def run(self, pte, descr, shape, data, on="host"):
        write_npy(self.scratch / "in.npy", descr, shape, data)
        thimble(self.program, "run", pte, "--input", self.scratch / "in.npy", "--output", self.scratch / "out", "--on", on)
        return content(self.scratch / "out" / "output_0.npy")

    def run_everywhere(self, pte, descr, shape, data):
        """The output of the host, which must be that of the evaluator and of the board."""
        wanted = self.run(pte, descr, shape, data)
        for on in ("eval", "qemu"):
            got = self.run(pte, descr, shape, data, on)
            if got != wanted:
                sys.exit(f"{pte.name}: --on {on} differs from the host")
        return wanted


def expect(condition, *what):
    if not condition:
        sys.exit(" ".join(str(each) for each in what))


def expect_refused(program, words, *texts):
    done = subprocess.run([str(word) for word in (program, *words)], capture_output=True, text=True, timeout=100)
    expect(done.returncode == 2, words, "exit", done.returncode, done.stderr)
    for text in texts:
        expect(text in done.stderr, words, f"no `{text}` in", done.stderr)


def flipped(data):
    return bytes(each ^ 0x80 for each in data)


def check_types(digits, random_source):
    """uint8 and int8 have the same quantized values; other types by name."""
    shape = (1, 1, 8, 8)
    codes = bytes(random_source.randrange(256) for _ in range(64))
    for target in CORES:
        narrow = digits.run_everywhere(digits.compile(target, "--io", "int8"), "|i1", shape, codes)
        pte = digits.compile(target, "--io", "uint8")
        ports = digits.report["inputs"][0], digits.report["outputs"][0]
        expect([port["dtype"] for port in ports] == ["uint8", "uint8"], ports)
        expect(digits.run_everywhere(pte, "|u1", shape, flipped(codes)) == flipped(narrow), target, "uint8 differs")
    pte = digits.compile("cortex-m4", "--io", "int16")
    samples = array.array("h", (random_source.randrange(-32768, 32768) for _ in range(64)))
    expect(digits.report["inputs"][0]["dtype"] == "int16" and digits.report["outputs"][0]["dtype"] == "int16", "int16")
    expect(len(digits.run_everywhere(pte, "<i2", shape, samples.tobytes())) == 20, "int16")
    pte = digits.compile("cortex-m4", "--io", "x=uint8")
    expect(digits.report["outputs"][0]["dtype"] == "float32", digits.report["outputs"])
    expect(len(digits.run_everywhere(pte, "|u1", shape, codes)) == 40, "float32")
    write_npy(digits.scratch / "in.npy", "<f4", shape, bytes(256))
    expect_refused(digits.program, ("run", pte, "--input", digits.scratch / "in.npy"), "float32", "expected input_0 uint8")
    base = ("compile", digits.model, "--target", "cortex-m4", "--calibrate", "random")
    expect_refused(digits.program, (*base, "--io", "z=uint8"), "--io z=uint8", "it has x")
    expect_refused(digits.program, (*base, "--io", "u8"), "--io: found u8", "uint8")
    expect_refused(digits.program, (*base, "--io", "x=int8,x=uint8"), "given twice")
    expect_refused(digits.program, (*base, "--input-mean", "1"), "0 inputs are uint8 or int16")
    expect_refused(digits.program, (*base, "--preprocess", "x: rgb"), "found rgb", "rgb888")
    expect_refused(digits.program, (*base, "--preprocess", "x: gray 8x8 -> resize 9"), "found 9", "WIDTHxHEIGHT")
    expect_refused(digits.program, (*base, "--preprocess", "x: gray 9x8"), "gives [1,1,8,9], the model expects [1,1,8,8]")
    expect_refused(digits.program, (*base, "--preprocess", "y: gray 8x8"), "no input y", "the inputs x")


def check_pixels(digits, random_source):
    """Pixels with one mean and deviation are the quantized values themselves."""
    shape, x = array_of(arrays(digits.calibration)["x"])
    pixels = bytes(min(255, round(each * 128) + 128) for each in struct.unpack(f"<{len(x) // 4}f", x))
    data = digits.scratch / "pixels.npz"
    write_npz(data, digits.scratch, "|u1", shape, pixels)
    options = ("--io", "x=uint8", "--input-mean", "128", "--input-std", "128")
    for target in CORES:
        pte = digits.compile(target, *options, calibration=data)
        port = digits.report["inputs"][0]
        expect((port["scale"], port["zero_point"]) == (1 / 128, 128), port)
        names = [op["op"] for op in digits.report["ops"]]
        expect(sum("flip_sign" in name for name in names) == 1 and not any("lut" in name for name in names), names)
        first = digits.run_everywhere(pte, "|u1", (1, *shape[1:]), pixels[:64])
    # A frame of a camera with these pixels, and a mean that no quantized value represents.
    frames = digits.scratch / "frames.npz"
    write_npz(frames, digits.scratch, "|u1", (shape[0], 1, 8, 8, 1), pixels)
    for mean, same in (("128", True), ("127.5", False)):
        format_ = f"x: gray 8x8 -> mean {mean} -> std 128"
        pte = digits.compile("cortex-m55", "--preprocess", format_, calibration=frames)
        got = digits.run_everywhere(pte, "|u1", (1, 8, 8, 1), pixels[:64])
        expect((got == first) == same, format_)
        compared = thimble(digits.program, "compare", digits.model, pte, "--data", frames, "--preprocess", format_)
        expect(compared["sqnr_db"][0] > 25, format_, compared)
    samples = array.array("h", (each * 256 - 32768 for each in pixels))
    write_npz(data, digits.scratch, "<i2", shape, samples.tobytes())
    pte = digits.compile("cortex-m4", "--io", "x=int16", "--input-std", "32768", calibration=data)
    expect(digits.report["inputs"][0]["scale"] == 1 / 32768, digits.report["inputs"])
    digits.run_everywhere(pte, "<i2", (1, 1, 8, 8), samples[:64].tobytes())
    compared = thimble(digits.program, "compare", digits.model, pte, "--data", data, "--preprocess",
                       "x: int16 -> std 32768")
    expect(compared["sqnr_db"][0] > 25, compared)


def rgb565(r, g, b):
    return struct.pack("<H", r >> 3 << 11 | g >> 2 << 5 | b >> 3)


def yuyv(pixels):
    """Two pixels of R, G, B as Y, U, Y, V."""
    def component(rgb, r, g, b, offset):
        return max(0, min(255, round((r * rgb[0] + g * rgb[1] + b * rgb[2]) / 256) + offset))
    both = [sum(pair) / 2 for pair in zip(*pixels)]
    y = [component(each, 66, 129, 25, 16) for each in pixels]
    return bytes((y[0], component(both, -38, -74, 112, 128), y[1], component(both, 112, -94, -18, 128)))


def check_frames(network, count=4):
    """Frames of 160 x 120 pixels, made of the network's pictures of 96 x 96."""
    shape, x = array_of(arrays(network.calibration)["x"])
    plane = shape[2] * shape[3]
    values = struct.unpack(f"<{3 * plane * count}f", x[:12 * plane * count])
    formats = {"rgb565": b"", "yuyv": b""}
    for n in range(count):
        for row in range(120):
            line = []
            for column in range(160):
                at = row * 96 // 120 * 96 + max(0, min(95, (column - 20) * 96 // 120))
                line.append(tuple(max(0, min(255, round(values[(3 * n + c) * plane + at] * 128 + 128))) for c in range(3)))
            formats["rgb565"] += b"".join(rgb565(*pixel) for pixel in line)
            formats["yuyv"] += b"".join(yuyv(line[i:i + 2]) for i in range(0, 160, 2))
    # One mean for all channels is the zero point of the image; several are a convolution with one tap.
    cases = (("cortex-m4", "rgb565", "mean 128 -> std 128"), ("cortex-m55", "yuyv", "mean 128,127,129 -> std 128"))
    for target, name, numbers in cases:
        frames = network.scratch / f"{name}.npz"
        write_npz(frames, network.scratch, "|u1", (count, 1, 120, 160, 2), formats[name])
        format_ = f"x: {name} 160x120 -> crop 120x120 -> resize 96x96 -> {numbers}"
        pte = network.compile(target, "--preprocess", format_, calibration=frames)
        network.run_everywhere(pte, "|u1", (1, 120, 160, 2), formats[name][:120 * 160 * 2])
        compared = thimble(network.program, "compare", network.model, pte, "--data", frames, "--preprocess", format_)
        profile = thimble(network.program, "run", pte, "--input", network.scratch / "in.npy", "--on", "qemu", "--profile")
        first = next(op for op in profile["ops"] if "camera_image" in op["name"])
        print(f"{target} {format_}: SQNR {compared['sqnr_db'][0]:.1f} dB, camera_image {first['instructions']:,} of "
              f"{profile['instructions']:,} instructions, arena {network.report['arena_bytes']:,} B")
        expect(compared["sqnr_db"][0] > 15, format_, compared)


def main():
    program, source = sys.argv[1], pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        digits = Network(program, source, "digits_cnn", scratch)
        check_types(digits, random.Random(1))
        check_pixels(digits, random.Random(2))
        check_frames(Network(program, source, "mobilenet_v1_vww", scratch))


if __name__ == "__main__":
    main()
