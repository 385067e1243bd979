# SPDX-License-Identifier: Apache-2.0
"""Each row of the feature table of docs/executorch.md names a test that exists, and a row that is not full names a page. The tests
that other documents name exist too: a name that ends with `_test` is one of CMake.

usage: features_test.py SOURCE_DIR

Tests are those of the CMake files in tests/; a second word of the cell is a name or a text in the Python file of that test.
"""

import pathlib
import re
import sys

SOURCE = pathlib.Path(sys.argv[1]).resolve()
HEADING = "## Features of ExecuTorch's backends"


def expanded(text):
    """The text of a CMake file with each foreach written out."""
    def each(loop):
        variable, *values = loop[1].split()
        return "".join(loop[2].replace("${" + variable + "}", value) for value in values)

    return re.sub(r"foreach\(([^)]*)\)(.*?)endforeach", each, text, flags=re.S)


def tests():
    """The text of the Python files in the command of each test, by name."""
    found = {}
    for path in (SOURCE / "tests").rglob("*.cmake"):
        text = re.sub(r"#.*", "", path.read_text())
        folders = {"CMAKE_CURRENT_LIST_DIR": path.parent, "CMAKE_SOURCE_DIR": SOURCE}
        for name, value in re.findall(r"set\((\w+) (\$\{\w+\}\S*)\)", text):
            folders[name] = re.sub(r"\$\{(\w+)\}", lambda match: str(folders.get(match[1], "")), value)
        for name, command in re.findall(r"add_test\(NAME (\S+)\s+COMMAND([^)]*)\)", expanded(text)):
            command = re.sub(r"\$\{(\w+)\}", lambda match: str(folders.get(match[1], "")), command)
            scripts = [pathlib.Path(word) for word in command.split() if word.endswith(".py")]
            found[name] = "".join(each.read_text() for each in scripts if each.exists())
    return found


def missing_tests():
    """Returns a line for each name of a test in a document that no CMake file of tests/ adds. A variable in a name is any word, after a prefix."""
    patterns = set()
    for path in (SOURCE / "tests").rglob("*.cmake"):
        text = re.sub(r"#.*", "", path.read_text())
        for name in re.findall(r"(?:thimble_test\(|add_test\(NAME )(\S+)", text):
            if not name.startswith("$"):
                patterns.add(re.sub(r"\$\{\w+\}", r"\\w+", name))
    known = re.compile("|".join(patterns))
    pages = sorted([*(SOURCE / "docs").rglob("*.md"), *SOURCE.glob("*.md"), *(SOURCE / "tests").rglob("README.md")])
    return [f"{page.relative_to(SOURCE)}: no test {name}" for page in pages
            for name in re.findall(r"`([a-z0-9_]+_test)`", page.read_text()) if not known.fullmatch(name)]


def main():
    page = (SOURCE / "docs/executorch.md").read_text()
    section = page[page.index(HEADING):].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")][1:]
    known, failed = tests(), []
    for row in rows:
        feature, ours, test = (cell.strip() for cell in row.strip("|").split(" | "))
        name, *cases = re.findall(r"`([^`]+)`", test)
        if name not in known:
            failed.append(f"{feature}: no test {name}")
        for case in cases:
            if not re.search(rf"\b{case}\b", known.get(name, "")):
                failed.append(f"{feature}: no {case} in the script of {name}")
        if re.search(r"\bin part:", ours, re.I) and not re.search(r"\]\([\w./-]+\.md\)", ours):
            failed.append(f"{feature}: is not full, and names no page")
    functions = re.findall(r"^@feature\ndef (\w+)", (SOURCE / "tests/peers/executorch_flow/features_test.py").read_text(), re.M)
    failed += [f"no row for the test {each}" for each in functions if f"`{each}`" not in section]
    failed += missing_tests()
    print(f"{len(rows)} rows", *failed, sep="\n")
    return 1 if failed or len(rows) < 40 else 0


if __name__ == "__main__":
    sys.exit(main())
