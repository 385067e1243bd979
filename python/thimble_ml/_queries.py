# SPDX-License-Identifier: Apache-2.0
"""What fits where, what a file contains, and which targets and options exist."""

from __future__ import annotations

import inspect as inspect_module
import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Union, cast

from ._compile import Progress
from ._errors import BadInput
from ._inputs import (
    DataLike,
    ModelLike,
    is_module,
    is_path,
    loaded,
    to_items,
    to_path,
    to_source,
    to_target,
)
from ._interpreter import Interpreter, ProgramLike, program_source
from ._results import FitResult, FitRow, Memory, from_json, in_keywords
from ._thimble import annotate as annotate_json
from ._thimble import diff as diff_json
from ._thimble import fit as fit_json
from ._thimble import inspect as inspect_json
from ._thimble import options as option_rows
from ._thimble import targets as targets_json


class Option(NamedTuple):
    """An option of a command.

    Attributes
    ----------
    name : str
        Keyword: ``io_layout``.
    is_flag : bool
        True if its value is True or False.
    negative : str
        Name of the opposite flag of the program; empty: none.
    values : list of str
        Allowed values; empty: any.
    help : str
        Description.
    """

    name: str
    is_flag: bool
    negative: str
    values: list[str]
    help: str


_COMMANDS = ("compile", "fit", "compare", "run", "diff")
_RENAMED = {"calibrate": "calibration"}
#: Keyword arguments of `Interpreter`.
_RUN_OPTIONS = frozenset(inspect_module.signature(Interpreter.__init__).parameters)


def options(command: str = "compile") -> list[Option]:
    """Lists the options of a command.

    Parameters
    ----------
    command : {"compile", "fit", "compare", "run", "diff"}
        The function: ``run`` is `Interpreter`, ``compare`` is `Compiled.compare`.

    Returns
    -------
    list of Option
        Those that can be passed as keyword arguments.

    Raises
    ------
    BadInput
        There is no such command.
    """
    if command not in _COMMANDS:
        raise BadInput(f"command: found {command!r}, expected one of {', '.join(_COMMANDS)}")
    rows = [Option(*row) for row in option_rows(command, False)]
    rows = [row._replace(name=_RENAMED.get(row.name, row.name)) for row in rows]
    return [row for row in rows if command != "run" or row.name in _RUN_OPTIONS]


def targets(name: str = "") -> list[dict[str, Any]]:
    """Lists the parts for which models can be compiled.

    Parameters
    ----------
    name : str
        A part; or a part of a name or a pattern with ``*`` for a list; default: all.

    Returns
    -------
    list of dict
        For each part what ``thimble targets NAME --json`` prints: ``name``, ``cpu``, ``engines``,
        ``memories`` (sizes in bytes), ``npus``, ``clock_mhz``, ``summary`` and others.

    Raises
    ------
    BadInput
        No part has such a name; the message has similar names.
    """
    result: dict[str, Any] = json.loads(targets_json(name))
    return cast("list[dict[str, Any]]", result["targets"]) if "targets" in result else [result]


def inspect(file: Union[ProgramLike, ModelLike], *, commands: bool = False) -> dict[str, Any]:
    """Returns the content of a file.

    Parameters
    ----------
    file : str, os.PathLike, bytes or Compiled
        A `.pt2`, `.pte`, `.npz`, `.ir` or NPU payload; bytes: of a `.pte`.
    commands : bool
        For a `.pte`: also its NPU command streams or layer lists.

    Returns
    -------
    dict
        What ``thimble inspect --json`` prints.

    Raises
    ------
    BadInput
        The file cannot be read, or is damaged or of another kind.
    """
    return json.loads(inspect_json(program_source(cast(ProgramLike, file)), commands))


def annotate(
    model: ModelLike, args: Any = None, *, target: str, arithmetic: bool = False
) -> dict[str, Any]:
    """Returns how each node of a model would be quantized. `Quantizer` is made of it.

    Parameters
    ----------
    model, args
        As for `compile()`.
    target : str
        Name of a part.
    arithmetic : bool
        For a model that PyTorch quantized: the rounding of each operator instead.

    Returns
    -------
    dict
        What ``thimble annotate`` prints.

    Raises
    ------
    Unsupported
        The target does not support the model.
    BadInput
        The model or the target is wrong.
    """
    return json.loads(annotate_json(to_source(model, args), to_target(target), arithmetic))


