"""What the export scripts share: the folder `models/` of the repository to import from, and their command line."""

import argparse
import sys
import time
from pathlib import Path

MODELS = Path(__file__).resolve().parents[3] / "models"
sys.path.insert(0, str(MODELS))


def main(script: str, build) -> None:
    """Runs `build(out)`; without --out the files go beside the script."""
    here = Path(script).resolve().parent
    parser = argparse.ArgumentParser(description=f"Trains and exports {here.name}.")
    parser.add_argument("--out", type=Path, default=here, help="where to write")
    out = parser.parse_args().out
    started = time.monotonic()
    print(f"{here.name} -> {out}", flush=True)
    build(out)
    print(f"  {time.monotonic() - started:.0f} s")
