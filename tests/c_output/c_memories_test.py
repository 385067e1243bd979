# SPDX-License-Identifier: Apache-2.0
"""A part with several memories: each array of the C is at the address that the compiler states, the model's outputs do not
change, and the number of accesses is close to the compiler's estimate.

usage: c_memories_test.py THIMBLE BUILD SOURCE_DIR
"""

import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from c_build import CORES, HERE, LINKED, ROOT, Builder, inputs_of, run, thimble, write_npy
from c_output_test import element_bytes, hashes_of

CORE, CALLS = "cortex-m4", 3
# Parts of the emulated board's memory: start address, size of the linker's region, and entry in the part's file. The
# application's own code and data are elsewhere.
MEMORIES = {"dtcm": (0x20100000, 16 * 1024, "cycles_per_word = 1"),
            "sram": (0x20200000, 20 * 1024, "cycles_per_word = 2"),
            "psram": (0x21000000, 1024 * 1024, "cycles_per_word = 8"),
            "flash": (0x00200000, 1024 * 1024, "cycles_per_word = 12"),
            "rom": (0x00300000, 64 * 1024, "cycles_per_word = 4\nkept = true")}
PART = """summary = "a board with several memories"
cpu = "{core}"
""" + "".join(f"""
[[memory]]
name = "{name}"
bytes = {size}
{more}
""" for name, (_, size, more) in MEMORIES.items())

SCRIPT = """MEMORY {{
  code (rx) : ORIGIN = 0x00000000, LENGTH = 2M
  data (rw) : ORIGIN = 0x20000000, LENGTH = 1M
{regions}}}
REGION_ALIAS("{first}", {first}_ram)
ENTRY(reset_handler)
SECTIONS {{
  .text : {{ KEEP(*(.vectors)) *(.text*) }} > code
  INCLUDE {name}_sections.ld
  .rodata : {{ *(.rodata*) . = ALIGN(4); }} > code
  .ARM.exidx : {{ *(.ARM.exidx*) *(.ARM.extab*) }} > code
  .stack (NOLOAD) : ALIGN(32) {{ stack_bottom = .; . = . + 16K; stack_top = .; }} > data
  .data : ALIGN(4) {{ data_start = .; *(.data*) . = ALIGN(4); data_end = .; }} > data AT > code
  data_image = LOADADDR(.data);
  .bss (NOLOAD) : ALIGN(4) {{ bss_start = .; *(.bss*) *(COMMON) . = ALIGN(4); bss_end = .; }} > data
  /DISCARD/ : {{ *(.comment) }}
}}
"""
# The first memory has another name in the linker script, as in scripts of vendors.
FIRST = "dtcm"


def script_for(name, folder):
    regions = "".join(f"  {memory}{'_ram' if memory == FIRST else ''} (rwx) : ORIGIN = {begin}, LENGTH = {size}\n"
                      for memory, (begin, size, _) in MEMORIES.items())
    path = folder / "board.ld"
    path.write_text(SCRIPT.format(name=name, regions=regions, first=FIRST))
    return path


def memory_at(address):
    return next((name for name, (begin, size, _) in MEMORIES.items() if begin <= address < begin + size), hex(address))


def part_in(folder, core=CORE):
    (folder / "board.toml").write_text(PART.format(core=core))
    return folder / "board.toml"


def compile_model(program, model, folder, *options, core=CORE):
    return thimble(program, "compile", model / f"{model.name}.pt2", "--target", part_in(folder, core), "--calibrate",
                   model / "calibrate.npz", "--io", "int8", "--out-dir", folder, *options)


