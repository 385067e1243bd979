# SPDX-License-Identifier: Apache-2.0
"""Runs .tosa and .tflite files in the tools that define them, and compares with recorded outputs.

    reference.py FOLDER [--only tosa|tflite] [--verbose]

For every NAME.out0.npy in the folder, NAME.tosa runs in the TOSA reference model and NAME.tflite in
LiteRT's reference kernels, on NAME.in*.npy. Prints a line per file that differs and a summary; exit
1 if any file differs.
"""

import argparse
import contextlib
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np


@contextlib.contextmanager
def silence():
    """Suppresses the output of C++ tools, which write to file descriptors, not to Python's streams."""
    sys.stdout.flush()
    kept, nothing = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nothing)


def numbered(folder, name, kind):
    found, i = [], 0
    while (path := folder / f"{name}.{kind}{i}.npy").exists():
        found.append(np.load(path))
        i += 1
    return found


def run_tosa(path, inputs):
    """Returns the outputs of the reference model; the arrays have the order of the graph's outputs."""
    import tosa_reference_model

    fed = [x.astype(np.int32) if x.dtype == np.int64 else x for x in inputs]
    with silence():
        outputs, status = tosa_reference_model.run(path.read_bytes(), fed, tosa_level="EIGHTK")
    if status != tosa_reference_model.GraphStatus.TOSA_VALID:
        raise RuntimeError(f"the reference model says {status}")
    return outputs


def run_tflite(path, inputs):
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    interpreter = Interpreter(model_content=path.read_bytes(),
                              experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    if any(op["op_name"] == "SUM" for op in interpreter._get_ops_details()):
        # The reference kernel adds quantized int8 values without regard to their scales.
        kernels = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
        interpreter = Interpreter(model_content=path.read_bytes(),
                                  experimental_op_resolver_type=kernels)
    interpreter.allocate_tensors()
    for detail, x in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(detail["index"], x)
    interpreter.invoke()
    return [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]


RUNNERS = {"tosa": run_tosa, "tflite": run_tflite}


def differences(got, expected):
    """Returns the difference, or an empty text."""
    if len(got) != len(expected):
        return f"{len(got)} outputs, {len(expected)} expected"
    for i, (g, e) in enumerate(zip(got, expected)):
        g = np.asarray(g)
        if g.dtype == np.int32 and e.dtype == np.int64:
            g = g.astype(np.int64)
        if g.dtype == np.uint8 and e.dtype == np.bool_:
            g = g.astype(np.bool_)
        if g.shape != e.shape or g.dtype != e.dtype:
            return f"output {i} is {g.dtype}{list(g.shape)}, expected {e.dtype}{list(e.shape)}"
        if not np.array_equal(g, e):
            wrong = int(np.sum(g != e))
            far = int(np.max(np.abs(g.astype(np.int64) - e.astype(np.int64))))
            return f"output {i}: {wrong} of {e.size} differ, by up to {far}"
    return None


def judge_case(folder, name, kind):
    """Returns equal, different, refused or failed, and the reason."""
    path = folder / f"{name}.{kind}"
    why = folder / f"{name}.{kind}.why"
    if not path.exists():
        return "refused", why.read_text() if why.exists() else "no file"
    try:
        got = RUNNERS[kind](path, numbered(folder, name, "in"))
    except Exception as error:  # the tool may raise anything
        return "failed", str(error).strip().split("\n")[0]
    wrong = differences(got, numbered(folder, name, "out"))
    return ("different", wrong) if wrong else ("equal", "")


def in_a_process(folder, name, kind):
    """Runs each case in a process of its own: a crash of the tool fails only that case."""
    code = (f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import reference; "
            f"from pathlib import Path; "
            f"print('\\nVERDICT', *reference.judge_case(Path({str(folder)!r}), {name!r}, {kind!r}))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    for line in done.stdout.splitlines():
        if line.startswith("VERDICT "):
            verdict, _, why = line[len("VERDICT "):].partition(" ")
            said = [t for t in done.stderr.splitlines() if "rror" in t or "REQUIRE" in t]
            return verdict, why + (" | " + said[-1].strip() if verdict == "failed" and said else "")
    return "failed", "the tool crashed: " + (done.stderr.strip().splitlines() or [""])[-1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=list(RUNNERS))
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--isolate", action="store_true", help="a process per case")
    arguments = parser.parse_args()
    names = sorted(p.name[:-len(".out0.npy")] for p in arguments.folder.glob("*.out0.npy"))
    bad = 0
    for kind in [arguments.only] if arguments.only else list(RUNNERS):
        counts, reasons = Counter(), Counter()
        for name in names:
            run = in_a_process if arguments.isolate else judge_case
            verdict, why = run(arguments.folder, name, kind)
            counts[verdict] += 1
            if verdict == "refused":
                reasons[why.split(" cannot be represented in ")[0].split(": ")[-1] + ": "
                        + why.split(": ")[-1]] += 1
            if verdict in ("different", "failed") or arguments.verbose:
                print(f"{kind} {name}: {verdict} {why}")
        bad += counts["different"] + counts["failed"]
        print(f"{kind}: " + ", ".join(f"{n} {v}" for v, n in counts.most_common()))
        for reason, n in reasons.most_common(12):
            print(f"  refused {n}: {reason}")
    return 1 if bad or not names else 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
