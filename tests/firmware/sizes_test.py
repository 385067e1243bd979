# SPDX-License-Identifier: Apache-2.0
"""Flash of the runtime and of each kernel on each core, compared with the committed snapshot, so that the diff of a change
shows its effect. The sizes depend on the compiler's version, which the snapshot names.

usage: sizes_test.py SOURCE_DIR FIRMWARE_DIR ARM_CXX ARM_SIZE [--bless]
"""

import json
import pathlib
import subprocess
import sys

SOURCE, FIRMWARE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
CXX, SIZE = sys.argv[3:5]
SNAPSHOT = SOURCE / "tests/firmware/sizes.json"
SKIPPED = 77


def output(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True,
                          text=True).stdout


def sizes(objects, root):
    """Returns code and constants of each object by its source; objects without a source or content are left out."""
    found = {}
    paths = [path for path in sorted(objects.rglob("*.o"))
             if (root / path.relative_to(objects)).with_suffix("").exists()]
    if not paths:
        return found
    for path, line in zip(paths, output(SIZE, *paths).splitlines()[1:]):
        text, data = (int(word) for word in line.split()[:2])
        if text + data:
            found[str(path.relative_to(objects).with_suffix(""))] = text + data
    return found


def measured():
    """Returns the cores with objects of their own: the runtime of products, and kernels.

    A source that differs in a product has a second object, in the folder product/."""
    cores = {}
    for folder in sorted(FIRMWARE.iterdir()):
        parts = {"runtime": sizes(folder / "runtime", SOURCE / "runtime")
                            | sizes(folder / "product/runtime", SOURCE / "runtime"),
                 "kernels": sizes(folder / "kernels", SOURCE / "kernels")}
        for delegate in sorted((folder / "engines").glob("*/delegate*")):
            name = f"engines/{delegate.parent.name}/{delegate.name}"
            parts["runtime"] |= {f"{name}/{file}": size for file, size in sizes(delegate, SOURCE / name).items()}
        if parts["runtime"] and parts["kernels"]:
            cores[folder.name] = parts
    return cores


def rows(cores):
    return {(core, part, name): size for core, parts in cores.items()
            for part, files in parts.items() for name, size in files.items()}


def main():
    compiler = output(CXX, "--version").splitlines()[0]
    cores = measured()
    if "--bless" in sys.argv:
        SNAPSHOT.write_text(json.dumps({"compiler": compiler, "cores": cores}, indent=1) + "\n")
        return 0
    snapshot = json.loads(SNAPSHOT.read_text())
    if snapshot["compiler"] != compiler:
        print(f"skipped: the snapshot is of {snapshot['compiler']}, this is {compiler}")
        return SKIPPED
    missing = sorted(snapshot["cores"].keys() - cores.keys())
    if missing:
        print(f"not built: {', '.join(missing)}")
        return 1
    expected = rows(snapshot["cores"])
    found = rows({core: cores[core] for core in snapshot["cores"]})
    changed = [key for key in sorted(expected.keys() | found.keys())
               if expected.get(key) != found.get(key)]
    for key in changed:
        print(*key, f"{expected.get(key, 'none')} -> {found.get(key, 'none')}")
    if changed:
        print("these sizes moved; if they should have: the same command with --bless")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
