# SPDX-License-Identifier: Apache-2.0
"""Thimble compiles PyTorch models for Cortex-M microcontrollers and for the NPUs next to them.

>>> import thimble_ml as thimble
>>> m = thimble.compile(net, (x,), target="corstone-300", calibration=loader)
>>> m.save("net.pte")
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import _thimble  # pyright: ignore[reportPrivateUsage]

#: Interface between these files and the extension module; python/bindings/module.cpp has the same.
_INTERFACE = 4
if getattr(_thimble, "INTERFACE", None) != _INTERFACE:
    raise ImportError(
        f"thimble_ml: {__file__} and its extension module, of version {_thimble.__version__}, are of "
        "different versions: remove all installed versions and install one"
    )

from ._compile import Compiled, compile, share_arena
from ._errors import (
    BadInput,
    Cancelled,
    DoesNotFit,
    ThimbleError,
    Unsupported,
    UnsupportedOp,
    WrongThread,
)
from ._interpreter import Interpreter, Port, simulate
from ._queries import Option, annotate, diff, fit, inspect, options, targets
from ._results import Comparison, FitResult, FitRow, Memory, Op
from ._thimble import __version__ as __version__

if TYPE_CHECKING:
    from .quantizer import Quantizer as Quantizer
    from ._sweep import SweepResult as SweepResult
    from ._sweep import grid as grid
    from ._sweep import sweep as sweep

__all__ = [
    "BadInput",
    "Cancelled",
    "Comparison",
    "Compiled",
    "DoesNotFit",
    "FitResult",
    "FitRow",
    "Interpreter",
    "Memory",
    "Op",
    "Option",
    "Port",
    "ThimbleError",
    "Unsupported",
    "UnsupportedOp",
    "WrongThread",
    "annotate",
    "compile",
    "diff",
    "fit",
    "inspect",
    "options",
    "share_arena",
    "simulate",
    "targets",
]

#: Names that are loaded when they are first used, with their modules.
_LAZY = {"Quantizer": "quantizer", "SweepResult": "_sweep", "grid": "_sweep", "sweep": "_sweep"}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_LAZY[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
