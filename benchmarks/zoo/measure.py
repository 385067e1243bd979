# SPDX-License-Identifier: Apache-2.0
"""Measurements of one exported network. Each function returns a row, which zoo.py stores as FOLDER/NAME.KIND.json."""

import json
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from networks import ENGINES, Network

HERE = Path(__file__).resolve().parent
TARGET = "cortex-m55"
COMPILE_SECONDS, RUN_SECONDS, PT2E_SECONDS = 300, 300, 60
BOARD_MACS = 300e6  # more MACs are by default not run on emulated boards
# Samples of an SQNR; the second number for networks with more MACs than the third.
SQNR_SAMPLES, SQNR_SAMPLES_LARGE, LARGE_MACS = 16, 4, 200e6


class Failed(Exception):
    """A command failed; the text is its message."""


def run(command: list, seconds: int):
    """Returns the process, its seconds of CPU and its largest memory in bytes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.NamedTemporaryFile("r") as peak:
        ran = subprocess.run(["/usr/bin/time", "-q", "-o", peak.name, "-f", "%M", *map(str, command)], capture_output=True,
                             text=True, timeout=seconds)
        text = peak.read().split()
    if ran.returncode in (126, 127):  # of `time`: a failure of the measurement, not a result
        sys.exit(f"{command[0]} did not start: {ran.stderr.strip()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return ran, cpu, int(text[-1]) * 1024 if text else 0


def sqnr(reference: np.ndarray, got: np.ndarray) -> float:
    """As `thimble compare`: the signal is relative to the mean over samples."""
    signal = np.square(reference - reference.mean(axis=0, keepdims=True)).sum(dtype=np.float64)
    noise = np.square(reference - got).sum(dtype=np.float64)
    return float("inf") if noise == 0 else float(10 * np.log10(signal / noise)) if signal > 0 else float("nan")


def variation(reference: np.ndarray) -> float:
    """How much of the output differs between samples: the signal of sqnr() relative to all of the output, in dB."""
    signal = np.square(reference - reference.mean(axis=0, keepdims=True)).sum(dtype=np.float64)
    return float(10 * np.log10(signal / np.square(reference).sum(dtype=np.float64))) if signal > 0 else float("-inf")


def first_samples(network: Network, folder: Path, count: int, file: Path) -> Path:
    data = np.load(folder / f"{network.key}.npz")
    np.savez(file, **{name: data[name][:count] for name in data.files})
    return file


def sqnr_samples(macs: float) -> int:
    return SQNR_SAMPLES_LARGE if macs > LARGE_MACS else SQNR_SAMPLES


def outputs(thimble: str, model: Path, samples: Path, on: str, seconds: int = RUN_SECONDS) -> np.ndarray:
    """The first output for each sample."""
    data = np.load(samples)
    with tempfile.TemporaryDirectory() as work:
        command = [thimble, "run", model, "--on", on, "--output", work]
        for name in data.files:  # a .pte has no names of inputs
            np.save(Path(work) / f"{name}.npy", data[name])
            command += ["--input", Path(work) / f"{name}.npy"]
        try:
            ran = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            raise Failed(f"more than {seconds} s") from None
        if ran.returncode:
            raise Failed(ran.stderr.strip()[-600:] or f"exit {ran.returncode}")
        return np.load(Path(work) / "output_0.npy")


def compiled(thimble: str, network: Network, folder: Path, target: str, calibrate, *options) -> dict:
    """The report of a compilation that must succeed, because it did for the row of the network."""
    command = [thimble, "compile", folder / f"{network.key}.pt2", "--target", target, "--calibrate", calibrate, *options,
               "--json"]
    try:
        ran, _, _ = run(command, COMPILE_SECONDS)
    except subprocess.TimeoutExpired:
        raise Failed(f"more than {COMPILE_SECONDS} s") from None
    if ran.returncode:
        raise Failed(f"exit {ran.returncode}: {ran.stderr.strip()[-600:]}")
    return json.loads(ran.stdout)


def measure_result(network: Network, folder: Path, thimble: str) -> dict:
    """Compiled or refused, cost of the compilation, and the results on this machine against eager PyTorch."""
    model, data = folder / f"{network.key}.pt2", folder / f"{network.key}.npz"
    with tempfile.TemporaryDirectory() as work:
        pte = Path(work) / "model.pte"
        command = [thimble, "compile", model, "--target", TARGET, "--calibrate", data, "-o", pte, "--json"]
        try:
            ran, cpu, memory = run(command, COMPILE_SECONDS)
        except subprocess.TimeoutExpired:
            return {"exit": None, "reason": f"more than {COMPILE_SECONDS} s"}
        row = {"exit": ran.returncode, "cpu_seconds": cpu, "memory": memory}
        if ran.returncode:
            return row | {"reason": ran.stderr.strip()}
        report = json.loads(ran.stdout)
        row |= {"arena": report["arena_bytes"], "pte": report["pte_bytes"], "float_ops": report["float_ops"],
                "macs": sum(op["macs"] for op in report["ops"])}
        count = sqnr_samples(row["macs"])
        eager = np.load(folder / f"{network.key}.eager.npz")["y"][:count]
        try:
            samples = first_samples(network, folder, count, Path(work) / "samples.npz")
            row["variation"] = variation(eager)
            row["warning"] = report.get("accuracy_warning")
            row["sqnr"] = sqnr(eager, outputs(thimble, pte, samples, "host").reshape(eager.shape))
            one = first_samples(network, folder, 1, Path(work) / "one.npz")
            first = outputs(thimble, model, one, "eval").reshape(eager[0].shape)
            row["import_error"] = float(np.abs(first - eager[0]).max() / max(np.abs(eager[0]).max(), 1e-30))
        except Failed as error:
            row["run_error"] = str(error)
    return row


def c_output(folder: Path, name: str, build: Path, inputs: list[bytes], like: np.ndarray) -> np.ndarray:
    """The first output of the C, linked with the portable kernels for this machine: as `like` in type and shape."""
    sys.path.insert(0, str(HERE.parents[1] / "tests/c_output"))
    from c_build import Builder
    try:
        program = Builder(build).host_program(folder, name, 1)
        written = Builder.run_host(program, b"".join(inputs))
    except SystemExit as error:
        raise Failed(str(error)[-600:]) from None
    except subprocess.TimeoutExpired as error:
        raise Failed(f"more than {error.timeout:.0f} s") from None
    header = (folder / f"{name}.h").read_text()
    found = re.search(rf"{name.upper()}_OUTPUT_0_DIM_ORDER {{([\d, ]+)}}", header)
    order = [int(dim) for dim in found[1].split(",")] if found else []
    values = np.frombuffer(written, like.dtype, count=like.size)  # the other outputs follow
    return values.reshape([like.shape[dim] for dim in order]).transpose(np.argsort(order))


def boards_remain(row: dict, macs: float, board_macs: float) -> bool:
    """Boards were not run because of the number of MACs, and would be with this limit."""
    return macs <= board_macs and "MACs" in row["missing"].values()


def measure_equal(network: Network, folder: Path, thimble: str, macs: float, board_macs: float, earlier: dict | None) -> dict:
    """Compares the outputs of one sample: the .pte on this machine and on emulated boards, and the C. Ranges of two samples
    are enough for that. `earlier`: a row whose boards were not run because of the number of MACs."""
    row = earlier or {"equal": ["host"], "differs": [], "missing": {"M55": "MACs", "M4": "MACs", "C": "not run"}}
    with tempfile.TemporaryDirectory() as work:
        two = first_samples(network, folder, 2, Path(work) / "two.npz")
        one = first_samples(network, folder, 1, Path(work) / "one.npz")
        # The seconds of a run on a board are proportional to the MACs.
        board_seconds = max(RUN_SECONDS, int(macs / BOARD_MACS * RUN_SECONDS))
        try:
            compiled(thimble, network, folder, "cortex-m55", two, "--emit", "pte,c", "-o", Path(work) / "model.pte")
            wanted = outputs(thimble, Path(work) / "model.pte", one, "host")
        except Failed as error:
            return {"equal": [], "differs": [], "missing": {"host": str(error)}}

        def m55() -> np.ndarray:
            return outputs(thimble, Path(work) / "model.pte", one, "qemu", board_seconds)

        def m4() -> np.ndarray:
            compiled(thimble, network, folder, "cortex-m4", two, "-o", Path(work) / "m4.pte")
            return outputs(thimble, Path(work) / "m4.pte", one, "qemu", board_seconds)

        def c() -> np.ndarray:
            data = np.load(one)
            inputs = [data[name].tobytes() for name in data.files]
            return c_output(Path(work), "model", Path(thimble).resolve().parent, inputs, wanted[0])[None]

        for place, call in {"M55": m55, "M4": m4, "C": c}.items():
            if place not in row["missing"] or (place != "C" and macs > board_macs):
                continue
            del row["missing"][place]
            try:
                got = call()
            except Failed as error:
                row["missing"][place] = str(error)
                continue
            same = got.shape == wanted.shape and got.tobytes() == wanted.tobytes()
            row["equal" if same else "differs"].append(place)
    return row


def measure_share(network: Network, folder: Path, thimble: str) -> dict:
    """The share of MACs that each NPU computes, and the reasons for the other operators. Ranges of two samples are enough
    for that."""
    row = {}
    for engine, part in ENGINES.items():
        with tempfile.TemporaryDirectory() as work:
            report, two = Path(work) / "report.json", first_samples(network, folder, 2, Path(work) / "two.npz")
            command = [thimble, "compile", folder / f"{network.key}.pt2", "--target", part, "--calibrate", two,
                       "-o", Path(work) / "model.pte", "--report", report]
            try:
                ran, _, _ = run(command, COMPILE_SECONDS)
            except subprocess.TimeoutExpired:
                row[engine] = {"error": f"more than {COMPILE_SECONDS} s"}
                continue
            if not report.exists():  # a program that is too large for the part has a report
                row[engine] = {"error": ran.stderr.strip()}
                continue
            data = json.loads(report.read_text())
        macs = sum(op["macs"] for op in data["ops"])
        on_npu = sum(op["macs"] for op in data["ops"] if not op["engine"].startswith("cortex"))
        reasons = sorted({fallback["reason"] for fallback in data["fallbacks"]})
        row[engine] = {"macs": macs, "on_npu": on_npu, "reasons": reasons}
    return row


def measure_pt2e(network: Network, folder: Path, macs: float) -> dict:
    """The SQNR of PyTorch's quantization with the same samples: int8, one scale per channel of a weight."""
    import torch
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (XNNPACKQuantizer,
                                                                         get_symmetric_quantization_config)
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    module = torch.export.load(folder / f"{network.key}.pt2").module(check_guards=False)
    data = np.load(folder / f"{network.key}.npz")
    eager = np.load(folder / f"{network.key}.eager.npz")["y"]
    samples = [{name: torch.from_numpy(data[name][i]) for name in data.files} for i in range(len(eager))]
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
    prepared = prepare_pt2e(module, quantizer)
    with torch.no_grad():
        for sample in samples:
            prepared(**sample)
        converted = convert_pt2e(prepared)
        got = np.stack([converted(**sample).float().numpy() for sample in samples[:sqnr_samples(macs)]])
    return {"sqnr": sqnr(eager[:len(got)], got)}
