#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds the files of the present kernel layout version to tests/data/golden, with the results of this build.

usage: make.py THIMBLE SOURCE_DIR

Writes SOURCE_DIR/tests/data/golden/layoutN, N the version of abi/kernel_layout.h: the files of MODELS, compiled by this build, their
inputs, and list.json with the hash of each output. A folder that exists is never changed: its files show that later releases run what
this one wrote, or refuse it with a message.
"""

import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import npy  # noqa: E402

THIMBLE, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
# Name, network, target, options, samples.
MODELS = (("sine", "hello_sin", "cortex-m4", [], 4),
          ("sine_stock", "hello_sin", "cortex-m4", ["--compat", "executorch"], 4),
          ("convolutions_mve", "digits_cnn", "cortex-m55", [], 2),
          ("convolutions_thumb1", "digits_cnn", "cortex-m0plus", [], 2),
          ("convolutions_ethos_u55", "digits_cnn", "corstone-300", [], 2),
          ("convolutions_ethos_u85", "digits_cnn", "ethos-u85-256", [], 2),
          ("convolutions_axon", "digits_cnn", "nrf54lm20b", [], 2),
          ("convolutions_neutron", "digits_cnn", "imxrt700cm", [], 2),
          ("convolutions_int4_dsp", "digits_cnn", "cortex-m4", ["--weights", "int4"], 2),
          ("convolutions_int4_mve", "digits_cnn", "cortex-m55", ["--weights", "int4"], 2),
          ("convolutions_int4_thumb1", "digits_cnn", "cortex-m0plus", ["--weights", "int4"], 2),
          ("convolutions_int16", "digits_cnn", "cortex-m55", ["--activations", "int16"], 2),
          ("sine_float", "hello_sin", "cortex-m4", ["--float"], 4),
          ("gru_int4_groups", "gru_classifier", "cortex-m55", ["--weights", "int4:group=32"], 2),
          ("lstm", "lstm_classifier", "cortex-m33", [], 2),
          ("states", "streaming_conv_buffer", "cortex-m4", [], 8))
# Networks in one arena, in the order of their initialization, and samples.
SHARED = (("digits_cnn", 2), ("hello_sin", 4), ("streaming_conv_buffer", 8))
STATEFUL = ("streaming_conv_buffer",)


def thimble(*words):
    done = subprocess.run([THIMBLE, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: {done.stdout}{done.stderr}")
    return done.stdout


def write_input(folder, network, samples):
    """Writes the first samples of the network's calibration data. Returns the name of the file."""
    path = folder / f"{network}_{samples}.npy"
    if not path.exists():
        with zipfile.ZipFile(SOURCE / f"models/{network}/calibrate.npz") as archive:
            data = archive.read("x.npy")
        start = 10 + int.from_bytes(data[8:10], "little")
        shape = [int(word) for word in re.search(rb"'shape': \(([^)]*)\)", data[:start])[1].split(b",") if word.strip()]
        assert b"'<f4'" in data[:start] and shape[0] >= samples
        bytes_ = 4
        for size in shape[1:]:
            bytes_ *= size
        # The calibration data has a sample per entry of the first axis; the network's batch is 1.
        npy.write_npy(path, "<f4", [samples, *shape[1:]], data[start:start + samples * bytes_])
    return path.name


def row_of(folder, name, network, samples):
    """Returns the row of a file in list.json: it runs the file. All samples of a network with states are one series of calls."""
    data = write_input(folder, network, samples)
    words = ["--steps"] if network in STATEFUL else []
    done = json.loads(thimble("run", folder / f"{name}.pte", "--input", folder / data, *words, "--json"))
    sha256 = hashlib.sha256((folder / f"{name}.pte").read_bytes()).hexdigest()
    return {"file": f"{name}.pte", "sha256": sha256, "input": data, "options": words,
            "outputs": [{key: row[key] for key in ("name", "dtype", "shape", "sha256")} for row in done["outputs"]]}


def main():
    version = re.search(r"kKernelLayoutVersion = (\d+)", (SOURCE / "abi/kernel_layout.h").read_text())[1]
    folder = SOURCE / f"tests/data/golden/layout{version}"
    if folder.exists():
        sys.exit(f"{folder} exists: files of a release are not changed")
    folder.mkdir(parents=True)
    rows = []
    for name, network, target, options, samples in MODELS:
        model = SOURCE / "models" / network
        calibrate = [] if "--float" in options else ["--calibrate", model / "calibrate.npz"]
        thimble("compile", model / f"{network}.pt2", "--target", target, *calibrate, "-o", folder / f"{name}.pte", *options)
        rows.append(row_of(folder, name, network, samples))
    with tempfile.TemporaryDirectory() as out:
        models = [SOURCE / "models" / network for network, _ in SHARED]
        thimble("compile", *(model / f"{model.name}.pt2" for model in models), "--share-arena", "--target", "cortex-m4",
                "--calibrate", *(model / "calibrate.npz" for model in models), "--out-dir", out)
        for network, samples in SHARED:
            (folder / f"shared_{network}.pte").write_bytes((pathlib.Path(out) / f"{network}.pte").read_bytes())
            rows.append(row_of(folder, f"shared_{network}", network, samples))
    (folder / "list.json").write_text(json.dumps({"layout": int(version), "files": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
