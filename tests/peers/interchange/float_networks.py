# SPDX-License-Identifier: Apache-2.0
"""Every float network of models/ in TOSA's floating-point profile, in the TOSA reference model.

    float_networks.py THIMBLE FOLDER [MODEL_FOLDER...]

Compiles each network with --emit tosa-fp and runs the file on a sample. The outputs are compared with those of the
float evaluator (`thimble run MODEL.pt2`): the largest difference, relative to the largest output. Prints a table; exit 1
if a difference is above the limit or other networks than expected are refused, 77 if a tool is not installed.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE))

import networks  # noqa: E402
import reference  # noqa: E402

LIMIT = 1e-4
REFUSED = {"gru_classifier", "lstm_classifier"}  # recurrent layers


def evaluated(thimble, model, inputs, folder):
    command = [thimble, "run", model, "--output", folder]
    for i, x in enumerate(inputs):
        np.save(folder / f"in{i}.npy", x)
        command += ["--input", folder / f"in{i}.npy"]
    subprocess.run(command, check=True, capture_output=True)
    return [np.load(folder / f"output_{i}.npy") for i in range(len(list(folder.glob("output_*.npy"))))]


def check(thimble, model, folder):
    """Returns a row of the table, and the largest relative difference; None if the network is refused."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.rglob("*.*"):
        old.unlink()
    data = model.with_name("calibrate.npz")
    command = [thimble, "compile", model, "--target", "cortex-m55", "--out-dir", folder, "--emit", "tosa-fp",
               "--calibrate", data, "--save-stages", folder / "stages"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        if list(folder.glob("*.tosa")) or done.returncode != 1:
            raise RuntimeError(f"{model.stem}: exit {done.returncode}: {done.stderr}")
        return f"refused: {done.stderr.splitlines()[0]}", None
    with np.load(data) as arrays:
        inputs = [arrays[name][:1] for name in arrays.files if name != "labels"]
    wanted = evaluated(thimble, model, inputs, folder)
    imported = min((folder / "stages").glob("*.ir")).read_text()
    got = reference.run_tosa(folder / f"{model.stem}.fp.tosa", inputs + networks.state_codes(imported))
    far = max(float(np.max(np.abs(g.reshape(w.shape) - w))) / max(float(np.max(np.abs(w))), 1e-6)
              for g, w in zip(got, wanted))  # the last results of TOSA are states
    return f"{far:.1e}", far


def main():
    thimble, folder = sys.argv[1], Path(sys.argv[2])
    try:
        import tosa_reference_model  # noqa: F401
    except ImportError as missing:
        print(f"skipped: {missing}")
        return 77
    models = [Path(each) for each in sys.argv[3:]] or sorted(p.parent for p in ROOT.glob("models/*/calibrate.npz"))
    good = True
    for model in models:
        text, far = check(thimble, model / f"{model.name}.pt2", folder / model.name)
        good = good and (model.name in REFUSED if far is None else far <= LIMIT)
        print(f"{model.name:24} {text}", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
