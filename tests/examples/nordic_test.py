#!/usr/bin/env python3
"""An example of examples/nordic, as its README tells it.

usage: nordic_test.py SOURCE_DIR THIMBLE NAME

1. the float graph computes what PyTorch did (golden.npz)
2. the `thimble` commands of the README work as they stand there
3. check.py: compiled, run by the evaluator, this machine and the emulated Cortex-M33, judged, timed
4. the notebook runs from end to end
5. the Zephyr application, built with a stand-in for Zephyr (tests/examples/zephyr), prints on the emulated board what
   the README says; only microseconds may differ
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from app_test import run, serial_output
from nordic_application import build

SOURCE, THIMBLE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
NAME = sys.argv[3]
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


def expected_output(variant):
    """What the README says that the board prints: the fenced blocks behind `Expected output`."""
    blocks = re.findall(r"^Expected output[^\n]*\n+```\n(.*?)^```$", (EXAMPLE / "README.md").read_text(), re.M | re.S)
    return blocks[variant]


def without_times(text):
    return re.sub(r"\b\d+ us\b", "N us", text)


def check_application(folder, variant, options):
    image = build(SOURCE, THIMBLE, EXAMPLE, folder / f"app{variant}",
                  [f"-DNORDIC_TARGET={TARGET}", "-DNORDIC_AXON=layers", "-DSTANDIN_CONFIG=CONFIG_THIMBLE_NORDIC_AXON_MODEL=y",
                   *options])
    printed = serial_output("mps2-an505", image)
    wanted = expected_output(variant) + "END ok\n"
    assert without_times(printed) == without_times(wanted), f"printed:\n{printed}\nthe README says:\n{wanted}"
    print(printed)


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        check_golden(folder)
        check_commands(folder)
        run(sys.executable, NORDIC / "check.py", NAME, "--thimble", THIMBLE, "--out", folder)
        run(sys.executable, NORDIC / "shared/notebook.py", EXAMPLE / "walkthrough.ipynb", env={**os.environ, "THIMBLE": str(THIMBLE)},
            stdout=subprocess.DEVNULL)
        check_application(folder, 0, [])
        if NAME == "simple_rnn":
            check_application(folder, 1, ["-DSPLIT_AT_TANH=ON"])


if __name__ == "__main__":
    main()
