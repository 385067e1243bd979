# SPDX-License-Identifier: Apache-2.0
"""The binary interfaces of the runtime (thimble.h) and of the C API (thimble_c.h) are those of NAME.so.N.abi, N the SOVERSION of the
library.

usage: interface_test.py SOURCE_DIR [--bless]

The library is compiled with debug information and compared by abidiff (Debian package abigail-tools). --bless records added
functions and types. A change that programs notice needs another SOVERSION first. Exit code 77 without abidiff.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from typing import NamedTuple

SOURCE, BLESS = pathlib.Path(sys.argv[1]).resolve(), "--bless" in sys.argv
FLAGS = ["-O0", "-g", "-fPIC", "-shared", "-I.", f"-I{SOURCE}", f"-ffile-prefix-map={SOURCE}=."]


class Library(NamedTuple):
    name: str
    folder: str  # of the sources, below the source folder
    sources: str  # pattern in the folder
    header: str  # in the folder
    exports: str  # version script of the linker
    flags: list
    version: str  # the file that states SOVERSION
    change: tuple  # a regular expression in the header, and a text that changes the interface


LIBRARIES = (
    Library("libthimble", "runtime", "*/*.cpp", "include/thimble.h",
            (SOURCE / "linux/exports.map").read_text(), ["-std=c++17", "-fno-rtti", "-Iruntime/include"],
            "linux/CMakeLists.txt", (r"opaque\[\d+\]", "opaque[40]")),
    # Only functions of thimble_c.cpp are exported; what they call is not linked.
    Library("libthimble_c", "src/capi", "shared/thimble_c.cpp", "thimble_c.h",
            "{ global: thimble_c_*; local: *; };", ["-std=c++20", "-Isrc", f"-I{SOURCE}/src", f"-I{SOURCE}/runtime/include"],
            "src/capi/shared/CMakeLists.txt", (r"uint32_t version;", "uint64_t version;")),
)


def build(library, tree, folder):
    """Compiles the sources in `tree`. Returns the shared library."""
    shared = folder / f"{library.name}.so"
    sources = sorted(path.relative_to(tree) for path in (tree / library.folder).glob(library.sources))
    exports = folder / "exports.map"
    exports.write_text(library.exports)
    subprocess.run(["c++", *FLAGS, *library.flags, *sources, f"-Wl,--version-script={exports}", "-o", shared], check=True, cwd=tree)
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


def changed_tree(library, folder):
    """A copy of the sources with a type that has another size."""
    tree = folder / "changed"
    shutil.copytree(SOURCE / library.folder, tree / library.folder)
    header = tree / library.folder / library.header
    text, count = re.subn(*library.change, header.read_text())
    assert count > 0
    header.write_text(text)
    return tree


def check(library):
    version = re.search(r"SOVERSION (\d+)", (SOURCE / library.version).read_text())[1]
    record = SOURCE / f"tests/interface/{library.name}.so.{version}.abi"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shared = build(library, SOURCE, folder)
        found, text = compared(record, shared)
        if BLESS and found != "changed":
            subprocess.run(["abidw", "--exported-interfaces-only", "--no-show-locs", "--no-corpus-path", "--no-comp-dir-path",
                            "--drop-private-types", "--headers-dir", (SOURCE / library.folder / library.header).parent,
                            "--out-file", record, shared], check=True)
            return
        if found != "equal":
            action = f"increase SOVERSION in {library.version}" if found == "changed" else "run this test with --bless"
            sys.exit(f"{text}\nThe interface is not that of {record}: {action}")
        found, text = compared(record, build(library, changed_tree(library, folder), folder))
        if found != "changed":
            sys.exit(f"{library.name}: a type of another size was not found, but {found}: {text}")


def main():
    if shutil.which("abidiff") is None:
        print("skipped: abidiff (Debian package abigail-tools) is not installed")
        return 77
    for library in LIBRARIES:
        check(library)
    return 0


if __name__ == "__main__":
    sys.exit(main())
