# SPDX-License-Identifier: Apache-2.0
"""`thimble run --on fvp`: the command line for a model of Corstone-300, and each way in which it can end.

usage: fvp_test.py THIMBLE MODEL_DIR

A stand-in simulates the FVP (fvp_standin.py). With an NPU and without one, its run gives the host's outputs. A crash, a
failure to start and a model that never ends are reported as errors. A target without an image is refused.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from network_test import thimble, write_inputs

STANDIN = pathlib.Path(__file__).resolve().with_name("fvp_standin.py")


def on_fvp(program, play, *words, named=True, log=os.devnull):
    environment = dict(os.environ, FVP_STANDIN=play, FVP_STANDIN_WORDS=str(log),
                       THIMBLE_FVP=str(STANDIN) if named else "")
    return subprocess.run([str(program), "run", *map(str, words), "--on", "fvp", "--json"], env=environment,
                          capture_output=True, text=True, timeout=400)


def expect_error(what, done, *texts):
    said = done.stdout + done.stderr
    if done.returncode == 0 or not all(text in said for text in texts):
        sys.exit(f"{what}: exit code {done.returncode}, said {said!r}, expected {texts}")
    print(f"{what}: {json.loads(done.stdout)['error'] if done.stdout.startswith('{') else said.strip()}")


def compile_for(program, folder, target, scratch):
    pte = scratch / f"{target}.pte"
    report = thimble(program, "compile", folder / f"{folder.name}.pt2", "--target", target,
                     "--calibrate", folder / "calibrate.npz", "-o", pte)
    return pte, write_inputs(folder, report["inputs"], scratch)


def main():
    program, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        npus = {"corstone-300": "-m ethos-u55-128", "ethos-u65-256": "-m ethos-u65-256", "cortex-m55": None}
        for target, npu in npus.items():
            pte, inputs = compile_for(program, folder, target, scratch)
            host = thimble(program, "run", pte, *inputs, "--steps", "--on", "host")
            log = scratch / "words"
            done = on_fvp(program, "run", pte, *inputs, "--steps", log=log)
            if (npu or "runner model.pte") not in log.read_text() or "-n" in log.read_text().split():
                sys.exit(f"{target}: the image was given {log.read_text()!r}")
            if done.returncode != 0:
                sys.exit(f"{target}: {done.stdout}{done.stderr}")
            if json.loads(done.stdout)["outputs"] != host["outputs"]:
                sys.exit(f"{target}: the model's outputs differ from the host's")
            print(f"{target}: {host['outputs'][0]['sha256'][:16]} on the host and in the model")
        pte, inputs = compile_for(program, folder, "corstone-300", scratch)
        words = (pte, *inputs, "--steps")
        expect_error("crash", on_fvp(program, "crash", *words), "ended without a result", "fvp_standin.py")
        expect_error("failure", on_fvp(program, "fail", *words), "exit code 1", "license checkout failed")
        expect_error("hang", on_fvp(program, "hang", *words, "--time-limit", "2"), "not finished after 2 s")
        expect_error("no model", on_fvp(program, "run", *words, named=False), "THIMBLE_FVP")
        expect_error("profile", on_fvp(program, "run", *words, "--profile"), "--profile")
        expect_error("no program", on_fvp(program, "run", *words, "--fvp", scratch / "FVP_nowhere"), "FVP_nowhere")
        pte, inputs = compile_for(program, folder, "ethos-u85-256", scratch)
        expect_error("U85", on_fvp(program, "run", pte, *inputs, "--steps"), "Corstone-320")
        pte, inputs = compile_for(program, folder, "cortex-m4", scratch)
        expect_error("Cortex-M4", on_fvp(program, "run", pte, *inputs, "--steps"), "Corstone-300")


if __name__ == "__main__":
    main()