def check_image(image, name, objects):
    """Each object is at the address in the report, and its load image too."""
    symbols = {symbol: int(address, 16) for address, symbol in
               re.findall(r"^([0-9a-f]+) \w (\S+)$", run("arm-none-eabi-nm", image).decode(), re.M)}
    sections = {section: (int(run_at, 16), int(load_at, 16)) for section, run_at, load_at in
                re.findall(r"^ +\d+ (\S+) +[0-9a-f]+  ([0-9a-f]+)  ([0-9a-f]+)",
                           run("arm-none-eabi-objdump", "-h", image).decode(), re.M)}
    for item in objects:
        symbol = f"{name}_arena" if item["name"] == "arena" else item["name"]
        assert memory_at(symbols[symbol]) == item["memory"], (item, hex(symbols[symbol]))
        if item["image"]:
            run_at, load_at = sections[f".{name}.{item['memory']}"]
            assert memory_at(run_at) == item["memory"] and memory_at(load_at) == item["image"], item
            assert memory_at(symbols[f"{name}_{item['memory']}_image"]) == item["image"], item


def check_c(program, builder, model, folder, *options):
    name = model.name
    report = compile_model(program, model, folder, "--emit", "pte,c", *options)
    objects = report["placement"]["objects"]
    used = {item["memory"] for item in objects}
    assert len(used) >= 3 and any(item["image"] for item in objects), f"{name}: only {used} in use: it proves nothing"
    for memory in report["memories"]:
        assert 0 <= memory["bytes_used"] <= memory["bytes_size"], memory
    series = inputs_of(model, report["inputs"], CALLS)
    calls, words = len(series[0][1]), []
    for index, (descr, samples) in enumerate(series):
        write_npy(folder / f"x{index}.npy", descr, (calls, *report["inputs"][index]["shape"]), b"".join(samples))
        words += ["--input", folder / f"x{index}.npy"]
    ran = thimble(program, "run", folder / f"{name}.pte", *words, "--steps")
    for output, compiled in zip(ran["outputs"], report["outputs"]):
        output["bytes"] = element_bytes(compiled["dtype"])
        for size in compiled["shape"]:
            output["bytes"] *= size
    data = b"".join(samples[call] for call in range(calls) for _, samples in series)
    wanted = [output["sha256"] for output in ran["outputs"]]
    host = hashes_of(builder.run_host(builder.host_program(folder, name, calls), data), ran["outputs"], calls)
    image = builder.board_image(CORE, folder, name, calls, script_for(name, folder))
    check_image(image, name, objects)
    board = hashes_of(builder.run_board(CORE, image, data), ran["outputs"], calls)
    assert host == wanted and board == wanted, f"{name}: the .pte gives {wanted}, this machine {host}, the board {board}"
    print(f"{name}: {len(objects)} objects in {', '.join(sorted(used))}, {wanted[0][:16]}")


FACTOR_MAX, SUM_FACTOR_MAX = 1.5, 1.25  # maximum ratio of estimated and counted bytes, in either direction


def check_accesses(program, builder, model, core, folder):
    """The compiler's estimate of accessed bytes per inference is close to the emulator's count."""
    name, upper = model.name, model.name.upper()
    report = compile_model(program, model, folder, "--emit", "c", core=core)
    series = inputs_of(model, report["inputs"], 1)
    # Everything in one memory, as for a part without a choice: the user's macros have priority.
    image = builder.board_image(core, folder, name, 1, defines=(f"-D{upper}_WEIGHTS_SECTION=", f"-D{upper}_ARENA_SECTION="))
    said = {item["name"]: item["accessed_bytes"] for item in report["placement"]["objects"]}
    plugin = [builder.firmware / "access_count.so", f"out={folder / 'counted'}"]
    for address, size, symbol in re.findall(r"^([0-9a-f]+) ([0-9a-f]+) \w (\S+)$",
                                            run("arm-none-eabi-nm", "-S", image).decode(), re.M):
        symbol = "arena" if symbol == f"{name}_arena" else symbol
        if symbol in said:
            plugin.append(f"range={symbol}:{address}:{int(address, 16) + int(size, 16):x}")
    assert len(plugin) == 2 + len(said), f"{len(said)} objects, {len(plugin) - 2} symbols"
    builder.run_board(core, image, b"".join(samples[0] for _, samples in series), plugin)
    counted = {}
    for line in (folder / "counted").read_text().splitlines():
        symbol, read, written = line.split()
        counted[symbol] = int(read) + int(written)
    total, said_total = sum(counted.values()), sum(said.values())
    for symbol, count in counted.items():
        if count < total / 100:
            continue
        if max(said[symbol] / count, count / said[symbol]) > FACTOR_MAX:
            sys.exit(f"{name} on {core}: {symbol}: {said[symbol]} bytes accessed are said, {count} counted: does reuse_on() of "
                     "src/memory/accesses.cpp still hold?")
    print(f"{name} on {core}: {said_total} bytes accessed are said, {total} counted")
    assert max(said_total / total, total / said_total) <= SUM_FACTOR_MAX, (name, core, said_total, total)


