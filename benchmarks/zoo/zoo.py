"""Exports, compiles and runs the networks of networks.py, and prints a table.

    python3 zoo.py export FOLDER [NAME...]     with an environment that has the packages of requirements.txt
    python3 zoo.py measure FOLDER THIMBLE [NAME...]
    python3 zoo.py table FOLDER [--bless]      prints the table, or writes it to README.md; networks without a result in
                                               FOLDER keep their row of README.md

Each network is exported by a process of its own, into FOLDER/NAME.pt2, with 16 samples (FOLDER/NAME.npz) and the
outputs of eager PyTorch for them (FOLDER/NAME.eager.npz). A result is FOLDER/NAME.json. A step whose result exists is
skipped. Parameters are random: batch norms have random statistics, so that values keep a usual range.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from networks import NETWORKS, Network

HERE = Path(__file__).resolve().parent
SAMPLES = 16
EXPORT_SECONDS, COMPILE_SECONDS, RUN_SECONDS = 300, 300, 300
TARGET = "cortex-m55"


def chosen(names: list[str]) -> list[Network]:
    unknown = set(names) - {network.key for network in NETWORKS}
    if unknown:
        sys.exit(f"unknown networks {sorted(unknown)}, expected names like {NETWORKS[0].key}")
    return [network for network in NETWORKS if not names or network.key in names]


def vary(example, seed: int):
    """Another sample of the same kind: real numbers in a range of their own, tokens, or the mask as it is."""
    import torch
    generator = torch.Generator().manual_seed(seed)
    sample = {}
    for name, value in example.items():
        if value.dtype == torch.float32:
            sample[name] = torch.rand(value.shape, generator=generator) * 2 - 1
        elif name == "attention_mask":
            sample[name] = value.clone()
            sample[name][:, value.shape[1] - seed % 4:] = 0 if seed % 4 else 1
        else:
            sample[name] = torch.randint(3, 100, value.shape, generator=generator)
    return sample


def export_one(network: Network, folder: Path) -> None:
    import torch
    from builders import build
    model, example = build(network)
    samples = [vary(example, seed) for seed in range(SAMPLES)]
    for module in model.modules():
        if isinstance(module, (torch.nn.BatchNorm1d, torch.nn.BatchNorm2d)) and module.running_var is not None:
            module.train()
    with torch.no_grad():
        for sample in samples[:2]:
            try:
                model(**sample)
            except ValueError:  # a batch norm of one value has no statistics
                break
        model.eval()
        eager = [model(**sample).float().numpy() for sample in samples]
        program = torch.export.export(model, (), samples[0])
    np.savez(folder / f"{network.key}.npz",
             **{name: np.stack([s[name].numpy() for s in samples]) for name in example})
    np.savez(folder / f"{network.key}.eager.npz", y=np.stack(eager))
    torch.export.save(program, folder / f"{network.key}.pt2")


def export(folder: Path, names: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for network in chosen(names):
        failed = folder / f"{network.key}.export.txt"
        if (folder / f"{network.key}.pt2").exists() or failed.exists():
            continue
        command = [sys.executable, str(HERE / "zoo.py"), "export", str(folder), network.key, "--one"]
        started = time.monotonic()
        try:
            ran = subprocess.run(command, capture_output=True, text=True, timeout=EXPORT_SECONDS)
            error = ran.stderr if ran.returncode else ""
        except subprocess.TimeoutExpired:
            error = f"more than {EXPORT_SECONDS} s"
        if error:
            failed.write_text(error[-4000:])
        state = "failed: " + error.strip().splitlines()[-1][:100] if error else "exported"
        print(f"{network.key:<40} {time.monotonic() - started:5.1f} s  {state}", flush=True)


def run(command: list[str], seconds: int):
    """Returns the process, its seconds of CPU and its largest memory in bytes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.NamedTemporaryFile("r") as peak:
        ran = subprocess.run(["/usr/bin/time", "-q", "-o", peak.name, "-f", "%M", *command], capture_output=True,
                             text=True, timeout=seconds)
        text = peak.read().split()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return ran, cpu, int(text[-1]) * 1024 if text else 0


def sqnr(reference: np.ndarray, got: np.ndarray) -> float:
    """As `thimble compare`: the signal is relative to the mean over samples."""
    signal = np.square(reference - reference.mean(axis=0, keepdims=True)).sum(dtype=np.float64)
    noise = np.square(reference - got).sum(dtype=np.float64)
    return float("inf") if noise == 0 else float(10 * np.log10(signal / noise)) if signal > 0 else float("nan")


def outputs(thimble: str, model: Path, network: Network, folder: Path, samples: list[int], on: str) -> list[np.ndarray]:
    data = np.load(folder / f"{network.key}.npz")
    results = []
    for sample in samples:
        with tempfile.TemporaryDirectory() as work:
            command = [thimble, "run", str(model), "--on", on, "--output", work]
            for name in data.files:
                path = Path(work) / f"{name}.npy"
                np.save(path, data[name][sample])
                command += ["--input", str(path)]
            ran = subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS)
            if ran.returncode:
                raise RuntimeError(ran.stderr.strip()[-300:])
            results.append(np.load(Path(work) / "output_0.npy"))
    return results


