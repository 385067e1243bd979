# SPDX-License-Identifier: Apache-2.0
"""Compiles all device sources for the cores with one compiler, as C++17 with all warnings as errors, and the public headers
as C99 and C++17. No header of a C++ library is found except <cstdint> and <cstddef> of minimal_cpp/: a toolchain such
as Zephyr's with CONFIG_MINIMAL_LIBCPP has no other. The headers of C are those of the cross compiler.

usage: toolchains_test.py SOURCE_DIR COMPILER ARM_CXX CORE,... [CCACHE]
"""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[1]).resolve()
COMPILER, ARM_CXX = sys.argv[2:4]
CORES = {core: [] if core == "cortex-m0plus" else ["-mfloat-abi=hard"] for core in sys.argv[4].split(",")}
LAUNCHER = sys.argv[5:6]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wdouble-promotion", "-Werror"]
FOLDERS = ["abi", "numerics", "kernels", "runtime"]
ENGINE_FOLDERS = ["isa", "container", "sim", "model", "delegate", "delegate_vendor", "vendor_driver", "vendor_driver_model"]
INCLUDE_FOLDERS = ("engines/*/delegate/include", "engines/*/vendor_driver_model/include")
# Relative to the source folder, as all paths: the compiler cache finds the objects of an earlier run.
SHIM = "tests/firmware/minimal_cpp"
SKIPPED = 77


def sources(suffix):
    folders = [SOURCE / folder for folder in FOLDERS]
    folders += [folder for name in ENGINE_FOLDERS for folder in (SOURCE / "engines").glob(f"*/{name}")]
    return sorted(path.relative_to(SOURCE) for folder in folders for path in folder.rglob(f"*{suffix}"))


def main():
    if shutil.which(COMPILER) is None:
        print(f"skipped: {COMPILER} is not installed")
        return SKIPPED
    is_clang = "clang" in pathlib.Path(COMPILER).name
    includes = ["-I.", "-Iruntime/include"]
    includes += [f"-I{path.relative_to(SOURCE)}" for pattern in INCLUDE_FOLDERS for path in sorted(SOURCE.glob(pattern))]
    # With the list of included files, which the compiler writes, ccache does not run the preprocessor.
    environment = dict(os.environ, CCACHE_BASEDIR=str(SOURCE), CCACHE_NOHASHDIR="1", CCACHE_DEPEND="1")
    c_headers = subprocess.run([ARM_CXX, "-xc", "-E", "-v", os.devnull], capture_output=True, text=True, check=True).stderr
    c_headers = [line.strip() for line in c_headers.splitlines() if line.startswith(" /")]
    newlib = next(path for path in c_headers if (pathlib.Path(path) / "string.h").exists())

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        target = ["--target=arm-none-eabi", f"-isystem{newlib}"] if is_clang else []
        cpp = ["-std=c++17", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-ffp-contract=off",
               "-fomit-frame-pointer", "-nostdinc++",
               f"-isystem{SHIM}", *target]

        def compile_one(job):
            core, source = job
            output = folder / (core + str(source).replace("/", "_") + ".o")
            command = [*LAUNCHER, COMPILER, "-mthumb", f"-mcpu={core}", *CORES[core], *cpp, *WARNINGS, "-O1", *includes, "-MD", "-c",
                       str(source), "-o", str(output)]
            done = subprocess.run(command, cwd=SOURCE, env=environment, capture_output=True, text=True, check=False)
            return "" if done.returncode == 0 else f"{core} {source}:\n{done.stderr}\n"

        jobs = [(core, source) for core in CORES for source in sources(".cpp")]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            failures = [text for text in pool.map(compile_one, jobs) if text]

        # The public headers, alone: C99 for those that C includes, C++17 for all.
        headers = [path.relative_to(SOURCE) for pattern in ("runtime/include/*", *(f"{folder}/*" for folder in INCLUDE_FOLDERS))
                   for path in sorted(SOURCE.glob(pattern))]
        for header in headers:
            languages = [("c++", ["-std=c++17", "-nostdinc++", f"-isystem{SHIM}"])]
            if header.suffix == ".h":
                languages.append(("c", ["-std=c99"]))
            for language, standard in languages:
                unit = folder / "unit"
                unit.write_text(f'#include "{header.name}"\n#include "{header.name}"\n')
                warnings = [flag for flag in WARNINGS if language == "c++" or flag != "-Wdouble-promotion"]
                done = subprocess.run([COMPILER, "-mthumb", "-mcpu=cortex-m4", *target, *standard, "-pedantic", *warnings, *includes,
                                       "-fsyntax-only", "-x", language, str(unit)],
                                      cwd=SOURCE, capture_output=True, text=True, check=False)
                if done.returncode != 0:
                    failures.append(f"{header} as {language}:\n{done.stderr}\n")
    print("".join(failures[:10]))
    print(f"{COMPILER}: {len(jobs)} compilations and {len(headers)} public headers, {len(failures)} failed")
    return 1 if failures or not jobs or not headers else 0


sys.exit(main())
