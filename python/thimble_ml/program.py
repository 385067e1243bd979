"""Runs the program `thimble` on an exported model and returns what it prints."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch.export import ExportedProgram

Json = dict[str, Any]


def find_program() -> str:
    """Return the path of `thimble`: the installed one, or that of the source tree.

    Raises
    ------
    FileNotFoundError
        There is none.
    """
    here = Path(__file__).resolve()
    candidates = [
        Path(sys.executable).with_name("thimble"),
        here.parents[1] / "thimble",
        here.parents[2] / "thimble",
        here.parents[2] / "build" / "thimble",
    ]
    for candidate in candidates:
        if candidate.is_file():
            return str(candidate)
    found = shutil.which("thimble")
    if found is None:
        raise FileNotFoundError("the program thimble is not installed: pip install thimble-ml")
    return found


def run_on_export(
    verb: str, exported: ExportedProgram, target: str, *options: str, program: str | None = None
) -> Json:
    """Run `thimble VERB model.pt2 --target TARGET OPTIONS` and return the JSON that it prints.

    Raises
    ------
    NotImplementedError
        The target does not support the model (exit code 1). The message has the source lines.
    ValueError
        Bad input (exit code 2).
    """
    import torch

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pt2"
        torch.export.save(exported, path)
        command = [program or find_program(), verb, str(path), "--target", target, *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return json.loads(done.stdout)
    try:
        message = json.loads(done.stdout)["error"]
    except (ValueError, KeyError, TypeError):
        message = done.stderr.strip() or f"{verb} ended with exit code {done.returncode}"
    raise (NotImplementedError if done.returncode == 1 else ValueError)(message)
