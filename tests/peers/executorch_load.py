#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loads .pte files with the stock ExecuTorch runtime (wheel 1.5.1) and prints their interfaces.

    executorch_load.py [--methods] FILE.pte...

Prints one JSON object: per file the methods with shapes and dtypes of inputs and outputs, or the
runtime's error. Every file is loaded with full verification. --methods also loads each method,
which requires that the wheel has every operator and delegate; it has no thimble:: operators.
Exit 0 if all files load, 1 if one is refused, 77 if ExecuTorch is not installed.
"""

import argparse
import json
import sys

# Values of executorch's ScalarType, as in abi/pte_format.h.
DTYPES = {
    0: "uint8", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 5: "float16", 6: "float32",
    7: "float64", 11: "bool", 12: "qint8", 15: "bfloat16", 27: "uint16", 28: "uint32", 29: "uint64",
}


def tensor_facts(get, count):
    """Returns the properties of inputs; an input that is not a tensor (an int of a dynamic graph) is null."""
    facts = []
    for i in range(count):
        try:
            info = get(i)
        except RuntimeError:
            facts.append(None)
            continue
        facts.append({
            "shape": list(info.sizes()),
            "dtype": DTYPES.get(info.dtype(), f"type {info.dtype()}"),
            "bytes": info.nbytes(),
            "planned": info.is_memory_planned(),
        })
    return facts


def load(path, with_methods):
    from executorch.runtime import Runtime, Verification

    program = Runtime.get().load_program(
        path, verification=Verification.InternalConsistency)
    methods = []
    for name in sorted(program.method_names):
        meta = program.metadata(name)
        methods.append({
            "name": name,
            "inputs": tensor_facts(meta.input_tensor_meta, meta.num_inputs()),
            "outputs": tensor_facts(meta.output_tensor_meta, meta.num_outputs()),
        })
        if with_methods:
            program.load_method(name)
    return {"file": path, "loaded": True, "methods": methods}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", action="store_true", help="also load every method")
    parser.add_argument("files", nargs="+", metavar="FILE.pte")
    args = parser.parse_args()
    try:
        import executorch.runtime  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error}", file=sys.stderr)
        return 77
    results = []
    for path in args.files:
        try:
            results.append(load(path, args.methods))
        except (RuntimeError, ValueError) as error:
            results.append({"file": path, "loaded": False, "error": str(error)})
    json.dump({"files": results}, sys.stdout, indent=2)
    print()
    return 0 if all(result["loaded"] for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
