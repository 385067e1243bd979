# SPDX-License-Identifier: Apache-2.0
"""The table of benchmarks/sizes/README.md has the numbers of sizes.json, which are within the limits, and `thimble compile`
prints them.

usage: readme_test.py THIMBLE SOURCE_DIR ARM_CC
"""

import json
import pathlib
import subprocess
import sys
import tempfile

THIMBLE, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
CC = sys.argv[3]
sys.path.insert(0, str(SOURCE / "benchmarks/sizes"))
import linked
import measure

SKIPPED = 77
COMPILED = ["digits_cnn", "dscnn_kws", "hello_sin"]  # the whole table would take a minute
AGAIN = "to update them: python3 benchmarks/sizes/measure.py"


def main():
    recorded = json.loads(measure.SIZES.read_text())
    compiler = subprocess.run([CC, "--version"], check=True, capture_output=True, text=True).stdout.splitlines()[0]
    if compiler != recorded["compiler"]:
        print(f"skipped: the sizes are of {recorded['compiler']}, this is {compiler}")
        return SKIPPED
    rows, failures = recorded["rows"], []
    cases = [(row["network"], row["core"], row["form"]) for row in rows]
    assert cases == [(n, c, f) for n in measure.NETWORKS for c in linked.CORES for f in linked.FORMS], "rows are missing"
    for case, row in zip(cases, rows):
        failures += [f"{case}: {name} outside the limits" for name in linked.wrong(*measure.rows_of(row))]
        if case[0] not in COMPILED:
            continue
        with tempfile.TemporaryDirectory() as folder:
            report = linked.compiled(THIMBLE, *case, pathlib.Path(folder))
        said, _ = measure.rows_of(row)
        if linked.printed(report) != said:
            failures.append(f"{case}: recorded {said}, printed {linked.printed(report)}; {AGAIN}")
    text = measure.README.read_text()
    if measure.with_table(text, rows) != text:
        failures.append(f"the table of README.md is not that of sizes.json; {AGAIN}")
    print("\n".join(failures) or f"{len(rows)} rows")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
