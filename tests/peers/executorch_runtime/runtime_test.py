#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares ExecuTorch's own runtime, with Thimble's kernels and delegates, with Thimble's runtime.

    runtime_test.py THIMBLE SOURCE LIBRARIES FOLDER [NAME...]

LIBRARIES has libthimble_executorch_*.so. Every output of every sample must be equal bit for bit. Exit 77 if ExecuTorch
is not installed.
"""

import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np

from loading import differences, executorch_run, is_missing, load_libraries, run_cases, thimble_run

SAMPLES = 3
# Files whose float operators are ExecuTorch's own kernels, with their own rounding.
FLOAT = ("float_elementwise", "float_products", "float_reductions")
# Name, network, options of `thimble compile`.
STOCK = ["--compat", "executorch"]
COMPILED = [
    ("stock_digits", "digits_cnn", ["--target", "cortex-m55", *STOCK]),
    ("stock_dscnn", "dscnn_kws", ["--target", "cortex-m55", *STOCK]),
    ("stock_resnet8", "resnet8", ["--target", "cortex-m4", *STOCK]),
    ("stock_mobilenet_v2", "mobilenet_v2_tiny", ["--target", "cortex-m55", *STOCK]),
    ("native_digits_m55", "digits_cnn", ["--target", "cortex-m55"]),
    ("native_dscnn_m4", "dscnn_kws", ["--target", "cortex-m4"]),
    ("native_resnet8_m0", "resnet8", ["--target", "cortex-m0plus"]),
    ("native_mobilenet_v3", "mobilenet_v3_tiny", ["--target", "cortex-m55"]),
    ("native_transformer", "deit_tiny_like", ["--target", "cortex-m55"]),
    ("native_lstm", "lstm_classifier", ["--target", "cortex-m55"]),
    ("stock_state", "streaming_conv_buffer", ["--target", "cortex-m55", *STOCK]),
    ("ethos_u_dscnn", "dscnn_kws", ["--target", "corstone-300"]),
    ("ethos_u_mobilenet_v2", "mobilenet_v2_tiny", ["--target", "corstone-300"]),
    ("axon_digits", "digits_cnn", ["--target", "nrf54lm20b"]),
    ("axon_dscnn", "dscnn_kws", ["--target", "nrf54lm20b"]),
    ("neutron_digits", "digits_cnn", ["--target", "imxrt700cm"]),
    ("neutron_cifarnet", "cifarnet", ["--target", "imxrt700cm"]),
]
# Native files with states, which ExecuTorch's runtime must refuse: it does not read the initial content of the states.
WITH_STATE = [
    ("native_state", "streaming_conv_buffer", ["--target", "cortex-m55"]),
    ("ethos_u_state", "streaming_conv_buffer", ["--target", "corstone-300"]),
    ("axon_state", "streaming_conv_buffer", ["--target", "nrf54lm20b"]),
    ("neutron_state", "streaming_conv_buffer", ["--target", "imxrt700cm"]),
]


def samples_of(path):
    """The first samples of an .npz of a network in models/: one list of arrays per sample."""
    with np.load(path) as data:
        arrays = [data[name] for name in data.files if name != "labels"]
    return [[array[i:i + 1] for array in arrays] for i in range(min(SAMPLES, len(arrays[0])))]


def recorded(path):
    """The inputs of a file of tests/data/executorch."""
    with np.load(path.with_suffix(".npz")) as data:
        names = [name for name in data.files if name.startswith("input_")]
        return [[data[name][i] for name in names] for i in range(len(data[names[0]]))]


def missing_operators():
    """Operators of ExecuTorch's Cortex-M backend that the runtime does not have."""
    import executorch.backends.cortex_m as backend
    from executorch.extension.pybindings.portable_lib import _get_operator_names

    text = (Path(backend.__path__[0]) / "ops/operators.yaml").read_text()
    names = {name for name in re.findall(r"- func: (cortex_m::[\w.]+)\(", text) if name.endswith("out")}
    assert len(names) >= 23, names
    return sorted(names - set(_get_operator_names()))


def compile_network(thimble, source, folder, name, network, options):
    models = source / "models" / network
    data = models / "calibrate.npz"
    path = folder / f"{name}.pte"
    subprocess.run([thimble, "compile", str(models / f"{network}.pt2"), "--calibrate", str(data), *options, "-o",
                    str(path)], check=True, stdout=subprocess.DEVNULL)
    return path, samples_of(data)


def check_operators():
    missing = missing_operators()
    return f"operators that are not registered: {missing}", not missing


def check_equal(thimble, name, make):
    path, samples = make()
    wrong = differences(thimble_run(thimble, path, samples), executorch_run(thimble, path, samples))
    return f"{name}: {len(samples)} samples, {wrong} different outputs", wrong == 0


def check_refused(thimble, name, make):
    path, samples = make()
    thimble_run(thimble, path, samples)
    try:
        executorch_run(thimble, path, samples)
    except RuntimeError as refusal:
        return f"{name}: {refusal}", "load" in str(refusal)
    return f"{name}: runs", False


def main():
    thimble, source, libraries, folder, *names = sys.argv[1:]
    source, folder = Path(source), Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if is_missing("executorch.runtime"):
        return 77
    load_libraries(libraries)

    cases = [("operators", check_operators)]
    for path in sorted((source / "tests/data/executorch").glob("*.pte")):
        if path.stem not in FLOAT:
            cases.append((path.stem, partial(check_equal, thimble, path.stem, lambda path=path: (path, recorded(path)))))
    for rows, check in ((COMPILED, check_equal), (WITH_STATE, check_refused)):
        for row in rows:
            cases.append((row[0], partial(check, thimble, row[0], partial(compile_network, thimble, source, folder, *row))))
    return run_cases([case for case in cases if not names or case[0] in names])


if __name__ == "__main__":
    sys.exit(main())
