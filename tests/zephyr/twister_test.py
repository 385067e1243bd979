#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Samples and ztest suites of the Zephyr module, built and run by Zephyr's twister on QEMU boards.

usage: twister_test.py SOURCE_DIR BUILD_DIR THIMBLE [--out DIR] [--suite FOLDER]... [--board BOARD]...

Needs ZEPHYR_BASE, the modules that the boards need (CMSIS_6) in ZEPHYR_MODULES or in a west workspace, a toolchain (for Debian's:
ZEPHYR_TOOLCHAIN_VARIANT=gnuarmemb GNUARMEMB_TOOLCHAIN_PATH=/usr), and a python3 with twister's packages. Without ZEPHYR_BASE it is
skipped. A target whose instructions the board does not have is refused when the application is configured. After twister:

- every hash that an application has printed is that of the host for the same file and input,
- one inference in Zephyr, without interrupts, executes at most 5 % more or fewer instructions than in the image without an
  operating system,
- the linked code of the module needs at most 5 % more flash than `thimble compile` prints for an image without an operating
  system. The texts of the log, which that image does not have, are printed apart. RAM is only the memory of the model.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/e2e"))

SKIPPED = 77
SUITES = ("examples/zephyr", "tests/zephyr")
MACHINES = {"mps2/an385": "mps2-an385", "mps2/an521/cpu0": "mps2-an521", "mps3/corstone300/an547": "mps3-an547"}
BOARDS = tuple(MACHINES)
NPU_BOARD = "mps3/corstone300/fvp"  # its applications are only linked, with Zephyr's own driver of the NPU
NPU_MODULE = "hal_ethos_u"
DIFFERENCE_MAX = 0.05
MODULE = re.compile(r"libthimble_|_model\.cpp")
SECTION = re.compile(r"^ \.(\w+)\S*\s+0x([0-9a-f]+)\s+0x([0-9a-f]+) (\S.*)$", re.M)
PRINTED = re.compile(r"(\w+): output (\d+) bytes, hash ([0-9a-f]{8})")


def hash_of(data):
    """FNV-1a of 32 bits, as examples/zephyr/shared/model.h."""
    value = 0x811C9DC5
    for byte in data:
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return value


def write_input(thimble, pte, path):
    """Writes input 0 of the file, with all bytes 1, as .npy."""
    facts = json.loads(subprocess.run([thimble, "inspect", pte, "--json"], check=True, capture_output=True).stdout)
    port = facts["inputs"][0]
    kind, size = {"float32": ("<f4", 4), "int8": ("|i1", 1)}[port["dtype"]]
    shape = tuple(port["shape"])
    count = size
    for extent in shape:
        count *= extent
    header = (f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}").ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + b"\x01" * count)


def run(thimble, pte, folder, *options):
    """Runs the file with an input of bytes 1. Returns the bytes of output 0, and what --json prints."""
    write_input(thimble, pte, folder / "x.npy")
    done = subprocess.run([thimble, "run", pte, "--input", folder / "x.npy", "--output", folder / "y", "--json", *options], check=True,
                          capture_output=True)
    data = (folder / "y/output_0.npy").read_bytes()
    return data[10 + int.from_bytes(data[8:10], "little"):], json.loads(done.stdout)


def check_hashes(thimble, out):
    """Compares all printed hashes with the host's. Returns their number."""
    count = 0
    for log in sorted(out.rglob("handler.log")):
        for name, size, printed in set(PRINTED.findall(log.read_text(errors="replace"))):
            pte = log.parent / f"thimble/app/{name}.pte"
            with tempfile.TemporaryDirectory() as folder:
                data, _ = run(thimble, pte, pathlib.Path(folder))
            assert len(data) == int(size) and f"{hash_of(data):08x}" == printed, f"{log}: {name}: {printed}, host {hash_of(data):08x}"
            count += 1
    return count


def check_instructions(thimble, build, out):
    """Compares the instructions of one inference with those of the image without an operating system."""
    plugin = build / "firmware/insn_count.so"
    for elf in sorted(out.rglob("zephyr/zephyr.elf")):
        folder = elf.parents[1]
        if "thimble.instructions" not in folder.name:
            continue
        board = next(board for board in BOARDS if board.replace("/", "_") in str(folder))
        counts = folder / "counts"
        command = ["timeout", "20", "qemu-system-arm", "-M", MACHINES[board], "-display", "none", "-monitor", "none", "-serial", "null",
                   "-plugin", f"{plugin},out={counts}", "-d", "plugin", "-kernel", elf]
        subprocess.run([str(word) for word in command], check=False, capture_output=True)
        zephyr = int(re.search(r"^run \d+ 1 (\d+)", counts.read_text(), re.M)[1])
        with tempfile.TemporaryDirectory() as temporary:
            _, facts = run(thimble, folder / "thimble/app/dscnn_kws.pte", pathlib.Path(temporary), "--on", "qemu")
        bare = facts["instructions"]
        print(f"{board}: {zephyr:,} instructions of an inference in Zephyr, {bare:,} without: {100 * (zephyr / bare - 1):+.2f} %")
        assert abs(zephyr / bare - 1) <= DIFFERENCE_MAX


