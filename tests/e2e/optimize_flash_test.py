# SPDX-License-Identifier: Apache-2.0
"""`thimble compile --optimize flash` never needs more flash than the default, on any network of models/.

usage: optimize_flash_test.py THIMBLE SOURCE_DIR CORE

Compares `flash_bytes` of the JSON: file, runtime and kernels as a firmware links them.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

THIMBLE, SOURCE, CORE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]


def flash_bytes(model: pathlib.Path, mode: str, output: str) -> int:
    # The sizes do not depend on the calibration data.
    ran = subprocess.run([str(THIMBLE), "compile", str(model), "--target", CORE, "--calibrate", "random",
                          "--optimize", mode, "-o", output, "--json"], capture_output=True, text=True, timeout=120)
    if ran.returncode:
        sys.exit(f"{model.name}, --optimize {mode}: exit code {ran.returncode}: {ran.stderr}")
    flash = json.loads(ran.stdout)["flash_bytes"]
    if flash is None:
        sys.exit(f"{model.name}: the flash on {CORE} is not known, expected a number")
    return flash


def main() -> int:
    models = sorted(SOURCE.glob("models/*/*.pt2"))
    if len(models) < 25:
        sys.exit(f"found {len(models)} networks in models, expected at least 25")
    larger, smaller = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for model in models:
            speed, flash = (flash_bytes(model, mode, f"{folder}/x.pte") for mode in ("speed", "flash"))
            smaller += flash < speed
            if flash > speed:
                larger.append(f"{model.name} on {CORE}: {flash} bytes of flash with --optimize flash, "
                              f"expected at most {speed}")
    print("\n".join(larger) or f"{smaller} of {len(models)} networks on {CORE} need less flash, the others the same")
    # A mode that changes nothing would pass otherwise.
    return 1 if larger or not smaller else 0


if __name__ == "__main__":
    sys.exit(main())
