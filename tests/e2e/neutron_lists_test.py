# SPDX-License-Identifier: Apache-2.0
"""The Neutron's kernels by name, and their estimated cycles compared with the time of 64 products per cycle.

usage: neutron_lists_test.py THIMBLE SOURCE_DIR           compares with the table of docs/neutron.md
       neutron_lists_test.py THIMBLE SOURCE_DIR --bless   rewrites the table

Image inputs are NHWC, and the subgraph ends in logits: a final softmax stays on the core. MobileNetV2 is too large
for this tree; its row is checked if build/models/ has the network.
"""

import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from network_test import thimble

TARGET, ENGINE = "imxrt700cm", "neutron-n3-64"
PRODUCTS, CLOCK_MHZ = 64, 325
# Network, its folder, maximum number of kernels, number of kernels that NXP's compiler makes of the network of that name
# (ExecuTorch, backends/nxp/tests, test_profiling.py at cff6f4d).
NETWORKS = (
    ("ad_autoencoder", "models", 10, "10"),
    ("dscnn_kws", "models", 11, "12"),
    ("mobilenet_v1_vww", "models", 29, "29"),
    ("resnet8", "models", 14, "17"),
    ("mobilenet_v2", "build/models", 65, "-"),
)
ENDS_IN_SOFTMAX = ("dscnn_kws", "resnet8")
BEGIN, END = "<!-- kernel lists: written by tests/e2e/neutron_lists_test.py -->", "<!-- end of kernel lists -->"


def kernels_of(rows):
    """Returns names and counts, in order: "Slice + 3 Conv2DStandard 3x3 with TANH"."""
    counts = {}
    for row in rows:
        what = row["op"].split("::", 1)[1]
        if what == "view" or what.startswith("in "):
            continue
        for part in what.split(" + "):
            count, name = re.fullmatch(r"(?:(\d+) )?(\w+).*", part).groups()
            counts[name] = counts.get(name, 0) + int(count or 1)
    return counts


def measured(program, folder, scratch):
    options = ["--io-layout", "nhwc"] if folder.name != "ad_autoencoder" else []
    options += ["--engine-off", "softmax"] if folder.name in ENDS_IN_SOFTMAX else []
    report = thimble(program, "compile", folder / f"{folder.name}.pt2", "--target", TARGET, "--calibrate",
                     folder / "calibrate.npz", "-o", scratch / "model.pte", *options)
    rows = [row for row in report["ops"] if row["engine"] == ENGINE]
    for row in report["ops"]:
        if row["engine"] != ENGINE and not any(kept in row["op"] for kept in ("quantize", "softmax")):
            sys.exit(f"{folder.name}: {row['op']} is not on the NPU: {row['reason']}")
    if report["npu_calls"] != 1:
        sys.exit(f"{folder.name}: {report['npu_calls']} calls")
    return kernels_of(rows), sum(row["macs"] for row in rows), report["npu_cycles"]


def row_text(name, counts, macs, cycles, vendors):
    bound = -(-macs // PRODUCTS)
    names = ", ".join(f"{count} {kernel}" for kernel, count in sorted(counts.items(), key=lambda item: -item[1]))
    return (f"| {name} | {sum(counts.values())} | {vendors} | {names} | {bound:,} | {cycles:,} | {cycles / bound:.2f} "
            f"| {cycles / CLOCK_MHZ:,.0f} |")


def main():
    program, source = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    page = source / "docs/neutron.md"
    text = page.read_text()
    table = text[text.index(BEGIN) + len(BEGIN):text.index(END)].strip().split("\n")
    known = {line.split("|")[1].strip(): line for line in table[2:]}
    for name, place, most, vendors in NETWORKS:
        folder = source / place / name
        if not (folder / f"{name}.pt2").exists():
            print(f"{name}: not here, python3 models/make.py {name} makes it")
            continue
        with tempfile.TemporaryDirectory() as scratch:
            counts, macs, cycles = measured(program, folder, pathlib.Path(scratch))
        if sum(counts.values()) > most:
            sys.exit(f"{name}: {sum(counts.values())} kernels, at most {most} expected: {counts}")
        if cycles * PRODUCTS < macs:
            sys.exit(f"{name}: {cycles} cycles are fewer than its {macs} products need")
        line = row_text(name, counts, macs, cycles, vendors)
        print(line)
        if "--bless" not in sys.argv and line != known.get(name):
            sys.exit(f"docs/neutron.md has\n{known.get(name)}\n{' '.join(sys.argv)} --bless writes it anew")
        known[name] = line
    if "--bless" in sys.argv:
        head = ["| network | kernels | NXP's | by name | cycles at 64 products each | estimated | ratio | us at 325 MHz |",
                "|---|---|---|---|---|---|---|---|"]
        lines = head + [known[name] for name, *_ in NETWORKS if name in known]
        begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
        page.write_text(text[:begin] + "\n" + "\n".join(lines) + "\n" + text[end:])


if __name__ == "__main__":
    main()
