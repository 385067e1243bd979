# SPDX-License-Identifier: Apache-2.0
"""kernels/device_links.def and those of the delegates: for each device source, the sources that define what it uses, as the linker sees it in the
objects of the emulated boards. `thimble export-sources` follows these rows.

usage: device_links_test.py SOURCE_DIR BUILD_DIR [--bless]
"""

import pathlib
import re
import shutil
import subprocess
import sys

SOURCE, BUILD = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
HEADER = """// SPDX-License-Identifier: Apache-2.0
// source: the sources that define the functions and data that it uses
// in any core's build. A source that uses none has no row. A core does not compile the sources whose first `#if THIMBLE_HAS_...`
// is false. tests/packages/device_links_test.py compares the rows with the objects of the build, and writes them with --bless.
"""
# Variants of kernels/isa.h and kernels/dsp/dual_issue.h that exist on a core.
VARIANTS = {"cortex-m0plus": {"V6M"}, "cortex-m23": {"V6M"}, "cortex-m3": {"V7M"},
            "cortex-m4": {"V7M", "DSP", "DSP_SINGLE"}, "cortex-m33": {"V7M", "DSP", "DSP_SINGLE"},
            "cortex-m7": {"V7M", "DSP", "DSP_M7"}, "cortex-m55": {"V7M", "DSP", "MVE", "DSP_SINGLE"}}
# Tables for programs that have all kernels, or that select the executor at link time.
NOT_EXPORTED = {"kernels/all_kernels.cpp", "runtime/core/generic_table.cpp"}


def objects(core):
    """The objects of a product by their source: the runtime without hooks, kernels, and delegates."""
    root = BUILD / "firmware" / core
    found = {}
    for folder in ("kernels", "runtime", "product/runtime", "engines"):
        for path in sorted((root / folder).rglob("*.cpp.o")):
            source = str(path.relative_to(root))[:-2].removeprefix("product/")
            parts = source.split("/")
            if parts[0] == "engines" and parts[2] not in ("delegate", "container", "isa"):
                continue
            # An object whose source was removed may still be in the build folder.
            if source in NOT_EXPORTED or not (SOURCE / source).is_file():
                continue
            found[source] = path
    return found


def symbols(files):
    """For each source, the names that it defines and those that it uses."""
    names = {str(path): source for source, path in files.items()}
    text = subprocess.run(["arm-none-eabi-nm", "-A", *names], capture_output=True, text=True, check=True).stdout
    defined, used = {source: set() for source in files}, {source: set() for source in files}
    for line in text.splitlines():
        path, rest = line.rsplit(":", 1)
        kind, name = rest.split()[-2:]
        if kind in "Uw":
            used[names[path]].add(name)
        elif kind in "TRDBVW":
            defined[names[path]].add(name)
    return defined, used


def links(core):
    files = objects(core)
    defined, used = symbols(files)
    where = {}
    for source in sorted(defined):
        for name in defined[source]:
            where.setdefault(name, source)
    return {source: {where[name] for name in used[source] if name in where} - {source} for source in files}


def is_compiled(source, core):
    guard = re.search(r"^#if (.*)$", (SOURCE / source).read_text(), re.M)
    for negated, name in re.findall(r"(!?)THIMBLE_HAS_(\w+)", guard[1] if guard else ""):
        if (name in VARIANTS[core]) == (negated == "!"):
            return False
    return True


def table_of(source):
    """The file with the row of a source."""
    parts = source.split("/")
    return SOURCE / (f"engines/{parts[1]}/delegate" if parts[0] == "engines" else "kernels") / "device_links.def"


def table_texts(rows):
    texts = {}
    for source in sorted(rows):
        if rows[source]:
            texts.setdefault(table_of(source), HEADER)
            texts[table_of(source)] += f"{source}: {' '.join(sorted(rows[source]))}\n"
    return texts


def main():
    if not shutil.which("arm-none-eabi-nm"):
        print("skipped: arm-none-eabi-nm was not found")
        return 77
    missing = [core for core in VARIANTS if not (BUILD / "firmware" / core / "product/runtime/core/model.cpp.o").is_file()]
    if missing:
        print(f"skipped: no objects of {', '.join(missing)} in {BUILD}/firmware: the target `firmware` builds them")
        return 77
    by_core = {core: links(core) for core in VARIANTS}
    rows = {}
    for found in by_core.values():
        for source, needed in found.items():
            rows.setdefault(source, set()).update(needed)
    if "--bless" in sys.argv:
        for table, text in table_texts(rows).items():
            table.write_text(text)
        return 0
    failed = False
    # The rows of all cores, without the sources that a core does not compile, are what this core links.
    for core, found in by_core.items():
        for source, needed in found.items():
            exported = {other for other in rows[source] if is_compiled(other, core)} if is_compiled(source, core) else set()
            if exported != needed:
                print(f"{core}: {source}: linked {sorted(needed)}, exported {sorted(exported)}")
                failed = True
    tables = table_texts(rows)
    for table in sorted({*tables, *SOURCE.glob("engines/*/delegate/device_links.def")}):
        expected = tables.get(table, "").splitlines()
        written = table.read_text().splitlines() if table.is_file() else []
        for sign, lines, others in (("-", written, set(expected)), ("+", expected, set(written))):
            for line in lines:
                if line not in others:
                    print(f"{table}: {sign}{line}")
                    failed = True
    if failed:
        print(f"rows differ from the objects: {sys.argv[0]} {SOURCE} {BUILD} --bless writes them")
    else:
        print(f"{sum(len(needed) for needed in rows.values())} links of {len(rows)} sources on {len(by_core)} cores")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
