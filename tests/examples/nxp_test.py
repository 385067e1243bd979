#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands and tables of examples/nxp/README.md.

usage: nxp_test.py SOURCE_DIR THIMBLE cifarnet|resnet8|dscnn_kws|mobilenet_v2_tiny|mobilenet_v2|--beyond|application [--bless]
       nxp_test.py SOURCE_DIR THIMBLE converter STANDIN_CONVERTER

A network: check.py prints the README's block, if one exists, and the network's rows of the table. MobileNetV2 has no row,
because each training of it gives other figures. --beyond: the other
table. application: mcuxpresso/cifarnet, built with a stand-in for the SDK, prints the README's text and classifies every
image as the host does. converter: the same with a stand-in for NXP's converter; the image then lacks only the driver's
published functions. Microseconds of the application depend on the speed of this machine. Times of the core alone are left out
if the cross compiler is not the recorded one (recorded.py).

--bless writes the printed text into the README.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from app_test import device_library, run, serial_output
from recorded import is_recorded_compiler

SOURCE, THIMBLE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
WHAT, BLESS = sys.argv[3], "--bless" in sys.argv
NXP = SOURCE / "examples/nxp"
README = NXP / "README.md"
BLOCKS = {"cifarnet": 0, "mobilenet_v2_tiny": 1, "application": 2}
TRAINED_HERE = "mobilenet_v2"
TABLES = {"check": "| network | calls | kernels | on the M33 |", "--beyond": "| network | calls | kernels | cycles, estimated |"}


def without_times(text):
    return re.sub(r"\b[\d,]+ us\b", "N us", text)


def without_core_times(text):
    text = re.sub(r"(the Cortex-M33 alone) .*", r"\1 ...", text)
    # Column of the table: M33 alone.
    return re.sub(r"^(\|(?:[^|]*\|){7})[^|]*\|", r"\1 ... |", text, flags=re.M)


def times_of_core():
    """Returns the function that removes from a text what may differ."""
    normal = str if is_recorded_compiler(SOURCE) else without_core_times
    assert normal is str or not BLESS, "--bless: requires the recorded cross compiler"
    return normal


def check_block(index, printed, normal):
    text = README.read_text()
    found = list(re.finditer(r"^```\n(.*?)^```$", text, re.M | re.S))[index]
    if normal(printed) == normal(found[1]):
        return
    assert BLESS, f"printed:\n{printed}\n{README} says:\n{found[1]}"
    README.write_text(text[:found.start(1)] + printed + text[found.end(1):])


def rows_of(table, lines):
    """Returns the indices of the rows after the table head that begins with `table`."""
    head = next(i for i, line in enumerate(lines) if line.startswith(table))
    rows = []
    for i in range(head + 2, len(lines)):
        if not lines[i].startswith("|"):
            break
        rows.append(i)
    return head, rows


def check_rows(table, printed, normal=str):
    lines = README.read_text().splitlines()
    fresh = printed.splitlines()
    head, indices = rows_of(table, lines)
    new = [fresh[i] for i in rows_of(table, fresh)[1]]
    assert new, f"no table in:\n{printed}"
    for row in new:
        name = row.split("|")[1]
        old = [i for i in indices if lines[i].split("|")[1] == name]
        if old and normal(lines[old[0]]) == normal(row):
            continue
        assert BLESS, f"printed:\n{row}\n{README} says:\n{lines[old[0]] if old else 'nothing of it'}"
        if old:
            lines[old[0]] = row
        else:
            lines.insert(head + 2 + len(indices), row)
            indices.append(head + 2 + len(indices))
    if BLESS:
        README.write_text("\n".join(lines) + "\n")


def check_network():
    normal = times_of_core()
    done = run(sys.executable, NXP / "check.py", WHAT, "--table", "--thimble", THIMBLE, capture_output=True, text=True)
    print(done.stdout)
    printed = done.stdout.split("\n\n")[0] + "\n"
    if WHAT in BLOCKS:
        check_block(BLOCKS[WHAT], printed, normal)
    if WHAT != TRAINED_HERE:
        check_rows(TABLES["check"], done.stdout, normal)


