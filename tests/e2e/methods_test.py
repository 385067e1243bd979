#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`compile --method`: what two methods share, what `inspect` and `run` say about them, and what is refused.

usage: methods_test.py THIMBLE SOURCE_DIR

example_text compares the results of two methods; this test is about the command line.
"""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from npy import write_npy


def call(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True)


def compiled(thimble, *words):
    done = call(thimble, "compile", *words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def main(thimble, source):
    data = pathlib.Path(source) / "tests/data/step"
    step, prefill = data / "step.pt2", data / "prefill.pt2"
    samples = ["--calibrate", f"forward={data}/calibrate.npz", "--calibrate", f"prefill={data}/prefill_calibrate.npz"]
    methods = ["--method", f"forward={step}", "--method", f"prefill={prefill}", "--target", "cortex-m55", *samples]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        both = compiled(thimble, *methods, "-o", folder / "both.pte")
        one = compiled(thimble, step, "--target", "cortex-m55", "--calibrate", data / "calibrate.npz", "-o", folder / "one.pte")
        two = compiled(thimble, prefill, "--target", "cortex-m55", "--calibrate", data / "prefill_calibrate.npz", "-o", folder / "two.pte")
        print(f"weights {one['weights_bytes']} + {two['weights_bytes']} B, in one file {both['weights_bytes']} B")
        assert list(both["methods"]) == ["forward", "prefill"], both.keys()
        assert both["pte_bytes"] == (folder / "both.pte").stat().st_size
        assert both["kept_bytes"] == one["kept_bytes"] == two["kept_bytes"] == 4096
        assert both["arena_bytes"] <= max(one["arena_bytes"], two["arena_bytes"]) + 512, "the arena is that of the larger method"
        layers = 20000  # more than half of the weights are those of the layers, which both methods have
        assert both["weights_bytes"] < one["weights_bytes"] + two["weights_bytes"] - layers, "equal layers are stored once"

        listed = call(thimble, "inspect", folder / "both.pte").stdout
        assert "method forward" in listed and "method prefill" in listed, listed
        absent = call(thimble, "run", folder / "both.pte", "--method", "decode", "--input", step)
        assert absent.returncode == 2 and "no method decode; it has forward, prefill" in absent.stderr, absent.stderr

        # Methods of equal structure have entries of equal size.
        equal = ["--method", f"a={step}", "--method", f"b={step}", "--target", "cortex-m55"]
        compiled(thimble, *equal, "--calibrate", data / "calibrate.npz", "--calibrate", data / "calibrate.npz", "-o", folder / "equal.pte")
        write_npy(folder / "token.npy", "<i8", (1, 1), struct.pack("<q", 5))
        write_npy(folder / "position.npy", "<i8", (1,), struct.pack("<q", 0))
        inputs = ["--input", folder / "token.npy", "--input", folder / "position.npy"]
        results = [call(thimble, "run", folder / "equal.pte", "--method", name, *inputs) for name in "ab"]
        assert all(each.returncode == 0 for each in results), results[0].stderr + results[1].stderr

        # States of another size are no states of this file.
        write_npy(folder / "x.npy", "<i8", (1, 16), struct.pack("<16q", *range(16)))
        (folder / "state").write_bytes(bytes(4095))
        for on in ("host", "eval"):
            run = call(thimble, "run", folder / "both.pte", "--method", "prefill", "--input", folder / "x.npy", "--on", on,
                       "--load-state", folder / "state")
            assert run.returncode != 0 and run.stderr, on

        digits = pathlib.Path(source) / "models/digits_cnn"
        refused = [
            (1, "ExecuTorch's runtime plans", [*methods, "--compat", "executorch"]),
            (1, "several methods require --emit pte", [*methods, "--emit", "c"]),
            (1, "several methods share their layers", [*methods, "--tune"]),
            (1, "run on an NPU", ["--method", f"a={step}", "--method", f"b={step}", "--target", "corstone-320", "--calibrate",
                                  data / "calibrate.npz", "--calibrate", data / "calibrate.npz"]),
            (1, "their states differ", ["--method", f"a={step}", "--method", f"b={digits}/digits_cnn.pt2", "--target", "cortex-m4",
                                        "--calibrate", f"a={data}/calibrate.npz", "--calibrate", f"b={digits}/calibrate.npz"]),
            (2, "two methods have this name", ["--method", f"a={step}", "--method", f"a={step}", "--target", "cortex-m4"]),
            (2, "a name of 1 to 28", ["--method", f"a b={step}", "--method", f"c={step}", "--target", "cortex-m4"]),
            (2, "NAME=FILE.pt2 expected", ["--method", "forward", "--target", "cortex-m4"]),
            (2, "at least two methods", ["--method", f"forward={step}", "--target", "cortex-m4"]),
            (2, "no method for it", [*methods, "--calibrate", "other=x.npz"]),
            (2, "without a model", [step, *methods]),
        ]
        for code, text, words in refused:
            done = call(thimble, "compile", *words, "-o", folder / "none.pte")
            assert done.returncode == code and text in " ".join(done.stderr.split()), (text, done.returncode, done.stderr)
            assert not (folder / "none.pte").exists()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
