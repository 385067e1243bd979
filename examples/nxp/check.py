#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles a network for the i.MX RT700, prints the engine of each operator with the reason, runs the network on this machine
and on an emulated Cortex-M33, and checks the results.

    python3 examples/nxp/check.py cifarnet [--thimble build/thimble] [--target imxrt700cm] [--out DIR]
    python3 examples/nxp/check.py all [--table]
    python3 examples/nxp/check.py --beyond         # other networks: operators that stay on the core, and why

Needs only Python. Exits with 1 if a figure is outside its limit, or if one bit differs between the reference evaluator,
this machine and the board. mobilenet_v2 is checked if `python models/make.py mobilenet_v2` has made it.
"""
import argparse
import re
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples" / "nordic"))
from shared import arrays  # noqa: E402
from shared.program import Failed, command, encoded  # noqa: E402

TARGET, NPU, CORE = "imxrt700cm", "neutron-n3-64", "cortex-m33"
MACS_PER_CYCLE = 64
MHZ = 325
HEAD = """| network | calls | kernels | on the M33 | MACs / 64 | cycles, estimated | estimated time | M33 alone | top-1, float | top-1, int8 |
|---|--:|--:|---|--:|--:|--:|--:|--:|--:|"""


@dataclass
class Example:
    """`off`: operators kept on the core, and the number of remaining NPU calls. `least`: lower bound on int8 top-1."""

    model: str
    calls: int = 1
    off: str = ""
    least: float = 0.0
    compared: int = 5
    kernels_most: int = 0


EXAMPLES = {
    "cifarnet": Example("cifarnet", least=0.88, kernels_most=11),
    "cifarnet, softmax on the M33": Example("cifarnet", off="softmax", least=0.88, kernels_most=10),
    "cifarnet without softmax": Example("cifarnet_logits", least=0.88, kernels_most=8),
    "resnet8": Example("resnet8", least=0.85, kernels_most=15),
    "dscnn_kws": Example("dscnn_kws", least=0.93, kernels_most=12),
    "mobilenet_v2_tiny": Example("mobilenet_v2_tiny", least=0.95),
    "mobilenet_v2_tiny, one add on the M33": Example("mobilenet_v2_tiny", calls=2, off="add_2", least=0.95),
    "mobilenet_v2": Example("mobilenet_v2", least=0.15, compared=1),
    "mobilenet_v2, one add on the M33": Example("mobilenet_v2", calls=2, off="add_2", least=0.15, compared=1),
}


def file_of(model: str, name: str) -> Path:
    """In models/, or in the folder where models/make.py writes networks that are too large to commit."""
    folder = model.removesuffix("_logits")
    places = [ROOT / "models" / folder, ROOT / "build" / "models" / folder]
    return next((place / name for place in places if (place / name).exists()), places[0] / name)


def network_of(example: Example) -> Path:
    return file_of(example.model, f"{example.model}.pt2")


def kernels(thimble: Path, pte: Path) -> list:
    """The kernels that the NPU executes, by name."""
    listed = command(thimble, "inspect", pte, "--commands", json_answer=False)
    return re.findall(r"^kernel \d+ +(\w+)", listed, re.M)


def left(report: dict) -> list:
    return [op for op in report["ops"] if op["engine"] == CORE]


def compiled(example: Example, thimble: Path, target: str, pte: Path, *options) -> dict:
    return command(thimble, "compile", network_of(example), "--target", target, "--calibrate",
                   file_of(example.model, "calibrate.npz"), "--io", "int8", "--io-layout", "nhwc", *options,
                   "--emit", "pte,ir", "-o", pte)


def everywhere(thimble: Path, pte: Path, report: dict, x, folder: Path) -> tuple:
    """The outputs' hash, which must be equal for the evaluator, this machine and the board; the report of the board."""
    arrays.save(folder / "x.npy", encoded(x, report["inputs"][0]))
    found = {}
    for on, program in (("eval", pte.with_suffix(".ir")), ("host", pte), ("qemu", pte)):
        profile = ["--profile"] if on == "qemu" else []
        answer = command(thimble, "run", program, "--input", folder / "x.npy", "--steps", "--on", on, *profile)
        found[on] = [output["sha256"] for output in answer["outputs"]]
    if len(set(map(tuple, found.values()))) != 1:
        raise Failed(f"{pte}: outputs differ: {found}")
    return found["host"][0], answer


def cycles_of_core(answer: dict) -> int:
    """Modelled cycles per call (docs/cycles.md), without those of the delegates, which replace the NPU."""
    return round(answer["cycles"] / answer["calls"])


@dataclass
class Checked:
    lines: list = field(default_factory=list)
    wrong: list = field(default_factory=list)
    row: str = ""


def summary(report: dict, names: list) -> list:
    counts = Counter(names)
    listed = ", ".join(f"{count} {name}" for name, count in counts.items())
    lines = [f"{NPU}: {report['npu_calls']} call(s), {sum(counts.values())} kernels: {listed}"]
    lines += [f"{CORE}: {op['op']} of {op['node']}: {op['reason']}" for op in left(report)]
    return lines


