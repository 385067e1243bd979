# SPDX-License-Identifier: Apache-2.0
"""Compiles models."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Callable
from functools import cached_property
from typing import Any, Union, cast

from ._errors import BadInput
from ._inputs import (
    ArrayLike,
    DataLike,
    ModelLike,
    inputs_of,
    to_calibration,
    to_items,
    to_path,
    to_seconds,
    to_source,
    to_target,
)
from ._interpreter import Interpreter, Outputs, input_names, program_source
from ._results import Comparison, Memory, Op, from_json, in_keywords
from ._thimble import CompiledModel, write_file
from ._thimble import compile as compile_model
from ._thimble import profile as profile_model
from ._thimble import share_arena as share_arena_of

#: Called with a phase ("calibrating"), and how much of it is done: `done` of `total`; 0 of 0 if
#: that is not known.
Progress = Union[Callable[[str, int, int], object], None]


class Compiled:
    """A compiled model: its bytes, its report, and the ways to run and measure it.

    `compile()` makes it. It owns its bytes and has copies of the model and of the calibration data,
    also if they are files; ``bytes(compiled)`` returns the `.pte`. It can be pickled, with all of
    these. Methods may be called from several threads.
    """

    def __init__(self, impl: CompiledModel) -> None:
        if not isinstance(cast(Any, impl), CompiledModel):
            raise BadInput(
                f"Compiled: found {type(impl).__name__}, expected a model of compile(); "
                "Interpreter(path) runs a file"
            )
        self._impl = impl

    @cached_property
    def _report(self) -> dict[str, Any]:
        return json.loads(self._impl.report_json)

    def __bytes__(self) -> bytes:
        return self._impl.pte

    def __len__(self) -> int:
        return int(self._report["pte_bytes"])

    def __repr__(self) -> str:
        used = ", ".join(f"{each.name} {each.bytes_used:,} B" for each in self.memory.values())
        return f"<Compiled {self.name} for {self.target}: {used}>"

    def _repr_html_(self) -> str:
        page = html.escape(self._impl.report_html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:640px;border:0"></iframe>'

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore, (self._impl.__getstate__(),))

    @property
    def name(self) -> str:
        """Name of the `.pte`: that of the model."""
        return self._impl.label

    @property
    def target(self) -> str:
        """Name of the part."""
        return self._report["target"]

    @property
    def input_names(self) -> list[str]:
        """Names of the inputs, in order: those of the model."""
        return [row["name"] for row in self._report["inputs"]]

    @property
    def memory(self) -> dict[str, Memory]:
        """Use of the target's memories, in bytes, by name."""
        rows = [from_json(Memory, row) for row in self._report["memories"]]
        return {row.name: row for row in rows}

    @property
    def ops(self) -> list[Op]:
        """Calls of kernels and operators of NPUs, in the order of execution."""
        return [from_json(Op, row) for row in self._report["ops"]]

    @property
    def time_ms(self) -> float | None:
        """Estimated time of one run in milliseconds; None: the part's file states no clock."""
        time_us: float | None = self._report["time_us"]
        return None if time_us is None else time_us / 1000

    @property
    def warnings(self) -> list[str]:
        """Probable mistakes: ranges of the data, a low SQNR."""
        return in_keywords(self._report["warnings"])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the `.pte`, and the files that options such as ``emit`` or ``kernels_dir``
        request, in its folder.

        All files are written or none.

        Parameters
        ----------
        path : str or os.PathLike
            Path of the `.pte`.

        Raises
        ------
        BadInput
            A file cannot be written.
        """
        self._impl.save(to_path(path))

    def run(self, *inputs: ArrayLike, on: str | None = None, steps: bool = False) -> Outputs:
        """Runs the model once, from its initial state. `Interpreter` is faster for many runs.

        Parameters
        ----------
        *inputs, steps
            As for `Interpreter.run`.
        on : {"host", "qemu", "fvp", "eval"}
            Platform; default: this machine.

        Returns
        -------
        numpy.ndarray or tuple of numpy.ndarray
            As for `Interpreter.run`.

        Raises
        ------
        BadInput
            Wrong inputs, or the platform has no emulator.
        """
        return Interpreter(self, on=on).run(*inputs, steps=steps)

    def profile(
        self,
        *inputs: ArrayLike,
        on: str = "qemu",
        progress: Progress = None,
        target: str | None = None,
        time_limit: int | None = None,
    ) -> dict[str, Any]:
        """Counts the instructions of each operator on an emulated board.

        Parameters
        ----------
        *inputs : array_like
            As for `Interpreter.run`; without them, all inputs are zeros.
        on : {"qemu", "host"}
            `host`: cycles of the operations of an NPU.
        progress : callable, optional
            As for `compile()`.
        target : str, optional
            The part; default: that of the compilation.
        time_limit : int, optional
            Seconds for the run.

        Returns
        -------
        dict
            The result of ``thimble run --profile --json``: ``instructions``, ``cycles`` and
            ``time_us`` in total and for each of ``ops``.

        Raises
        ------
        BadInput
            QEMU is not installed, or the target has no emulated board.
        """
        limit = to_seconds(time_limit)
        options = {"on": on, "target": target or self.target, "time_limit": limit}
        arrays = inputs_of(inputs, "input") if inputs else []
        names = input_names(self)
        return json.loads(profile_model(program_source(self), options, arrays, names, progress))

    def compare(self, data: DataLike, *, progress: Progress = None, **options: Any) -> Comparison:
        """Compares the compiled model with the float model.

        Parameters
        ----------
        data
            Samples, as the calibration data of `compile()`; with labels for the accuracy.
        progress : callable, optional
            As for `compile()`.
        **options
            Options of ``thimble compare``: `on`, `per_layer` (requires ``names=True`` in
            `compile()`), `fail_if`.

        Returns
        -------
        Comparison

        Raises
        ------
        BadInput
            The data does not have the types and shapes of the inputs, or is not finite.
        """
        if data is None or (isinstance(data, str) and data == "random"):
            raise BadInput(f"data: found {data!r}, expected samples: arrays or the path of a file")
        items, path = to_items(data, "data")
        return from_json(Comparison, json.loads(self._impl.compare(items, path, options, progress)))

    def report(self, path: str | os.PathLike[str] | None = None) -> dict[str, Any]:
        """Returns the report, and writes it to a file.

        Parameters
        ----------
        path : str or os.PathLike, optional
            A file to write: `.html` (a page with pictures), `.json`, or any other for the text
            that the program prints.

        Returns
        -------
        dict
            What ``thimble compile --json`` prints. Sizes are in bytes, times in microseconds.
        """
        if path is not None:
            name = to_path(path)
            if name.endswith(".html"):
                text = self._impl.report_html()
            elif name.endswith(".json"):
                text = self._impl.report_json
            else:
                text = self._impl.report_text()
            write_file(name, text.encode())
        return json.loads(self._impl.report_json)

    def to_c(self, layout: str = "plain") -> dict[str, str]:
        """Compiles the model to C code that calls the kernels, without a file and an interpreter.

        Parameters
        ----------
        layout : {"plain", "arduino", "cmsis"}
            As the option ``--c-layout`` of the program.

        Returns
        -------
        dict of str
            Texts by file name: ``net.c``, ``net.h``.

        Raises
        ------
        Unsupported
            The target runs operators on an NPU, which C code cannot call.
        """
        return self._impl.to_c(layout)


def share_arena(models: list[Compiled], *, exclusive: bool = True) -> list[Compiled]:
    """Plans one arena for several models of one target.

    Parameters
    ----------
    models : list of Compiled
        At least two, for cores without an NPU.
    exclusive : bool
        One model runs at a time, and the arena is as large as the largest needs. False: all may
        run at once; checks that their arenas fit together.

    Returns
    -------
    list of Compiled
        The models for this arena, in the same order. The last one is initialized first.

    Raises
    ------
    DoesNotFit
        A memory of the target is too small for all models.
    Unsupported
        A model has NPU subgraphs, or the target has several memories for one model.
    """
    shared, _ = share_arena_of([model._impl for model in models], exclusive)  # pyright: ignore[reportPrivateUsage]
    return [Compiled(impl) for impl in shared]


def _restore(state: Any) -> Compiled:
    return Compiled(CompiledModel.restore(state))


def compile(
    model: ModelLike,
    args: Any = None,
    *,
    target: str,
    calibration: DataLike = None,
    progress: Progress = None,
    **options: Any,
) -> Compiled:
    """Compiles a model for a target.

    The GIL is not held during the compilation. Ctrl-C ends it within a second.

    Parameters
    ----------
    model : torch.nn.Module, torch.export.ExportedProgram, str, os.PathLike or bytes
        A module is exported in its evaluation mode with `args`. A path or bytes: the file of
        `torch.export.save`.
    args : tuple of torch.Tensor, optional
        Example inputs of a module.
    target : str
        Name of a part: one of `targets()`, or the path of a `.toml` file.
    calibration : optional
        Samples for the ranges of the integers; not needed for a model that PyTorch quantized.
        A path (`.npz`, `.npy`), ``"random"`` (sizes and time without samples), an array, a tuple
        with an array for each input, a dict of arrays by the names of the inputs, or an iterable of
        these, such as a DataLoader. An array holds one sample or several along its first axis; an
        additional last array of a tuple, or ``labels`` of a dict, has the classes. The data is
        copied once and kept for `Compiled.to_c` and for pickles. All items of an iterable are used.
    progress : callable, optional
        Called as ``progress(phase, done, total)`` in the calling thread, at most 20 times a second.
        An exception that it raises ends the compilation.
    **options
        Options of ``thimble compile`` by their names, with ``_`` for ``-``: ``io="int8"``,
        ``activations="int16"``, ``memory={"sram": "256K"}``, ``optimize="size"``,
        ``compat="executorch"``, ``shape={"seq": 128}``, ``equalize=False``, ``io={"x": "uint8"}``,
        ``input_std=[255]``, ``preprocess="x: rgb565 160x120 -> resize 96x96"``. ``None`` is the
        default. `options()` lists them. ``save_stages`` writes its files during the compilation,
        other options that request files (``report``, ``emit``, ``kernels_dir``) in `Compiled.save`.

    Returns
    -------
    Compiled

    Raises
    ------
    DoesNotFit
        A memory of the target is too small.
    Unsupported
        The target does not support operators of the model.
    BadInput
        The model, the data or an option is wrong.

    Examples
    --------
    >>> import thimble_ml as thimble
    >>> m = thimble.compile(net, (x,), target="corstone-300", calibration=loader)
    >>> m.memory["sram"].bytes_used, m.time_ms
    >>> m.save("net.pte")
    """
    if "calibrate" in options:
        raise BadInput("calibrate: the keyword is calibration")
    part = to_target(target)
    items, path = to_items(to_calibration(calibration), "calibration")
    source = to_source(model, args)
    return Compiled(compile_model(source, part, options, items, path, progress))
