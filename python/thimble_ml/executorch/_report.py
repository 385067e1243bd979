# SPDX-License-Identifier: Apache-2.0
"""Tables about delegation: which operators are delegated, and why the other ones are not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from ._placement import Reason


def reasons_of(partitioners: Any) -> list[Reason]:
    """Returns the operators that none of the partitioners delegated, with the last one's reasons.

    ExecuTorch runs partitioners one after the other. The last one sees exactly the operators that
    all earlier ones left, so its reasons are about all operators that are not delegated.
    """
    if not isinstance(partitioners, (list, tuple)):
        return list(partitioners.reasons)
    several = cast("list[Any] | tuple[Any, ...]", partitioners)
    return list(several[-1].reasons) if several else []


def reasons_table(partitioners: Any) -> str:
    """Returns the reasons as text, one line per operator."""
    return _table(
        ["node", "operator", "source", "reason"],
        ([row.node, row.op, row.source, row.reason] for row in reasons_of(partitioners)),
    )


def delegation_table(edge: Any, partitioners: Any, method: str = "forward") -> str:
    """Returns ExecuTorch's delegation report of a lowered program, and the reasons below.

    Parameters
    ----------
    edge : EdgeProgramManager
        Result of `to_edge_transform_and_lower`.
    partitioners : ThimblePartitioner, or a list of them
    method : str
    """
    from executorch.devtools.backend_debug import get_delegation_info

    info = get_delegation_info(edge.exported_program(method).graph_module)
    frame = info.get_operator_delegation_dataframe()
    rows = [[str(cell) for cell in row] for row in frame.itertuples(index=False)]
    table = _table([str(name) for name in frame.columns], rows)
    return f"{info.get_summary()}\n{table}\n{reasons_table(partitioners)}"


def _table(head: list[str], rows: Iterable[list[str]]) -> str:
    cells = [head, *rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths)) for row in cells]
    return "\n".join(line.rstrip() for line in lines)
