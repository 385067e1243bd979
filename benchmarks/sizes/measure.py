#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the flash, RAM and stack that `thimble compile` prints with linked images, for 12 networks on 5 cores.

usage: measure.py [--build build] [--jobs N] [--networks NAME,...]

Each image is linked with the archives of the firmware's build and run under QEMU with a painted stack; its outputs equal
those of `thimble run`. Writes benchmarks/sizes/sizes.json and the table of README.md. tests/sizes/readme_test.py checks
both without linking.
"""

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

import linked
from linked import CORES, FORMS, HERE, ROOT

NETWORKS = ["ad_autoencoder", "convnext_femto_like", "decoder_step", "deit_tiny_like", "digits_cnn", "dscnn_kws",
            "gru_classifier", "hello_sin", "mobilenet_v1_vww", "resnet8", "streaming_conv", "unet_small"]
SIZES = HERE / "sizes.json"
README = HERE / "README.md"
BEGIN, END = "<!-- table -->\n", "<!-- end table -->\n"


def measure(thimble, build, network, core, form):
    with tempfile.TemporaryDirectory() as folder:
        report, true = linked.measured(thimble, build, network, core, form, pathlib.Path(folder))
    said = linked.printed(report)
    assert true["sha256"] == linked.host_outputs(thimble, network, core), f"{network} {core} {form}: other outputs"
    return {"network": network, "core": core, "form": form, "built_with": report["code_built_with"],
            **{f"{name}_printed": said[name] for name in said}, **{f"{name}_linked": true[name] for name in said}}


def rows_of(row):
    """Returns what a row of sizes.json prints and what is linked, by name."""
    names = ("flash", "ram", "stack")
    return {name: row[f"{name}_printed"] for name in names}, {name: row[f"{name}_linked"] for name in names}


def table(rows):
    """Returns the table of README.md: per network and form, printed and linked bytes on each core."""
    lines = ["| network | form | core | flash | linked | | RAM | linked | | stack | painted | |",
             "|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for row in rows:
        said, true = rows_of(row)
        cells = [f"{said[name]:,} | {true[name]:,} | +{said[name] - true[name]:,}" for name in said]
        form = ".pte" if row["form"] == "pte" else "C"
        lines.append(f"| {row['network']} | {form} | {row['core'].removeprefix('cortex-')} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def with_table(text, rows):
    return text[:text.index(BEGIN) + len(BEGIN)] + table(rows) + text[text.index(END):]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--networks", default=",".join(NETWORKS))
    arguments = parser.parse_args()
    thimble = arguments.build.resolve() / "thimble"
    cases = [(network, core, form) for network in arguments.networks.split(",") for core in CORES for form in FORMS]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        rows = list(pool.map(lambda case: measure(thimble, arguments.build, *case), cases))
    for row in rows:
        said, true = rows_of(row)
        for name in linked.wrong(said, true):
            print(f"{row['network']} {row['core']} {row['form']}: {name} {said[name]} printed, {true[name]} linked")
    compiler = subprocess.run(["arm-none-eabi-gcc", "--version"], check=True, capture_output=True, text=True).stdout
    SIZES.write_text(json.dumps({"compiler": compiler.splitlines()[0], "rows": rows}, indent=1) + "\n")
    README.write_text(with_table(README.read_text(), rows))
    return 1 if any(linked.wrong(*rows_of(row)) for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
