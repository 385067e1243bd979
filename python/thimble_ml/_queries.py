"""What fits where, what a file contains, and which targets and options exist."""

from __future__ import annotations

import json
from typing import Any, NamedTuple, Union, cast

from ._compile import Progress
from ._inputs import DataLike, ModelLike, is_path, loaded, to_items, to_source
from ._interpreter import ProgramLike, program_source
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


def options(command: str = "compile") -> list[Option]:
    """Lists the options of a command.

    Parameters
    ----------
    command : {"compile", "fit", "compare", "run", "diff"}
        Another word has no options.

    Returns
    -------
    list of Option
    """
    return [Option(*row) for row in option_rows(command)]


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
    return json.loads(annotate_json(to_source(model, args), target, arithmetic))


def diff(before: ProgramLike, after: ProgramLike, **options: Any) -> dict[str, Any]:
    """Compares two compiled models: sizes, cycles, and with `data` and `model` the accuracy.

    Parameters
    ----------
    before, after : str, os.PathLike, bytes or Compiled
        Two `.pte` files.
    **options
        Options of ``thimble diff``: `target`, `data`, `model`, `fail_if`.

    Returns
    -------
    dict
        What ``thimble diff --json`` prints. Sizes are in bytes, times in microseconds.

    Raises
    ------
    BadInput
        A file or an option is wrong, or a condition of `fail_if` names a figure that is not known.
    """
    sources = program_source(before), program_source(after)
    return json.loads(diff_json(*sources, options))


def _memories(row: dict[str, Any]) -> list[Memory]:
    return [from_json(Memory, each) for each in row["memories"]]


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
        Example inputs of a module; for a list of models, a list.
    calibration : optional
        As for `compile()`; for a list of models, a list with the data of each. Default: random
        data, which give sizes and time only.
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
    all_models = cast("list[Any]", models) if several else [models]
    all_args: list[Any] = list(args) if several and args is not None else [args] * len(all_models)
    data: list[Any] = list(calibration) if several and calibration is not None else [calibration]
    data += [None] * (len(all_models) - len(data))
    if len(data) > 1 and any(is_path(each) for each in data) and not all(map(is_path, data)):
        data = [loaded(each) for each in data]
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


