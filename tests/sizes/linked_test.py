# SPDX-License-Identifier: Apache-2.0
"""One network on five cores, as `.pte` and as C: the flash, RAM and stack that `thimble compile` prints are not below those of
a linked image that ran under QEMU, and at most 2 % or 512 B above; the image gives the outputs of `thimble run`.

usage: linked_test.py THIMBLE BUILD SOURCE_DIR NETWORK
"""

import pathlib
import sys
import tempfile

THIMBLE, BUILD, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
sys.path.insert(0, str(SOURCE / "benchmarks/sizes"))
import linked


def main():
    network, failures = sys.argv[4], []
    for core in linked.CORES:
        expected = linked.host_outputs(THIMBLE, network, core)
        for form in linked.FORMS:
            with tempfile.TemporaryDirectory() as folder:
                report, true = linked.measured(THIMBLE, BUILD, network, core, form, pathlib.Path(folder))
            said = linked.printed(report)
            text = ", ".join(f"{name} {said[name]} printed, {true[name]} linked" for name in said)
            print(f"{network} {core} {form}: {text}", flush=True)
            failures += [f"{core} {form}: {name}" for name in linked.wrong(said, true)]
            if true["sha256"] != expected:
                failures.append(f"{core} {form}: outputs differ from those of thimble run")
    if failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()
