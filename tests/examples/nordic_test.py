#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An example of examples/nordic, tested by its README.

usage: nordic_test.py SOURCE_DIR THIMBLE NAME [--bless]

1. The float graph computes PyTorch's outputs (golden.npz).
2. The `thimble` commands of the README work without a change.
3. check.py compiles the model and runs it on the evaluator, the host and the emulated Cortex-M33. It prints the
   README's text and the example's rows of the folder's table. Cycles of the core are left out if the cross compiler is not
   the recorded one (recorded.py).
4. The notebook runs to its end.
5. The Zephyr application, built with a stand-in for Zephyr (tests/examples/zephyr), prints the README's text on the
   emulated board, except for microseconds, which depend on the speed of this machine.

--bless writes the printed text into the README, and the example's rows into the folder's table.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from app_test import run, serial_output
from nordic_application import build
from recorded import is_recorded_compiler

SOURCE, THIMBLE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
NAME, BLESS = sys.argv[3], "--bless" in sys.argv
NORDIC = SOURCE / "examples/nordic"
EXAMPLE = NORDIC / NAME
sys.path.insert(0, str(NORDIC))
from shared import arrays  # noqa: E402
from shared.program import TARGET  # noqa: E402

GOLDEN_DIFFERENCE_MAX = 1e-4


def check_golden(folder):
    golden = arrays.load_all(EXAMPLE / "golden.npz")
    arrays.save(folder / "x.npy", golden["x"])
    run(THIMBLE, "run", EXAMPLE / f"{NAME}.pt2", "--input", folder / "x.npy", "--steps", "--output", folder)
    got = arrays.load(folder / "output_0.npy")
    difference = max(abs(a - b) for a, b in zip(got.data, golden["y"].data, strict=True))
    assert difference < GOLDEN_DIFFERENCE_MAX, f"{difference} from what PyTorch computed"


def check_commands(folder):
    (folder / "examples").symlink_to(SOURCE / "examples")
    text = (EXAMPLE / "README.md").read_text().replace("\\\n", " ")
    commands = re.findall(r"^    thimble (.*)$", text, re.M)
    assert commands, "the README tells no command"
    for command in commands:
        run(THIMBLE, *command.split(), cwd=folder, stdout=subprocess.DEVNULL)


def blocks(what):
    """Matches fenced blocks after lines that begin with `what`: the lines before, the content, the end."""
    return re.compile(rf"(^{what}[^\n]*\n+```\n)(.*?)(^```$)", re.M | re.S)


def check_told(what, index, printed, normal):
    """The README's block equals the printed text after `normal` has removed what may differ."""
    readme = EXAMPLE / "README.md"
    found = list(blocks(what).finditer(readme.read_text()))
    assert index < len(found), f"{readme}: {len(found)} blocks behind `{what}`"
    if BLESS and normal(printed) != normal(found[index][2]):
        text, (start, end) = readme.read_text(), found[index].span(2)
        readme.write_text(text[:start] + printed + text[end:])
        return
    assert normal(printed) == normal(found[index][2]), f"printed:\n{printed}\n{readme}:\n{found[index][2]}"


def check_rows(printed, normal):
    """The head of the table of the folder's README and the example's rows in it are the printed ones, in their order."""
    readme = NORDIC / "README.md"
    lines = readme.read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("| example | delegates |"))
    told = [i for i in (start, start + 1) if lines[i].startswith("|")]
    told += [i for i in range(start, len(lines)) if re.match(rf"\| {NAME}[ ,]", lines[i])]
    assert len(told) == len(printed) > 2, f"{readme}: {len(told)} rows, printed:\n{printed}"
    for i, row in zip(told, printed, strict=True):
        if BLESS:
            lines[i] = row
        assert normal(lines[i]) == normal(row), f"printed:\n{row}\n{readme}:\n{lines[i]}"
    if BLESS:
        readme.write_text("\n".join(lines) + "\n")


def without_times(text):
    return re.sub(r"\b\d+ us\b", "N us", text)


def without_core_cycles(text):
    text = re.sub(r"(estimate|M33 alone:) .*", r"\1 ...", text)
    # Columns of the table: M33 cycles, estimated, M33 alone.
    return re.sub(r"^(\|(?:[^|]*\|){4})[^|]*\|[^|]*\|(.*\|)[^|]*\|$", r"\1 ... | ... |\2 ... |", text, flags=re.M)


def check_report(folder):
    normal = str if is_recorded_compiler(SOURCE) else without_core_cycles
    assert normal is str or not BLESS, "--bless: requires the recorded cross compiler"
    done = run(sys.executable, NORDIC / "check.py", NAME, "--table", "--thimble", THIMBLE, "--out", folder, capture_output=True,
               text=True)
    print(done.stdout)
    lines = done.stdout.splitlines(keepends=True)
    check_told("It prints", 0, "".join(line for line in lines if not line.startswith("|")), normal)
    check_rows([line.rstrip("\n") for line in lines if line.startswith("|")], normal)


def check_application(folder, variant, options):
    image = build(SOURCE, THIMBLE, EXAMPLE, folder / f"app{variant}",
                  [f"-DNORDIC_TARGET={TARGET}", "-DNORDIC_AXON=layers", "-DSTANDIN_CONFIG=CONFIG_THIMBLE_NORDIC_AXON_MODEL=y",
                   *options])
    printed = serial_output("mps2-an505", image)
    assert printed.endswith("END ok\n"), printed
    check_told("Expected output", variant, without_times(printed.removesuffix("END ok\n")), without_times)
    print(printed)


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        check_golden(folder)
        check_commands(folder)
        check_report(folder)
        run(sys.executable, NORDIC / "shared/notebook.py", EXAMPLE / "walkthrough.ipynb", env={**os.environ, "THIMBLE": str(THIMBLE)},
            stdout=subprocess.DEVNULL)
        check_application(folder, 0, [])
        if NAME == "simple_rnn":
            check_application(folder, 1, ["-DSPLIT_AT_TANH=ON"])


if __name__ == "__main__":
    main()
