# SPDX-License-Identifier: Apache-2.0
"""The types of the package: the stub of the extension module, and pyright in strict mode.

usage: types_test.py SOURCE_FOLDER [OTHER_PYTHON]

pyright runs if this Python or the other one has it, and one of them has PyTorch and ExecuTorch. Otherwise the exit code is 77
after the check of the stub.
"""

import ast
import json
import pathlib
import re
import subprocess
import sys


SKIPPED = 77


def has(python, module):
    return subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0


def stub_names(body, prefix=""):
    """{name: parameters}, None for a property or a constant, of a stub."""
    names = {}
    for node in body:
        if isinstance(node, ast.ClassDef):
            names[node.name] = None
            names.update(stub_names(node.body, node.name + "."))
        elif isinstance(node, ast.FunctionDef):
            is_property = any(getattr(each, "id", "") == "property" for each in node.decorator_list)
            parameters = [each.arg for each in node.args.args if each.arg != "self"]
            names[prefix + node.name] = None if is_property else parameters
        elif isinstance(node, ast.AnnAssign):
            names[node.target.id] = None
    return names


def parameters_of(signature):
    """["path", "progress"] of "def save(path: str, progress: list[int]) -> None"."""
    flat, previous = signature, None
    while flat != previous:  # without the arguments of types
        previous, flat = flat, re.sub(r"\[[^\[\]]*\]|<[^<>]*>", "", flat)
    inside = re.search(r"\((.*)\)", flat.split(" -> ")[0])[1]
    return [each.split(":")[0].strip() for each in inside.split(",") if each.strip()]


def module_names(owner, prefix=""):
    """The same of the module. nanobind states the signature of a function."""
    names = {}
    for name, value in vars(owner).items():
        if name.startswith("__") and name not in ("__version__", "__getstate__"):
            continue
        if isinstance(value, type):
            names[name] = None
            names.update(module_names(value, name + "."))
            continue
        value = getattr(value, "__func__", value)  # a static method
        signature = getattr(value, "__nb_signature__", None)
        if signature is None or isinstance(value, property):
            names[prefix + name] = None
            continue
        parameters = parameters_of(signature[0][0])
        names[prefix + name] = [each for each in parameters if each != "self"]
    return names


def check_stub(source):
    """Returns whether the stub has the names and the parameters of the module."""
    import thimble_ml._thimble

    stub = stub_names(ast.parse((source / "python/thimble_ml/_thimble.pyi").read_text()).body)
    module = module_names(thimble_ml._thimble)
    for name in sorted(stub.keys() | module.keys()):
        if name not in stub or name not in module or stub[name] != module[name]:
            print(f"{name}: the stub has {stub.get(name, 'nothing')}, the module "
                  f"{module.get(name, 'nothing')}")
    print(f"stub: {len(module)} names")
    return stub == module


def check_pyright(checker, python, source):
    """Returns whether the pyright of `checker` finds nothing with the packages of `python`; None if it does not run."""
    done = subprocess.run([checker, "-m", "pyright", "--project", str(source / "python"),
                           "--pythonpath", python, "--outputjson"], capture_output=True, text=True)
    try:
        result = json.loads(done.stdout)
    except json.JSONDecodeError:
        print(f"skipped: pyright: {done.stderr.strip()[-200:]}")
        return None
    for each in result["generalDiagnostics"]:
        line = each["range"]["start"]["line"] + 1
        print(f"{each['file']}:{line}: {each['message']} ({each.get('rule', '')})")
    summary = result["summary"]
    print(f"pyright {result['version']}: {summary['filesAnalyzed']} files, "
          f"{summary['errorCount']} errors, {summary['warningCount']} warnings")
    return summary["errorCount"] + summary["warningCount"] == 0


def main():
    source = pathlib.Path(sys.argv[1])
    if not check_stub(source):
        return 1
    pythons = [sys.executable, *sys.argv[2:]]
    checker = next((python for python in pythons if has(python, "pyright")), None)
    typed = next((python for python in pythons if has(python, "torch, torchao, executorch.exir")), None)
    if checker is None:
        print("skipped: pyright is not installed")
    elif typed is None:
        print("skipped: PyTorch with torchao and ExecuTorch is not installed, whose types the package uses")
    else:
        return {True: 0, False: 1, None: SKIPPED}[check_pyright(checker, typed, source)]
    return SKIPPED


if __name__ == "__main__":
    sys.exit(main())