def diff(before: ProgramLike, after: ProgramLike, **options: Any) -> dict[str, Any]:
    """Compares two compiled models: sizes, cycles, and with `data` and `model` the accuracy.

    Parameters
    ----------
    before, after : str, os.PathLike, bytes or Compiled
        Two `.pte` files.
    **options
        Options of ``thimble diff``: `target`, `data`, `model`, `fail_if`. `data` and `model` are
        paths of files.

    Returns
    -------
    dict
        What ``thimble diff --json`` prints. Sizes are in bytes, times in microseconds.

    Raises
    ------
    BadInput
        A file or an option is wrong, or a condition of `fail_if` names a figure that is not known.
    """
    for name in ("data", "model"):
        if options.get(name) is not None:
            options[name] = to_path(options[name], name)
    sources = program_source(before), program_source(after)
    return json.loads(diff_json(*sources, options))


def _memories(row: dict[str, Any]) -> list[Memory]:
    return [from_json(Memory, each) for each in row["memories"]]


def _of_each(name: str, value: Any, models: list[Any], several: bool) -> list[Any]:
    """Returns the value of each model: that of a list, or the same for all."""
    if not several or not isinstance(value, list):
        return [value] * len(models)
    values = cast("list[Any]", value)
    if len(values) != len(models):
        raise BadInput(
            f"{name}: found a list of {len(values)} for {len(models)} models, expected an entry "
            "for each; what is no list is for every model"
        )
    return values


def fit(
    models: Any,
    args: Any = None,
    *,
    calibration: DataLike = None,
    progress: Progress = None,
    **options: Any,
) -> FitResult:
    """Compares models on many parts: does it fit, how fast, how accurate.

    Parameters
    ----------
    models
        A model as for `compile()`, or a list of them.
    args : optional
        Example inputs of a module, as a tuple or a tensor. For a list of models, they are those of
        every module, or a list has one entry for each model (None: the model is a file).
    calibration : optional
        As for `compile()`. For a list of models, the data are those of every model, or a list has
        one entry for each model. Default: random data, which give sizes and time only.
    progress : callable, optional
        As for `compile()`.
    **options
        Options of ``thimble fit``: ``part="stm32*"``, ``require="latency<20ms,sram<64K"``,
        ``shape``, ``io``, ``sort``.

    Returns
    -------
    FitResult
        A list of `FitRow`; `FitResult.to_pandas` returns a frame.

    Raises
    ------
    BadInput
        A model, the data or an option is wrong. A part that cannot run a model is a row.
    """
    several = isinstance(models, list)
    if isinstance(models, (tuple, Mapping, Iterator)):
        kind = type(cast(object, models)).__name__
        raise BadInput(f"models: found {kind}, expected a model or a list of them")
    all_models = cast("list[Any]", models) if several else [models]
    all_args = _of_each("args", args, all_models, several)
    if several and not isinstance(args, list) and any(map(is_module, all_models)):
        all_args = [args if is_module(each) else None for each in all_models]
    data = _of_each("calibration", calibration, all_models, several)
    data = [None if isinstance(each, str) and each == "random" else each for each in data]
    if len(data) > 1 and any(is_path(each) for each in data) and not all(map(is_path, data)):
        data = [loaded(each) for each in data]
    if several and not isinstance(calibration, list):
        prepared = [to_items(each, "calibration") for each in data[:1]] * len(data)  # read once
    else:
        prepared = [to_items(each, "calibration") for each in data]
    paths = [path for _, path in prepared if path]
    if paths:
        options = {**options, "calibrate": paths}
    sources = [to_source(each, own) for each, own in zip(all_models, all_args)]
    items = [each for each, _ in prepared]
    result = json.loads(fit_json(sources, items, options, progress))
    rows = [
        from_json(FitRow, row, model=model["model"], memories=_memories(row))
        for model in result["models"]
        for row in model["parts"]
    ]
    warnings = in_keywords([text for model in result["models"] for text in model["warnings"]])
    return FitResult(rows, warnings, result["seconds"])


