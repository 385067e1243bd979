#!/usr/bin/env python3
"""Compiles an example, runs it on this machine and on an emulated Cortex-M33, and judges what it computes.

    python3 examples/nordic/check.py hello_axon [--thimble build/thimble] [--target nrf54lm20b] [--out DIR]
    python3 examples/nordic/check.py all

Needs nothing but Python. Ends with 1 if a figure is worse than it may be, or if one bit differs between the evaluator,
this machine and the board.
"""
import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from shared import arrays  # noqa: E402
from shared.estimate import estimate  # noqa: E402
from shared.judges import EXAMPLES  # noqa: E402
from shared.program import NORDIC, ROOT, TARGET, Compiled, Failed  # noqa: E402

ON_BOARD = 8  # samples that the emulated board runs


def outside(report: dict, target: str) -> list:
    """What the NPU does not do, with the reason; nothing where there is no NPU."""
    engines = {name: count for name, count in report["engines"].items()}
    lines = [f"{name}: {count} operators" for name, count in engines.items()]
    if len(engines) > 1:
        lines += [f"  {op['op']} of {op['node']}: {op['reason']}" for op in report["ops"] if op["engine"].startswith("cortex-m")]
    return lines


def check(name: str, variant: str, thimble: Path, target: str, out: Path) -> list:
    """Prints what there is to say; answers what is wrong."""
    example, wrong = EXAMPLES[name], []
    print(f"== {name}{', ' if variant else ''}{variant}")
    x = arrays.load_all(NORDIC / name / "test.npz")["x"]
    compiled = Compiled(thimble, name, out, target, example.io, example.variants[variant])
    for line in outside(compiled.report, target):
        print("  " + line)

    judged = example.judge(name, x, compiled.run(x).outputs[0])
    for line in judged.lines:
        print("  " + line)
    if not judged.good:
        wrong.append("not good enough")

    few = x.first(ON_BOARD)
    runs = compiled.everywhere(few)
    print(f"  evaluator, host and emulated Cortex-M33 agree on {few.shape[0]} calls: sha256 {runs['host'].hashes[0][:16]}...")

    took = estimate(compiled.report, runs["qemu"].answer)
    print(f"  estimate {took}")
    print(f"  at most {example.wanted_us} us are wanted; the pull request measured {example.request_us}")
    if target != "cortex-m33":
        if took.us > example.wanted_us:
            wrong.append(f"{took.us:.0f} us, {example.wanted_us} wanted")
        if took.calls != example.delegates[variant]:
            wrong.append(f"{took.calls} delegates, {example.delegates[variant]} expected")
    return [f"{name} {variant}: {line}" for line in wrong]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("example", choices=[*EXAMPLES, "all"])
    parser.add_argument("--thimble", type=Path, default=ROOT / "build" / "thimble")
    parser.add_argument("--target", default=TARGET)
    parser.add_argument("--out", type=Path, help="where the .pte go; default: nowhere")
    options = parser.parse_args()
    wrong = []
    with tempfile.TemporaryDirectory() as scratch:
        out = options.out or Path(scratch)
        for name in EXAMPLES if options.example == "all" else [options.example]:
            for variant in EXAMPLES[name].variants:
                try:
                    wrong += check(name, variant, options.thimble, options.target, out)
                except Failed as failed:
                    wrong.append(f"{name}: {failed}")
    for line in wrong:
        print("WRONG", line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