PRODUCT = """#include <cstring>
#include "model_io.h"
#include "runtime/include/thimble.h"

extern "C" {{
extern const uint8_t model_start[], model_end[];
extern uint8_t model_memory[], model_memory_end[];
{symbols}const thimble_kernels* thimble_model_kernels(void);
}}
static uint8_t x[{input_bytes}];

int main() {{
{loads}  thimble_model model;
  if (thimble_init(&model, model_start, static_cast<size_t>(model_end - model_start), thimble_model_kernels(), model_memory,
                   static_cast<size_t>(model_memory_end - model_memory)) != 0) return 3;
  for (int call = 0; call < {calls}; ++call) {{
    read_input(x, sizeof x);
    thimble_view y;
    if (thimble_set_input(&model, 0, x, sizeof x) != 0 || thimble_run(&model) != 0) return 4;
    if (thimble_output(&model, 0, &y) != 0) return 5;
    write_output(y.data, y.bytes);
  }}
  return 0;
}}
"""
LOADED = """extern const uint8_t {name}_{memory}_image[];
extern uint8_t {name}_{memory}_start[], {name}_{memory}_end[];
"""
LOAD = """  std::memcpy({name}_{memory}_start, {name}_{memory}_image, static_cast<size_t>({name}_{memory}_end - {name}_{memory}_start));
"""
DATA = """
.section .{name}.model, "a"
.balign 16
.global model_start, model_end
model_start: .incbin "{pte}"
model_end:
.section .bss.{name}.arena, "aw", %nobits
.balign 16
.global model_memory, model_memory_end
model_memory: .space {memory}
model_memory_end:
"""


def check_file(program, builder, model, folder, where, *options):
    """The whole `.pte` is one object in memory `where`; the linker file is in the folder of the kernel list."""
    name = model.name
    report = compile_model(program, model, folder, "--kernels-dir", folder / "used", *options)
    objects = {item["name"]: item for item in report["placement"]["objects"]}
    assert set(objects) == {"arena", "model"} and objects["model"]["memory"] == where, objects
    assert objects["model"]["bytes"] == (folder / f"{name}.pte").stat().st_size
    assert objects["arena"]["bytes"] == report["arena_bytes"] + report["state_bytes"]
    descr, samples = inputs_of(model, report["inputs"], CALLS)[0]
    write_npy(folder / "x.npy", descr, (len(samples), *report["inputs"][0]["shape"]), b"".join(samples))
    wanted = thimble(program, "run", folder / f"{name}.pte", "--input", folder / "x.npy", "--steps")["outputs"][0]["sha256"]
    words = {"name": name, "memory": where}
    loads = bool(objects["model"]["image"])
    (folder / "product.cpp").write_text(PRODUCT.format(
        symbols=LOADED.format(**words) if loads else "", loads=LOAD.format(**words) if loads else "", calls=len(samples),
        input_bytes=len(samples[0])))
    (folder / "data.S").write_text(DATA.format(name=name, pte=folder / f"{name}.pte", memory=objects["arena"]["bytes"]))
    flags, image = CORES[CORE][0], folder / "product.elf"
    common = ROOT / "firmware/common"
    run("arm-none-eabi-g++", *flags, "-mthumb", "-Os", "-std=c++17", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics",
        *LINKED, f"-I{ROOT}", f"-I{ROOT / 'runtime/include'}", f"-I{HERE}", f"-L{folder / 'used'}", "-nostdlib",
        "-nostartfiles", "-static", "-Wl,--gc-sections", "-Wl,--no-warn-rwx-segments", "-T", script_for(name, folder),
        folder / "product.cpp", folder / "data.S", folder / "used/kernels_used.cpp", HERE / "board_io.cpp",
        common / "startup.cpp", common / "semihosting.cpp", "-Wl,--start-group",
        builder.firmware / CORE / "libruntime_product.a", builder.firmware / CORE / "libkernels.a", "-lm", "-lc", "-lgcc",
        "-Wl,--end-group", "-o", image)
    symbols = {symbol: int(address, 16) for address, symbol in
               re.findall(r"^([0-9a-f]+) \w (\S+)$", run("arm-none-eabi-nm", image).decode(), re.M)}
    assert memory_at(symbols["model_start"]) == where and memory_at(symbols["model_memory"]) == objects["arena"]["memory"]
    got = hashlib.sha256(builder.run_board(CORE, image, b"".join(samples))).hexdigest()
    assert got == wanted, f"{name}.pte in {where}: {got}, {wanted} elsewhere"
    print(f"{name}.pte: read from {where}{', loaded' if loads else ''}, {wanted[:16]}")


