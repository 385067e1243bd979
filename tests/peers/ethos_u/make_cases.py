#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes cases for the simulator: networks, Vela's command streams, and outputs of a reference.

    make_cases.py FOLDER [--config NAME]... [--case GLOB]... [--group op|network] [--file TFLITE]...

`--file`: only these existing networks, with random inputs.
Writes FOLDER/<config>/<case>/ and FOLDER/ledger.txt, which lists the cases made and those that Vela or
the reference refused, each with its reason. Exit 77 if Vela or a reference is not installed.
"""

import argparse
import fnmatch
import functools
import shutil
import sys
from pathlib import Path

import numpy as np

try:
    import cases_conv  # noqa: F401  (each adds its cases to the registry)
    import cases_elementwise  # noqa: F401
    import cases_shape  # noqa: F401
    import cases_networks  # noqa: F401
    import cases_small  # noqa: F401
    import cases_tosa  # noqa: F401
    import cases_u85  # noqa: F401
    import reference
    import vela_run
    from ethosu.vela import vela  # noqa: F401  (imported once, before the child processes)
    from registry import CASES, Case
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


class Useless(Exception):
    """The case's outputs have too few distinct values."""


class FileNet:
    """A .tflite file used as a network."""

    reference, suffix = "litert", "tflite"

    def __init__(self, path, seed):
        self.path, self.random = path, np.random.default_rng(seed)

    def bytes(self):
        return self.path.read_bytes()

    def test_inputs(self):
        arrays = []
        for shape, dtype in reference.litert_inputs(self.bytes()):
            info = np.iinfo(dtype)
            arrays.append(self.random.integers(info.min, info.max, shape, dtype=dtype,
                                               endpoint=True))
        return arrays


def judged(case, net, model):
    inputs = net.test_inputs()
    if net.reference == "tosa":
        outputs = reference.tosa(model, inputs)
    else:
        outputs = reference.litert(model, inputs, case.reference)
    for output in outputs:
        distinct = len(np.unique(output))
        if distinct < min(case.distinct, (output.size + 1) // 2):
            raise Useless(f"an output has only {distinct} values")
    return inputs, outputs


def own_regions(made, data):
    """Returns the regions that hold only inputs or outputs, with their sizes."""
    sizes = {}
    for places, arrays in zip((made.inputs, made.outputs), data):
        for (region, offset), array in zip(places, arrays):
            if region not in (made.weight_region, made.scratch_region, made.fast_region):
                sizes[region] = max(sizes.get(region, 0), offset + array.nbytes)
    return sizes


def write(folder, case, config, net, made, data):
    """Writes the files of one case; the folder's README explains them."""
    inputs, outputs = data
    if len(inputs) != len(made.inputs) or len(outputs) != len(made.outputs):
        raise Useless(f"{len(made.inputs)} inputs and {len(made.outputs)} outputs in the stream, "
                      f"{len(inputs)} and {len(outputs)} in the network")
    memory = vela_run.SYSTEMS[config.split("-")[1]][1].lower().removesuffix("_384kb")
    lines = [f"config {config}", f"memory {memory}", f"case {case.name}", f"reference {net.reference}"]
    (folder / "cmd.bin").write_bytes(made.commands)
    if len(made.weights) > 1:
        (folder / "weights.bin").write_bytes(made.weights)
        lines.append(f"region {made.weight_region} weights.bin {len(made.weights)}")
    if made.scratch_size:
        lines.append(f"region {made.scratch_region} zero {made.scratch_size}")
    if made.fast_size:
        lines.append(f"region {made.fast_region} zero {made.fast_size}")
    lines += [f"region {region} zero {size}" for region, size in own_regions(made, data).items()]
    for number, ((region, offset), array) in enumerate(zip(made.inputs, inputs)):
        (folder / f"input{number}.bin").write_bytes(array.tobytes())
        lines.append(f"input {region} {offset} input{number}.bin")
    for number, ((region, offset), array) in enumerate(zip(made.outputs, outputs)):
        (folder / f"output{number}.bin").write_bytes(array.tobytes())
        lines.append(f"output {region} {offset} {array.nbytes} output{number}.bin")
    (folder / "meta.txt").write_text("\n".join(lines) + "\n")


def make(root, case, configs, ledger):
    """Makes one case on all configurations; the reference runs once."""
    scratch = root / ".work"
    scratch.mkdir(parents=True, exist_ok=True)
    try:
        net = case.build(case.seed)
        model = net.bytes()
        data = judged(case, net, model)
    except (Useless, ValueError, RuntimeError, AttributeError) as reason:
        words = " ".join(str(reason).split())[:200]
        ledger.append(("-", case.name, f"reference: {type(reason).__name__}: {words}"))
        return
    network = scratch / f"net.{net.suffix}"
    network.write_bytes(model)
    for config in configs:
        if config.split("-")[1] not in case.generations:
            continue
        folder = root / config / case.name
        shutil.rmtree(folder, ignore_errors=True)
        try:
            made = vela_run.run(config, network, scratch / "out", case.options)
            folder.mkdir(parents=True)
            write(folder, case, config, net, made, data)
            shutil.copy(network, folder)
            ledger.append((config, case.name, "made"))
        except (vela_run.Refused, Useless) as reason:
            shutil.rmtree(folder, ignore_errors=True)
            ledger.append((config, case.name, f"refused: {reason}"))


def merge(path, ledger):
    """Writes the ledger. Lines of this run replace those of an earlier run for the same configuration and case."""
    lines = {}
    if path.exists():
        for line in path.read_text().splitlines():
            config, name, words = line.split(" ", 2)
            lines[config, name] = words
    names = {(config, name) for config, name, _ in ledger}
    names |= {("-", name) for _, name, _ in ledger}
    lines = {key: words for key, words in lines.items() if key not in names}
    lines.update({(config, name): words for config, name, words in ledger})
    path.write_text("".join(f"{config} {name} {words}\n"
                            for (config, name), words in sorted(lines.items())))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--config", action="append", choices=vela_run.CONFIGS)
    parser.add_argument("--case", action="append", default=[])
    parser.add_argument("--group", default="op")
    parser.add_argument("--file", action="append", type=Path, default=[])
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    configs = options.config or vela_run.CONFIGS
    ledger = []
    for path in options.file:
        build = functools.partial(FileNet, path)
        make(options.folder, Case(path.stem, build, distinct=2), configs, ledger)
    for case in CASES.values() if not options.file else ():
        wanted = not options.case or any(fnmatch.fnmatch(case.name, glob) for glob in options.case)
        if wanted and case.group == options.group:
            make(options.folder, case, configs, ledger)
    shutil.rmtree(options.folder / ".work", ignore_errors=True)
    merge(options.folder / "ledger.txt", ledger)
    kept = sum(words == "made" for _, _, words in ledger)
    print(f"{kept} made, {len(ledger) - kept} refused")
    return 0


if __name__ == "__main__":
    sys.exit(main())
