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


def tidy_source_names(program: torch.export.ExportedProgram) -> None:
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
    """Indices and labels are stored as int64, all else as float32."""
    ready = {}
    for name, value in arrays.items():
        if value is None:
            continue
        if isinstance(value, torch.Tensor):
            value = value.detach().numpy()
        kind = np.int64 if np.issubdtype(value.dtype, np.integer) else np.float32
        ready[name] = np.ascontiguousarray(value, dtype=kind)
    np.savez_compressed(path, **ready)


def named(inputs) -> dict[str, torch.Tensor]:
    """Arrays by the name of forward's argument; a lone tensor is `x`."""
    return inputs if isinstance(inputs, dict) else {"x": inputs}


@torch.no_grad()
def call_each(model, inputs) -> list[torch.Tensor]:
    """Calls the model with each sample in turn, so that a state in buffers goes on; one tensor per output."""
    inputs = named(inputs)
    calls = []
    for i in range(len(next(iter(inputs.values())))):
        result = model(*[value[i : i + 1].clone() for value in inputs.values()])
        calls.append([part.clone() for part in (result if isinstance(result, (tuple, list)) else (result,))])
    return [torch.cat(parts) for parts in zip(*calls)]


def save_program(name: str, model: nn.Module, out: Path, example: tuple) -> None:
    """NAME.pt2 alone."""
    example = tuple(value.clone().contiguous() for value in example)  # a view would bring all of its storage along
    program = torch.export.export(model.eval(), example, strict=False)
    tidy_source_names(program)
    torch.export.save(program, str(out / f"{name}.pt2"))


def save(name: str, model: nn.Module, out: Path, *, calibrate, test) -> None:
    """`calibrate` and `test` are (inputs, labels or None). Inputs are x or a dict of arrays by the name of forward's
    argument, in its order; the first axis counts samples. Where the model keeps a state, samples are calls in a row."""
    out.mkdir(parents=True, exist_ok=True)
    (calibrate, calibrate_labels), (test, test_labels) = [(named(inputs), labels) for inputs, labels in (calibrate, test)]
    save_program(name, model, out, tuple(value[:1] for value in calibrate.values()))

    save_arrays(out / "calibrate.npz", **calibrate, labels=calibrate_labels)
    save_arrays(out / "test.npz", **test, labels=test_labels)

    stored = torch.export.load(str(out / f"{name}.pt2")).module()
    golden = {name: value[:GOLDEN_SAMPLES].clone() for name, value in test.items()}
    outputs = call_each(stored, golden)
    keys = ["y"] if len(outputs) == 1 else [f"y{i}" for i in range(len(outputs))]
    save_arrays(out / "golden.npz", **golden, **dict(zip(keys, outputs)))

    trained, with_running = parameter_count(model)
    sizes = ", ".join(f"{f.name} {f.stat().st_size}" for f in sorted(out.glob("*.np*")) + [out / f"{name}.pt2"])
    print(f"  {trained} parameters ({with_running} with batch-norm statistics); bytes: {sizes}")
