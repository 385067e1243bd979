#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles an example, runs it on this machine and on an emulated Cortex-M33, and checks the results.

    python3 examples/nordic/check.py hello_axon [--thimble build/thimble] [--target nrf54lm20b] [--out DIR]
    python3 examples/nordic/check.py all [--table]

Needs only Python. Exits with 1 if a figure is outside its limit, or if one bit differs between the reference evaluator,
this machine and the board.
"""
import argparse
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from shared import arrays  # noqa: E402
from shared.estimate import estimate  # noqa: E402
from shared.checks import EXAMPLES  # noqa: E402
from shared.program import NORDIC, ROOT, TARGET, Compiled, Failed, command  # noqa: E402

CORE = "cortex-m33"
HEAD = """| example | delegates | int8 on data held back | NPU cycles | M33 cycles | estimated | wanted | request | M33 alone |
|---|--:|---|--:|--:|--:|--:|--:|--:|"""


def outside(report: dict) -> list:
    """The number of operators per engine, and why some are not on the NPU."""
    lines = [f"{name}: {count} operators" for name, count in report["engines"].items()]
    if list(report["engines"]) != [CORE]:
        lines += [f"  {op['op']} of {op['node']}: {op['reason']}" for op in report["ops"] if op["engine"] == CORE]
    return lines


def float_outputs(thimble: Path, name: str, x: arrays.Array, out: Path) -> arrays.Array:
    """Outputs of the exported float network."""
    arrays.save(out / "x.npy", x)
    command(thimble, "run", NORDIC / name / f"{name}.pt2", "--input", out / "x.npy", "--steps", "--output", out / "out-float")
    return arrays.load(out / "out-float" / "output_0.npy")


@dataclass
class Checked:
    """The result for one form of an example: output lines, errors, and a row of the table."""

    lines: list = field(default_factory=list)
    wrong: list = field(default_factory=list)
    row: str = ""


def check(name: str, what: str, thimble: Path, target: str, out: Path) -> Checked:
    example, found = EXAMPLES[name], Checked()
    form = example.forms[what]
    x = arrays.load_all(NORDIC / name / "test.npz")["x"]
    few = x.first(example.compared)
    compiled = Compiled(thimble, name, out, target, example.io, form.options, form.model)
    found.lines += outside(compiled.report)

    judged = example.judge(name, x, compiled.run(x).outputs[0])
    found.lines += judged.lines
    if not form.model:
        found.lines.append(f"in float: {example.judge(name, x, float_outputs(thimble, name, x, out)).lines[0]}")
    if not judged.good:
        found.wrong.append("not good enough")

    runs = compiled.everywhere(few)
    digest = runs["host"].hashes[0][:16]
    found.lines.append(f"evaluator, host and emulated Cortex-M33 agree on {few.shape[0]} calls: sha256 {digest}...")
    took = estimate(compiled.report, runs["qemu"].answer)
    core = Compiled(thimble, name, out, CORE, example.io, (), form.model)
    alone = estimate(core.report, core.run(few, "qemu", profile=True).answer)
    found.lines += [f"estimate {took}", f"the Cortex-M33 alone: {alone.us:,.0f} us",
                    f"wanted: at most {example.wanted_us} us; the pull request measured {example.request_us} us"]
    found.row = (f"| {name}{what and ', ' + what} | {took.calls} | {judged.lines[0]} | {took.npu_cycles:,} | "
                 f"{took.core_cycles:,} | {took.us:.0f} us | {example.wanted_us} | {example.request_us} | {alone.us:,.0f} us |")
    if target != CORE:
        if took.us > example.wanted_us:
            found.wrong.append(f"{took.us:.0f} us, {example.wanted_us} wanted")
        if took.calls != form.delegates:
            found.wrong.append(f"{took.calls} delegates, {form.delegates} expected")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("example", choices=[*EXAMPLES, "all"])
    parser.add_argument("--thimble", type=Path, default=ROOT / "build" / "thimble")
    parser.add_argument("--target", default=TARGET)
    parser.add_argument("--out", type=Path, help="where the .pte go; default: nowhere")
    parser.add_argument("--table", action="store_true", help="also as a table in Markdown")
    options = parser.parse_args()
    wrong, rows = [], []
    with tempfile.TemporaryDirectory() as scratch:
        out = options.out or Path(scratch)
        for name in EXAMPLES if options.example == "all" else [options.example]:
            for what in EXAMPLES[name].forms:
                print(f"== {name}{what and ', ' + what}", flush=True)
                try:
                    found = check(name, what, options.thimble, options.target, out)
                except Failed as failed:
                    wrong.append(f"{name}: {failed}")
                    continue
                print("\n".join("  " + line for line in found.lines))
                rows.append(found.row)
                wrong += [f"{name}{what and ', ' + what}: {line}" for line in found.wrong]
    if options.table:
        print("\n".join([HEAD, *rows]))
    for line in wrong:
        print("WRONG", line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
