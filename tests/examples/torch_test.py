#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The scripts of examples/qat and examples/ethos_u that train in PyTorch print the accuracy in their READMEs.

usage: torch_test.py SOURCE_DIR THIMBLE qat|recover|recurrent|ethos_u

Run it with a Python that has torch, torchao, executorch and scikit-learn (qat, recover, recurrent), and tosa-tools (ethos_u).
"""
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE, THIMBLE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
SKIPPED = 77
NEEDED = {"qat": ["torch", "torchao", "executorch", "sklearn"], "recover": ["torch", "torchao", "sklearn"],
          "recurrent": ["torch", "torchao"], "ethos_u": ["torch", "executorch", "tosa_serializer"]}


def printed(*command):
    done = subprocess.run([sys.executable, *map(str, command)], check=True, stdout=subprocess.PIPE, text=True)
    print(done.stdout)
    return done.stdout


def qat():
    """Returns (rows of the README, printed rows): {(network, kind): accuracy}."""
    lines = [line.strip("| ").split(" | ") for line in (SOURCE / "examples/qat/README.md").read_text().splitlines()
             if line.startswith("| ")]
    kinds, *rows = lines
    told = {(row[0], kind): share for row in rows for kind, share in zip(kinds[1:], row[1:], strict=True)}
    got = re.findall(r"^(\S+) +(float|(?:PTQ|QAT), \w+) +([\d.]+ %)$", printed(SOURCE / "examples/qat/qat.py", "--thimble", THIMBLE),
                     re.M)
    return told, {(network, kind): share for network, kind, share in got}


def printed_block(script, *options):
    """Returns (lines of the README's section with the script's command, printed lines)."""
    line = re.compile(r"^ *(\S.*?) +([\d.]+ %|\d+ of \d+ samples equal)$", re.M)
    sections = (SOURCE / "examples/qat/README.md").read_text().split("\n## ")
    (section,) = [each for each in sections if f"python examples/qat/{script}\n" in each and "PYTHONPATH" in each]
    return dict(line.findall(section)), dict(line.findall(printed(SOURCE / "examples/qat" / script, *options)))


def recover():
    return printed_block("recover.py", "--thimble", THIMBLE)


def recurrent():
    return printed_block("recurrent.py")


def ethos_u():
    """Returns the README's rows and the printed ones."""
    row = re.compile(r"^((?:float|quantized) in PyTorch|quantized by Thimble) +([\d.]+%)$", re.M)
    with tempfile.TemporaryDirectory() as folder:
        text = printed(SOURCE / "examples/ethos_u/quantize.py", "--out", folder, "--thimble", THIMBLE)
    return dict(row.findall((SOURCE / "examples/ethos_u/README.md").read_text())), dict(row.findall(text))


def same(told, got, tolerance):
    """Compares two texts; numbers of percents may differ by `tolerance` percentage points."""
    if not told.endswith("%"):
        return told == got
    return abs(float(told.rstrip(" %")) - float(got.rstrip(" %"))) <= tolerance


def main():
    missing = [name for name in NEEDED[sys.argv[3]] if importlib.util.find_spec(name) is None]
    if missing:
        print(f"skipped: this Python has no {', '.join(missing)}")
        return SKIPPED
    told, got = {"qat": qat, "recover": recover, "recurrent": recurrent, "ethos_u": ethos_u}[sys.argv[3]]()
    assert len(got) >= 3 and told.keys() == got.keys(), f"README: {told}\nprinted: {got}"
    different = [key for key in told if not same(told[key], got[key], 2.0 if sys.argv[3] in ("recover", "recurrent") else 0.0)]
    assert not different, f"README: {told}\nprinted: {got}\ndifferent: {different}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
