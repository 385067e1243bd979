# SPDX-License-Identifier: Apache-2.0
"""Compiles the host code for Windows with Debian's MinGW-w64, and links the program. Debian has zlib for it, and of the other
libraries the headers suffice.

usage: mingw_test.py SOURCE_DIR BUILD_DIR CMAKE [TARGET...]     default: the program
"""

import pathlib
import shutil
import subprocess
import sys

SOURCE, BUILD = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
CMAKE, TARGETS = sys.argv[3], sys.argv[4:] or ["thimble"]
COMPILER = "x86_64-w64-mingw32-g++-posix"
HEADERS = ("CLI", "eigen3", "flatbuffers", "fmt", "nlohmann", "toml", "toml.hpp")
CONFIGS = ("share/cmake/CLI11", "share/cmake/nlohmann_json", "share/cmake/toml11", "share/eigen3/cmake")


def make_prefix(prefix):
    """Links the headers of the libraries into a folder, because /usr/include also has those of this machine's C library.
    Returns the folder of fmt's configuration."""
    shutil.rmtree(prefix, ignore_errors=True)
    (prefix / "include").mkdir(parents=True)
    for name in HEADERS:
        (prefix / "include" / name).symlink_to(f"/usr/include/{name}")
    for config in CONFIGS:
        shutil.copytree(f"/usr/{config}", prefix / config)
    fmt = next(pathlib.Path("/usr/lib").glob("*/cmake/fmt"))
    folder = prefix / fmt.parents[1].relative_to("/usr")
    shutil.copytree(fmt, folder / "cmake/fmt")
    for library in fmt.parents[1].glob("libfmt.so*"):
        (folder / library.name).symlink_to(library)
    return folder / "cmake/fmt"


def main():
    if shutil.which(COMPILER) is None:
        print(f"skipped: {COMPILER} not found (packages g++-mingw-w64-x86-64-posix, libz-mingw-w64-dev)")
        return
    prefix = BUILD / "prefix"
    fmt = make_prefix(prefix)
    subprocess.run([CMAKE, "-S", SOURCE, "-B", BUILD, "--preset", "mingw", f"-DCMAKE_PREFIX_PATH={prefix}",
                    f"-Dfmt_DIR={fmt}", f"-DCMAKE_CXX_FLAGS=-isystem {prefix}/include",
                    "--log-level=WARNING"], check=True, cwd=SOURCE)
    subprocess.run([CMAKE, "--build", BUILD, "--target", *TARGETS, "--", "-k", "0"], check=True)
    print("compiled:", *TARGETS)


if __name__ == "__main__":
    main()
