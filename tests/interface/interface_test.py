# SPDX-License-Identifier: Apache-2.0
"""The binary interface of the runtime (runtime/include/thimble.h) is that of libthimble.so.N.abi, N the SOVERSION of linux/CMakeLists.txt.

usage: interface_test.py SOURCE_DIR [--bless]

The runtime is compiled with debug information and compared by abidiff (Debian package abigail-tools). --bless records added
functions and types. A change that programs notice needs another SOVERSION first. Exit code 77 without abidiff.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE, BLESS = pathlib.Path(sys.argv[1]).resolve(), "--bless" in sys.argv
FLAGS = ["-std=c++17", "-O0", "-g", "-fPIC", "-fno-exceptions", "-fno-rtti"]


def library(runtime, folder):
    """Compiles the runtime in `runtime` with debug information. Returns the shared library."""
    shared = folder / "libthimble.so"
    sources = sorted(path.relative_to(runtime.parent) for path in runtime.glob("*/*.cpp"))
    subprocess.run(["c++", *FLAGS, "-shared", "-Iruntime/include", "-I.", f"-I{SOURCE}", f"-ffile-prefix-map={SOURCE}=.", *sources,
                    f"-Wl,--version-script={SOURCE / 'linux/exports.map'}", "-o", shared], check=True, cwd=runtime.parent)
    return shared


def compared(record, shared):
    """Returns "equal", "larger" (functions were added) or "changed", and abidiff's text."""
    if not record.exists():
        return "larger", f"{record}: no such file"
    done = subprocess.run(["abidiff", record, shared], capture_output=True, text=True)
    text = done.stdout + done.stderr
    if done.returncode == 0:
        return "equal", text
    changes = re.findall(r"(\d+) (?:Removed|Changed)", text)
    return ("larger" if changes and not any(map(int, changes)) else "changed"), text


def changed_runtime(folder):
    """A copy of the runtime whose thimble_model is larger."""
    runtime = folder / "runtime"
    shutil.copytree(SOURCE / "runtime", runtime)
    header = runtime / "include/thimble.h"
    text, count = re.subn(r"opaque\[\d+\]", "opaque[40]", header.read_text())
    assert count == 1
    header.write_text(text)
    return runtime


def main():
    if shutil.which("abidiff") is None:
        print("skipped: abidiff (Debian package abigail-tools) is not installed")
        return 77
    version = re.search(r"SOVERSION (\d+)", (SOURCE / "linux/CMakeLists.txt").read_text())[1]
    record = SOURCE / f"tests/interface/libthimble.so.{version}.abi"
    runtime = SOURCE / "runtime"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shared = library(runtime, folder)
        found, text = compared(record, shared)
        if BLESS and found != "changed":
            subprocess.run(["abidw", "--exported-interfaces-only", "--no-show-locs", "--no-corpus-path", "--no-comp-dir-path",
                            "--headers-dir", runtime / "include", "--out-file", record, shared], check=True)
            return 0
        if found != "equal":
            action = "increase SOVERSION in linux/CMakeLists.txt" if found == "changed" else "run this test with --bless"
            sys.exit(f"{text}\nThe interface is not that of {record}: {action}")
        found, text = compared(record, library(changed_runtime(folder), folder))
        if found != "changed":
            sys.exit(f"a larger thimble_model was not found, but {found}: {text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
