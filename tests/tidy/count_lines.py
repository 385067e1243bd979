# SPDX-License-Identifier: Apache-2.0
"""Counts lines of code: lines of C, C++ and .def files outside tests/ and models/ that are neither blank nor only comment.

    python3 tests/tidy/count_lines.py [FOLDER]
"""

import collections
import subprocess
import sys
from pathlib import Path

from tidy import without_comments

ENDINGS = (".c", ".h", ".cpp", ".def")


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
    listed = subprocess.run(["git", "-C", root, "ls-files"], check=True, capture_output=True, text=True).stdout
    lines = collections.Counter()
    for name in listed.split("\n"):
        if name.endswith(ENDINGS) and not name.startswith(("tests/", "models/")):
            text = without_comments((root / name).read_text())
            lines[name.split("/")[0]] += sum(bool(line.strip()) for line in text.split("\n"))
    for folder, count in sorted(lines.items()):
        print(f"{folder:12} {count:8,}")
    print(f"{'all':12} {sum(lines.values()):8,}")


if __name__ == "__main__":
    main()
