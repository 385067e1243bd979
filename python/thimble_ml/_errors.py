# SPDX-License-Identifier: Apache-2.0
"""Exceptions. The extension module raises them with the facts of the compiler's refusal."""

from __future__ import annotations

from typing import Any, NamedTuple


class ThimbleError(Exception):
    """Base class of all errors of this package. Its text is the message of the program."""


class BadInput(ThimbleError, ValueError):
    """A model, an array or an option is wrong. The message names what was found and expected."""


class WrongThread(ThimbleError, RuntimeError):
    """An `Interpreter` was used in a thread that did not create it."""


class Cancelled(ThimbleError):
    """The work was cancelled. Ctrl-C raises `KeyboardInterrupt` instead."""


class UnsupportedOp(NamedTuple):
    """An operator that the target does not support.

    Attributes
    ----------
    op : str
        Name of the operator: ``aten.grid_sampler_2d.default``.
    source : str
        Line of the model's source, ``warp.py:41``; empty if the export has none.
    reason : str
        Why the target does not support it.
    text : str
        The text of the source line.
    module : str
        Path of the module: ``stn.warp``; empty at the top.
    """

    op: str
    source: str
    reason: str
    text: str = ""
    module: str = ""


class Unsupported(ThimbleError):
    """The target cannot run the model.

    Attributes
    ----------
    ops : list of UnsupportedOp
        The operators that the target does not support; empty if there is another reason, which
        the message states.
    """

    def __init__(self, message: str, ops: list[UnsupportedOp] | None = None) -> None:
        super().__init__(message)
        self.ops: list[UnsupportedOp] = list(ops or [])

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (str(self), self.ops))


class DoesNotFit(ThimbleError):
    """A memory of the target is too small for the model.

    Attributes
    ----------
    memory : str
        Name of the memory: ``sram``, ``flash``, or a name of the part's file.
    needed, available : int
        Sizes in `unit`.
    unit : str
        ``B``: bytes.
    suggestions : list of str
        Ways to compile the model that fit, with their sizes.
    """

    unit = "B"

    def __init__(
        self,
        message: str,
        memory: str,
        needed: int,
        available: int,
        suggestions: list[str] | None = None,
    ) -> None:
        super().__init__(message)
        self.memory = memory
        self.needed = needed
        self.available = available
        self.suggestions: list[str] = list(suggestions or [])

    def __reduce__(self) -> tuple[Any, ...]:
        facts = (str(self), self.memory, self.needed, self.available, self.suggestions)
        return (type(self), facts)
