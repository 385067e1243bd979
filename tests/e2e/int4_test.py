"""Weights of 4 bits: one result on host, evaluator and emulated boards; sizes, accuracy and cycles.

usage: int4_test.py THIMBLE REPO table|boards [--bless]

Compares the numbers of docs/quantization.md with the measured ones; --bless writes them. `boards`: cycles of one
inference under QEMU, modelled from counted instructions.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from network_test import thimble

NETWORKS = ("dscnn_kws", "mobilenet_v1_vww", "deit_tiny_like")
CORES = ("cortex-m4", "cortex-m33", "cortex-m55")


def fail(text):
    sys.exit(f"int4_test: {text}")


def build(program, model, target, out, *options):
    return thimble(program, "compile", model / f"{model.name}.pt2", "--target", target, "--calibrate",
                   model / "calibrate.npz", "--memory", "sram=8M", "--memory", "flash=8M", "-o", out, *options)


def measure(program, models, scratch, name):
    """Returns the row of a network; checks the limits of the documentation."""
    model = models / name
    results = {}
    for weights in ("int8", "int4"):
        out = scratch / f"{name}-{weights}.pte"
        report = build(program, model, "cortex-m4", out, "--weights", weights)
        compared = thimble(program, "compare", model / f"{name}.pt2", out, "--data", model / "test.npz")
        results[weights] = (report, compared, out.stat().st_size)
    int4 = results["int4"][0]["int4_weights"]
    if int4["ops"] == 0 or int4["bytes"] > 0.55 * int4["as_int8_bytes"]:
        fail(f"{name}: {int4}")
    if name == "dscnn_kws":
        reasons = int4["kept_int8"]
        if len(reasons) != 4 or any("groups" not in reason["reason"] for reason in reasons):
            fail(f"depthwise convolutions: {reasons}")
    if "int4_weights" in results["int8"][0]:
        fail(f"{name}: int4 weights without a request")
    return "| {} | {:.2f} | {:.2f} | {:.1f} | {:.1f} | {:.1f} % | {:.1f} % |".format(
        name, int4["bytes"] / int4["as_int8_bytes"], results["int4"][2] / results["int8"][2],
        results["int8"][1]["sqnr_db"][0], results["int4"][1]["sqnr_db"][0],
        100 * results["int8"][1]["accuracy"], 100 * results["int4"][1]["accuracy"])


def first_sample(model, scratch):
    with zipfile.ZipFile(model / "golden.npz") as archive:
        name = next(name for name in archive.namelist() if name.startswith(("x", "in", "arg")))
        archive.extract(name, scratch)
    return scratch / name


def cycles_on_boards(program, models, scratch):
    """Returns the cycles of int4 relative to int8 by core. Host, evaluator and board must agree."""
    model = models / "dscnn_kws"
    ratios = []
    for core in CORES:
        cycles = {}
        for weights in ("int8", "int4"):
            out = scratch / f"{core}-{weights}.pte"
            build(program, model, core, out, "--weights", weights)
            sample = first_sample(model, scratch)
            board = thimble(program, "run", out, "--input", sample, "--on", "qemu", "--profile")
            cycles[weights] = board["cycles"]
            if weights == "int8":
                continue
            for place in ("host", "eval"):
                ran = thimble(program, "run", out, "--input", sample, "--on", place)
                if ran["outputs"][0]["sha256"] != board["outputs"][0]["sha256"]:
                    fail(f"{core}: {place} and board differ")
        ratios.append((core, cycles["int4"] / cycles["int8"]))
    limits = {"cortex-m4": 1.15, "cortex-m33": 1.15, "cortex-m55": 1.25}
    for core, ratio in ratios:
        if ratio > limits[core]:
            fail(f"{core}: {ratio:.3f} times the cycles of int8 weights")
    return ratios


def check_refusals(program, models, scratch):
    """Targets without kernels refuse; operators without a form keep int8 and give a reason."""
    model = models / "dscnn_kws"
    for target, options, words in (("corstone-300", ("--weights", "int4"), "no form of weights with 4 bits"),
                                   ("cortex-m4", ("--weights", "int4", "--compat", "executorch"), "no kernels for it"),
                                   ("corstone-300", ("--quant", "*=int4"), "has no int4 kernel"),
                                   ("cortex-m4", ("--quant", "*pool*=int4"), "has no weights, so int4")):
        command = [program, "compile", model / "dscnn_kws.pt2", "--target", target, "--calibrate",
                   model / "calibrate.npz", "-o", scratch / "refused.pte", *options]
        ran = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        if ran.returncode != 1 or words not in ran.stderr or (scratch / "refused.pte").exists():
            fail(f"{target} {options}: exit {ran.returncode}, {ran.stderr}")
    out = scratch / "one.pte"
    report = build(program, model, "cortex-m0plus", out, "--quant", "linear=int4")
    if report["int4_weights"]["ops"] != 1:
        fail(f"--quant linear=int4: {report['int4_weights']}")


def compare_text(document, marker, new, bless):
    """Compares the text between two marks of the document, or writes it."""
    begin, end = f"<!-- {marker} -->\n", f"<!-- end of {marker} -->\n"
    before, rest = document.read_text().split(begin)
    old, after = rest.split(end)
    if bless:
        document.write_text(before + begin + new + end + after)
    elif new != old:
        fail(f"{document} has other numbers: run with --bless\n{new}")


def main():
    program, repo, part = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    document, models, bless = repo / "docs/quantization.md", repo / "models", "--bless" in sys.argv
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        if part == "boards":
            ratios = cycles_on_boards(program, models, scratch)
            text = ", ".join(f"{ratio:.2f} on {core}" for core, ratio in ratios)
            compare_text(document, "int4 cycles",
                         f"Cycles of int4 relative to int8 for dscnn_kws, one inference: {text}.\n", bless)
            return
        check_refusals(program, models, scratch)
        rows = [measure(program, models, scratch, name) for name in NETWORKS]
        compare_text(document, "int4 table", "\n".join((
            "| network | weights | file | SQNR int8 | SQNR int4 | accuracy int8 | accuracy int4 |",
            "|---|--:|--:|--:|--:|--:|--:|", *rows)) + "\n", bless)


main()
