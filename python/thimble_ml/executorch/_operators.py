# SPDX-License-Identifier: Apache-2.0
"""Defines `thimble::` operators in PyTorch, so that ExecuTorch's compiler can write calls of them.

PyTorch knows the types of their results, but cannot compute them: the kernels are in Thimble's
kernel library.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_NAMESPACE = "thimble"
#: PyTorch's type for each letter of a signature (abi/pte_ops.def).
_TYPES = {"T": "Tensor", "t": "Tensor?", "s": "Tensor"}


def _first(x: Any, *_: Any) -> Any:
    return torch.empty_like(x)


def _product(a: Any, b: Any, *_: Any) -> Any:
    """The matrices of `b` may be transposed."""
    columns = b.shape[-1] * b.shape[-2] // a.shape[-1]
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return a.new_empty([*batch, a.shape[-2], columns])


def _broadcast(a: Any, b: Any, *_: Any) -> Any:
    if a.shape == b.shape:
        return torch.empty_like(a)
    return a.new_empty(torch.broadcast_shapes(a.shape, b.shape))


#: Result of each operator that a graph of ExecuTorch can call.
_RESULTS: dict[str, Callable[..., Any]] = {
    "cumsum": _first,
    "div": _broadcast,
    "group_norm": _first,
    "layer_norm": _first,
    "log_softmax": _first,
    "matmul": _product,
    "rms_norm": _first,
}

# The operators exist as long as this object.
_LIBRARY = torch.library.Library(_NAMESPACE, "FRAGMENT")
_defined: set[str] = set()


def define_operator(name: str, signature: str) -> bool:
    """Define an operator of Thimble with its two overloads.

    Parameters
    ----------
    name : str
        ``thimble::layer_norm.out``, as in a `.pte` file. Nothing is done for another namespace.
    signature : str
        One letter per argument, the last one ``o``.

    Returns
    -------
    bool
        False for an operator that a graph of ExecuTorch cannot call.
    """
    namespace, _, rest = name.partition("::")
    if namespace != _NAMESPACE or name in _defined:
        return True
    base, _, overload = rest.partition(".")
    letters = signature[:-1]
    if base not in _RESULTS or overload != "out" or any(each not in _TYPES for each in letters):
        return False
    inputs = ", ".join(f"{_TYPES[letter]} x{i}" for i, letter in enumerate(letters))
    _LIBRARY.define(f"{base}({inputs}) -> Tensor")
    _LIBRARY.define(f"{base}.out({inputs}, *, Tensor(a!) out) -> Tensor(a!)")
    _LIBRARY.impl(base, _RESULTS[base], "Meta")
    _defined.add(name)
    return True