def check_beyond():
    done = run(sys.executable, NXP / "check.py", "--beyond", "--thimble", THIMBLE, capture_output=True, text=True)
    print(done.stdout)
    check_rows(TABLES["--beyond"], done.stdout)


def build(folder, *options):
    launcher = [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX")] if shutil.which("ccache") else []
    run("cmake", "-S", NXP / "mcuxpresso/cifarnet", "-B", folder, "-G", "Ninja",
        f"-DSdkRootDirPath={SOURCE}/tests/examples/mcuxsdk", "-Dboard=mimxrt700evk", "-Dcore_id=cm33_core0",
        "-DCMAKE_BUILD_TYPE=flash_release", "-DCORE=cortex-m33", *options,
        f"-DCMAKE_TOOLCHAIN_FILE={SOURCE}/examples/app/arm-none-eabi.cmake", f"-DTHIMBLE_PROGRAM={THIMBLE}", *launcher,
        *device_library("cortex-m33"),
        stdout=subprocess.DEVNULL)
    done = run("cmake", "--build", folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert (folder / "thimble_cifarnet_cm33_core0.bin").stat().st_size > 0
    return folder / "thimble_cifarnet_cm33_core0.elf", done.stdout


def classes_here(folder):
    """Returns the host's classification of the images in inputs.h."""
    text = (folder / "inputs.h").read_text()
    pictures = [list(map(int, row.split(","))) for row in re.findall(r"^  \{([-\d, ]+)\},$", text, re.M)]
    sys.path.insert(0, str(SOURCE / "examples/nordic"))
    from shared import arrays
    # The header is channels-last; `thimble run` reads images in logical order.
    planes = [value for picture in pictures for channel in range(3) for value in picture[channel::3]]
    arrays.save(folder / "x.npy", arrays.bytes_of(planes, (len(pictures), 3, 32, 32)))
    run(THIMBLE, "run", folder / "cifarnet.pte", "--input", folder / "x.npy", "--steps", "--output", folder, "--json",
        stdout=subprocess.DEVNULL)
    rows = arrays.load(folder / "output_0.npy").rows()
    return [max(range(len(row)), key=row.__getitem__) for row in rows]


def check_application():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        image, _ = build(folder, "-DNEUTRON=model")
        printed = serial_output("mps2-an505", image)
        assert printed.endswith("END ok\n"), printed
        printed = printed.replace("\r\n", "\n").removesuffix("END ok\n")
        print(printed)
        on_board = [int(word) for word in re.findall(r"^\d+: class (\d+)", printed, re.M)]
        here = classes_here(folder / "thimble/thimble_cifarnet_cm33_core0")
        assert on_board == here and len(here) == 10, f"board {on_board}, this machine {here}"
        report = json.loads((folder / "thimble/thimble_cifarnet_cm33_core0/cifarnet.json").read_text())
        assert list(report["engines"]) == ["neutron-n3-64"], report["engines"]
        check_block(BLOCKS["application"], without_times(printed), str)


def check_converter():
    """Published functions of engines/neutron/container/driver.h are all that is missing."""
    published = set(re.findall(r"\b(neutron[A-Z]\w+)\(", (SOURCE / "engines/neutron/container/driver.h").read_text()))
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        _, said = build(folder, f"-DEIQ_NEUTRON_SDK_PATH={pathlib.Path(sys.argv[4]).resolve()}",
                        "-DCMAKE_EXE_LINKER_FLAGS=--specs=nano.specs --specs=nosys.specs -Wl,--warn-unresolved-symbols")
        missing = set(re.findall(r"undefined reference to `(\w+)'", said))
        print("missing:", ", ".join(sorted(missing)))
        assert {"neutronInit", "neutronModelPrepare", "neutronRunBlocking"} <= missing <= published, said
        pte = folder / "thimble/thimble_cifarnet_cm33_core0/cifarnet.pte"
        text = run(THIMBLE, "inspect", pte, stdout=subprocess.PIPE, text=True).stdout
        assert re.search(r"^instruction 0 delegate 0 .*# NeutronBackend\(", text, re.M), text


def main():
    {"--beyond": check_beyond, "application": check_application, "converter": check_converter}.get(WHAT, check_network)()


if __name__ == "__main__":
    main()
