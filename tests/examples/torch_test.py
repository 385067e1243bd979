#!/usr/bin/env python3
"""The scripts of examples/qat and examples/ethos_u that train in PyTorch print the accuracy in their READMEs.

usage: torch_test.py SOURCE_DIR THIMBLE qat|ethos_u

Run it with a Python that has torch, torchao, executorch and scikit-learn (qat), and tosa-tools (ethos_u).
"""
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE, THIMBLE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
SKIPPED = 77
NEEDED = {"qat": ["torch", "torchao", "executorch", "sklearn"], "ethos_u": ["torch", "executorch", "tosa_serializer"]}


def printed(*command):
    done = subprocess.run([sys.executable, *map(str, command), "--thimble", str(THIMBLE)], check=True, stdout=subprocess.PIPE,
                          text=True)
    print(done.stdout)
    return done.stdout


def qat():
    """Returns (rows of the README, printed rows): {(network, kind): accuracy}."""
    lines = [line.strip("| ").split(" | ") for line in (SOURCE / "examples/qat/README.md").read_text().splitlines()
             if line.startswith("| ")]
    kinds, *rows = lines
    told = {(row[0], kind): share for row in rows for kind, share in zip(kinds[1:], row[1:], strict=True)}
    got = re.findall(r"^(\S+) +(float|(?:PTQ|QAT), \w+) +([\d.]+ %)$", printed(SOURCE / "examples/qat/qat.py"), re.M)
    return told, {(network, kind): share for network, kind, share in got}


def ethos_u():
    """Returns the README's rows and the printed ones."""
    row = re.compile(r"^((?:float|quantized) in PyTorch|quantized by Thimble) +([\d.]+%)$", re.M)
    with tempfile.TemporaryDirectory() as folder:
        text = printed(SOURCE / "examples/ethos_u/quantize.py", "--out", folder)
    return dict(row.findall((SOURCE / "examples/ethos_u/README.md").read_text())), dict(row.findall(text))


def main():
    missing = [name for name in NEEDED[sys.argv[3]] if importlib.util.find_spec(name) is None]
    if missing:
        print(f"skipped: this Python has no {', '.join(missing)}")
        return SKIPPED
    told, got = {"qat": qat, "ethos_u": ethos_u}[sys.argv[3]]()
    assert len(got) >= 3 and told == got, f"README: {told}\nprinted: {got}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
