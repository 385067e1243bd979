# SPDX-License-Identifier: Apache-2.0
"""`thimble compile --axon program|header` with a stand-in for Nordic's SDK: the written files, the refusals, and that the
generated C compiles. If a cross compiler exists, the bare-metal example is built with it too.


    python3 cli_test.py THIMBLE SOURCE_FOLDER STANDIN_LIBRARY
"""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

THIMBLE, ROOT, STANDIN = (Path(argument).resolve() for argument in sys.argv[1:4])
sys.path.insert(0, str(ROOT / "tests/examples"))
from app_test import device_library  # noqa: E402

HELLO = ROOT / "examples/nordic/hello_axon"
HERE = ROOT / "tests/axon_vendor"
passed = 0


def check(condition, what):
    global passed
    if not condition:
        sys.exit(f"FAILED: {what}")
    passed += 1


def make_sdk(folder):
    machine = "arm64" if platform.machine() in ("aarch64", "arm64") else "amd64"
    system, suffix = ("Darwin", "dylib") if sys.platform == "darwin" else ("Linux", "so")
    where = folder / "tools/axon/compiler/bin" / system
    where.mkdir(parents=True)
    shutil.copy(STANDIN, where / f"libnrf-axon-nn-compiler-lib-{machine}.{suffix}")
    return folder


def compile_hello(folder, *options, mode="", sdk=None, model=None):
    environment = {key: value for key, value in os.environ.items() if key != "SDK_EDGE_AI_PATH"}
    environment["AXON_STANDIN"] = mode
    if sdk is not None:
        environment["SDK_EDGE_AI_PATH"] = str(sdk)
    command = [THIMBLE, "compile", model or HELLO / "hello_axon.pt2", "--target", "nrf54lm20b",
               "--npu-small", "--calibrate", HELLO / "calibrate.npz", "-o", folder / "out.pte",
               *options]
    return subprocess.run([str(word) for word in command], env=environment, text=True,
                          capture_output=True, check=False)


def files_of(folder):
    return sorted(path.name for path in folder.iterdir())


def test_program(work, sdk):
    for how in ({"sdk": sdk}, {}):
        folder = Path(tempfile.mkdtemp(dir=work))
        options = [] if how else ["--axon-sdk", sdk]
        done = compile_hello(folder, "--axon", "program", *options, "--kernels",
                             folder / "kernels.cpp", **how)
        check(done.returncode == 0, done.stderr)
        check(files_of(folder) == ["kernels.cpp", "out.pte"], files_of(folder))
        data = (folder / "out.pte").read_bytes()
        check(b"ThimbleAxonProgram" in data and b"TAXP" in data, "no program in the file")
        check(b"TAXN" not in data, "the layer list is still there")
        check(str(sdk).encode() not in data, "a folder of this machine is in the file")
        kernels = (folder / "kernels.cpp").read_text()
        check("axon_vendor::program::open" in kernels and "thimble_axon_chip" in kernels, kernels)


def test_default_is_the_list(work, sdk):
    folder = Path(tempfile.mkdtemp(dir=work))
    done = compile_hello(folder, sdk=sdk)
    check(done.returncode == 0, done.stderr)
    check(b"ThimbleAxonModel" in (folder / "out.pte").read_bytes(), "not the list")


def compile_table(folder):
    source = folder / "table.c"
    source.write_text('#include "axon_subgraphs_table.h"\n'
                      "const thimble_axon_silicon thimble_axon_chip = {THIMBLE_AXON_SUBGRAPHS};\n"
                      "uint32_t nrf_axon_interlayer_buffer[256];\n")
    compiler = shutil.which("cc") or shutil.which("gcc")
    command = [compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-old-style-declaration", "-fsyntax-only",
               "-DNRF_AXON_INTERLAYER_BUFFER_SIZE=1024", f"-I{HERE}/standin_include",
               f"-I{ROOT}/runtime/include", f"-I{ROOT}/engines/axon/delegate/include", f"-I{folder}", str(source)]
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    check(done.returncode == 0, done.stderr)


