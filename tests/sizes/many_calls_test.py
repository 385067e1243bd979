# SPDX-License-Identifier: Apache-2.0
"""A network of hundreds of calls as C: the flash that `thimble compile` prints is not below that of a linked image, and at most
2 % or 512 B above. Each call has a small error, and the constants are small.

usage: many_calls_test.py THIMBLE BUILD SOURCE_DIR
"""

import json
import pathlib
import subprocess
import sys
import tempfile

THIMBLE, BUILD, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
sys.path.insert(0, str(SOURCE / "benchmarks/sizes"))
import linked

NAME = "transformer_20"
CALLS = f"""#include "{NAME}.h"
extern const float input_0[];
const void *volatile result;
void call_model(void) {{
  {NAME}_init();
  {NAME}_run(input_0);
  result = {NAME}_output_0();
}}
"""


def linked_flash(core, folder):
    """Returns the report, and the flash of an image that is linked and not run."""
    flags, board = linked.CORES[core]
    report = json.loads(subprocess.run(
        [THIMBLE, "compile", SOURCE / f"tests/report/{NAME}.pt2", "--target", core, "--calibrate", "random", "--emit", "c",
         "--out-dir", folder, "--json"], check=True, capture_output=True, text=True).stdout)
    (folder / "calls.c").write_text(CALLS)
    gcc = ["arm-none-eabi-gcc", *flags, *linked.SECTIONS, "-std=c11", f"-I{SOURCE}", f"-I{folder}"]
    linked.run(*gcc, "-c", folder / "calls.c", "-o", folder / "calls.o")
    linked.run(*gcc, "-c", folder / f"{NAME}.c", "-o", folder / "model.o")
    elf, map_file = folder / "image.elf", folder / "image.map"
    linked.run("arm-none-eabi-g++", *flags, "-mthumb", "-nostdlib", "-nostartfiles", "-static", "-Wl,--gc-sections",
               "-Wl,--no-warn-rwx-segments", "-Wl,--unresolved-symbols=ignore-all", "-Wl,-e,call_model",
               f"-Wl,-Map,{map_file}", "-T", BUILD / f"firmware/{board}.ld", folder / "calls.o", folder / "model.o",
               "-Wl,--start-group", BUILD / f"firmware/{core}/libkernels.a", "-lm", "-lc", "-lgcc", "-Wl,--end-group",
               "-o", elf)
    sections = [".text", ".rodata", ".ARM.exidx", ".data", ".init_array"]
    return report, linked.Image(elf, map_file).of(sections, ["calls.o"])


def main():
    failures = []
    for core in linked.CORES:
        with tempfile.TemporaryDirectory() as folder:
            report, true = linked_flash(core, pathlib.Path(folder))
        said = report["flash_bytes"]
        print(f"{core}: {len(report['ops'])} calls, {said} printed, {true} linked, {said / true - 1:+.2%}", flush=True)
        if len(report["ops"]) < 400 or not true <= said <= linked.allowed(true):
            failures.append(core)
    if failures:
        sys.exit("wrong: " + ", ".join(failures))


if __name__ == "__main__":
    main()
