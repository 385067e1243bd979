# SPDX-License-Identifier: Apache-2.0
"""Every network of models/ as .tflite and .tosa in LiteRT, the TOSA reference model and Vela.

    networks.py THIMBLE CASES FOLDER [MODEL_FOLDER...] [--vela VELA]

Compiles each network for cortex-m55 with --emit pte,tflite,tosa and runs both files on the samples of
its test data, quantized as the graph requires. Compares with `thimble run --on eval` of the integer
graph, which reads and writes float. Operators also run alone (CASES is interchange_cases). Prints a
table; exit 1 if anything differs, 77 if a tool is not installed.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE))

import reference  # noqa: E402

SAMPLES = 3
MUST_BE_ON_THE_NPU = {"mobilenet_v2", "ad_autoencoder", "dscnn_kws", "resnet8", "mobilenet_v1_vww",
                      "unet_small"}
MUST_BE_TFLITE = MUST_BE_ON_THE_NPU | {"hello_sin", "digits_cnn", "yolo_nano_like",
                                       "mobilenet_v3_tiny", "mobilenet_v3_small"}
NUMPY = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "f32": np.float32}


def compile_network(thimble, model, folder):
    """Emits both formats, or only TOSA if LiteRT cannot express the graph; returns the reason."""
    name = model.name
    base = [str(thimble), "compile", str(model / f"{name}.pt2"), "--target", "cortex-m55",
            "--out-dir", str(folder), "--save-stages", str(folder / "stages")]
    calibration = model / "calibrate.npz"
    if calibration.exists():
        base += ["--calibrate", str(calibration)]
    reason = ""
    for kinds in ("pte,tflite,tosa", "pte,tosa"):
        done = subprocess.run(base + ["--emit", kinds], capture_output=True, text=True)
        if done.returncode == 0:
            return reason
        if list(folder.glob("*.tosa")) or list(folder.glob("*.tflite")):
            raise RuntimeError(f"{name}: something was written in spite of {done.stderr}")
        reason = done.stderr.strip().splitlines()[0]
    raise RuntimeError(reason)


def integer_graph(folder):
    return next(folder.glob("stages/*-integer.ir"))


def interface(ir_text):
    """Returns (name, dtype, shape, quantize parameters or None) of inputs, and of outputs as floats."""
    inputs = []
    for name, dtype, shape in re.findall(r"^  input %(\S+): (\w+)\[([\d,]*)\]", ir_text, re.M):
        found = re.search(rf"= quantize\(%{re.escape(name)}\) {{scale=([^,}}]+), zero_point=(-?\d+)",
                          ir_text)
        inputs.append((name, dtype, [int(n) for n in shape.split(",") if n],
                       (np.float32(found[1]), int(found[2])) if found else None))
    outputs = []
    for name in re.findall(r"^  output %(\S+)", ir_text, re.M):
        found = re.search(rf"^  %{re.escape(name)}: f32\S* = dequantize\(\S+\) "
                          rf"{{scale=([^,}}]+), zero_point=(-?\d+)", ir_text, re.M)
        outputs.append((np.float32(found[1]), int(found[2])) if found else None)
    return inputs, outputs


def codes(x, scale, zero_point):
    scaled = np.clip(x.astype(np.float32) * (np.float32(1) / scale), -65536, 65536)
    return np.clip(np.rint(scaled).astype(np.int64) + zero_point, -128, 127).astype(np.int8)


def samples(model, inputs):
    """Returns the inputs of the first samples: a list of arrays each."""
    data = None
    for name in ("test.npz", "calibrate.npz"):
        if data is None and (model / name).exists():
            data = dict(np.load(model / name))
    random = np.random.default_rng(1)
    made = []
    for i in range(SAMPLES):
        row = []
        for name, dtype, shape, _ in inputs:
            key = name if data and name in data else next((k for k in ("x", "arg0")
                                                           if data and k in data), None)
            if key and data[key][i].size == int(np.prod(shape)):
                row.append(data[key][i].reshape(shape).astype(NUMPY[dtype]))
            elif dtype == "f32":
                row.append(random.standard_normal(shape).astype(np.float32))
            else:
                row.append(random.integers(0, 2, shape).astype(NUMPY[dtype]))
        made.append(row)
    return made


def expected(thimble, ir_path, row, folder):
    command = [str(thimble), "run", str(ir_path), "--on", "eval", "--output", str(folder)]
    for i, x in enumerate(row):
        path = folder / f"in{i}.npy"
        np.save(path, x)
        command += ["--input", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    return [np.load(folder / f"output_{i}.npy") for i in range(len(list(folder.glob("output_*"))))]


def state_codes(ir_text):
    """Returns the initial contents of the states."""
    states = []
    for dtype, shape, hexes in re.findall(
            r"^  state %\S+: (\w+)\[([\d,]*)\][^=]*= 0x([0-9a-f]+)", ir_text, re.M):
        raw = np.frombuffer(bytes.fromhex(hexes), NUMPY[dtype])
        states.append(raw.reshape([int(n) for n in shape.split(",") if n]))
    return states


def run_format(kind, path, ir_text, inputs, outputs, row, wanted):
    fed = [codes(x, *quant) if quant else x for x, (_, _, _, quant) in zip(row, inputs)]
    got = reference.RUNNERS[kind](path, fed + state_codes(ir_text))
    for quant, g, w in zip(outputs, got, wanted):
        g = np.asarray(g)
        if quant:
            g = (g.astype(np.float32) - np.float32(quant[1])) * quant[0]
        wrong = reference.differences([g.astype(w.dtype)], [w])
        if wrong:
            return wrong
    return ""


def vela_counts(vela, path, folder):
    done = subprocess.run([vela, str(path), "--accelerator-config", "ethos-u55-128",
                           "--show-cpu-operations", "--output-dir", str(folder / "vela")],
                          capture_output=True, text=True)
    text = done.stdout + done.stderr
    on_npu = re.search(r"NPU operators = (\d+)", text)
    on_cpu = re.search(r"CPU operators = (\d+)", text)
    if done.returncode != 0 or not on_npu or not on_cpu:
        return None
    return int(on_npu[1]), int(on_cpu[1])


def check(arguments, model):
    """Returns a row of the table, and whether all results are as expected."""
    name = model.name
    folder = arguments.folder / name
    folder.mkdir(parents=True, exist_ok=True)
    for old in list(folder.glob("*.t*")) + list(folder.glob("output_*")):
        old.unlink()
    reason = compile_network(arguments.thimble, model, folder)
    ir_path = integer_graph(folder)
    text = ir_path.read_text()
    inputs, outputs = interface(text)
    results = {"tosa": "equal", "tflite": "equal" if not reason else "refused"}
    for row in samples(model, inputs):
        wanted = expected(arguments.thimble, ir_path, row, folder)
        for kind, result in results.items():
            if result != "equal":
                continue
            wrong = run_format(kind, folder / f"{name}.{kind}", text, inputs, outputs, row, wanted)
            results[kind] = wrong or "equal"
    good = results["tosa"] == "equal" and results["tflite"] in ("equal", "refused")
    if reason and name in MUST_BE_TFLITE:
        good = False
    vela = "-"
    if arguments.vela and not reason:
        counts = vela_counts(arguments.vela, folder / f"{name}.tflite", folder)
        vela = f"{counts[0]} of {sum(counts)}" if counts else "failed"
        if name in MUST_BE_ON_THE_NPU and (not counts or counts[1] != 0):
            good = False
    print(f"{name:24} {results['tosa']:8} {results['tflite']:8} {vela:12} {reason}", flush=True)
    return good


def operators_alone(arguments, models):
    folder = arguments.folder / "operators"
    graphs = []
    for model in models:
        copy = folder / "graphs" / f"{model.name}.ir"
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(integer_graph(arguments.folder / model.name).read_text())
        graphs.append(str(copy))
    runs = [["ops", *graphs], ["random", "1", "400", "1"], ["random", "1000", "400", "8"],
            ["wide", "1", "300", "1"]]
    good = True
    for i, run in enumerate(runs):
        where = folder / f"run{i}"
        subprocess.run([str(arguments.cases), str(where), *run], check=True)
        done = subprocess.run([sys.executable, str(HERE / "reference.py"), str(where)])
        good = good and done.returncode == 0
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("thimble", type=Path)
    parser.add_argument("cases", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("models", type=Path, nargs="*")
    parser.add_argument("--vela")
    arguments = parser.parse_args()
    try:
        import ai_edge_litert  # noqa: F401
        import tosa_reference_model  # noqa: F401
    except ImportError as missing:
        print(f"skipped: {missing}")
        return 77
    beside = Path(sys.executable).with_name("vela")
    if not arguments.vela and beside.exists():
        arguments.vela = str(beside)
    models = arguments.models or sorted(p.parent for p in ROOT.glob("models/*/*.pt2"))
    print(f"{'network':24} {'TOSA':8} {'LiteRT':8} {'Vela on NPU':12} why not LiteRT")
    good = [check(arguments, model) for model in models]
    good.append(operators_alone(arguments, models))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
