# SPDX-License-Identifier: Apache-2.0
"""Measures the compile time of networks in which calibration is most of it, beside PyTorch's quantization.

    python3 compile_time.py export FOLDER           with an environment that has the packages of requirements.txt
    python3 compile_time.py measure FOLDER THIMBLE [NAME...] [--bless]
                                                    with an environment that has torch, torchao and executorch
    python3 compile_time.py peers MODELS THIMBLE [NAME...] [--bless]
                                                    with an environment that has ethos-u-vela and tosa-tools too

For each network: wall and user seconds and peak memory of `thimble compile` with 16 samples, and the wall seconds of
PyTorch's quantization (PT2E) with the same samples and 2 threads: import of torch, prepare_pt2e, calibration and
convert_pt2e, each network in a process of its own. Its quantizer is that of ExecuTorch's XNNPACK; the import of
ExecuTorch and the loading of the program are not counted. Exit code 1 if a network needs more than 10 s, or more than
the larger of PT2E's time and 2 s, or more than 200 MB.

`peers` measures the processor time of `thimble compile` with one thread, of ExecuTorch's flows for Cortex-M and Ethos-U
(peer_flows.py), and of Vela for the `.tflite` of the same network, for each MODELS/NAME/NAME.pt2 with the first 16 samples of
its calibrate.npz. Networks that models/make.py writes to the build folder are measured if they are there. Exit code 1 if
Thimble needs more than a flow of ExecuTorch.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from export import SAMPLES, export_one
from measure import TARGET
from networks import Network
import peer_flows

NETWORKS = [
    Network("timm", "xcit_nano_12_p16_224", 224),
    Network("timm", "vit_tiny_patch16_224", 224),
    Network("timm", "pit_ti_224", 224),
    Network("timm", "levit_128s", 224),
    Network("timm", "swin_tiny_patch4_window7_224", 64,
            {"img_size": 64, "window_size": 4, "embed_dim": 32, "depths": (2, 2, 2, 2), "num_heads": (1, 2, 4, 8)}),
    Network("timm", "convnext_atto", 224),
    Network("torchvision", "mobilenet_v2", 224),
    Network("recurrent", "GRU", 100),
    Network("recurrent", "LSTM", 100),
]
PEERS_HEAD = "| network | M55 | ExecuTorch, Cortex-M | U55 | ExecuTorch, Ethos-U | U55 without calibration | Vela |"
SECONDS_MAX, SECONDS_ALWAYS, MEMORY_MAX = 10, 2, 200e6


def thimble_row(thimble: str, network: Network, folder: Path) -> dict:
    with tempfile.TemporaryDirectory() as work:
        times = Path(work) / "times"
        command = ["/usr/bin/time", "-o", str(times), "-f", "%e %U %M", thimble, "compile",
                   str(folder / f"{network.key}.pt2"), "--target", TARGET, "--calibrate",
                   str(folder / f"{network.key}.npz"), "-o", str(Path(work) / "x.pte")]
        ran = subprocess.run(command, capture_output=True, text=True)
        if ran.returncode:
            sys.exit(f"{network.key}: exit code {ran.returncode}: {ran.stderr.strip()}")
        wall, user, kilobytes = times.read_text().split()
    return {"wall": float(wall), "user": float(user), "memory": int(kilobytes) * 1024}


def pt2e_one(network: Network, folder: Path) -> None:
    """Prints the seconds of PT2E. Steps that are not counted are between two marks."""
    started = time.monotonic()
    import torch
    torch.set_num_threads(2)
    counted = time.monotonic() - started
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (XNNPACKQuantizer,
                                                                         get_symmetric_quantization_config)
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    module = torch.export.load(folder / f"{network.key}.pt2").module()
    data = np.load(folder / f"{network.key}.npz")
    samples = [{name: torch.from_numpy(data[name][i]) for name in data.files} for i in range(SAMPLES)]
    started = time.monotonic()
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
    prepared = prepare_pt2e(module, quantizer)
    with torch.no_grad():
        for sample in samples:
            prepared(**sample)
    convert_pt2e(prepared)
    print(json.dumps({"pt2e": counted + time.monotonic() - started}))


def pt2e_seconds(network: Network, folder: Path) -> float:
    command = [sys.executable, "-W", "ignore", __file__, "pt2e", str(folder), network.key]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode:
        sys.exit(f"{network.key}: PT2E failed: {ran.stderr.strip()[-500:]}")
    return json.loads(ran.stdout.splitlines()[-1])["pt2e"]


def excess(row: dict) -> str:
    """Returns the first limit that a row exceeds, else an empty text."""
    limit = min(SECONDS_MAX, max(row["pt2e"], SECONDS_ALWAYS))
    if row["wall"] > limit:
        return f"{row['wall']:.1f} s, expected at most {limit:.1f} s"
    if row["memory"] > MEMORY_MAX:
        return f"{row['memory'] / 1e6:.0f} MB, expected at most {MEMORY_MAX / 1e6:.0f} MB"
    return ""


def table_of(mark: str) -> list[str]:
    text = Path(__file__).with_name("README.md").read_text()
    return re.search(rf"<!-- {mark} -->\n(.*?)<!-- end of {mark} -->", text, re.S)[1].splitlines()


def write_table(mark: str, lines: list[str]) -> None:
    """Replaces the table of README.md between the comments of this name."""
    readme = Path(__file__).with_name("README.md")
    text, count = re.subn(rf"(<!-- {mark} -->\n).*?(<!-- end of {mark} -->)",
                          lambda m: m.group(1) + "\n".join(lines) + "\n" + m.group(2), readme.read_text(), flags=re.S)
    if count != 1:
        sys.exit(f"{readme}: found {count} places of the table {mark!r}, expected 1")
    readme.write_text(text)


def thimble_seconds(thimble: str, network: Path, data: Path, target: str, out: Path, forms: str = "pte") -> dict:
    """Returns {seconds, compile} or {failed} of `thimble compile` with one thread."""
    before = os.times()
    ran = subprocess.run([thimble, "compile", str(network), "--target", target, "--calibrate", str(data), "--emit", forms,
                          "--out-dir", str(out), "--json"], capture_output=True, text=True, env=os.environ | {"THIMBLE_THREADS": "1"})
    after = os.times()
    if ran.returncode:
        return {"failed": f"exit code {ran.returncode}: {ran.stderr.strip()}"[:100]}
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    report = json.loads(ran.stdout)
    # The two figures of the report are wall seconds: their ratio is the share of the processor time.
    share = 1 - report["calibrate_seconds"] / report["compile_seconds"]
    return {"seconds": seconds, "compile": seconds * share}


def peers_row(thimble: str, folder: Path) -> list[dict]:
    network = folder / f"{folder.name}.pt2"
    with tempfile.TemporaryDirectory() as work:
        out = Path(work)
        samples = np.load(folder / "calibrate.npz")
        np.savez(out / "data.npz", **{name: samples[name][:SAMPLES] for name in samples.files})
        core = thimble_seconds(thimble, network, out / "data.npz", "cortex-m55", out)
        npu = thimble_seconds(thimble, network, out / "data.npz", peer_flows.NPU, out)
        thimble_seconds(thimble, network, out / "data.npz", peer_flows.NPU, out, "tflite")  # fails if LiteRT lacks an operator
        made = out / f"{folder.name}.tflite"
        vela = peer_flows.vela(made, out / "vela") if made.exists() else {"failed": "no .tflite of this network"}
    return [core, peer_flows.flow("cortex_m", folder, SAMPLES), npu, peer_flows.flow("ethos_u", folder, SAMPLES), vela]


def peers_table(lines: list[str], network: str, measured: list[str]) -> list[str]:
    """Returns the table with the lines of this network: first the rows, then the reasons of failures."""
    kept = [line for line in lines if line.startswith(("| ", "- ")) and line.split(",")[0].split()[1] != network][1:]
    both = sorted(set(kept) | set(measured))
    rows, reasons = ([line for line in both if line.startswith(start)] for start in ("| ", "- "))
    return [PEERS_HEAD, "|---|--:|--:|--:|--:|--:|--:|", *rows, *(["", *reasons] if reasons else [])]


def peers(models: Path, thimble: str, names: list[str], bless: bool) -> int:
    peer_flows.import_peers()
    lines = table_of("peers") or [PEERS_HEAD]
    slower = []
    built = Path(thimble).resolve().parent / "models"
    folders = sorted(path.parent for place in (models, built) for path in place.glob("*/calibrate.npz"))
    for folder in sorted(folders, key=lambda folder: names.index(folder.name) if folder.name in names else -1):
        if not (folder / f"{folder.name}.pt2").exists() or (names and folder.name not in names):
            continue
        cells = peers_row(thimble, folder)
        shown = [f"{cell['seconds']:.2f}" if "seconds" in cell else "-" for cell in cells]
        shown.insert(4, f"{cells[2]['compile']:.2f}" if "compile" in cells[2] else "-")
        measured = [f"| {folder.name} | " + " | ".join(shown) + " |"]
        for what, cell in zip(("M55", "ExecuTorch, Cortex-M", "U55", "ExecuTorch, Ethos-U", "Vela"), cells):
            if "failed" in cell:
                measured.append(f"- {folder.name}, {what}: {cell['failed']}")
        print("\n".join(measured), flush=True)
        lines = peers_table(lines, folder.name, measured)
        if bless:  # after each network: a run may be continued with the networks that are left
            write_table("peers", lines)
        for ours, theirs in ((0, 1), (2, 3)):
            if cells[ours].get("seconds", 0) > cells[theirs].get("seconds", float("inf")):
                slower.append(f"{folder.name}: {cells[ours]['seconds']:.2f} s, expected at most "
                              f"{cells[theirs]['seconds']:.2f} s")
    print("\n".join(slower), end="\n" if slower else "")
    return 1 if slower else 0


def measure(folder: Path, thimble: str, names: list[str], bless: bool) -> int:
    lines = ["| network | wall s | user s | memory MB | PT2E, wall s |", "|---|--:|--:|--:|--:|"]
    failures = []
    for network in NETWORKS:
        if names and network.key not in names:
            continue
        row = thimble_row(thimble, network, folder) | {"pt2e": pt2e_seconds(network, folder)}
        lines.append(f"| {network.key} | {row['wall']:.1f} | {row['user']:.1f} | {row['memory'] / 1e6:.0f} "
                     f"| {row['pt2e']:.1f} |")
        print(lines[-1], flush=True)
        if excess(row):
            failures.append(f"{network.key}: {excess(row)}")
    if bless:
        write_table("compile time", lines)
    print("\n".join(failures), end="\n" if failures else "")
    return 1 if failures else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("export", "measure", "pt2e", "peers"):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        if name in ("measure", "peers"):
            command.add_argument("thimble")
            command.add_argument("--bless", action="store_true", help="write the table to README.md")
        if name != "export":
            command.add_argument("names", nargs="*")
    args = parser.parse_args()
    if args.command == "peers":
        return peers(args.folder, args.thimble, args.names, args.bless)
    unknown = set(getattr(args, "names", [])) - {network.key for network in NETWORKS}
    if unknown:
        sys.exit(f"unknown networks {sorted(unknown)}, expected names like {NETWORKS[0].key}")
    if args.command == "export":
        args.folder.mkdir(parents=True, exist_ok=True)
        for network in NETWORKS:
            if not (args.folder / f"{network.key}.pt2").exists():
                export_one(network, args.folder)
    elif args.command == "measure":
        return measure(args.folder, args.thimble, args.names, args.bless)
    else:
        pt2e_one(next(network for network in NETWORKS if network.key in args.names), args.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
