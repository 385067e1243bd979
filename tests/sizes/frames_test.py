# SPDX-License-Identifier: Apache-2.0
"""Frames that benchmarks/sizes/elf.py reads from instructions are those of GCC's -fstack-usage.

usage: frames_test.py SOURCE_DIR ARM_CXX
"""

import collections
import pathlib
import subprocess
import sys
import tempfile

SOURCE, CXX = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
sys.path.insert(0, str(SOURCE / "benchmarks/sizes"))
import elf
import sections

# Sources without assembly, whose functions -fstack-usage does not list.
SOURCES = {
    "cortex-m0plus": ["kernels/args/conv.cpp", "kernels/portable/softmax.cpp", "runtime/exec/flatbuffer_load.cpp"],
    "cortex-m4": ["kernels/args/conv.cpp", "kernels/dsp/conv2d_dsp.cpp", "runtime/exec/record_load.cpp"],
    "cortex-m55": ["kernels/mve/depthwise_mve.cpp", "kernels/mve/quantize_nest.cpp", "runtime/exec/record_executor.cpp"],
}
OPTIONS = ["-mthumb", "-std=c++17", "-O2", "-fno-exceptions", "-fno-rtti", "-fno-unwind-tables",
           "-fno-asynchronous-unwind-tables", "-fno-threadsafe-statics", "-ffunction-sections", "-fstack-usage",
           f"-I{SOURCE}", f"-I{SOURCE / 'runtime/include'}"]


def main():
    compared = 0
    for core, sources in SOURCES.items():
        flags, _ = sections.cores()[core]
        for source in sources:
            with tempfile.TemporaryDirectory() as name:
                object_file = pathlib.Path(name) / "x.o"
                subprocess.run([CXX, *flags, *OPTIONS, "-c", SOURCE / source, "-o", object_file], check=True)
                lines = object_file.with_suffix(".su").read_text().splitlines()
                found, _ = elf.read_object(object_file.read_bytes())
            assert all("static" in line.split("\t")[2] for line in lines), source
            by_gcc = collections.Counter(int(line.split("\t")[1]) for line in lines)
            read = collections.Counter(elf.stack_use(each)[0] for each in found if each.is_text and each.size > 0)
            if by_gcc != read:
                sys.exit(f"{core} {source}: GCC says {dict(by_gcc - read)}, the instructions {dict(read - by_gcc)}")
            compared += sum(read.values())
    print(f"{compared} frames")
    assert compared > 30


if __name__ == "__main__":
    main()
