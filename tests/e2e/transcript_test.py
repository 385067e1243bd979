# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of transcripts and compares all their output with the text below each command.

usage: transcript_test.py THIMBLE SOURCE_DIR [TRANSCRIPT]... [--bless]

A transcript is a file of transcripts/: lines that begin with `$ ` are commands, the lines after one are its standard output,
its standard error, and `[N]` for an exit code other than 0. Lines that begin with `#` are comments. The commands run in order
in one folder, in which prepare() has made `models`, `cases` and `executorch` (files of the tree) and a few small files. A command
is `thimble ARGUMENTS`, `cp FROM TO` or `ls FOLDER`. After it, `> /dev/null` hides standard output, and `| grep REGEX` keeps the
lines that match: a transcript shows only what it is about. Durations are written as `T s`,
and the line about an image that is built when first used is left out.
"""

import difflib

import pathlib
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import zipfile

from npy import write_npy

HERE = pathlib.Path(__file__).resolve().parent
VOLATILE = ((re.compile(r"written in \d+\.\d\d s"), "written in T s"), (re.compile(r"building the image .*\n"), ""))


def floats(path, shape, value=lambda i: (7 * i) % 17 / 8 - 1):
    count = 1
    for extent in shape:
        count *= extent
    write_npy(path, "<f4", shape, struct.pack(f"<{count}f", *(value(i) for i in range(count))))


def npz(path, **arrays):
    """Writes arrays of .npy files, by name, into one archive with fixed dates."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            archive.writestr(zipfile.ZipInfo(name + ".npy"), array.read_bytes())


def scaled(source, path, factor):
    """Writes an .npz of float32 array x with its values times `factor`."""
    with zipfile.ZipFile(source) as archive:
        data = archive.read("x.npy")
    start = 10 + struct.unpack("<H", data[8:10])[0]
    values = struct.unpack(f"<{(len(data) - start) // 4}f", data[start:])
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo("x.npy"), data[:start] + struct.pack(f"<{len(values)}f", *(factor * v for v in values)))


def prepare(folder, source):
    (folder / "models").symlink_to(source / "models")
    (folder / "cases").symlink_to(source / "tests/data/pt2")
    (folder / "executorch").symlink_to(source / "tests/data/executorch")
    floats(folder / "one.npy", (1, 1, 8, 8))
    floats(folder / "five.npy", (5, 1, 8, 8))
    floats(folder / "nhwc.npy", (5, 8, 8, 1))
    floats(folder / "frames.npy", (3, 10, 7))
    floats(folder / "image.npy", (1, 3, 8, 4))
    floats(folder / "pixels.npy", (16, 1, 8, 8), lambda i: float((37 * i) % 256))
    floats(folder / "rows.npy", (64, 6), lambda i: (37 * i) % 29 / 7 - 2)
    floats(folder / "batches.npy", (96, 6), lambda i: (37 * i) % 29 / 7 - 2)
    floats(folder / "wide.npy", (64, 64), lambda i: (37 * i) % 29 / 7 - 2)
    npz(folder / "in0.npz", x=folder / "rows.npy")
    scaled(source / "models/digits_cnn/calibrate.npz", folder / "large.npz", 255)
    npz(folder / "five.npz", x=folder / "five.npy")
    npz(folder / "other.npz", image=folder / "five.npy")
    npz(folder / "two.npz", image=folder / "five.npy", mask=folder / "five.npy")
    npz(folder / "none.npz")
    npz(folder / "nhwc.npz", x=folder / "nhwc.npy")
    (folder / "sram.toml").write_text('cpu = "cortex-m55"\nsummary = "NPU with constants in SRAM"\n[[engine]]\n'
                                      'name = "ethos-u55-128"\nmemory_mode = "Sram_Only"\n')
    for name, npu, mode, memories in (
            ("sram-4k", "ethos-u55-128", "Sram_Only", {"sram": "4K", "flash": "1M"}),
            ("shared-4k", "ethos-u55-128", "Shared_Sram", {"sram": "4K", "flash": "1M"}),
            ("dedicated", "ethos-u65-256", "Dedicated_Sram", {"sram": "4K", "dram": "64K", "flash": "1M"}),
            ("dedicated-4k", "ethos-u65-256", "Dedicated_Sram", {"sram": "64K", "dram": "4K", "flash": "1M"})):
        (folder / f"{name}.toml").write_text(
            f'cpu = "cortex-m55"\nsummary = "NPU in the mode {mode}"\n[[engine]]\nname = "{npu}"\nmemory_mode = "{mode}"\n'
            + "".join(f'[[memory]]\nname = "{memory}"\nbytes = "{size}"\n' for memory, size in memories.items()))
    (folder / "itcm.toml").write_text('base = "stm32f746"\nkernel_code = "itcm"\n')
    for name, content in (("empty", b""), ("text", b"hello\n"), ("model.tflite", b"\x1c\0\0\0TFL3" + bytes(24)),
                          ("model.onnx", b"\x08\x07\x12\x07pytorch" + bytes(8))):
        (folder / name).write_bytes(content)


def run(thimble, folder, line):
    """Returns the output of a command as the transcript has it."""
    line, _, pattern = line.partition(" | grep ")
    quiet = line.endswith(" > /dev/null")
    words = shlex.split(line.removesuffix(" > /dev/null"))
    if words[0] == "cp":
        (folder / words[2]).write_bytes((folder / words[1]).read_bytes())
        return ""
    if words[0] == "ls":
        return "".join(f"{path.relative_to(folder)}\n" for path in sorted((folder / words[1]).rglob("*")) if path.is_file())
    done = subprocess.run([str(thimble), *words[1:]], cwd=folder, capture_output=True, text=True, timeout=300)
    text = ("" if quiet else done.stdout) + done.stderr + (f"[{done.returncode}]\n" if done.returncode else "")
    for volatile, replacement in VOLATILE:
        text = volatile.sub(replacement, text)
    return "".join(shown for shown in text.splitlines(True) if re.search(pattern.strip("'"), shown))


def replayed(thimble, source, transcript):
    """Returns the transcript with the output of a new run."""
    lines = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prepare(folder, source)
        for line in transcript.splitlines():
            if line.startswith("#") or (not line and lines and lines[-1].startswith("#")):
                lines.append(line)
            elif line.startswith("$ "):
                lines += [line, *(shown.rstrip() for shown in run(thimble, folder, line[2:]).splitlines())]
    return "\n".join(lines) + "\n"


def main():
    thimble, source = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    named = [word for word in sys.argv[3:] if word != "--bless"]
    failed = False
    for path in sorted((HERE / "transcripts").glob("*.txt")):
        if named and path.stem not in named:
            continue
        expected = path.read_text()
        found = replayed(thimble, source, expected)
        if "--bless" in sys.argv:
            path.write_text(found)
            continue
        if expected.count("\n$ ") + expected.startswith("$ ") == 0:
            sys.exit(f"{path}: has no command")
        if found != expected:
            failed = True
            sys.stdout.writelines(difflib.unified_diff(expected.splitlines(True), found.splitlines(True), str(path), "output"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
