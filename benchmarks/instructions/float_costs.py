# SPDX-License-Identifier: Apache-2.0
"""Instructions of float32 kernels: measures the networks of models/ and tests/data/log_mel, compiled with --float, under QEMU, and writes
engines/cortex_m/compiler/float_costs.def.

usage: float_costs.py THIMBLE SOURCE_DIR

The cost of an operator is a function of at most two of its sizes, with coefficients of at least 0, that has the smallest mean
relative error over all its calls. Cores without rows have those of the Cortex-M4 (cost.cpp, subset_core).
"""

import collections
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy

CORES = ("cortex-m4", "cortex-m55")
NETWORKS = ("ad_autoencoder", "conv_tasnet_like", "convnext_femto_like", "decoder_step", "deit_tiny_like", "digits_cnn", "dscnn_kws",
            "gru_classifier", "hello_sin", "lstm_classifier", "mobilenet_v3_tiny", "resnet8", "rnn_step", "se_classifier",
            "squeezenet_like", "streaming_conv", "tcn", "unet_small")
SPECTRA = ("kws", "mel", "stream")  # of tests/data/log_mel
TERMS = ("elements", "steps", "rows", "loops", "inputs", "inside_steps")


def thimble(program, *words):
    done = subprocess.run([str(program), *map(str, words), "--json"], capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    return json.loads(done.stdout)


def calls_of(program, model, core, folder):
    """Yields operator, sizes and instructions of each float32 call."""
    pte = folder / "net.pte"
    report = thimble(program, "compile", model / f"{model.name}.pt2", "--target", core, "--float", "-o", pte)
    inputs = []
    for index, port in enumerate(report["inputs"]):
        shape = [int(size) for size in port["shape"]]
        letter = {"float32": "f4", "int64": "i8", "int32": "i4"}[port["dtype"]]
        values = numpy.zeros(shape, letter)
        if letter == "f4":
            values = numpy.random.default_rng(index).uniform(-1, 1, shape).astype(letter)
        numpy.save(folder / f"x{index}.npy", values)
        inputs += ["--input", folder / f"x{index}.npy"]
    ran = thimble(program, "run", pte, *inputs, "--on", "qemu", "--profile")
    if len(ran["ops"]) != len(report["ops"]):
        sys.exit(f"{model.name}: {len(ran['ops'])} calls ran, {len(report['ops'])} compiled")
    for compiled, measured in zip(report["ops"], ran["ops"]):
        if compiled["op"] != measured["name"]:
            sys.exit(f"{model.name}: {measured['name']} ran, {compiled['op']} compiled")
        if compiled["types"].startswith("f32"):
            yield compiled["op"], compiled["terms"], measured["instructions"]


def fit(calls):
    """Returns the coefficients by term, "" for the call itself, and the mean relative error."""
    count = numpy.array([instructions for _, instructions in calls], float)
    best = None
    for terms in itertools.chain.from_iterable(itertools.combinations(TERMS, n) for n in (1, 2)):
        for constant in (True, False):
            columns = ([numpy.ones(len(calls))] if constant else []) + [
                numpy.array([sizes[term] for sizes, _ in calls], float) for term in terms]
            matrix = numpy.stack(columns, 1)
            if numpy.linalg.matrix_rank(matrix) < matrix.shape[1]:
                continue
            found = numpy.linalg.lstsq(matrix / count[:, None], numpy.ones(len(calls)), rcond=None)[0]
            if (found < 0).any():
                continue
            error = float(numpy.abs(matrix @ found / count - 1).mean())
            if best is None or error < best[1] - 0.005:
                best = (dict(zip((("",) if constant else ()) + terms, found)), error)
    return best


def main():
    program, source = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    text = (source / "src/engine/cost_terms.def").read_text()
    order = [""] + [line.split("(")[1].split(")")[0] for line in text.splitlines() if line.startswith("THIMBLE_COST_TERM(")]
    measured = (source / "engines/cortex_m/compiler/costs.def").read_text()
    ids = {}
    for table in (source / "abi/ops").glob("*.def"):
        for line in table.read_text().splitlines():
            if line.startswith(("THIMBLE_PTE_OP(", "THIMBLE_NATIVE_OP(")):
                words = [word.strip() for word in line.split("(", 1)[1].split(",")]
                ids[words[2].strip('"')] = words[0]
    rows = []
    for core in CORES:
        calls = collections.defaultdict(list)
        models = [source / "models" / name for name in NETWORKS] + [source / "tests/data/log_mel" / name for name in SPECTRA]
        for model in models:
            with tempfile.TemporaryDirectory() as folder:
                for op, sizes, instructions in calls_of(program, model, core, pathlib.Path(folder)):
                    calls[op].append((sizes, instructions))
        for op, samples in calls.items():
            if f"THIMBLE_COST({ids[op]}," in measured:
                continue
            found = fit(samples)
            if found is None:
                continue
            coefficients, error = found
            numbers = [f"{coefficients.get(term, 0):.6g}" for term in order]
            while len(numbers) > 1 and numbers[-1] == "0":
                numbers.pop()
            rows.append(f'THIMBLE_COST({ids[op]}, "{core}", {", ".join(numbers)})')
            print(f"{core} {op}: {len(samples)} calls, mean error {100 * error:.0f} %")
    head = ("// SPDX-License-Identifier: Apache-2.0\n"
            "// Instructions of float32 kernels; columns: costs.def. Measured on the networks of models/ under QEMU and written by\n"
            "// benchmarks/instructions/float_costs.py; do not edit.\n")
    (source / "engines/cortex_m/compiler/float_costs.def").write_text(head + "\n".join(sorted(rows)) + "\n")


main()
