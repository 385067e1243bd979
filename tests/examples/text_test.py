#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples/text with the network in tests/data/step: the application on an emulated Cortex-M55 writes the text that the
reference evaluator of the quantized graph writes, and the quantized network predicts other text almost as well.

usage: text_test.py THIMBLE SOURCE_DIR BUILD_DIR

The environment variable THIMBLE_FIRMWARE names a folder with the archives of the cores (app_test.py).
"""
import math
import pathlib
import re
import shutil
import struct
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from app_test import MACHINES, device_library, run, serial_output
from npy import read_floats, write_npy

CORE, LENGTH, CHARACTERS, PROMPT = "cortex-m55", 64, 96, "The "
LOSS_MAX = 0.05  # of perplexity
HELD_OUT = 2     # sequences
BLOCK, BLOCK_PROMPT = 16, "The compiler "


def integers(archive, name):
    data = archive.read(name + ".npy")
    start = 10 + struct.unpack("<H", data[8:10])[0]
    return struct.unpack(f"<{(len(data) - start) // 8}q", data[start:])


def logits_of(thimble, program, tokens, folder, *options):
    """Returns the logits of each call, for sequences of LENGTH tokens."""
    positions = [i % LENGTH for i in range(len(tokens))]
    for name, values, shape in (("tokens", tokens, (1, 1)), ("positions", positions, (1,))):
        write_npy(folder / f"{name}.npy", "<i8", (len(values), *shape), struct.pack(f"<{len(values)}q", *values))
    run(thimble, "run", program, "--input", folder / "tokens.npy", "--input", folder / "positions.npy", "--steps",
        "--output", folder, *options, capture_output=True)
    flat = read_floats(folder / "output_0.npy")
    assert len(flat) == len(tokens) * CHARACTERS, len(flat)
    return [flat[i:i + CHARACTERS] for i in range(0, len(flat), CHARACTERS)]


def perplexity(logits, tokens):
    total, count = 0.0, 0
    for i in range(len(tokens) - 1):
        if (i + 1) % LENGTH == 0:
            continue
        row = logits[i]
        total += math.log(sum(math.exp(x - max(row)) for x in row)) + max(row) - row[tokens[i + 1]]
        count += 1
    return math.exp(total / count)


def written_on_board(thimble, source, build, data, folder):
    """Builds both applications outside the tree and returns what they write."""
    prefix = folder / "thimble"
    run("cmake", "--install", build, "--prefix", prefix, "--component", "device", capture_output=True)
    (prefix / "bin").mkdir()
    shutil.copy(thimble, prefix / "bin")
    for name in ("text", "app"):
        shutil.copytree(source / "examples" / name, folder / "examples" / name)
    app = folder / "examples/text"
    run("cmake", "-S", app, "-B", app / "build", "-G", "Ninja", f"-DCORE={CORE}", f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_TOOLCHAIN_FILE={folder}/examples/app/arm-none-eabi.cmake", f"-DFOLDER={data}", "-DTEMPERATURE=0",
        *device_library(CORE), capture_output=True)
    run("cmake", "--build", app / "build", capture_output=True)
    return [serial_output(MACHINES[CORE], app / "build" / name) for name in ("text", "prefill")]


def check_prefill(thimble, data, printed, folder):
    """The program with two methods writes the text that `forward` alone writes, and both methods have the same cache."""
    text = re.search(rf"^({re.escape(BLOCK_PROMPT)}[ -~]{{{LENGTH - len(BLOCK_PROMPT)}}})\nEND ok\n", printed, re.M)
    assert text, f"the application with a prefill did not write one line of text: {printed}"
    tokens = [ord(letter) - 32 for letter in text[1]]
    for target in (CORE, "cortex-m4"):
        program = folder / f"{target}-methods.pte"
        run(thimble, "compile", "--method", f"forward={data}/step.pt2", "--method", f"prefill={data}/prefill.pt2", "--target",
            target, "--calibrate", f"forward={data}/calibrate.npz", "--calibrate",
            f"prefill={data}/prefill_calibrate.npz", "-o", program, capture_output=True)
        caches, rows = {}, {}
        for on in ("eval", "host"):
            step = logits_of(thimble, program, tokens, folder, "--method", "forward", "--on", on)
            if target == CORE:
                chosen = [row.index(max(row)) for row in step]
                assert chosen[len(BLOCK_PROMPT) - 1:-1] == tokens[len(BLOCK_PROMPT):], "the board writes another text"
            write_npy(folder / "block.npy", "<i8", (1, BLOCK), struct.pack(f"<{BLOCK}q", *tokens[:BLOCK]))
            run(thimble, "run", program, "--method", "prefill", "--input", folder / "block.npy", "--on", on, "--output", folder,
                "--save-state", folder / "cache", capture_output=True)
            block = read_floats(folder / "output_0.npy")
            assert [block[i:i + CHARACTERS] for i in range(0, len(block), CHARACTERS)] == step[:BLOCK], \
                f"{target} {on}: prefill computes other logits than forward"
            caches[on] = (folder / "cache").read_bytes()
            first = [struct.pack(f"<{BLOCK}q", *values) for values in (tokens[:BLOCK], range(BLOCK))]
            write_npy(folder / "tokens.npy", "<i8", (BLOCK, 1, 1), first[0])
            write_npy(folder / "positions.npy", "<i8", (BLOCK, 1), first[1])
            inputs = ["--input", folder / "tokens.npy", "--input", folder / "positions.npy"]
            run(thimble, "run", program, *inputs, "--steps", "--on", on, "--save-state", folder / "cache", capture_output=True)
            assert (folder / "cache").read_bytes() == caches[on], f"{target} {on}: prefill leaves another cache than forward"
            # Padding: the rest of the block is not the text. Forward goes on after the prompt.
            padded = tokens[:len(BLOCK_PROMPT)] + [0] * (BLOCK - len(BLOCK_PROMPT))
            write_npy(folder / "block.npy", "<i8", (1, BLOCK), struct.pack(f"<{BLOCK}q", *padded))
            run(thimble, "run", program, "--method", "prefill", "--input", folder / "block.npy", "--on", on,
                "--save-state", folder / "cache", capture_output=True)
            rest = range(len(BLOCK_PROMPT), LENGTH)
            for name, values, shape in (("tokens", tokens[rest.start:], (1, 1)), ("positions", list(rest), (1,))):
                write_npy(folder / f"{name}.npy", "<i8", (len(values), *shape), struct.pack(f"<{len(values)}q", *values))
            run(thimble, "run", program, *inputs, "--steps", "--on", on, "--load-state", folder / "cache", "--output", folder,
                capture_output=True)
            flat = read_floats(folder / "output_0.npy")
            rows[on] = [flat[i:i + CHARACTERS] for i in range(0, len(flat), CHARACTERS)]
            assert rows[on] == step[rest.start:], f"{target} {on}: after a padded prefill the logits differ"
        assert caches["host"] == caches["eval"] and rows["host"] == rows["eval"], f"{target}: host and evaluator differ"


def main():
    thimble, source, build = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    data = source / "tests/data/step"
    code = re.sub(r"/\*.*?\*/", "", (source / "examples/text/main.c").read_text(), flags=re.S)
    lines = sum(bool(line.strip()) for line in code.splitlines())
    assert lines <= 40, f"the application has {lines} lines, its README says at most 40"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        printed, with_prefill = written_on_board(thimble, source, build, data, folder)
        print(printed, with_prefill)
        check_prefill(thimble, data, with_prefill, folder)
        text = re.search(rf"^({re.escape(PROMPT)}[ -~]{{{LENGTH - len(PROMPT)}}})\nEND ok\n", printed, re.M)
        assert text, "the application did not write one line of text"
        tokens = [ord(letter) - 32 for letter in text[1]]

        for target in (CORE, "cortex-m4", "corstone-320"):
            run(thimble, "compile", data / "step.pt2", "--target", target, "--calibrate", data / "calibrate.npz", "--emit",
                "pte,ir", "--out-dir", folder / target, capture_output=True)
        reference = logits_of(thimble, folder / CORE / "step.ir", tokens, folder, "--on", "eval")
        chosen = [row.index(max(row)) for row in reference]
        assert chosen[len(PROMPT) - 1:-1] == tokens[len(PROMPT):], "the evaluator writes another text"
        for target in (CORE, "cortex-m4", "corstone-320"):
            wanted = logits_of(thimble, folder / target / "step.ir", tokens, folder, "--on", "eval")
            got = logits_of(thimble, folder / target / "step.pte", tokens, folder, "--on", "host")
            assert got == wanted, f"{target}: the host computes other logits than the evaluator"

        with zipfile.ZipFile(data / "test.npz") as archive:
            held_out = integers(archive, "input_ids")[:HELD_OUT * LENGTH]
        best = perplexity(logits_of(thimble, data / "step.pt2", held_out, folder, "--on", "eval"), held_out)
        int8 = perplexity(logits_of(thimble, folder / CORE / "step.pte", held_out, folder), held_out)
        print(f"perplexity {best:.3f}, int8 {int8:.3f}")
        assert 1 < best < CHARACTERS / 4, "the network has not learned the text"
        assert int8 < best * (1 + LOSS_MAX), "int8 is worse than the limit"
    return 0


if __name__ == "__main__":
    sys.exit(main())
