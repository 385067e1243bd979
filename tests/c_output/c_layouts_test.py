# SPDX-License-Identifier: Apache-2.0
"""Properties of the generated C: its size, its folders for build systems, and the refusals of `--emit c`.

usage: c_layouts_test.py THIMBLE BUILD SOURCE_DIR CMAKE
"""

import pathlib
import re
import subprocess
import sys
import tempfile

from c_build import Builder, CORES, HERE, LINKED, WARNINGS, run, size_text, thimble

CODE_BYTES_MAX = 14_000  # flash of dscnn_kws with int8 inputs on a Cortex-M4, without constants
INSTRUCTIONS_MAX = 25  # per operator, outside of kernels
NAME = "dscnn_kws"


def compile_model(program, models, folder, *options, name=NAME, target="cortex-m4"):
    return thimble(program, "compile", models / name / f"{name}.pt2", "--target", target, "--calibrate",
                   models / name / "calibrate.npz", "--io", "int8", "--emit", "c", "--out-dir", folder, *options)


def check_size(program, builder, models, folder):
    compile_model(program, models, folder)
    size = builder.sizes("cortex-m4", folder, NAME)
    print(f"{NAME} on cortex-m4: {size}")
    if size["code"] > CODE_BYTES_MAX:
        sys.exit(f"{size['code']} bytes of code, {CODE_BYTES_MAX} allowed")


def check_overhead(program, builder, models, folder):
    """The function that runs the model has no branches: every instruction is executed once."""
    compile_model(program, models, folder)
    ops = int(re.search(r"_OP_COUNT (\d+)u", (folder / f"{NAME}.h").read_text())[1])
    for core in CORES:
        for defines in ([], [f"-D{NAME.upper()}_ARENA_GIVEN"]):
            listing = run("arm-none-eabi-objdump", "-d", "--no-show-raw-insn",
                          builder.compile_for(core, folder, NAME, *defines)).decode()
            body = re.search(rf"<{NAME}_run>:\n(.*?)(\n\n|\Z)", listing, re.S)[1]
            instructions = [line.split("\t")[1] for line in body.splitlines() if "\t" in line]
            assert instructions.count("bl") >= ops and not [i for i in instructions if re.match(r"b(eq|ne|[lg][te])", i)]
            each = sum(not word.startswith(".") for word in instructions) / ops
            print(f"{NAME} on {core}, {defines or 'static arena'}: {each:.1f} instructions for each of {ops} operators")
            if each >= INSTRUCTIONS_MAX:
                sys.exit(f"{each:.1f} instructions for each operator, {INSTRUCTIONS_MAX} allowed")


def check_symbols(builder, source):
    """Each kernel is a function that C can call; all variants of an operator have the same signature."""
    rows = re.findall(r"^THIMBLE_KERNEL\((\w+), (\w+)\)", (source / "kernels/kernels.def").read_text(), re.M)
    for table in sorted((source / "abi/ops").glob("*.def")):
        rows += [("portable", op) for op in re.findall(r"^THIMBLE_(?:PTE|NATIVE)_OP\((\w+),", table.read_text(), re.M)]
    variants = {variant for variant, _ in rows}
    found, kinds = set(), {}
    for core in CORES:
        listed = run("arm-none-eabi-nm", "--defined-only", builder.firmware / core / "libkernels.a").decode()
        for kind, name in re.findall(r" T thimble_(run|call)_(\w+)", listed):
            variant, op = next((v, name.removeprefix(v + "_")) for v in variants if name.startswith(v + "_"))
            found.add((variant, op))
            kinds.setdefault(op, {})[variant] = kind
    assert found == set(rows), found ^ set(rows)
    mixed = {op: by_variant for op, by_variant in kinds.items() if len(set(by_variant.values())) > 1}
    assert not mixed, mixed
    print(f"{len(rows)} kernels of {len(kinds)} operators")


