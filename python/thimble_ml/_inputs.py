# SPDX-License-Identifier: Apache-2.0
"""Turns models and data of PyTorch and NumPy into bytes and NumPy arrays. PyTorch is used only if
the caller has imported it."""

from __future__ import annotations

import io
import operator
import os
import sys
import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Union, cast

import numpy as np
from numpy.typing import NDArray

from ._errors import BadInput

if TYPE_CHECKING:
    import torch

#: An array: NumPy, a PyTorch tensor on any device, or nested lists of numbers.
ArrayLike = Any
#: A path, the bytes of a file, a `torch.nn.Module` or a `torch.export.ExportedProgram`.
ModelLike = Union[
    str, "os.PathLike[str]", bytes, bytearray, memoryview, "torch.nn.Module",
    "torch.export.ExportedProgram",
]  # fmt: skip
#: Calibration or test data: a path (`.npz`, `.npy`), "random" for calibration, an array, a tuple
#: with an array for each input (and one with labels), a dict of arrays by the names of the inputs
#: (and ``labels``), or an iterable of these, such as a list or a DataLoader.
DataLike = Any

Array = NDArray[Any]
#: A path, or a name and bytes.
Source = tuple[str, Union[bytes, None]]
Item = list[tuple[str, Array]]


def _torch() -> Any:
    return sys.modules.get("torch")


def to_array(value: ArrayLike, name: str = "array") -> Array:
    """Returns a C-contiguous NumPy array in native byte order. Memory is shared if possible."""
    torch = _torch()
    if torch is not None and isinstance(value, torch.Tensor):
        tensor: Any = value.detach()
        if tensor.is_meta:
            raise BadInput(f"{name}: a tensor on the device meta, expected one with elements")
        try:
            value = tensor.cpu().numpy()
        except TypeError as error:  # bfloat16
            raise BadInput(f"{name}: a tensor of {tensor.dtype}: {error}") from None
    masked: Any = np.ma
    if isinstance(value, masked.MaskedArray) and masked.is_masked(value):
        raise BadInput(f"{name}: an array with masked elements; fill them with numbers")
    try:
        array: Array = np.asarray(value, order="C")
    except ValueError as error:  # lists of different lengths
        raise BadInput(f"{name}: {error}") from None
    if array.dtype.kind not in "fiubc":
        raise BadInput(f"{name}: elements of {array.dtype}, expected numbers")
    if array.dtype.kind in "fc" and array.dtype.itemsize > 8 * (1 + (array.dtype.kind == "c")):
        raise BadInput(f"{name}: elements of {array.dtype}, expected at most 64 bits")
    if not array.dtype.isnative:
        native: np.dtype[Any] = cast(Any, array.dtype).newbyteorder("=")
        array = array.astype(native)
    return array


def is_path(value: object) -> bool:
    return isinstance(value, (str, os.PathLike))


def to_path(value: str | os.PathLike[str], name: str = "path") -> str:
    """Returns the text of a path, which the compiler reads as UTF-8."""
    path = os.fspath(value) if is_path(value) else None
    if not isinstance(path, str):
        raise BadInput(f"{name}: found {type(value).__name__}, expected str or os.PathLike")
    try:
        path.encode()
    except UnicodeEncodeError:
        raise BadInput(f"{path!r}: the path is not UTF-8") from None
    return path


def to_target(value: str | os.PathLike[str]) -> str:
    """Returns the name of a part or the path of its file."""
    if not is_path(value):
        raise BadInput(
            f"target: found {type(value).__name__}, expected the name of a part or the path of a "
            ".toml file"
        )
    return to_path(value, "target")


def to_seconds(value: int | None) -> int | None:
    if value is None:
        return None
    try:
        return operator.index(value)
    except TypeError:
        raise BadInput(f"time_limit: found {value!r}, expected a whole number of seconds") from None


def to_calibration(data: DataLike) -> DataLike:
    """Returns the data. A word that is neither a file nor "random" is probably a mistake."""
    if isinstance(data, str) and data != "random" and not os.path.splitext(data)[1]:
        if not os.path.exists(data):
            raise BadInput(
                f'calibration: found {data!r}, expected "random", arrays or the path of a file (.npz, .npy)'
            )
    return data


def _is_array(value: object) -> bool:
    torch = _torch()
    return isinstance(value, np.ndarray) or (torch is not None and isinstance(value, torch.Tensor))


def _item(value: Any, name: str) -> Item:
    if isinstance(value, Mapping):
        arrays = cast("Mapping[str, Any]", value)
        return [(str(key), to_array(each, f"{name}: {key}")) for key, each in arrays.items()]
    if isinstance(value, (tuple, list)):
        parts = cast("tuple[Any, ...]", value)
        return [("", to_array(each, f"{name}: array {i}")) for i, each in enumerate(parts)]
    return [("", to_array(value, name))]


