#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes samples of test.npz as a C header: `inputs`, and `labels` if the file has labels.

    python3 inputs.py test.npz report.json --samples 4 [--nhwc] -o inputs.h

If there are labels, takes the first sample of each class, then the second, until there are enough; else the first ones.
For a program with int8 input (see report.json) the samples are quantized. --nhwc: images with channels last.
"""
import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from shared import arrays  # noqa: E402
from shared.program import encoded  # noqa: E402


def chosen(labels, count: int) -> list:
    """Indices of the samples, which alternate between the classes."""
    by_class = {kind: [i for i, label in enumerate(labels) if label == kind] for kind in sorted(set(labels))}
    order = [(turn, kind) for kind, found in by_class.items() for turn in range(len(found))]
    return [by_class[kind][turn] for turn, kind in sorted(order)[:count]]


def channels_last(row, shape) -> list:
    pixels = len(row) // shape[0]
    return [value for pixel in range(pixels) for value in row[pixel::pixels]]


def header(source: Path, report: dict, count: int, nhwc: bool) -> str:
    found = arrays.load_all(source)
    x = encoded(found["x"], report["inputs"][0])
    rows = [channels_last(row, x.shape[1:]) for row in x.rows()] if nhwc else x.rows()
    labels = found["labels"].data if "labels" in found else None
    indices = chosen(labels, count) if labels else range(count)
    kind, form = ("int8_t", "{}") if x.descr == "|i1" else ("float", "{!r}f")
    lines = [f"/* {len(indices)} samples of {source.name}, written by {Path(__file__).name}. */", "#include <stdint.h>",
             f"enum {{ INPUT_COUNT = {len(indices)}, INPUT_SIZE = {len(rows[0])} }};",
             f"static const {kind} inputs[INPUT_COUNT][INPUT_SIZE] = {{"]
    lines += ["  {" + ", ".join(form.format(value) for value in rows[i]) + "}," for i in indices] + ["};"]
    if labels:
        lines.append(f"static const uint8_t labels[INPUT_COUNT] = {{{', '.join(str(labels[i]) for i in indices)}}};")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samples_file", type=Path)
    parser.add_argument("report", type=Path, help="what compile --report wrote")
    parser.add_argument("--samples", type=int, default=4)
    parser.add_argument("--nhwc", action="store_true")
    parser.add_argument("-o", dest="out", type=Path, required=True)
    options = parser.parse_args()
    options.out.write_text(header(options.samples_file, json.loads(options.report.read_text()), options.samples, options.nhwc))


if __name__ == "__main__":
    main()
