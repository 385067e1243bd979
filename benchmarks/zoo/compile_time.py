"""Measures the compile time of networks in which calibration is most of it, beside PyTorch's quantization.

    python3 compile_time.py export FOLDER           with an environment that has the packages of requirements.txt
    python3 compile_time.py measure FOLDER THIMBLE [NAME...] [--bless]
                                                    with an environment that has torch, torchao and executorch

For each network: wall and user seconds and peak memory of `thimble compile` with 16 samples, and the wall seconds of
PyTorch's quantization (PT2E) with the same samples and 2 threads: import of torch, prepare_pt2e, calibration and
convert_pt2e, each network in a process of its own. Its quantizer is that of ExecuTorch's XNNPACK; the import of
ExecuTorch and the loading of the program are not counted. Exit code 1 if a network needs more than 10 s, or more than
the larger of PT2E's time and 2 s, or more than 200 MB.
"""

import argparse
import json
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
        readme = Path(__file__).with_name("README.md")
        text, count = re.subn(r"(<!-- compile time -->\n).*?(<!-- end of compile time -->)",
                              lambda m: m.group(1) + "\n".join(lines) + "\n" + m.group(2), readme.read_text(), flags=re.S)
        if count != 1:
            sys.exit(f"{readme}: found {count} places of the table, expected 1")
        readme.write_text(text)
    print("\n".join(failures), end="\n" if failures else "")
    return 1 if failures else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("export", "measure", "pt2e"):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        if name == "measure":
            command.add_argument("thimble")
            command.add_argument("--bless", action="store_true", help="write the table to README.md")
        if name != "export":
            command.add_argument("names", nargs="*")
    args = parser.parse_args()
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