def test_header(work, sdk):
    folder = Path(tempfile.mkdtemp(dir=work))
    headers = folder / "axon"
    done = compile_hello(folder, "--axon", "header", "--axon-dir", headers, sdk=sdk)
    check(done.returncode == 0, done.stderr)
    names = files_of(headers)
    check(len(names) == 2 and names[1] == "axon_subgraphs_table.h", names)
    name = names[0][len("axon_subgraph_"):-len(".h")]
    base, digits = name.rsplit("_", 1)
    check(base == "hello_axon" and len(digits) == 12, name)
    data = (folder / "out.pte").read_bytes()
    check(b"AxonBackend" in data and b"AXNG" in data and name.encode() in data, "no marker")
    compile_table(headers)
    again = compile_hello(folder, "--axon", "header", "--axon-dir", headers, sdk=sdk)
    check(again.returncode == 0 and files_of(headers)[:2] == names, "not the same again")

    # Another model's header is added to the table; an older header of the same model is removed.
    other = work / "Hello-Other.pt2"
    shutil.copy(HELLO / "hello_axon.pt2", other)
    done = compile_hello(folder, "--axon", "header", "--axon-dir", headers, sdk=sdk, model=other)
    check(done.returncode == 0, done.stderr)
    table = (headers / "axon_subgraphs_table.h").read_text()
    check(f"THIMBLE_AXON_ROW_{name}" in table and "hello_other_" in table, table)
    old = "hello_axon_0123456789ab"
    text = (headers / names[0]).read_text().replace(name, old)
    (headers / f"axon_subgraph_{old}.h").write_text(text)
    done = compile_hello(folder, "--axon", "header", "--axon-dir", headers, sdk=sdk)
    table = (headers / "axon_subgraphs_table.h").read_text()
    check(done.returncode == 0 and old not in table and name in table, table)
    compile_table(headers)

    # A model whose C identifier is already used.
    twin = work / "hello-axon.pt2"
    shutil.copy(HELLO / "hello_axon.pt2", twin)
    before = files_of(headers)
    (folder / "out.pte").unlink()
    done = compile_hello(folder, "--axon", "header", "--axon-dir", headers, sdk=sdk, model=twin)
    check(done.returncode == 2 and "rename one of the models" in done.stderr, done.stderr)
    check(files_of(headers) == before and not (folder / "out.pte").exists(), "half-written")


def test_refusals(work, sdk):
    cases = [
        ({}, "SDK_EDGE_AI_PATH is not set"),
        ({"sdk": work / "nowhere"}, "no such folder"),
        ({"sdk": work}, "compiler library for this machine is missing"),
        ({"sdk": sdk, "mode": "code:-234"}, "-234 INVALID_FILTER_COUNT"),
        ({"sdk": sdk, "mode": "crash"}, "it crashed (signal 11)"),
        ({"sdk": sdk, "mode": "exit:9"}, "ended with code 9"),
        ({"sdk": sdk, "mode": "silent"}, "wrote no program"),
        ({"sdk": sdk, "mode": "half"}, "no nrf_axon_nn_compiled_model_s"),
        ({"sdk": sdk, "mode": "version:0x010302"}, "supported: 1.3.1"),
    ]
    for form in ("program", "header"):
        for how, words in cases:
            folder = Path(tempfile.mkdtemp(dir=work))
            done = compile_hello(folder, "--axon", form, **how)
            check(done.returncode == 2, f"{how}: exit code {done.returncode}")
            check(words in done.stderr, f"{how}: {done.stderr}")
            check(files_of(folder) == [], f"{how}: {files_of(folder)}")


def test_bare_metal(work, sdk):
    cross = shutil.which("arm-none-eabi-gcc")
    if cross is None:
        print("skipped: the bare-metal example, no arm-none-eabi-gcc")
        return
    library = sdk / "lib/axon/bin/arm"
    library.mkdir(parents=True)
    cpu = ["-mcpu=cortex-m33", "-mthumb", "-mfloat-abi=hard"]
    driver = work / "driver.o"
    subprocess.run([cross, *cpu, "-Os", "-c", HERE / "standin_driver_arm.c", "-o", driver],
                   check=True)
    subprocess.run(["arm-none-eabi-ar", "rcs", library / "libnrf-axon-driver-internal-fpu.a", driver],
                   check=True)
    build = work / "bare_metal"
    environment = dict(os.environ, SDK_EDGE_AI_PATH=str(sdk), AXON_STANDIN="")
    cache = [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX")
             if shutil.which("ccache")]
    for command in (["cmake", "-S", ROOT / "examples/nordic/bare_metal", "-B", build,
                     f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/examples/app/arm-none-eabi.cmake",
                     "-DCORE=cortex-m33", "-DAXON_BASE=0x40056000", f"-DTHIMBLE_PROGRAM={THIMBLE}",
                     *device_library("cortex-m33"), *cache],
                    ["cmake", "--build", build, "-j2"]):
        done = subprocess.run([str(word) for word in command], env=environment, text=True,
                              capture_output=True, check=False)
        check(done.returncode == 0, done.stdout + done.stderr)
    symbols = subprocess.run(["arm-none-eabi-nm", build / "bare_metal"], text=True,
                             capture_output=True, check=True).stdout
    check("nrf_axon_run_cmd_buf_sync" in symbols and "hello_axon_pte" in symbols, symbols)
    done = subprocess.run(["cmake", "-S", str(ROOT / "examples/nordic/bare_metal"), "-B",
                           str(work / "none"), "-DSDK=/nowhere",
                           f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/examples/app/arm-none-eabi.cmake",
                           "-DCORE=cortex-m33"], text=True, capture_output=True, check=False)
    check(done.returncode != 0 and "is not there" in done.stderr, done.stderr)


def main():
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        sdk = make_sdk(work / "sdk")
        test_program(work, sdk)
        test_default_is_the_list(work, sdk)
        test_header(work, sdk)
        test_refusals(work, sdk)
        test_bare_metal(work, sdk)
    print(f"{passed} passed, 0 failed")


main()