def check_shortage(program, model, folder):
    """An object that fits nowhere is reported with its name and size, and nothing is written."""
    command = [program, "compile", model / f"{model.name}.pt2", "--target", part_in(folder), "--calibrate",
               model / "calibrate.npz", "--io", "int8", "--emit", "c", "--out-dir", folder / "out", "--json"]
    limits = [word for name in ("dtcm", "sram", "psram") for word in ("--memory", f"{name}=1K")]
    done = subprocess.run([str(word) for word in command + limits], capture_output=True, text=True)
    assert done.returncode == 1, (done.returncode, done.stderr)
    message = json.loads(done.stdout)["error"]
    arena = re.search(r"arena of ([\d,]+) B fits in no memory: (\w+) has the most free space, 1,024 B, which is ([\d,]+) B too few", message)
    assert arena and int(arena[1].replace(",", "")) - int(arena[3].replace(",", "")) == 1024, message
    assert not list((folder / "out").glob("*")), "nothing is written"
    done = subprocess.run([str(word) for word in command + ["--memory", "tape=1K"]], capture_output=True, text=True)
    assert done.returncode == 2 and "dtcm and sram and psram and flash and rom" in done.stderr, done.stderr


def check_nothing_changes(program, model, folder):
    """Without a choice of memories, no linker file is written and only the user's sections are used."""
    report = thimble(program, "compile", model / f"{model.name}.pt2", "--target", CORE, "--calibrate",
                     model / "calibrate.npz", "--io", "int8", "--emit", "c", "--out-dir", folder)
    assert "placement" not in report and not list(folder.glob("*.ld"))
    source = (folder / f"{model.name}.c").read_text()
    assert "section(" not in source and "_LOADS" not in source and f"{model.name.upper()}_WEIGHTS_SECTION static" in source


def main():
    program, build, source = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    builder, models = Builder(build), source / "models"
    for core in ("cortex-m4", "cortex-m55", "cortex-m0plus"):
        for name in ("ad_autoencoder", "dscnn_kws", "resnet8"):
            with tempfile.TemporaryDirectory() as folder:
                check_accesses(program, builder, models / name, core, pathlib.Path(folder))
    for check in (lambda folder: check_c(program, builder, models / "dscnn_kws", folder),
                  lambda folder: check_c(program, builder, models / "gru_classifier", folder, "--memory", "dtcm=1K", "--memory",
                                         "sram=2K"),
                  lambda folder: check_file(program, builder, models / "dscnn_kws", folder, "rom"),
                  lambda folder: check_file(program, builder, models / "dscnn_kws", folder, "psram", "--memory", "rom=1K"),
                  lambda folder: check_shortage(program, models / "dscnn_kws", folder),
                  lambda folder: check_nothing_changes(program, models / "dscnn_kws", folder)):
        with tempfile.TemporaryDirectory() as folder:
            check(pathlib.Path(folder))


if __name__ == "__main__":
    main()
