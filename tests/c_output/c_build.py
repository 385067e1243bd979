# SPDX-License-Identifier: Apache-2.0
"""Builds the C of `thimble compile --emit c` with the tree's kernels: for the host, for boards, and for size measurement."""

import array
import ast
import json
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
from npy import write_npy  # also used by modules that import this one

ROOT = HERE.parents[1]
WARNINGS = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
LINKED = ["-ffunction-sections", "-fdata-sections"]
CORES = {  # compiler flags, and the board that the firmware's build uses for the core
    "cortex-m0plus": (["-mcpu=cortex-m0plus"], "mps2-an385"),
    "cortex-m4": (["-mcpu=cortex-m4", "-mfloat-abi=hard"], "mps2-an386"),
    "cortex-m33": (["-mcpu=cortex-m33", "-mfloat-abi=hard"], "mps2-an505"),
    "cortex-m55": (["-mcpu=cortex-m55", "-mfloat-abi=hard"], "mps3-an547"),
}


def run(*command, cwd=None, stdin=None):
    done = subprocess.run([str(word) for word in command], cwd=cwd, input=stdin, capture_output=True, timeout=600)
    if done.returncode != 0:
        sys.exit(f"exit {done.returncode}: {' '.join(map(str, command))}\n{done.stdout.decode(errors='replace')[-2000:]}"
                 f"{done.stderr.decode(errors='replace')[-4000:]}")
    return done.stdout


def thimble(program, *arguments):
    return json.loads(run(program, *arguments, "--json"))


def npy(raw):
    """Returns element type, shape and data of a .npy (format 1)."""
    length = 10 + int.from_bytes(raw[8:10], "little")
    header = ast.literal_eval(raw[10:length].decode().strip())
    assert not header["fortran_order"]
    return header["descr"], header["shape"], raw[length:]


def quantized(data, port):
    """Quantizes float32 values to the integers of an input."""
    code, low, high = {"int8": ("b", -128, 127), "uint8": ("B", 0, 255), "int16": ("h", -32768, 32767)}[port["dtype"]]
    floats = memoryview(data).cast("f")
    codes = (round(x / port["scale"]) + port["zero_point"] for x in floats)
    return array.array(code, (max(low, min(high, each)) for each in codes)).tobytes()


def inputs_of(folder, ports, calls):
    """Returns, per port, the element type and the bytes of each call of the network's test data."""
    with zipfile.ZipFile(folder / "test.npz") as archive:
        arrays = {name.removesuffix(".npy"): archive.read(name) for name in archive.namelist()}
    arrays.pop("labels", None)
    series = []
    for index, port in enumerate(ports):
        descr, _, data = npy(arrays.get(port["name"], list(arrays.values())[index]))
        count = 1
        for size in port["shape"]:
            count *= size
        bytes_each = count * int(descr[2:])
        samples = [data[at:at + bytes_each] for at in range(0, len(data) - bytes_each + 1, bytes_each)][:calls]
        if port["dtype"] in ("int8", "uint8", "int16") and descr == "<f4":
            samples = [quantized(sample, port) for sample in samples]
            descr = {"int8": "|i1", "uint8": "|u1", "int16": "<i2"}[port["dtype"]]
        series.append((descr, samples))
    return series


MAIN = """#include "{name}.h"
#include "model_io.h"
{includes}
int main(void) {{
  unsigned call;
{buffers}  {name}_init({arena});
{places}  for (call = 0; call < {calls}u; ++call) {{
{reads}    {name}_run({arguments});
{writes}  }}
{more}  return 0;
}}
"""
# After a state is saved and restored, or reset, the following calls repeat their earlier outputs.
STATES = """  {{
    static unsigned char first[{upper}_OUTPUT_0_BYTES], second[{upper}_OUTPUT_0_BYTES], state[{upper}_STATE_BYTES];
    {name}_reset();
    {name}_run({arguments});
    (void)memcpy(first, {name}_output_0(), sizeof first);
    {name}_save(state);
    {name}_run({arguments});
    (void)memcpy(second, {name}_output_0(), sizeof second);
    {name}_restore(state);
    {name}_run({arguments});
    if (memcmp(second, {name}_output_0(), sizeof second) != 0) return 4;
    {name}_reset();
    {name}_run({arguments});
    if (memcmp(first, {name}_output_0(), sizeof first) != 0) return 5;
  }}
"""