def module_bytes(linker_map):
    """Returns the bytes of the module's code, of the texts of its log, and in RAM, by the linker's map, where a long name ends
    its line."""
    text = linker_map.read_text().split("Linker script and memory map")[1]
    flash = log = ram = 0
    for kind, address, size, path in SECTION.findall(re.sub(r"\n {16,}0x", " 0x", text)):
        if int(address, 16) == 0 or not MODULE.search(path):
            continue
        if kind in ("text", "rodata") and ("status_text" in path or "libthimble_zephyr" in path):
            log += int(size, 16)
        elif kind in ("text", "rodata"):
            flash += int(size, 16)
        elif kind in ("data", "bss", "noinit"):
            ram += int(size, 16)
    return flash, log, ram


def check_memory(out):
    """Compares flash and RAM of keyword spotting's module with what the compiler prints for bare metal."""
    for linker_map in sorted(out.rglob("zephyr/zephyr.map")):
        folder = linker_map.parents[1]
        report = folder / "thimble/app/dscnn_kws.json"
        if "keyword_spotting" not in folder.name:
            continue
        facts = json.loads(report.read_text())
        flash, log, ram = module_bytes(linker_map)
        code = flash - facts["pte_bytes"]
        board = next(board for board in BOARDS if board.replace("/", "_") in str(folder))
        print(f"{board}: code of the module {code:,} B, printed {facts['code_bytes']:,} B: {100 * (code / facts['code_bytes'] - 1):+.2f} %; texts {log:,} B; "
              f"RAM {ram} B and the memory of the model, {facts['arena_bytes'] + facts['state_bytes']:,} B")
        assert 0.5 * facts["code_bytes"] < code <= (1 + DIFFERENCE_MAX) * facts["code_bytes"]
        assert ram <= facts["static_bytes"]


REFUSED = (  # board, target, the reason
    ("mps2/an385", "cortex-m55", "mps2/an385 is built with thumb2 instructions only; needed: CONFIG_FPU"),
    ("mps2/an383", "cortex-m3", "mps2/an383 is built with thumb1 instructions only; needed: a core that selects CONFIG_ARMV7_M"),
)


def check_refusal(source, thimble, out):
    """Configures an application with targets whose instructions the board does not have."""
    for board, target, reason in REFUSED:
        command = ["cmake", "-S", source / "examples/zephyr/hello_thimble", "-B", out / "refused" / target, "-G", "Ninja", f"-DBOARD={board}",
                   f"-DPython3_EXECUTABLE={sys.executable}", f"-DTHIMBLE_PROGRAM={thimble}", f'-DCONFIG_THIMBLE_TARGET="{target}"']
        if "ZEPHYR_MODULES" in os.environ:
            command.append(f"-DZEPHYR_MODULES={os.environ['ZEPHYR_MODULES']}")
        done = subprocess.run([str(word) for word in command], check=False, capture_output=True, text=True)
        message = " ".join(done.stderr.split())
        assert done.returncode != 0 and reason in message, done.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("thimble", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--suite", action="append")
    parser.add_argument("--board", action="append")
    options = parser.parse_args()
    base = os.environ.get("ZEPHYR_BASE")
    if not base:
        print("skipped: ZEPHYR_BASE is not set")
        return SKIPPED
    source, thimble = options.source.resolve(), options.thimble.resolve()
    out = (options.out or options.build / "zephyr_twister").resolve()
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, f"{base}/scripts/twister", "--outdir", out, "--no-detailed-test-id", "-x", f"THIMBLE_PROGRAM={thimble}",
               "-v", "-j", "1"]
    for suite in options.suite or SUITES:
        command += ["-T", source / suite]
    boards = list(options.board or BOARDS)
    if NPU_MODULE in os.environ.get("ZEPHYR_MODULES", "") and not options.board:
        boards.append(NPU_BOARD)
    for board in boards:
        command += ["-p", board]
    done = subprocess.run([str(word) for word in command], check=False)
    if done.returncode != 0:
        return 1
    check_refusal(source, thimble, out)
    print(f"{check_hashes(thimble, out)} hashes are those of the host")
    check_memory(out)
    check_instructions(thimble, options.build.resolve(), out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
