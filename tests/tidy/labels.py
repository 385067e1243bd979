# SPDX-License-Identifier: Apache-2.0
"""Every test has a label, and the labels are those that CONTRIBUTING.md lists.

usage: labels.py CTEST BUILD_DIR SOURCE_DIR

Reads the tests of a build tree from `ctest --show-only=json-v1` and the table of labels from CONTRIBUTING.md, section
"Build and test". Fails if a test has no label, if a test has a label that the table lacks, or if a label of the table selects no test.
The third column of the table names cache variables of CMake that a label needs: without a value for each, it may select none.
"""

import json
import pathlib
import re
import subprocess
import sys

ROW = re.compile(r"\| `(\w+)` \| [^|]+ \|([^|]*)\|$")


def documented_labels(page):
    """{label: variables that it needs} from the table of the section "Build and test"."""
    section = re.search(r"^## Build and test\n(.*?)^## ", page, re.M | re.S)
    if not section:
        sys.exit('CONTRIBUTING.md: no section "Build and test"')
    rows = (ROW.match(line) for line in section[1].splitlines())
    return {row[1]: re.findall(r"`(\w+)`", row[2]) for row in rows if row}


def tests_of(ctest, build):
    """{test: labels}."""
    listed = subprocess.run([ctest, "--show-only=json-v1"], cwd=build, capture_output=True, text=True, check=True)
    return {test["name"]: [label for item in test.get("properties", []) if item["name"] == "LABELS" for label in item["value"]]
            for test in json.loads(listed.stdout)["tests"]}


def variables_with_a_value(cache):
    values = dict(re.findall(r"^(\w+):\w+=(.*)$", cache, re.M))
    return {name for name, value in values.items() if value not in ("", "OFF") and not value.endswith("NOTFOUND")}


def problems(documented, tests, variables):
    for test, labels in sorted(tests.items()):
        if not labels:
            yield f"{test}: no label"
        for label in sorted(set(labels) - documented.keys()):
            yield f"{test}: label {label}, which CONTRIBUTING.md does not list"
    for label, needed in documented.items():
        if variables.issuperset(needed) and not any(label in labels for labels in tests.values()):
            yield f"CONTRIBUTING.md: label {label} selects no test"


def main():
    ctest, build, source = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    documented = documented_labels((source / "CONTRIBUTING.md").read_text())
    tests = tests_of(ctest, build)
    found = list(problems(documented, tests, variables_with_a_value((build / "CMakeCache.txt").read_text())))
    for line in found:
        print(line)
    for label in documented:
        print(f"{label}: {sum(label in labels for labels in tests.values())} tests")
    print(f"{len(tests)} tests: {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