def check(title: str, example: Example, thimble: Path, target: str, out: Path) -> Checked:
    found = Checked()
    pte = out / f"{example.model}{example.off and '-' + example.off}-{target}.pte"
    report = compiled(example, thimble, target, pte, *(["--engine-off", example.off] if example.off else []))
    names = kernels(thimble, pte)
    found.lines += summary(report, names)
    macs = sum(op["macs"] for op in report["ops"])
    found.lines.append(f"{macs / 1e6:.2f} MMAC: {macs // MACS_PER_CYCLE:,} cycles at 64 a cycle, {report['npu_cycles']:,.0f} estimated")

    quality = command(thimble, "compare", network_of(example), pte, "--data", file_of(example.model, "test.npz"))
    found.lines.append(f"top-1 of {quality['calls']} samples held back: {quality['accuracy']:.2%}; in float "
                       f"{quality['accuracy_float']:.2%}; SQNR {quality['sqnr_db'][0]:.1f} dB")
    x = arrays.load_all(file_of(example.model, "test.npz"))["x"].first(example.compared)
    digest, answer = everywhere(thimble, pte, report, x, out)
    found.lines.append(f"evaluator, host and emulated Cortex-M33 agree on {x.shape[0]} calls: sha256 {digest[:16]}...")

    alone = compiled(example, thimble, CORE, out / "alone.pte")
    _, counted = everywhere(thimble, out / "alone.pte", alone, x.first(1), out)
    core_us = cycles_of_core(counted) / MHZ
    found.lines.append(f"estimated time {report['time_us']:,.0f} us; the Cortex-M33 alone {core_us:,.0f} us")
    on_core = ", ".join(re.sub(r"^\w+::|\..*$", "", op["op"]) for op in left(report)) or "nothing"
    found.row = (f"| {title} | {report['npu_calls']} | {len(names)} | {on_core} | {macs // MACS_PER_CYCLE:,} | "
                 f"{report['npu_cycles']:,.0f} | {report['time_us']:,.0f} us | {core_us:,.0f} us | {quality['accuracy_float']:.1%} | "
                 f"{quality['accuracy']:.1%} |")
    found.wrong = wrong(example, report, quality, len(names))
    return found


def wrong(example: Example, report: dict, quality: dict, kernel_count: int) -> list:
    faults = []
    if report["npu_calls"] != example.calls:
        faults.append(f"{report['npu_calls']} calls of the NPU, {example.calls} expected")
    if example.kernels_most and kernel_count > example.kernels_most:
        faults.append(f"{kernel_count} kernels, at most {example.kernels_most} expected")
    if quality["accuracy"] < example.least:
        faults.append(f"top-1 {quality['accuracy']:.2%}, at least {example.least:.0%} expected")
    faults += [f"no reason for {op['op']}" for op in left(report) if not op["reason"]]
    return faults


BEYOND = ["gru_classifier", "tcn", "deit_tiny_like", "decoder_step", "unet_small", "yolo_nano_like", "face_embedding",
          "se_classifier", "vocoder"]
BEYOND_HEAD = """| network | calls | kernels | cycles, estimated | on the M33 | why |
|---|--:|--:|--:|---|---|"""
EDGE = re.compile(r"^\w+::(de)?quantize\.")


def named(op: dict) -> str:
    """Name of the operator; for a lookup table the name of its function."""
    name = re.sub(r"^\w+::|\..*$", "", op["op"])
    return re.sub(r"_\d+$", "", op["node"]) if name == "quantized_activation" else name


def beyond(thimble: Path, target: str, out: Path) -> None:
    """Prints a row per network. Conversions between float and integer are always on the core."""
    print(BEYOND_HEAD)
    for name in BEYOND:
        report = command(thimble, "compile", file_of(name, f"{name}.pt2"), "--target", target, "--calibrate",
                         file_of(name, "calibrate.npz"), "--npu-small", "-o", out / f"{name}.pte")
        counts = Counter((named(op), op["reason"].removeprefix(f"{NPU}: "))
                         for op in left(report) if not EDGE.match(op["op"]))
        what = ", ".join(f"{count} {op}" for (op, _), count in counts.items()) or "nothing"
        why = "; ".join(dict.fromkeys(reason for _, reason in counts)) or " "
        count = len(kernels(thimble, out / f"{name}.pte"))
        print(f"| {name} | {report['npu_calls']} | {count} | {report['npu_cycles']:,.0f} | {what} | {why} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("example", nargs="?", choices=sorted({title.split(",")[0].split()[0] for title in EXAMPLES}) + ["all"])
    parser.add_argument("--thimble", type=Path, default=ROOT / "build" / "thimble")
    parser.add_argument("--target", default=TARGET)
    parser.add_argument("--out", type=Path, help="where the .pte go; default: nowhere")
    parser.add_argument("--table", action="store_true", help="also as a table in Markdown")
    parser.add_argument("--beyond", action="store_true", help="a table of networks that are more than convolutions")
    options = parser.parse_args()
    if options.beyond == bool(options.example):
        parser.error("name an example, or all, or --beyond")
    faults, rows = [], []
    with tempfile.TemporaryDirectory() as scratch:
        out = options.out or Path(scratch)
        out.mkdir(parents=True, exist_ok=True)
        if options.beyond:
            return beyond(options.thimble, options.target, out)
        for title, example in EXAMPLES.items():
            if options.example != "all" and not re.match(rf"{options.example}\b", title):
                continue
            print(f"== {title}", flush=True)
            if not network_of(example).exists():
                print(f"  not here; python models/make.py {example.model} makes it")
                continue
            try:
                found = check(title, example, options.thimble, options.target, out)
            except Failed as failure:
                found = Checked(wrong=[str(failure)])
            print("".join(f"  {line}\n" for line in found.lines + [f"WRONG: {fault}" for fault in found.wrong]), end="", flush=True)
            faults += found.wrong
            rows.append(found.row)
    if options.table:
        print("\n".join(["", HEAD, *rows]))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
