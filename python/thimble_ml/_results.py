# SPDX-License-Identifier: Apache-2.0
"""Results as plain data. Each class has the names of the program's JSON output."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from ._thimble import with_keywords

T = TypeVar("T")


@dataclass(frozen=True)
class Memory:
    """Use of a memory of the target, in bytes.

    Attributes
    ----------
    name : str
        ``sram``, ``flash``, or a name of the part's file.
    bytes_used : int
        Bytes that the program needs.
    bytes_size : int or None
        Size of the memory, or the limit of the option ``memory``; None: not known.
    """

    name: str
    bytes_used: int
    bytes_size: int | None


@dataclass(frozen=True)
class Op:
    """A call of a kernel, or an operator of a subgraph on an NPU, in the order of execution.

    Attributes
    ----------
    name : str
        Name of the result.
    op : str
        Kernel: ``thimble::conv2d.mve``.
    engine : str
        Core or NPU that runs it.
    types : str
        Element types: ``i8``, or ``f32->i8``.
    source, source_text, module : str
        Line of the model's source, ``net.py:31``, its text, and the path of the module.
    macs : int
        Multiply-accumulate operations.
    instructions, cycles : int or None
        Estimates for one run; `cycles` include wait states. None: not known.
    time_us : float or None
        Estimate in microseconds; None: not known.
    bytes_out, constant_bytes, arena_live_bytes : int
        Bytes of the result, of weights and parameters, and of the arena that are live.
    reason : str
        Why the operator is not on the expected engine; empty if it is.
    """

    name: str
    op: str
    engine: str
    types: str
    source: str
    source_text: str
    module: str
    macs: int
    instructions: int | None
    cycles: int | None
    time_us: float | None
    bytes_out: int
    constant_bytes: int
    arena_live_bytes: int
    reason: str


@dataclass(frozen=True)
class Comparison:
    """Accuracy of a compiled model compared with its float model.

    Attributes
    ----------
    sqnr_db : list of (float or None)
        SQNR of each output in dB; None for integers, or without a difference or a signal.
    output_agreement : list of (float or None)
        For each output of integers: share of equal elements, 0 to 1.
    top1_agreement : float or None
        Share of rows with the same class as in float; None for an output without classes.
    accuracy, accuracy_float : float or None
        Share of rows with the class of the label; None without labels.
    calls : int
        Number of compared runs.
    on : str
        Where the compiled model ran: ``host``.
    warnings : list of str
        Probable mistakes, such as data in another range than the calibration data.
    violations : list of str
        Conditions of ``fail_if`` that are true.
    layers : list of dict
        With ``per_layer=True``: name, op, source and sqnr_db of each value.
    """

    sqnr_db: list[float | None]
    output_agreement: list[float | None]
    top1_agreement: float | None
    calls: int
    on: str
    warnings: list[str]
    violations: list[str]
    accuracy: float | None = None
    accuracy_float: float | None = None
    layers: list[dict[str, Any]] = dataclasses.field(default_factory=lambda: [])


@dataclass(frozen=True)
class FitRow:
    """A model on a part.

    Attributes
    ----------
    model, part : str
        Name of the model's file, and of the part.
    fits : bool or None
        True if the model fits and meets the requirements; None: not known.
    flash_bytes, sram_bytes : int or None
        Bytes that the program needs; None: not known. `sram_bytes` is the sum over all RAM.
    memories : list of Memory
        Use of each memory.
    time_us : float or None
        Estimated time of one run in microseconds; None: not known.
    time_error_percent : float or None
        Half of the error band of `time_us`; None: an estimate without a band.
    memories_without_waits : list of str
        Memories whose wait states `time_us` lacks, because the part's file does not state them: the
        time is a lower bound, and `fits` is None where it would meet a requirement.
    input_bytes : int
        Bytes of the inputs in memory of the application, which `memories` does not have.
    inputs_too_large : bool
        True if the SRAM is too small for the program and these inputs.
    accuracy : float or None
        Share of samples with the class of the label, 0 to 1; None without labels.
    sqnr_db : float or None
        SQNR of the worst output in dB; None without calibration data.
    engines : str
        NPUs with their share of the MACs, or the core.
    npu_share : float
        Share of the MACs on NPUs, 0 to 1.
    reason : str
        The first reason why `fits` is not True.
    """

    model: str
    part: str
    fits: bool | None
    flash_bytes: int | None
    sram_bytes: int | None
    memories: list[Memory]
    time_us: float | None
    time_error_percent: float | None
    memories_without_waits: list[str]
    input_bytes: int
    inputs_too_large: bool
    accuracy: float | None
    sqnr_db: float | None
    engines: str
    npu_share: float
    reason: str


class FitResult(list[FitRow]):
    """Rows of `fit()`, sorted as by the option ``sort``.

    Attributes
    ----------
    warnings : list of str
        About the calibration data.
    seconds : float
        Time of the call.
    """

    def __init__(
        self, rows: Iterable[FitRow] = (), warnings: Iterable[str] = (), seconds: float = 0.0
    ) -> None:
        super().__init__(rows)
        self.warnings: list[str] = list(warnings)
        self.seconds = seconds

    def to_dicts(self) -> list[dict[str, Any]]:
        """Returns the rows as dicts."""
        return [dataclasses.asdict(row) for row in self]

    def to_pandas(self) -> Any:
        """Returns a `pandas.DataFrame` with a row per model and part. Requires pandas."""
        import pandas  # pyright: ignore[reportMissingTypeStubs, reportMissingImports, reportMissingModuleSource]

        names = [field.name for field in dataclasses.fields(FitRow)]
        frame: Any = pandas
        return frame.DataFrame(self.to_dicts(), columns=names)

    def _repr_html_(self) -> str:
        import html

        names = [field.name for field in dataclasses.fields(FitRow)]
        cells = [[html.escape(str(value)) for value in row.values()] for row in self.to_dicts()]
        lines = ["<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in cells]
        head = "".join(f"<th>{name}</th>" for name in names)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


#: Texts of the program: in objects of this package, options are keyword arguments.
_TEXTS = ("reason", "violations", "warnings")


def from_json(kind: type[T], row: dict[str, Any], **more: Any) -> T:
    """Returns an object of the dataclass with the values of the same names."""
    values = {**row, **more}
    for name in _TEXTS:
        if name in values:
            values[name] = in_keywords(values[name])
    names = [field.name for field in dataclasses.fields(kind) if field.name in values]  # pyright: ignore[reportArgumentType]
    return kind(**{name: values[name] for name in names})


def in_keywords(texts: Any) -> Any:
    """Returns a text or a list of texts with options as keyword arguments."""
    return with_keywords(texts) if isinstance(texts, str) else [with_keywords(each) for each in texts]
