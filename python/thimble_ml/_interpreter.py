# SPDX-License-Identifier: Apache-2.0
"""Runs compiled models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

from ._errors import BadInput
from ._inputs import Array, ArrayLike, Source, inputs_of, is_module, to_seconds, to_source
from ._thimble import Interpreter as InterpreterModel

if TYPE_CHECKING:
    import os

    from ._compile import Compiled

#: An array for a model with one output, else a tuple of arrays.
Outputs = Union[Array, tuple[Array, ...]]
#: A path, the bytes of a `.pte`, or a result of `compile()`.
ProgramLike = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, "Compiled"]


@dataclass(frozen=True)
class Port:
    """An input or output of a compiled model.

    Attributes
    ----------
    name : str
        Its name in the model, of a result of `compile()` and of a file with names; else
        ``input_0``.
    dtype : str
        ``float32``, ``int8``, ...
    shape : tuple of int
        With the batch axis.
    scale, zero_point : float and int, or None
        Quantization of an integer: real value = (integer - zero_point) * scale.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    scale: float | None = None
    zero_point: int | None = None


def program_source(program: ProgramLike) -> Source:
    """Returns the path, or the name and the bytes, of a compiled model."""
    from ._compile import Compiled

    if isinstance(program, Compiled):
        return program.name, bytes(program)
    if isinstance(program, (bytes, bytearray, memoryview)):
        return "model.pte", bytes(program)
    if is_module(program):
        raise BadInput(
            f"found {type(program).__name__}, a torch.nn.Module, expected a file, bytes or a model of "
            "compile()"
        )
    return to_source(program)


def input_names(program: ProgramLike) -> list[str]:
    """Returns the names of the inputs of a result of `compile()`, whose `.pte` may have none."""
    from ._compile import Compiled

    return program.input_names if isinstance(program, Compiled) else []


class Interpreter:
    """Runs a compiled model again and again.

    Every platform computes the same bytes: `host` is this machine, with simulators of the NPUs;
    `qemu` is an emulated board that executes the target's own instructions.

    An interpreter is for the thread that created it; other threads get `WrongThread`. Its calls do
    not hold the GIL, so that interpreters of several threads run at once. After a fork, parent and
    child each have their own copy.

    Parameters
    ----------
    program : str, os.PathLike, bytes or Compiled
        A `.pte`. The interpreter keeps its own copy. A path to a `.pt2` or `.ir` runs on the
        reference evaluator (``on="eval"``).
    on : {"host", "qemu", "fvp", "eval"}
        Platform. A board boots for each call; the calls since the last `reset()` of a model with
        state are then repeated.
    target : str, optional
        With the board of this part, if the file does not name one.
    time_limit : int, optional
        Seconds for a run on a board.
    fvp : str, optional
        The program of the FVP.

    Raises
    ------
    BadInput
        The file is damaged or of another kind, or the emulator is not installed.
    Unsupported
        The file requires kernels or delegates that this version does not have.

    Examples
    --------
    >>> interpreter = thimble.Interpreter("kws.pte")
    >>> y = interpreter.run(x)
    """

    def __init__(
        self,
        program: ProgramLike,
        *,
        on: str | None = None,
        target: str | None = None,
        time_limit: int | None = None,
        fvp: str | os.PathLike[str] | None = None,
    ) -> None:
        limit = to_seconds(time_limit)
        options: dict[str, Any] = {"on": on, "target": target, "time_limit": limit, "fvp": fvp}
        names = input_names(program)
        self._impl = InterpreterModel.open(program_source(program), options, names)

    @property
    def inputs(self) -> list[Port]:
        """Inputs of the model, in order."""
        return [Port(*row) for row in self._impl.inputs]

    @property
    def outputs(self) -> list[Port]:
        """Outputs of the model, in order."""
        return [Port(*row) for row in self._impl.outputs]

    @property
    def has_state(self) -> bool:
        """True if results depend on earlier calls."""
        return self._impl.has_state

    @property
    def where(self) -> str:
        """Platform: ``host``, ``cortex-m55 (QEMU mps3-an547)``, ``evaluator``."""
        return self._impl.where

    def run(self, *inputs: ArrayLike, steps: bool = False, copy: bool = True) -> Outputs:
        """Runs the model.

        Parameters
        ----------
        *inputs : array_like
            One array for each input, in order, in its type and shape, or one dict by the names of
            `inputs`.
            Contiguous arrays of the input's own type are read in place, without a copy; float64 is
            converted to float32. Several samples along the first axis run one by one if
            the model has no state.
        steps : bool
            The first axis of each input is a series of calls, which keep the state.
        copy : bool
            False: an output may be a read-only view of the model's memory. The next `run` or
            `reset` overwrites it; the memory lives as long as the array.

        Returns
        -------
        numpy.ndarray or tuple of numpy.ndarray
            An array for each output; several samples along the first axis.

        Raises
        ------
        BadInput
            Another number of inputs, another type or another shape.
        WrongThread
            Called in a thread that did not create the interpreter.
        """
        results = self._impl.run(inputs_of(inputs, "input"), steps, copy)
        return results[0] if len(results) == 1 else tuple(results)

    __call__ = run

    def reset(self) -> None:
        """Sets the state to its initial values."""
        self._impl.reset()


def simulate(program: ProgramLike, *inputs: ArrayLike, on: str | None = None, **options: Any) -> Outputs:
    """Runs a model once from its initial state, for tests.

    Parameters
    ----------
    program, on, **options
        As for `Interpreter`.
    *inputs : array_like
        As for `Interpreter.run`.

    Returns
    -------
    numpy.ndarray or tuple of numpy.ndarray
        As for `Interpreter.run`.

    Raises
    ------
    BadInput, Unsupported
        As for `Interpreter` and `Interpreter.run`.
    """
    return Interpreter(program, on=on, **options).run(*inputs)
