# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions and models the cycles of CMSIS-NN's layers (cmsis_nn.json) under QEMU, for builds with GCC and clang.

usage: cmsis_nn_measure.py CMSIS_NN_FOLDER [--build build] [--cores cortex-m7,cortex-m33] [--networks A,B] [--write]

This Python has the PyPI package ziglang 0.17.1 (clang 22.1.8). CMSIS_NN_FOLDER is a checkout of the commit that cmsis_nn.json
names. The build folder has the counter and the cycle models (make) and the board's linker script. Each layer is a call of the public function for its operator (cmsis_nn_layers.cpp). --write stores a
build in cmsis_nn.json if it needs fewer instructions for the whole network than the stored one, and the cycles of the build
with the fewest.
"""

import argparse
import concurrent.futures
import itertools
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import ziglang

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RECORD = HERE / "cmsis_nn.json"
GCC = ["arm-none-eabi-gcc"]
CLANG = [sys.executable, "-m", "ziglang", "clang", "--target=arm-none-eabi", "-fshort-enums", "-w",
         f"-isystem{pathlib.Path(ziglang.__file__).parent}/lib/include", "-isystem/usr/include/newlib"]
BUILDS = {
    "gcc -Ofast": [*GCC, "-Ofast"],
    "gcc -O2": [*GCC, "-O2"],
    "gcc -O2, requantization in assembly": [*GCC, "-O2", "-DCMSIS_NN_USE_REQUANTIZE_INLINE_ASSEMBLY"],
    "clang 22 -O3": [*CLANG, "-O3"],
}
WITHOUT_ASSEMBLY = ("cortex-m0plus",)  # no instructions for long products
FOLDERS = ("BasicMath", "Convolution", "FullyConnected", "NNSupport", "Pooling", "Softmax", "Transpose")
KINDS = {"conv": "kConv", "depthwise": "kDepthwise", "fc": "kLinear", "add": "kAdd", "avgpool": "kAveragePool",
         "softmax": "kSoftmax"}
PYTORCH_PADDING = ("mobilenet_v2",)  # the others have TensorFlow's SAME


def core_row(core):
    """Board and compiler flags of a core, from firmware/cores.cmake."""
    text = (ROOT / "firmware/cores.cmake").read_text()
    board, flags = re.search(rf"^thimble_core\({core} (\S+) FLAGS ([^)]*?)(?: ISA.*)?\)$", text, re.M).groups()
    return board, flags.split()


def padding(size_in, size_out, kernel, stride, network):
    if network in PYTORCH_PADDING:
        return kernel // 2
    return max(0, (size_out - 1) * stride + kernel - size_in) // 2


def layer_row(network, kind, shape):
    """A row of the table in cmsis_nn_layers.cpp for `32x32x3->32x32x16 k3x3 s1`, `1x64->10`, `8x8x64` or `1x10`."""
    sizes, *rest = shape.split()
    x, _, y = sizes.partition("->")
    x = [int(n) for n in x.split("x")]
    kernel, stride = (1, 1), 1
    for word in rest:
        if word[0] == "k":
            kernel = tuple(map(int, word[1:].split("x")))
        else:
            stride = int(word[1:])
    if len(x) == 2:
        x = [1, 1, x[1]]
    y = x if not y else [int(n) for n in y.split("x")]
    if len(y) == 1:
        y = [1, 1, *y]
    pads = (0, 0) if kind == "avgpool" else [padding(x[i], y[i], kernel[i], stride, network) for i in (0, 1)]
    return f"{{{', '.join(map(str, [KINDS[kind], *x, *y, *kernel, stride, *pads]))}}},"


def compile_one(command, source, out):
    subprocess.run([*command, "-c", str(source), "-o", str(out)], check=True)
    return out


def library(cmsis, flags, compiler, folder):
    sources = [path for name in FOLDERS for path in sorted((cmsis / f"Source/{name}Functions").glob("*.c"))
               if not re.search(r"_(f16|f32)\.c$", path.name)]
    command = [*compiler, *flags, "-mthumb", "-ffunction-sections", "-fdata-sections", f"-I{cmsis}/Include"]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(lambda path: compile_one(command, path, folder / f"{path.stem}.o"), sources))
    archive = folder / "libcmsis_nn.a"
    subprocess.run(["arm-none-eabi-gcc-ar", "rc", archive, *objects], check=True)
    return archive


def image(cmsis, build, network, layers, core, archive, folder):
    board, flags = core_row(core)
    rows = folder / "layers.inc"
    rows.write_text("\n".join(layer_row(network, kind, shape) for _, kind, shape, _ in layers) + "\n")
    elf = folder / f"{network}.elf"
    subprocess.run(["arm-none-eabi-g++", *flags, "-mthumb", "-std=c++17", "-O2", "-fno-exceptions", "-fno-rtti", f"-I{ROOT}",
                    f"-I{cmsis}/Include", f'-DLAYERS_FILE="{rows}"', HERE / "cmsis_nn_layers.cpp",
                    ROOT / "firmware/common/startup.cpp", ROOT / "firmware/common/semihosting.cpp", archive, "-nostartfiles",
                    "--specs=nano.specs", "-Wl,--gc-sections", "-Wl,--no-warn-rwx-segments", "-Wl,--no-warn-execstack", "-T",
                    build / f"firmware/{board}.ld", "-o", elf], check=True)
    return board, elf


def counted(build, core, board, elf, folder):
    """Instructions and modelled cycles per layer, in order."""
    subprocess.run(["qemu-system-arm", "-M", board, "-display", "none", "-monitor", "none", "-serial", "none",
                    "-semihosting-config", "enable=on,target=native", "-kernel", elf, "-plugin",
                    f"{build.resolve()}/firmware/insn_count.so,out=counts", "-d", "plugin"], check=True, cwd=folder)
    text = (folder / "counts").read_text()
    instructions = [int(count) for count in re.findall(r"^op \d+ \d+ (\d+)$", text, re.M)]
    modelled = subprocess.run([build / "tests/cycles_blocks", folder / "counts", core, "--operators"], check=True,
                              capture_output=True, text=True).stdout
    cycles = dict(map(int, line.split()) for line in modelled.splitlines())
    return instructions, [cycles[index] for index in range(len(instructions))]


def text_of(record):
    """JSON with a line per layer."""
    text = json.dumps(record, separators=(",", ":"), sort_keys=True)
    return text.replace('"layers":[[', '"layers":[\n[').replace("],[", "],\n[") + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cmsis", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--cores", default="cortex-m7,cortex-m33")
    parser.add_argument("--networks")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    record = json.loads(RECORD.read_text())
    networks = arguments.networks.split(",") if arguments.networks else list(record["networks"])
    fastest = {}  # cycles of the layers of the build with the fewest, by network and core
    for core, (name, compiler) in itertools.product(arguments.cores.split(","), BUILDS.items()):
        if core in WITHOUT_ASSEMBLY and "assembly" in name:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            archive = library(arguments.cmsis, core_row(core)[1], compiler, folder)
            for network in networks:
                stored = record["networks"][network][core]
                board, elf = image(arguments.cmsis, arguments.build, network, stored["layers"], core, archive, folder)
                counts, cycles = counted(arguments.build, core, board, elf, folder)
                assert len(counts) == len(stored["layers"]), counts
                print(f"{network} {core} {name}: {sum(counts):,}; stored: {stored['total']:,} ({stored['total_build']}); "
                      f"{sum(cycles):,} cycles", flush=True)
                if sum(counts) < stored["total"]:
                    stored |= {"build": name, "total": sum(counts), "total_build": name,
                               "layers": [[*layer[:3], count] for layer, count in zip(stored["layers"], counts)]}
                if sum(cycles) < sum(fastest.get((network, core), [math.inf])):
                    fastest[network, core] = cycles
                    stored |= {"cycles": cycles, "cycles_build": name}
    if arguments.write:
        RECORD.write_text(text_of(record))
    return 0


if __name__ == "__main__":
    sys.exit(main())
