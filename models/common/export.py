"""Exports a trained network and writes the four files that belong to it."""

import re
from pathlib import Path

import numpy as np
import torch
from torch import nn

from .train import parameter_count

ROOT = Path(__file__).resolve().parents[2]
GOLDEN_SAMPLES = 5


def _portable_name(path: str) -> str:
    """A source file's name as every machine would write it: relative to this repository or to site-packages."""
    if "site-packages/" in path:
        return path.split("site-packages/")[-1]
    try:
        return str(Path(path).resolve().relative_to(ROOT))
    except ValueError:
        return Path(path).name


def _tidy_source_names(program: torch.export.ExportedProgram) -> None:
    for node in program.graph.nodes:
        trace = node.meta.get("stack_trace")
        if trace:
            node.meta["stack_trace"] = re.sub(
                r'File "([^"]+)"', lambda found: f'File "{_portable_name(found.group(1))}"', trace
            )


def on_grid(values: np.ndarray) -> np.ndarray:
    """8-bit pixel values as float32 in [-1, 1]."""
    return (values.astype(np.float32) / np.float32(127.5) - np.float32(1)).astype(np.float32)


def save_arrays(path: Path, **arrays) -> None:
    ready = {}
    for name, value in arrays.items():
        if value is None:
            continue
        if isinstance(value, torch.Tensor):
            value = value.detach().numpy()
        kind = np.int64 if name == "labels" else np.float32
        ready[name] = np.ascontiguousarray(value, dtype=kind)
    np.savez_compressed(path, **ready)


def save(name: str, model: nn.Module, out: Path, *, calibrate, test) -> None:
    """`calibrate` and `test` are (x, labels or None); the first axis of x counts samples."""
    out.mkdir(parents=True, exist_ok=True)
    model = model.eval()
    example = calibrate[0][:1].clone().contiguous()
    program = torch.export.export(model, (example,), strict=False)
    _tidy_source_names(program)
    torch.export.save(program, str(out / f"{name}.pt2"))

    save_arrays(out / "calibrate.npz", x=calibrate[0], labels=calibrate[1])
    save_arrays(out / "test.npz", x=test[0], labels=test[1])

    stored = torch.export.load(str(out / f"{name}.pt2")).module()
    golden = test[0][:GOLDEN_SAMPLES].clone()
    with torch.no_grad():
        outputs = torch.cat([stored(golden[i : i + 1].clone()) for i in range(len(golden))])
    save_arrays(out / "golden.npz", x=golden, y=outputs)

    trained, with_running = parameter_count(model)
    sizes = ", ".join(f"{f.name} {f.stat().st_size}" for f in sorted(out.glob("*.np*")) + [out / f"{name}.pt2"])
    print(f"  {trained} parameters ({with_running} with batch-norm statistics); bytes: {sizes}")
