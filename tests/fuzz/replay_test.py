#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that fuzz_replay finds the defects of replay_defects.cpp and prints how to repeat them, and that fuzz.py continues a batch.

usage: replay_test.py FUZZ_REPLAY_DEFECTS FUZZ_PY
"""
import pathlib
import re
import subprocess
import sys
import tempfile

# Target: number of mutations, exit code, part of the output.
EXPECTED = {
    "abort_later": (100, 1, "crash, or a run without an end"),
    "allocate": (1, 1, "16777473 B allocated for 4 B, at most 16777472 expected"),
    "allocate_inflated": (1, 0, "| 16777473 |"),
    "few_pass": (200, 1, "less than 30 % pass the first checks"),
    "good": (200, 0, "| `good` | 200 | - | - | 0 | "),
    "keep": (200, 0, "| `keep` | 200 | 8"),
    "no_input_accepted": (1, 1, "no input is accepted"),
    "take_long": (0, 1, "s, at most 1 s expected"),
    "write_after_end": (100, 1, "crash, or a run without an end"),
    "wrong_first_check": (1, 1, "the accepted input does not pass the first checks"),
}


def main():
    program, fuzz_py = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "tests/fuzz").mkdir(parents=True)
        (folder / "tests/fuzz/inputs.txt").write_text("")

        def run(*words):
            ran = subprocess.run([program, folder, *map(str, words)], capture_output=True, text=True, check=False)
            return ran.returncode, ran.stdout + ran.stderr

        names = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout.split()
        if names != list(EXPECTED):
            sys.exit(f"targets: {names}, expected {list(EXPECTED)}")
        for name, (count, code, text) in EXPECTED.items():
            corpus = folder / "tests/fuzz/corpus" / name
            corpus.mkdir(parents=True)
            (corpus / "input").write_text("good")
            found = run(count, name)
            if found[0] != code or text not in found[1]:
                failed.append(f"{name}: exit code {found[0]}, expected {code} and {text!r}: {found[1]}")
        repeat = re.search(r"repeat: fuzz_replay \S+ (1 abort_later --first \d+)", run(100, "abort_later")[1])
        if repeat is None or run(*repeat[1].split())[0] != 1:
            failed.append(f"the command does not repeat the crash: {repeat}")

        def batch(*words):
            ran = subprocess.run([sys.executable, fuzz_py, "mutations", program, folder / "log", folder, *words],
                                 capture_output=True, text=True, check=False)
            return ran.returncode, ran.stdout + ran.stderr

        whole = run(300, "keep")[1].splitlines()[-1].split("|")[2:7]
        for count in ("100", "300"):  # the second continues the first
            found = batch("keep", "--count", count, "--slice", "70")
        if found[0] != 0 or "".join(whole) not in found[1].replace("|", ""):
            failed.append(f"300 mutations in slices: {found}, expected {whole}")
        found = batch("few_pass", "--count", "300", "--slice", "200")
        if found[0] != 1 or "repeat: fuzz_replay" not in found[1]:
            failed.append(f"a failed slice: {found}")
        limits = ((1, "abort_later", b"a7 7", 1, "input, byte 3 = 0\n"), (1, "keep", b"7", 1, "no change passes the first checks"),
                  (1, "good", b"\1\0\0\0\2\0\0\0\3", 0, "| `good` | 24 |"), (7, "good", b"\1\0\0\0\2\0\0\0\3", 0, "| `good` | 4 |"))
        for step, name, content, code, text in limits:
            (folder / "tests/fuzz/corpus" / name / "input").write_bytes(content)
            found = run(step, "--limits", name)
            if found[0] != code or text not in found[1]:
                failed.append(f"{name} {step} --limits: exit code {found[0]}, expected {code} and {text!r}: {found[1]}")
    print("\n".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
