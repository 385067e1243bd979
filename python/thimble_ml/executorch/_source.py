# SPDX-License-Identifier: Apache-2.0
"""The line of the model's source and the module of a node, by the rule of the compiler's messages."""

from __future__ import annotations

import re
from typing import Any

from torch.fx import Node

_FRAME = re.compile(r'File "(?P<file>.*)", line (?P<line>\d+)')
#: Packages whose lines do not help the user.
_PACKAGES = re.compile(r"(site|dist)-packages[/\\](torch|torchao|executorch)[/\\]")


def _rank(file: str) -> int:
    """Returns how close a file is to the user's program; 0: its line is not useful."""
    if file.startswith(("<", "torch/")) or _PACKAGES.search(file):
        return 0
    return 1 if "site-packages" in file or "dist-packages" in file else 2


def source_of(node: Node) -> tuple[str, str]:
    """Returns the innermost useful line, `net.py:31`, and its text; empty if there is none."""
    lines = [line.strip() for line in (node.meta.get("stack_trace") or "").splitlines()]
    best, result = 1, ("", "")
    for line, text in zip(lines, [*lines[1:], ""]):
        frame = _FRAME.match(line)
        if frame is None or _rank(frame["file"]) < best:
            continue
        best = _rank(frame["file"])
        name = frame["file"].replace("\\", "/").rsplit("/", 1)[-1]
        result = f"{name}:{frame['line']}", "" if _FRAME.match(text) else text
    return result


def module_of(node: Node) -> str:
    """Returns the path of the module, `blocks.0.norm1`; empty at the top."""
    modules: dict[str, Any] = node.meta.get("nn_module_stack") or {}
    return str([*modules.values()][-1][0]) if modules else ""