def main_text(name, header, calls, arena_given=False):
    """Returns a program that runs a model `calls` times. With an arena of its own it also tests hooks and states, and copies
    inputs to the arena instead of writing them in place."""
    upper = name.upper()
    outputs = int(re.search(rf"{upper}_OUTPUT_COUNT (\d+)u", header)[1])
    types = re.findall(r"const (\w+) \*input_\d+", re.search(rf"void {name}_run\((.*)\);", header)[1])
    buffers, places = "", ""
    for i, type_ in enumerate(types):
        in_arena = f"{name}_input_{i}(void)" in header and not arena_given
        buffers += (f"  {type_} *x{i};\n" if in_arena else f"  static {type_} x{i}[{upper}_INPUT_{i}_ELEMENTS];\n")
        places += f"  x{i} = {name}_input_{i}();\n" if in_arena else ""
    words = {"name": name, "upper": upper, "arguments": ", ".join(f"x{i}" for i in range(len(types)))}
    more = ""
    if arena_given:
        buffers += f"  static _Alignas(16) unsigned char arena[{upper}_ARENA_BYTES];\n"
        more = STATES.format(**words) if f"{name}_save" in header else ""
        more += "  if (!hook_is_at_end()) return 6;\n"
    return MAIN.format(
        **words, buffers=buffers, places=places, calls=calls, arena="arena" if arena_given else "", more=more,
        includes='#include <string.h>\n#include "op_hook.h"\n' if arena_given else "",
        reads="".join(f"    read_input(x{i}, {upper}_INPUT_{i}_BYTES);\n" for i in range(len(types))),
        writes="".join(f"    write_output({name}_output_{i}(), {upper}_OUTPUT_{i}_BYTES);\n" for i in range(outputs)))


SIZE_MAIN = """#include "{name}.h"

volatile unsigned char result; /* stands for what the product does with it */

int main(void) {{
{buffers}  {name}_init();
  {name}_run({arguments});
  result = *(const unsigned char *){name}_output_0();
  return 0;
}}
"""


def size_text(name, header):
    """Returns a minimal program that runs a model."""
    types = re.findall(r"const (\w+) \*input_\d+", re.search(rf"void {name}_run\((.*)\);", header)[1])
    return SIZE_MAIN.format(
        name=name, arguments=", ".join(f"x{i}" for i in range(len(types))),
        buffers="".join(f"  static {type_} x{i}[{name.upper()}_INPUT_{i}_ELEMENTS];\n" for i, type_ in enumerate(types)))


