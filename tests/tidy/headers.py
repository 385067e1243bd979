# SPDX-License-Identifier: Apache-2.0
"""Every header compiles by itself, so that the order of includes never matters.

usage: headers.py --compiler CXX [--include DIR]... [--cache FILE]

A header that some source includes first has been compiled by itself already, with that source. The
others are compiled here. The cache holds one line per header that compiled: a hash of its text and of all of ours that it
includes. Kernels for other instruction sets need the cross compiler and are left to its build.
"""

import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import subprocess
import sys

from tidy import ROOT, tracked_files

INCLUDE_FOLDERS = ["", "src", "runtime/include", "engines/axon/delegate/include", "engines/ethos_u/delegate/include",
                   "engines/neutron/delegate/include", "engines/ethos_u/vendor_driver_model/include", "executorch/include", "tests/unit", "tests/conformance", "tests/kernels",
                   "tests/extra_target/abacus"]
# The stand-in's headers want what its build configures, as the vendor's own do. Headers for ExecuTorch's runtime include its
# headers, those for Zephyr likewise.
LEFT_OUT = re.compile(r"^(examples/|zephyr/|kernels/(dsp|mve)/|benchmarks/|tests/axon_vendor/standin_include/"
                      r"|(engines/\w+/)?executorch/(?!include/))")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)


def find(name, beside):
    for folder in [beside, *(ROOT / folder for folder in INCLUDE_FOLDERS)]:
        if (folder / name).is_file():
            return folder / name
    return None


def first_includes(files):
    """Headers that begin a source."""
    first = set()
    for name in files:
        if name.endswith(".cpp") and not LEFT_OUT.match(name):
            path = ROOT / name
            match = INCLUDE.search(path.read_text())
            header = match and find(match.group(1), path.parent)
            if header and path.read_text()[:match.start()].count("#include") == 0:
                first.add(str(header.relative_to(ROOT)))
    return first


def content_hash(header, compiler):
    """Of everything of ours that the compiler will read."""
    seen, waiting = set(), [ROOT / header]
    digest = hashlib.sha256(compiler.encode())
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        text = path.read_text()
        digest.update(text.encode())
        waiting += sorted(filter(None, (find(n, path.parent) for n in INCLUDE.findall(text))))
    return digest.hexdigest()


def compile_alone(header, compiler, includes):
    command = [compiler, "-std=c++20", "-fsyntax-only", "-x", "c++", "-Wall", "-Wextra", "-include",
               str(ROOT / header), *(f"-I{ROOT / folder}" for folder in INCLUDE_FOLDERS),
               *(f"-isystem{folder}" for folder in includes), os.devnull]
    return subprocess.run(command, capture_output=True, text=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--cache", type=pathlib.Path)
    options = parser.parse_args()

    cached = set()
    if options.cache and options.cache.exists():
        cached = set(options.cache.read_text().split())
    files = tracked_files()
    proved = first_includes(files)
    headers = [p for p in files
               if p.endswith(".h") and p not in proved and not LEFT_OUT.match(p)]
    hashes = {header: content_hash(header, options.compiler) for header in headers}
    todo = [header for header in headers if hashes[header] not in cached]
    failed = set()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda h: compile_alone(h, options.compiler, options.include), todo)
        for header, result in zip(todo, results):
            if result.returncode != 0:
                failed.add(header)
                print(f"{header}: does not compile alone\n{result.stderr}")
    if options.cache:
        good = sorted(hashes[header] for header in headers if header not in failed)
        options.cache.write_text("\n".join(good) + "\n")
    if not headers:
        sys.exit(f"{ROOT}: no headers found")
    print(f"{len(headers)} headers, {len(todo)} compiled, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
