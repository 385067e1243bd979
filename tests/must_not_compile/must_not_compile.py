# SPDX-License-Identifier: Apache-2.0
"""Compiles params.cpp once per case: the first must compile, each other must fail with its message.

    python3 tests/must_not_compile/must_not_compile.py COMPILER SOURCE_DIR
"""

import subprocess
import sys
from pathlib import Path

MESSAGES = (
    None,
    "not the attributes of the operator",
    "a byte of the struct belongs to no field",
    "mult",
    "a byte of the struct belongs to no field",
    "not the attributes of the operator",
    "a member of another type",
    "PreluParams",
    "the operators have different structs",
    "shift",
)


def main():
    compiler, root = sys.argv[1], Path(sys.argv[2])
    failures = 0
    for case, message in enumerate(MESSAGES):
        command = [compiler, "-std=c++20", "-fsyntax-only", f"-DCASE={case}", "-I", root, "-I", root / "src",
                   root / "tests/must_not_compile/params.cpp"]
        result = subprocess.run(command, capture_output=True, text=True)
        as_expected = result.returncode == 0 if message is None else result.returncode != 0 and message in result.stderr
        if not as_expected:
            failures += 1
            print(f"case {case}: exit code {result.returncode}, expected {'0' if message is None else message!r}\n{result.stderr}")
    print(f"{len(MESSAGES)} cases, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