def measure_one(network: Network, folder: Path, thimble: str, board: bool) -> dict:
    model, data = folder / f"{network.key}.pt2", folder / f"{network.key}.npz"
    pte = folder / f"{network.key}.pte"
    command = [thimble, "compile", str(model), "--target", TARGET, "--calibrate", str(data), "-o", str(pte), "--json"]
    started = time.monotonic()
    try:
        ran, cpu, memory = run(command, COMPILE_SECONDS)
    except subprocess.TimeoutExpired:
        return {"exit": None, "reason": f"more than {COMPILE_SECONDS} s"}
    row = {"exit": ran.returncode, "seconds": time.monotonic() - started, "cpu_seconds": cpu, "memory": memory}
    if ran.returncode:
        row["reason"] = ran.stderr.strip()
        return row
    report = json.loads(ran.stdout)
    row |= {"arena": report["arena_bytes"], "pte": report["pte_bytes"], "float_ops": report["float_ops"]}
    eager = np.load(folder / f"{network.key}.eager.npz")["y"]
    try:
        host = np.stack(outputs(thimble, pte, network, folder, list(range(len(eager))), "host"))
        row["sqnr"] = sqnr(eager, host)
        first = outputs(thimble, model, network, folder, [0], "eval")[0]
        row["import_error"] = float(np.abs(first - eager[0]).max() / max(np.abs(eager[0]).max(), 1e-30))
        if board:
            row["board_equal"] = bool((outputs(thimble, pte, network, folder, [0], "qemu")[0] == host[0]).all())
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        row["run_error"] = str(error)
    pte.unlink()
    return row


def measure(folder: Path, thimble: str, names: list[str], board: bool) -> None:
    for network in chosen(names):
        result = folder / f"{network.key}.json"
        if result.exists() or not (folder / f"{network.key}.pt2").exists():
            continue
        row = measure_one(network, folder, thimble, board)
        result.write_text(json.dumps(row, indent=1) + "\n")
        print(f"{network.key:<40} {json.dumps(row)[:200]}", flush=True)


def reason_of(row: dict) -> str:
    """The first operator of a refusal, with the reason."""
    lines = [line.strip() for line in row["reason"].splitlines() if line.strip()]
    text = next((line for line in lines if "aten" in line or "higher_order" in line), lines[0] if lines else "")
    return re.sub(r"\s+", " ", text).replace("|", "/")[:110]


def line_of(network: Network, folder: Path) -> str | None:
    """The row of a network; None if it was not run."""
    name = network.key + (" (drawn)" if network.random else "")
    result = folder / f"{network.key}.json"
    if not result.exists():
        if not (folder / f"{network.key}.export.txt").exists():
            return None
        last = (folder / f"{network.key}.export.txt").read_text().strip().splitlines()[-1]
        return f"| {name} | not exported: {last[:80].replace('|', '/')} | | | | | | |"
    row = json.loads(result.read_text())
    if row["exit"] != 0:
        state = "exit " + str(row["exit"]) if row["exit"] is not None else "stopped"
        return f"| {name} | {state}: {reason_of(row)} | {row.get('cpu_seconds', 0):.1f} | | | | | |"
    board = {True: "yes", False: "**no**", None: ""}[row.get("board_equal")]
    sqnr_db, error = row.get("sqnr"), row.get("import_error")
    return (f"| {name} | yes | {row['cpu_seconds']:.1f} | {row['memory'] / 1e6:.0f} | {row['arena']:,} "
            f"| {'' if error is None else f'{error:.0e}'} | {'' if sqnr_db is None else f'{sqnr_db:.1f}'} | {board} |")


def rows_of_readme() -> dict[str, str]:
    """The rows of earlier measurements, by network."""
    text = (HERE / "README.md").read_text().partition("<!-- table -->\n")[2].partition("<!-- end -->\n")[0]
    rows = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| network ")]
    return {line.split(" | ")[0].removeprefix("| ").removesuffix(" (drawn)"): line for line in rows}


def table(folder: Path, bless: bool) -> None:
    earlier = rows_of_readme()
    rows = [line_of(network, folder) or earlier.get(network.key) for network in NETWORKS]
    lines = [row for row in rows if row is not None]
    compiled = sum(line.split(" | ")[1] == "yes" for line in lines)
    missing = sum("| not exported: " in line for line in lines)
    head = (f"{compiled} of {len(lines) - missing} networks that were run compile. {missing} further ones were "
            f"not exported. {len(rows) - len(lines)} of {len(rows)} were not run.\n\n"
            "| network | compiled | CPU s | memory MB | arena B | import error | SQNR dB | host = QEMU |\n"
            "|---|---|--:|--:|--:|--:|--:|---|\n")
    text = head + "\n".join(lines) + "\n"
    if not bless:
        print(text)
        return
    readme = HERE / "README.md"
    before, _, rest = readme.read_text().partition("<!-- table -->\n")
    after = rest.partition("<!-- end -->\n")[2]
    readme.write_text(f"{before}<!-- table -->\n{text}<!-- end -->\n{after}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("export", "measure", "table"):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        if name == "measure":
            command.add_argument("thimble")
            command.add_argument("--no-board", action="store_true", help="do not run under QEMU")
        if name == "table":
            command.add_argument("--bless", action="store_true")
            continue
        command.add_argument("names", nargs="*")
        if name == "export":
            command.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.command == "export":
        if args.one:
            os.environ["HF_HUB_OFFLINE"] = "1"
            export_one(chosen(args.names)[0], args.folder)
        else:
            export(args.folder, args.names)
    elif args.command == "measure":
        measure(args.folder, args.thimble, args.names, not args.no_board)
    else:
        table(args.folder, args.bless)


if __name__ == "__main__":
    main()