def to_items(data: DataLike, name: str) -> tuple[list[Item] | None, str]:
    """Returns items and no path, or no items and a path; an empty path for None."""
    if data is None:
        return None, ""
    if is_path(data):
        return None, to_path(cast("str | os.PathLike[str]", data))
    if _is_array(data) or isinstance(data, (Mapping, tuple)) or np.isscalar(data):
        return [_item(data, name)], ""
    if not isinstance(data, Iterable) and not hasattr(data, "__getitem__"):
        raise BadInput(f"{name}: {type(data).__name__}, expected arrays, a dict, an iterable or a path")
    values = cast("Iterable[Any]", data)
    return [_item(each, f"{name}: item {i}") for i, each in enumerate(values)], ""


def loaded(data: DataLike) -> DataLike:
    """Returns the arrays of a file; other data as they are."""
    if not is_path(data) or data == "random":
        return data
    path = to_path(cast("str | os.PathLike[str]", data))
    try:
        content: Any = np.load(path)
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    return {name: content[name] for name in content.files} if path.endswith(".npz") else content


def inputs_of(values: tuple[ArrayLike, ...], name: str) -> Item:
    """Returns the inputs of a run: one by position each, or one dict by name."""
    if len(values) == 1 and isinstance(values[0], (Mapping, tuple)):
        return _item(values[0], name)
    return [("", to_array(each, f"{name} {i}")) for i, each in enumerate(values)]


#: PyTorch's exporter has state of the process: one thread at a time may run it.
_export_lock = threading.Lock()


def _renew_export_lock() -> None:
    """In a forked process, the thread that holds the lock does not exist."""
    global _export_lock
    _export_lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_export_lock)


def _exported(torch: Any, module: Any, args: Any) -> Any:
    with _export_lock:
        return _exported_alone(torch, module, args)


def _exported_alone(torch: Any, module: Any, args: Any) -> Any:
    if args is None:
        raise BadInput("a module is exported with example inputs: compile(model, (x,), ...)")
    if not isinstance(args, (tuple, list)):
        args = (args,)
    inputs = tuple(cast("tuple[Any, ...]", args))
    for i, each in enumerate(inputs):
        if isinstance(each, np.ndarray):
            raise BadInput(
                f"args: found numpy.ndarray for input {i}, expected torch.Tensor: "
                "torch.from_numpy(array)"
            )
    flags = [(each, each.training) for each in module.modules()]
    try:
        module.eval()
    except NotImplementedError:  # a module that torch.export made has no such mode
        pass
    try:
        return torch.export.export(module, inputs)
    except Exception as error:
        found = ", ".join(_described(torch, each) for each in inputs)
        raise BadInput(
            f"args: torch.export.export of {type(module).__name__} failed with inputs of "
            f"({found}), expected inputs and a module that it can export: "
            f"{type(error).__name__}: {error}"
        ) from error
    finally:
        for each, training in flags:
            each.training = training


def _described(torch: Any, value: Any) -> str:
    if not isinstance(value, torch.Tensor):
        return type(value).__name__
    tensor: Any = value
    return f"{tensor.dtype} {list(tensor.shape)}"


def is_module(model: Any) -> bool:
    torch = _torch()
    return torch is not None and isinstance(model, torch.nn.Module)


def to_source(model: ModelLike, args: Any = None) -> Source:
    """Returns a path, or the bytes of `torch.export.save`."""
    torch = _torch()
    if isinstance(model, type):
        raise BadInput(f"found the class {model.__name__}, expected an object: {model.__name__}()")
    exported = torch is not None and isinstance(cast(Any, model), torch.export.ExportedProgram)
    is_file = is_path(model) or isinstance(model, (bytes, bytearray, memoryview))
    if args is not None and (exported or is_file):
        raise BadInput(
            f"args: example inputs are for a torch.nn.Module only, found {type(model).__name__}"
        )
    if is_path(model):
        return to_path(cast("str | os.PathLike[str]", model), "model"), None
    if isinstance(model, (bytes, bytearray, memoryview)):
        return "model.pt2", bytes(model)
    value: Any = model
    if torch is not None and isinstance(value, (torch.nn.Module, torch.export.ExportedProgram)):
        name = type(value).__name__
        if isinstance(value, torch.nn.Module):
            value = _exported(torch, value, args)
        else:
            name = "model"
        file = io.BytesIO()
        torch.export.save(value, file)
        return name + ".pt2", file.getvalue()
    raise BadInput(
        f"{type(model).__name__}: a torch.nn.Module, an ExportedProgram, a path or bytes expected"
    )
