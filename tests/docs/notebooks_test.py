# SPDX-License-Identifier: Apache-2.0
"""The notebooks of examples/notebooks: stored without outputs, and executed without an error.

usage: notebooks_test.py SOURCE_DIR BUILD_DIR PYTHON NAME... [--installed]

Executes the notebooks NAME.ipynb with nbclient in PYTHON, with the package of BUILD_DIR/python, or with --installed the one
that PYTHON has. The executed notebooks, with their outputs, are in BUILD_DIR/notebooks. `--static` instead of PYTHON checks the stored form of all notebooks and
executes nothing. If a notebook needs only packages of INSTALLED that PYTHON lacks, they are installed from PyPI into
BUILD_DIR/notebooks-venv. Exits with 77 (skipped) if PYTHON lacks another package that a notebook needs.
"""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

from pypi import python_with, skip

SOURCE, BUILD = (Path(argument).resolve() for argument in sys.argv[1:3])
PYTHON, NAMES = sys.argv[3], [name for name in sys.argv[4:] if name != "--installed"]
PACKAGE = {} if "--installed" in sys.argv else {"PYTHONPATH": str(BUILD / "python")}
FOLDER = SOURCE / "examples/notebooks"
EXECUTE = Path(__file__).with_name("execute_notebook.py")
INSTALLED = ["ipykernel", "nbclient", "nbformat", "numpy"]
CPU_SECONDS_MAX = 90  # three minutes with half of a core
OUTPUT_BYTES_MAX = 3 << 20  # reports are pages with pictures
CELL_SECONDS_MAX = 600  # a cell that waits forever ends
MEASURED = re.compile(r"\b\d[\d,.]*\s*(%|dB|ms|us|s|seconds|minutes|KB|MB|kB|B|bytes|cycles|MACs)(?!\w)")
CODE = re.compile(r"`[^`]*`")


def problems_of_form(path):
    """Violations of the form in which a notebook is stored."""
    cells = json.loads(path.read_text())["cells"]
    for number, cell in enumerate(cells):
        text = "".join(cell["source"])
        if cell["cell_type"] == "code" and (cell["outputs"] or cell["execution_count"] is not None):
            yield f"{path.name}: cell {number} has outputs; notebooks are stored without them"
        found = cell["cell_type"] == "markdown" and MEASURED.search(CODE.sub("", text))
        if found:
            yield f"{path.name}: cell {number}: '{found.group(0)}' is typed; a cell must compute it"


def imports_of(path):
    cells = json.loads(path.read_text())["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    return sorted(set(re.findall(r"(?m)^(?:import|from) (\w+)", code)))


def missing_packages(python, names):
    """Packages that `python` does not have."""
    script = "import importlib.util, sys; print(*(n for n in sys.argv[1:] if importlib.util.find_spec(n) is None))"
    return subprocess.run([python, "-c", script, *names], env=environment(), capture_output=True, text=True,
                          check=True).stdout.split()


def python_for(names):
    """The interpreter that executes notebooks."""
    imported = {package for name in names for package in imports_of(FOLDER / f"{name}.ipynb")}
    python, missing = PYTHON, missing_packages(PYTHON, sorted(imported | set(INSTALLED)))
    standard = set(sys.stdlib_module_names) | {"thimble_ml"}
    if missing and imported - standard <= set(INSTALLED):
        python, missing = python_with(BUILD / "notebooks-venv", INSTALLED, PYTHON), []
    if missing:
        skip(f"{PYTHON} lacks {', '.join(missing)}")
    loaded = subprocess.run([python, "-c", "import thimble_ml"], env=environment(), capture_output=True, text=True)
    if loaded.returncode != 0:
        skip(f"{python} cannot import the package of {BUILD / 'python'}: {loaded.stderr.strip().splitlines()[-1]}")
    return python


def environment():
    return {**os.environ, **PACKAGE, "OMP_NUM_THREADS": "1", "JUPYTER_PLATFORM_DIRS": "1"}


def outputs_text(notebook):
    return "".join("".join(output.get("text", "")) for cell in notebook["cells"] for output in cell.get("outputs", []))


def cpu_seconds():
    """Time that ended processes of this one spent on a core."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def execute(python, name):
    """Problems of a notebook that is executed."""
    work = BUILD / "notebooks"
    executed = work / f"{name}.ipynb"
    # A copy with the tree's layout: a notebook writes files beside itself.
    folder = work / name / "examples/notebooks"
    shutil.rmtree(work / name, ignore_errors=True)
    folder.mkdir(parents=True)
    (work / name / "models").symlink_to(SOURCE / "models")
    begin = cpu_seconds()
    ran = subprocess.run([python, EXECUTE, FOLDER / f"{name}.ipynb", folder, executed, str(CELL_SECONDS_MAX)],
                         env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    seconds = cpu_seconds() - begin
    if ran.returncode != 0:
        return [f"{name}: {ran.stdout}"]
    text = executed.read_text()
    notebook = json.loads(text)
    print(f"--- {name}: {seconds:.0f} s of a core, {len(text):,} bytes with outputs\n{outputs_text(notebook)}")
    found = []
    if seconds > CPU_SECONDS_MAX:
        found.append(f"{name}: {seconds:.0f} s of a core, {CPU_SECONDS_MAX} s allowed")
    if len(text) > OUTPUT_BYTES_MAX:
        found.append(f"{name}: {len(text):,} bytes with outputs, {OUTPUT_BYTES_MAX:,} allowed")
    reports = [output for cell in notebook["cells"] for output in cell.get("outputs", []) if "text/html" in output.get("data", {})]
    if not reports:
        found.append(f"{name}: no report is shown")
    return found


def main():
    notebooks = sorted(FOLDER.glob("*.ipynb"))
    found = [problem for path in notebooks for problem in problems_of_form(path)]
    if PYTHON == "--static":
        listed = set(re.findall(r"\((\w+)\.ipynb\)", (FOLDER / "README.md").read_text()))
        found += [f"README.md and the folder differ: {name}" for name in listed ^ {path.stem for path in notebooks}]
        print(f"{len(notebooks)} notebooks")
    else:
        python = python_for(NAMES)
        found += [problem for name in NAMES for problem in execute(python, name)]
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