def check_sources(builder, root, folder):
    """A program with the model needs only the folder's own sources."""
    flags, board = CORES["cortex-m4"]
    source = root / "src"
    objects = []
    for path in sorted(source.rglob("*.cpp")):
        objects.append(folder / (str(path.relative_to(source)).replace("/", "-") + ".o"))
        run(*builder.ccache, "arm-none-eabi-g++", *flags, "-mthumb", "-O2", "-std=gnu++17", "-fno-exceptions", "-fno-rtti",
            *LINKED, f"-I{source}", "-c", path, "-o", objects[-1])
    (folder / "size_main.c").write_text(size_text(NAME, (source / f"{NAME}.h").read_text()))
    for path in (source / f"{NAME}.c", folder / "size_main.c", HERE / "size_startup.c"):
        objects.append(folder / (path.stem + ".o"))
        run("arm-none-eabi-gcc", *flags, "-mthumb", "-Os", *WARNINGS, *LINKED, f"-I{source}", "-c", path, "-o", objects[-1])
    builder.link("cortex-m4", board, objects, folder / "layout.elf", archive=False)


def check_arduino(program, builder, models, folder):
    compile_model(program, models, folder, "--c-layout", "arduino")
    root = folder / NAME
    properties = dict(line.split("=", 1) for line in (root / "library.properties").read_text().splitlines())
    assert properties["name"] == NAME and properties["includes"] == f"{NAME}.h", properties
    check_sources(builder, root, folder)


def check_cmsis(program, models, folder):
    compile_model(program, models, folder, "--c-layout", "cmsis")
    root = folder / NAME
    listed = set(re.findall(r'name="(src/[^"]+\.\w+)"', (root / f"Thimble.{NAME}.pdsc").read_text()))
    there = {str(path.relative_to(root)) for path in (root / "src").rglob("*") if path.is_file()}
    assert listed == there, listed ^ there
    assert "Apache License" in (root / "LICENSE").read_text()


def check_cmake(program, builder, models, cmake, folder):
    """The CMake snippet links a program of another project, given the library of the device's sources."""
    compile_model(program, models, folder)
    library = builder.build / "kernels/libthimble_kernels.a"
    (folder / "main.c").write_text(size_text(NAME, (folder / f"{NAME}.h").read_text()))
    (folder / "CMakeLists.txt").write_text(f"""cmake_minimum_required(VERSION 3.25)
project(product C CXX)
function(thimble_device_libraries)
  add_library(thimble_device STATIC IMPORTED GLOBAL)
  set_target_properties(thimble_device PROPERTIES IMPORTED_LOCATION {library}
                        INTERFACE_INCLUDE_DIRECTORIES {HERE.parents[1]}
                        INTERFACE_COMPILE_DEFINITIONS THIMBLE_PORTABLE INTERFACE_LINK_LIBRARIES m)
endfunction()
add_executable(product main.c)
include({NAME}.cmake)
thimble_link_{NAME}(product)
""")
    run(cmake, "-S", folder, "-B", folder / "build", "-DCMAKE_BUILD_TYPE=Release")
    run(cmake, "--build", folder / "build")
    run(folder / "build/product")


def fails(code, saying, *command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == code and saying in done.stderr, f"exit {done.returncode}: {done.stderr}"


def check_refusals(program, models, folder):
    command = [program, "compile", models / NAME / f"{NAME}.pt2", "--calibrate", models / NAME / "calibrate.npz",
               "--out-dir", folder]
    fails(1, "--target cortex-m55, or the .pte", *command, "--target", "corstone-300", "--emit", "pte,c")
    assert not list(folder.iterdir()), "nothing is written"
    fails(2, "--c-layout arduino: requires --emit c", *command, "--target", "cortex-m4", "--c-layout", "arduino")


def main():
    program, build, source = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    builder, models = Builder(build), source / "models"
    check_symbols(builder, source)
    for check in (lambda folder: check_size(program, builder, models, folder),
                  lambda folder: check_overhead(program, builder, models, folder),
                  lambda folder: check_arduino(program, builder, models, folder),
                  lambda folder: check_cmsis(program, models, folder),
                  lambda folder: check_cmake(program, builder, models, sys.argv[4], folder),
                  lambda folder: check_refusals(program, models, folder)):
        with tempfile.TemporaryDirectory() as folder:
            check(pathlib.Path(folder))


if __name__ == "__main__":
    main()
