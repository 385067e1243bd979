# SPDX-License-Identifier: Apache-2.0
"""Links one network with an application and measures what it adds: flash, RAM and stack, as the linker and the core use
them. measure.py and tests/sizes call it."""

import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path += [str(ROOT / "tests/c_output"), str(ROOT / "tests/e2e")]
from c_build import inputs_of, npy, write_npy

CORES = {  # compiler flags, and the board of the firmware's build
    "cortex-m0plus": (["-mcpu=cortex-m0plus"], "mps2-an385"),
    "cortex-m4": (["-mcpu=cortex-m4", "-mfloat-abi=hard"], "mps2-an386"),
    "cortex-m7": (["-mcpu=cortex-m7", "-mfloat-abi=hard"], "mps2-an500"),
    "cortex-m33": (["-mcpu=cortex-m33", "-mfloat-abi=hard"], "mps2-an505"),
    "cortex-m55": (["-mcpu=cortex-m55", "-mfloat-abi=hard"], "mps3-an547"),
}
FORMS = ("pte", "c")
SECTIONS = ["-mthumb", "-Os", "-ffunction-sections", "-fdata-sections"]
# No loop of the application may become a call of memcpy or memset.
APPLICATION = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fno-tree-loop-distribute-patterns", f"-I{ROOT}", f"-I{HERE}",
               f"-I{ROOT / 'runtime/include'}"]
