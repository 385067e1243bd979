# SPDX-License-Identifier: Apache-2.0
"""One network as C gives the same bytes as its `.pte`, call after call, on the host and on boards.

usage: c_output_test.py THIMBLE BUILD MODEL_DIR [--boards[=CORE,...]] [--io=TYPES | --float] [--weights=int4]

The C for three targets, with int8 and float inputs, compiles for four cores without a warning. With portable kernels it
runs on the host. --boards also runs it on the cores' emulated boards, with their own kernels. --io gives inputs and outputs
other types, --weights other weights. --float compiles for two cores without quantization.
"""

import hashlib
import pathlib
import sys
import tempfile

from c_build import CORES, Builder, inputs_of, thimble, write_npy

CALLS = 3
# Target, type of inputs and outputs, location of inputs, and the cores for which the C is compiled. A Cortex-M33 has the M4's
# instructions.
BUILDS = (("cortex-m55", "int8", "caller", ("cortex-m55",)),
          ("cortex-m4", "float", "caller", ("cortex-m4", "cortex-m33")),
          ("cortex-m0plus", "int8", "arena", ("cortex-m0plus",)))
FLOAT_BUILDS = (("cortex-m55", None, "caller", ("cortex-m55",)),
                ("cortex-m4", None, "arena", ("cortex-m4", "cortex-m33")))


def hashes_of(data, outputs, calls):
    """Returns the SHA-256 of each output over all calls, from a program's output, call by call."""
    sizes = [output["bytes"] for output in outputs]
    assert len(data) == calls * sum(sizes), f"{len(data)} bytes written, {calls} x {sizes} expected"
    digests = [hashlib.sha256() for _ in sizes]
    at = 0
    for _ in range(calls):
        for digest, size in zip(digests, sizes):
            digest.update(data[at:at + size])
            at += size
    return [digest.hexdigest() for digest in digests]


def element_bytes(dtype):
    return {"float32": 4, "int8": 1, "uint8": 1, "bool": 1, "int16": 2, "int32": 4, "int64": 8}[dtype]


def check(program, builder, model, target, io, inputs, cores, boards, folder, options=()):
    """`io` is None for a model that is not quantized."""
    name, label = model.name, f"{model.name} {target} {io}"
    quantization = ["--float"] if io is None else ["--calibrate", model / "calibrate.npz", "--io", io]
    report = thimble(program, "compile", model / f"{name}.pt2", "--target", target, *quantization, "--inputs", inputs,
                     "--emit", "pte,c", "--out-dir", folder, *options)
    series = inputs_of(model, report["inputs"], CALLS)
    calls = len(series[0][1]) if series else 1
    words = []
    for index, (descr, samples) in enumerate(series):
        path = folder / f"x{index}.npy"
        write_npy(path, descr, (calls, *report["inputs"][index]["shape"]), b"".join(samples))
        words += ["--input", path]
    ran = thimble(program, "run", folder / f"{name}.pte", *words, "--steps")
    wanted = [output["sha256"] for output in ran["outputs"]]
    for output, compiled in zip(ran["outputs"], report["outputs"]):
        output["bytes"] = element_bytes(compiled["dtype"])
        for size in compiled["shape"]:
            output["bytes"] *= size

    for core in cores:
        builder.compile_for(core, folder, name)
    data = b"".join(samples[call] for call in range(calls) for _, samples in series)
    got = {}
    for arena_given in (False, True):
        host = builder.host_program(folder, name, calls, arena_given)
        got[f"this machine, arena given: {arena_given}"] = builder.run_host(host, data)
    for core in set(cores) & boards:
        got[core] = builder.run_board(core, builder.board_image(core, folder, name, calls), data)
    for place, written in got.items():
        hashes = hashes_of(written, ran["outputs"], calls)
        if hashes != wanted:
            sys.exit(f"{label}: {place}: the C gives {hashes}, the .pte {wanted}")
    print(f"{label}: {len(report['ops'])} calls, {wanted[0][:16]} in {len(got)} places")


def main():
    program, build, model = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    boards, types, builds, options = set(), None, BUILDS, []
    for word in sys.argv[4:]:
        if word == "--float":
            builds = FLOAT_BUILDS
            continue
        if word.startswith("--io="):
            types = word.removeprefix("--io=")
            continue
        if word.startswith("--weights="):
            options.append(word)
            continue
        assert word.startswith("--boards"), word
        boards = set(word.removeprefix("--boards").strip("=").split(",")) - {""} or set(CORES)
    for target, io, inputs, cores in builds:
        if boards and not boards & set(cores):
            continue
        with tempfile.TemporaryDirectory() as folder:
            check(program, Builder(build), model, target, types or io, inputs, cores, boards, pathlib.Path(folder),
                  options)


if __name__ == "__main__":
    main()