class Builder:
    """Compiles and runs the NAME.c and NAME.h of a folder."""

    def __init__(self, build):
        self.build = pathlib.Path(build)
        self.firmware = self.build / "firmware"
        self.ccache = [shutil.which("ccache")] if shutil.which("ccache") else []

    def compile_for(self, core, folder, name, *defines):
        """Compiles the C alone to an object; it must compile without a warning."""
        flags, _ = CORES[core]
        out = folder / f"{name}-{core}.o"
        run("arm-none-eabi-gcc", *flags, "-mthumb", "-Os", *WARNINGS, *LINKED, *defines, f"-I{ROOT}", "-c",
            folder / f"{name}.c", "-o", out)
        return out

    def host_program(self, folder, name, calls, arena_given=False):
        (folder / "main.c").write_text(main_text(name, (folder / f"{name}.h").read_text(), calls, arena_given))
        program = folder / f"{name}-host"
        defines, hook = ["-DTHIMBLE_PORTABLE"], []
        if arena_given:
            upper, hook = name.upper(), [HERE / "op_hook.c"]
            defines += [f"-D{upper}_ARENA_GIVEN", f"-D{upper}_OP_HOOK(index, name)=count_op((index), (name))",
                        "-include", HERE / "op_hook.h"]
        run("cc", "-O1", *WARNINGS, *defines, f"-I{ROOT}", f"-I{HERE}", f"-I{folder}", folder / f"{name}.c",
            folder / "main.c", HERE / "host_io.c", *hook, "-Wl,--gc-sections", self.build / "kernels/libthimble_kernels.a",
            "-lm", "-o", program)
        return program

    @staticmethod
    def run_host(program, data):
        return run(program, stdin=data)

    def board_image(self, core, folder, name, calls, script=None, defines=()):
        """Builds an image with the core's own kernels, as the firmware's build compiles them. `script`: a linker script that
        replaces the board's; it can include files of the folder."""
        flags, board = CORES[core]
        (folder / "main.c").write_text(main_text(name, (folder / f"{name}.h").read_text(), calls))
        objects = [self.compile_for(core, folder, name, *defines)]
        run("arm-none-eabi-gcc", *flags, "-mthumb", "-Os", *WARNINGS, f"-I{HERE}", f"-I{folder}", "-c",
            folder / "main.c", "-o", folder / "main.o")
        objects.append(folder / "main.o")
        for source in (HERE / "board_io.cpp", ROOT / "firmware/common/startup.cpp",
                       ROOT / "firmware/common/semihosting.cpp"):
            objects.append(folder / (source.stem + ".o"))
            run(*self.ccache, "arm-none-eabi-g++", *flags, "-mthumb", "-Os", "-std=c++17", "-fno-exceptions",
                "-fno-rtti", "-fno-threadsafe-statics", f"-I{ROOT}", f"-I{HERE}", "-c", source, "-o", objects[-1])
        image = folder / f"{name}-{core}.elf"
        self.link(core, board, objects, image, script=script)
        return image

    def link(self, core, board, objects, image, archive=True, script=None):
        flags, _ = CORES[core]
        kernels = [self.firmware / core / "libkernels.a"] if archive else []
        run("arm-none-eabi-g++", *flags, "-mthumb", "-nostdlib", "-nostartfiles", "-static", "-Wl,--gc-sections",
            "-Wl,--no-warn-rwx-segments", f"-L{image.parent}", "-T", script or self.firmware / f"{board}.ld", *objects,
            "-Wl,--start-group", *kernels, "-lm", "-lc", "-lgcc", "-Wl,--end-group",
            "-o", image)

    def run_board(self, core, image, data, plugin=()):
        """Returns the image's outputs for these inputs. `plugin`: a plugin of the emulator, with its arguments."""
        _, board = CORES[core]
        folder = image.parent
        (folder / "in").write_bytes(data)
        (folder / "out").unlink(missing_ok=True)
        run("qemu-system-arm", "-M", board, "-nographic", "-monitor", "none", "-serial", "none",
            "-semihosting-config", "enable=on,target=native", *(["-plugin", ",".join(map(str, plugin))] if plugin else []),
            "-kernel", image, cwd=folder)
        return (folder / "out").read_bytes()

    def sizes(self, core, folder, name, kernels=None):
        """Returns the flash bytes of an application without semihosting: the model's constants, and everything else.

        `kernels`: objects that replace the archive of the firmware's build."""
        flags, board = CORES[core]
        header = (folder / f"{name}.h").read_text()
        (folder / "size_main.c").write_text(size_text(name, header))
        section = f"-D{name.upper()}_WEIGHTS_SECTION=__attribute__((section(\".weights\")))"
        objects = [self.compile_for(core, folder, name, section)]
        for source in (folder / "size_main.c", HERE / "size_startup.c"):
            objects.append(folder / (source.stem + ".o"))
            run("arm-none-eabi-gcc", *flags, "-mthumb", "-Os", *WARNINGS, *LINKED, f"-I{folder}", "-c", source,
                "-o", objects[-1])
        image = folder / f"{name}-{core}-size.elf"
        self.link(core, board, objects + (kernels or []), image, archive=kernels is None)
        listed = run("arm-none-eabi-size", "-A", image).decode()
        size = {name: int(bytes_) for name, bytes_ in re.findall(r"^(\.[\w.]+)\s+(\d+)\s", listed, re.M)}
        code = sum(size.get(section, 0) for section in (".text", ".data", ".ARM.exidx", ".init_array"))
        return {"constants": size.get(".weights", 0), "code": code, "ram": size.get(".bss", 0) + size.get(".data", 0)}
