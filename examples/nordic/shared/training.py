# SPDX-License-Identifier: Apache-2.0
"""Common code of the export scripts: adds the repository's folder `models/` to the import path, and parses options."""

import argparse
import sys
import time
from pathlib import Path

MODELS = Path(__file__).resolve().parents[3] / "models"
sys.path.insert(0, str(MODELS))


def main(script: str, build) -> None:
    """Runs `build(out)`; without --out the files are written to the folder of the script."""
    here = Path(script).resolve().parent
    parser = argparse.ArgumentParser(description=f"Trains and exports {here.name}.")
    parser.add_argument("--out", type=Path, default=here, help="where to write")
    out = parser.parse_args().out
    started = time.monotonic()
    print(f"{here.name} -> {out}", flush=True)
    build(out)
    print(f"  {time.monotonic() - started:.0f} s")