CXX = ["-std=c++17", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", f"-I{ROOT}", f"-I{ROOT / 'runtime/include'}"]
RUNTIME_CALLS = """#include "application.h"
#include "thimble.h"

const thimble_kernels *thimble_model_kernels(void);
extern const uint8_t model_start[], model_end[];
extern uint8_t model_memory[], model_memory_end[];
extern thimble_model model;
{inputs}{saved}
uint32_t call_model(void) {{
  const size_t bytes = (size_t)(model_end - model_start), memory_bytes = (size_t)(model_memory_end - model_memory);
  thimble_needs needs;
  thimble_status status = thimble_size(model_start, bytes, thimble_model_kernels(), &needs);
  if (status != 0 || needs.arena_bytes + needs.state_bytes > memory_bytes) return 100;
  status = thimble_init(&model, model_start, bytes, thimble_model_kernels(), model_memory, memory_bytes);
  if (status != 0) return (uint32_t)status;
{set}{states}  return (uint32_t)thimble_run(&model);
}}

void write_outputs(void) {{
  thimble_view view;
{write}}}
"""
C_CALLS = """#include "application.h"
#include "{name}.h"
{inputs}{saved}
uint32_t call_model(void) {{
  {name}_init();
{states}  {name}_run({arguments});
  return 0;
}}

void write_outputs(void) {{
{write}}}
"""
MODEL = """
.section .rodata.model, "a"
.balign 16
.global model_start, model_end
model_start:
.incbin "{pte}"
model_end:
.section .bss.model_memory, "aw", %nobits
.balign 16
.global model_memory, model_memory_end
model_memory:
.space {memory}
model_memory_end:
.section .bss.model, "aw", %nobits
.balign 4
.global model
model:
.space 72
"""
INPUT = """
.section .rodata.input_{index}, "a"
.balign 16
.global input_{index}
input_{index}:
.incbin "{path}"
"""


def run(*command, cwd=None):
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        sys.exit(f"exit {done.returncode}: {' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout + done.stderr


def compiled(thimble, network, core, form, folder, options=()):
    """Returns the report of a compilation whose files are in the folder."""
    model = ROOT / "models" / network
    return json.loads(subprocess.run(
        [str(thimble), "compile", model / f"{network}.pt2", "--target", core, "--calibrate", model / "calibrate.npz",
         "--emit", form, "--out-dir", folder, "--kernels", folder / "kernels_used.cpp", *options, "--json"],
        check=True, capture_output=True, text=True).stdout)


def application(report, name, form, header):
    """Returns the C of the calls, whose inputs are the arrays input_N of the image."""
    inputs, outputs = len(report["inputs"]), len(report["outputs"])
    declared = "".join(f"extern const uint8_t input_{i}[], input_{i}_end[];\n" for i in range(inputs))
    saved = f"static uint8_t saved[{max(report['kept_bytes'], 1)}];\n" if report["kept_bytes"] else ""
    if form == "pte":
        words = "".join(
            f"  status = thimble_set_input(&model, {i}, input_{i}, (size_t)(input_{i}_end - input_{i}));\n"
            f"  if (status != 0) return (uint32_t)status;\n" for i in range(inputs))
        # A reset forgets the inputs, so it comes before them.
        states = ""
        if saved:
            states = ("  if (thimble_save(&model, saved, sizeof saved) != 0) return 101;\n"
                      "  if (thimble_restore(&model, saved, sizeof saved) != 0) return 102;\n")
        words = "  if (thimble_reset(&model) != 0) return 103;\n" + words
        write = "".join(f"  if (thimble_output(&model, {i}, &view) == 0) write_output(view.data, view.bytes);\n"
                        for i in range(outputs))
        view = "  if (thimble_input(&model, 0, &view) != 0) return;\n" if inputs else ""
        return RUNTIME_CALLS.format(inputs=declared, saved=saved, set=words, states=states, write=view + write)
    types = re.findall(r"const (\w+) \*input_\d+", re.search(rf"void {name}_run\((.*)\);", header)[1])
    states = f"  {name}_save(saved);\n  {name}_restore(saved);\n  {name}_reset();\n" if saved else ""
    write = "".join(f"  write_output({name}_output_{i}(), {name.upper()}_OUTPUT_{i}_BYTES);\n" for i in range(outputs))
    return C_CALLS.format(name=name, inputs=declared, saved=saved, states=states, write=write,
                          arguments=", ".join(f"(const {type_} *)input_{i}" for i, type_ in enumerate(types)))


class Image:
    """A linked image, with the sizes of its sections by object file."""

    def __init__(self, elf, map_file):
        self.total = {name: int(size) for name, size in re.findall(
            r"^(\.[\w.]+)\s+(\d+)\s", run("arm-none-eabi-size", "-A", elf), re.M)}
        text = map_file.read_text()
        text = text[text.index("Linker script and memory map"):]
        self.inputs, fill = [], 0
        for name, size, path in re.findall(r"^ (\.[\w.$]+|COMMON|\*fill\*)\s+0x[0-9a-f]+\s+0x([0-9a-f]+)(?: (\S+))?", text, re.M):
            if name == "*fill*":
                fill = int(size, 16)
            else:
                self.inputs.append((name, fill + int(size, 16), pathlib.Path(path).name))
                fill = 0

    def of(self, sections, without):
        """Returns the bytes of the output sections, without the sections of the named objects and the padding before them."""
        bytes_ = sum(self.total.get(name, 0) for name in sections)
        for name, size, path in self.inputs:
            if path in without and any(name == section or name.startswith(section + ".") for section in sections):
                bytes_ -= size
        return bytes_


def exact_script(firmware, board, model_bytes, own, stack_bytes, folder):
    """Returns a linker script with memory for the application and for exactly the model's bytes of `sram` and `flash`.

    `own`: what the application uses itself; `stack_bytes`: of the model."""
    text = (firmware / f"{board}.ld").read_text()
    stack = own["stack"] + stack_bytes
    # The stack ends at an odd place: what is lost before the variables belongs to the application.
    lost = -stack % 32
    lengths = {"code": own["flash"] + model_bytes["flash"],
               "data": own["ram"] + own["stack"] + lost + model_bytes["sram"]}
    for region, length in lengths.items():
        text, count = re.subn(rf"(^  {region} \(r[wx]\) : ORIGIN = \w+, LENGTH = )\w+", rf"\g<1>{length}", text, flags=re.M)
        assert count == 1, region
    text, count = re.subn(r"(stack_bottom = \.;\s+\. = \. \+ )\w+(;\s+stack_top = \.;)", rf"\g<1>{stack}\2 . = ALIGN(32);", text)
    assert count == 1
    script = folder / "exact.ld"
    script.write_text(text)
    return script


def measured(thimble, build, network, core, form, folder, exact=None, target=None):
    """Returns the report, and what the image uses: flash, RAM without stack, stack, and the SHA-256 of its outputs.

    `exact`: bytes of `sram` and `flash`: the image is linked and run again with no more memory than these for the model.
    `target`: a part with this core."""
    flags, board = CORES[core]
    firmware = pathlib.Path(build) / "firmware"
    report = compiled(thimble, network, target or core, form, folder)
    name = re.sub(r"\W", "_", network)
    series = inputs_of(ROOT / "models" / network, report["inputs"], 1)
    header = (folder / f"{name}.h").read_text() if form == "c" else ""
    (folder / "calls.c").write_text(application(report, name, form, header))
    data = ""
    for index, (_, samples) in enumerate(series):
        (folder / f"input_{index}.bin").write_bytes(samples[0])
        data += INPUT.format(index=index, path=folder / f"input_{index}.bin")
        data += f".global input_{index}_end\ninput_{index}_end:\n"
    (folder / "inputs.S").write_text(data)
    gcc = ["arm-none-eabi-gcc", *flags, *SECTIONS]
    own = ["application.o", "calls.o", "inputs.o"]
    run(*gcc, *APPLICATION, "-c", HERE / "application.c", "-o", folder / "application.o")
    run(*gcc, *APPLICATION, f"-I{folder}", "-fstack-usage", "-c", folder / "calls.c", "-o", folder / "calls.o")
    run(*gcc, "-c", folder / "inputs.S", "-o", folder / "inputs.o")
    objects = [folder / each for each in own]
    archives = [firmware / core / "libkernels.a"]
    if form == "pte":
        memory = report["arena_bytes"] + report["state_bytes"]
        (folder / "model.S").write_text(MODEL.format(pte=folder / f"{network}.pte", memory=memory))
        run(*gcc, "-c", folder / "model.S", "-o", folder / "model.o")
        run("arm-none-eabi-g++", *flags, *SECTIONS, *CXX, "-c", folder / "kernels_used.cpp", "-o", folder / "kernels_used.o")
        objects += [folder / "model.o", folder / "kernels_used.o"]
        archives.insert(0, firmware / core / "libruntime_product.a")
    else:
        run(*gcc, "-std=c11", f"-I{ROOT}", "-c", folder / f"{name}.c", "-o", folder / "model.o")
        objects.append(folder / "model.o")
    elf, map_file = folder / "image.elf", folder / "image.map"

    def link_and_run(script):
        run("arm-none-eabi-g++", *flags, "-mthumb", "-nostdlib", "-nostartfiles", "-static", "-Wl,--gc-sections",
            "-Wl,--no-warn-rwx-segments", f"-Wl,-Map,{map_file}", "-T", script, *objects, "-Wl,--start-group", *archives,
            "-lm", "-lc", "-lgcc", "-Wl,--end-group", "-o", elf)
        (folder / "out").unlink(missing_ok=True)
        said = run("qemu-system-arm", "-M", board, "-nographic", "-monitor", "none", "-serial", "none",
                   "-semihosting-config", "enable=on,target=native", "-kernel", elf, cwd=folder)
        numbers = {word: int(digits, 16) for word, digits in re.findall(r"(\w+) ([0-9a-f]{8})$", said, re.M)}
        assert numbers.get("status") == 0, f"{network} {core} {form}: {said}"
        return numbers, hashlib.sha256((folder / "out").read_bytes()).hexdigest()

    numbers, outputs = link_and_run(firmware / f"{board}.ld")
    frame = int(re.search(r":call_model\t(\d+)\tstatic", (folder / "calls.su").read_text())[1])
    image = Image(elf, map_file)
    flash, ram = [".text", ".rodata", ".vectors", ".ARM.exidx", ".data", ".init_array"], [".data", ".bss", "COMMON"]
    used = {"flash": image.of(flash, own), "ram": image.of(ram, own), "stack": numbers["stack"] - frame, "sha256": outputs}
    if exact is not None:
        application_bytes = {"flash": image.of(flash, []) - used["flash"], "ram": image.of(ram, []) - used["ram"],
                             "stack": (numbers["callers"] + frame + 7) // 8 * 8}
        script = exact_script(firmware, board, exact, application_bytes, report["stack_bytes"], folder)
        assert link_and_run(script)[1] == outputs
    return report, used


def linked_flash(thimble, build, network, target, core, folder):
    """Returns the report of a `.pte` for a part with an NPU, and the flash of an image that is linked but cannot run: device
    and driver of the NPU are missing."""
    flags, board = CORES[core]
    firmware = pathlib.Path(build) / "firmware"
    report = compiled(thimble, network, target, "pte", folder)
    (folder / "calls.c").write_text(application(report, network, "pte", "").replace("void write_outputs", "void outputs"))
    (folder / "model.S").write_text(MODEL.format(pte=folder / f"{network}.pte", memory=16))
    gcc = ["arm-none-eabi-gcc", *flags, *SECTIONS]
    includes = [f"-I{path}" for path in (ROOT / "engines").glob("*/delegate/include")]
    run(*gcc, *APPLICATION, "-c", folder / "calls.c", "-o", folder / "calls.o")
    run(*gcc, "-c", folder / "model.S", "-o", folder / "model.o")
    run("arm-none-eabi-g++", *flags, *SECTIONS, *CXX, *includes, "-c", folder / "kernels_used.cpp", "-o",
        folder / "kernels_used.o")
    elf, map_file = folder / "image.elf", folder / "image.map"
    run("arm-none-eabi-g++", *flags, "-mthumb", "-nostdlib", "-nostartfiles", "-static", "-Wl,--gc-sections",
        "-Wl,--no-warn-rwx-segments", "-Wl,--unresolved-symbols=ignore-all", "-Wl,-e,call_model", f"-Wl,-Map,{map_file}",
        "-T", firmware / f"{board}.ld", folder / "calls.o", folder / "model.o", folder / "kernels_used.o",
        "-Wl,--start-group", firmware / core / "libruntime_product.a", firmware / core / "libkernels.a", "-lm", "-lc",
        "-lgcc", "-Wl,--end-group", "-o", elf)
    return report, Image(elf, map_file).of([".text", ".rodata", ".ARM.exidx", ".data", ".init_array"], ["calls.o"])


def host_outputs(thimble, network, core):
    """Returns the SHA-256 of the outputs of the `.pte` on the host, for the inputs of measured()."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        report = compiled(thimble, network, core, "pte", folder)
        words = []
        for index, (descr, samples) in enumerate(inputs_of(ROOT / "models" / network, report["inputs"], 1)):
            write_npy(folder / f"x{index}.npy", descr, report["inputs"][index]["shape"], samples[0])
            words += ["--input", folder / f"x{index}.npy"]
        run(thimble, "run", folder / f"{network}.pte", *words, "--output", folder / "y")
        outputs = hashlib.sha256()
        for index in range(len(report["outputs"])):
            outputs.update(npy((folder / "y" / f"output_{index}.npy").read_bytes())[2])
        return outputs.hexdigest()


def printed(report):
    """Returns what the compiler says about the same three sizes."""
    sram = {memory["name"]: memory["bytes_used"] for memory in report["memories"]}["sram"]
    return {"flash": report["flash_bytes"], "ram": sram - report["stack_bytes"], "stack": report["stack_bytes"]}


def allowed(true):
    """Returns the largest number that the compiler may print."""
    return max(true + 512, int(true * 1.02))


def wrong(said, true):
    """Returns the names of sizes that are below the truth or too far above it."""
    return [name for name in ("flash", "ram", "stack") if not true[name] <= said[name] <= allowed(true[name])]
