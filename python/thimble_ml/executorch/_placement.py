# SPDX-License-Identifier: Apache-2.0
"""Asks the compiler which nodes of an Edge program an engine runs, and turns the answer into tags.

The compiler decides about each operator. This module only gives the nodes around them a place:
dequantize belongs to its reader, quantize and getitem to the node that they read, nodes that return
their operand unchanged to their neighbours. A subgraph whose inputs or outputs would then not be
quantized values is not delegated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from .._errors import ThimbleError
from .._thimble import engine_nodes as engine_nodes_of
from ._edge import (
    REAL_SUFFIX,
    constants_of,
    is_delegate_call,
    is_dequantize,
    is_getitem,
    is_quantize,
    moves_data,
    overload,
    to_pt2,
    uncompilable,
    value,
)
from ._source import module_of, source_of


@dataclass(frozen=True)
class Reason:
    """Why a node is not delegated.

    Attributes
    ----------
    node, op : str
        Name of the node in the Edge graph, and its operator.
    source, text, module : str
        Line of the model's source, ``net.py:31``, its text, and the path of the module.
    reason : str
        What the engine does not support.
    """

    node: str
    op: str
    source: str
    text: str
    module: str
    reason: str


@dataclass
class Placement:
    """Nodes of a graph by subgraph, and reasons for the other ones."""

    subgraph: dict[str, int] = field(default_factory=lambda: {})
    engines: list[str] = field(default_factory=lambda: [])
    reasons: list[Reason] = field(default_factory=lambda: [])


def ask(
    program: ExportedProgram,
    tensors: Mapping[str, torch.Tensor],
    target: str,
    options: dict[str, Any],
    known: Mapping[str, dict[str, Any]] | None = None,
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Returns the compiler's answer, and the refused nodes by name, with those of `known`."""
    refused: dict[str, dict[str, Any]] = dict(known or {})
    for name, reason in uncompilable(program).items():
        refused.setdefault(name, {"node": name, "reason": reason})
    nodes = {node.name: node for node in program.graph.nodes}
    computing = [
        node.name
        for node in program.graph.nodes
        if node.op == "call_function" and not is_quantize(node) and not is_dequantize(node)
    ]
    while True:
        if all(name in refused for name in computing):
            return {"engines": [], "nodes": [], "refused": []}, refused
        source = ("partition.pt2", to_pt2(program, tensors, refused))
        answer = json.loads(engine_nodes_of(source, target, options))
        before = len(refused)
        for row in answer["refused"]:
            name = row["node"]
            if name not in nodes:
                # A value that the file has instead of the node, or a result that nothing reads.
                name = re.sub(rf"({REAL_SUFFIX}|_unused_\d+)$", "", name)
            node = nodes.get(name)
            readers = [name]
            if node is not None and (node.op == "placeholder" or name in refused):
                # A float value that enters the graph: the operators that read it.
                readers = [user.name for user in node.users if user.op == "call_function"]
            elif node is not None and is_getitem(node):
                # An operator with several results, which the file knows by their names.
                readers = [node.all_input_nodes[0].name]
            results = [nodes[each].users for each in readers if each in nodes]
            readers += [user.name for users in results for user in users if is_getitem(user)]
            for each in readers:
                refused.setdefault(each, {**row, "node": each})
        if not answer["refused"]:
            return answer, refused
        if len(refused) == before:
            raise ThimbleError(f"{target}: the compiler refuses nodes that are not in the graph: {answer['refused']}")


def _common(places: list[int | None]) -> int | None:
    return places[0] if places and all(each == places[0] for each in places) else None


class _Tags:
    """The subgraph of each node."""

    def __init__(self, program: ExportedProgram, answer: dict[str, Any]) -> None:
        rows: list[dict[str, Any]] = answer["nodes"]
        #: The engine of each subgraph.
        self.engines: list[str] = list(answer["engines"])
        self.nodes = list(program.graph.nodes)
        self.constants = constants_of(program)
        self.row = {row["node"]: row for row in rows}
        self.of: dict[Node, int | None] = {}
        for node in self.nodes:
            row = self.row.get(node.name)
            self.of[node] = row["subgraph"] if row else None

    def assign_neighbours(self) -> None:
        """Gives nodes without an operator of their own a place."""
        changed = True
        while changed:
            changed = False
            for node in [*self.nodes, *reversed(self.nodes)]:
                if node.op != "call_function" or self.of[node] is not None:
                    continue
                subgraph = self._subgraph(node)
                if subgraph is not None:
                    self.of[node] = subgraph
                    changed = True

    def _subgraph(self, node: Node) -> int | None:
        readers = [self.of[user] for user in node.users]
        if is_getitem(node):
            return self.of[node.all_input_nodes[0]]
        if is_quantize(node):
            operand = node.args[0]
            return self.of[operand] if isinstance(operand, Node) else None
        if is_dequantize(node):
            return _common(readers)
        row = self.row.get(node.name)
        if row is not None and row["result"] == "constant":
            return _common(readers)
        if row is not None and row["result"] == "operand":
            # Between two values with the same parameters: a part of the subgraph that computes it.
            operands = [each for each in node.all_input_nodes if each not in self.constants]
            before = [self._before(each) for each in operands]
            return _common(before) if _common(before) is not None else _common(readers)
        return None

    def _before(self, node: Node) -> int | None:
        """Returns the subgraph that computes a value, without the dequantize that reads it."""
        while is_dequantize(node) and self.of[node] is None:
            node = node.all_input_nodes[0]
        return self.of[node]

    def remove_invalid(self) -> dict[str, str]:
        """Removes data movement of float values at the borders of subgraphs, and subgraphs that no
        delegate can be.

        Returns
        -------
        dict
            The reasons by node.
        """
        reasons: dict[str, str] = {}
        while True:
            found = self._first_invalid()
            if found is None and self.split_cyclic():
                continue
            if found is None:
                return reasons
            subgraph, node, reason = found
            if node is not None and (moves_data(node) or is_dequantize(node)):
                # The value is quantized before or after it: the border of the subgraph is there.
                reasons[node.name] = reason
                self.of[node] = None
                for user in node.users:
                    if is_quantize(user):
                        self.of[user] = None
                continue
            for each in self.nodes:
                if self.of[each] == subgraph:
                    self.of[each] = None
                    reasons[each.name] = reason

    def _first_invalid(self) -> tuple[int, Node | None, str] | None:
        """Returns a subgraph, its node at a border without quantized values, and the reason."""
        for node in self.nodes:
            subgraph = self.of[node]
            for operand in node.all_input_nodes:
                other = self.of[operand]
                if other == subgraph:
                    continue
                meta = value(operand)
                if meta is not None and not meta.dtype.is_floating_point:
                    continue
                reason = f"{node.name} reads {operand.name}, which is not quantized"
                if subgraph is not None and operand.name not in self.constants:
                    return subgraph, node, reason
                if other is not None:
                    return other, operand, reason
        return None

    def _constants_of(self, readers: set[Node], subgraph: int) -> set[Node]:
        """Returns nodes of the subgraph that depend on constants only, and that only `readers` read."""
        constant: set[Node] = set()
        for node in self.nodes:
            if node.name in self.constants or all(each in constant for each in node.all_input_nodes):
                if node.op == "call_function" or node.name in self.constants:
                    constant.add(node)
        found: set[Node] = set()
        for node in reversed(self.nodes):
            if node in constant and self.of[node] == subgraph:
                if all(user in readers or user in found for user in node.users):
                    found.add(node)
        return found

    def split_cyclic(self) -> bool:
        """Makes two subgraphs of one whose operators have a node outside of it between them.

        Returns True if there was one. The second has the operators that depend on such a node.
        """
        for subgraph in sorted({each for each in self.of.values() if each is not None}):
            outside: set[Node] = set()  # nodes that depend on the subgraph
            late: set[Node] = set()
            for node in self.nodes:
                operands = set(node.all_input_nodes)
                if self.of[node] == subgraph:
                    if operands & (outside | late):
                        late.add(node)
                elif operands & outside or any(self.of[each] == subgraph for each in operands):
                    outside.add(node)
            if late:
                late |= self._constants_of(late, subgraph)
                self.engines.append(self.engines[subgraph])
                for node in late:
                    self.of[node] = len(self.engines) - 1
                return True
        return False


def _row_of(node: Node, rows: Mapping[str, dict[str, Any]]) -> dict[str, Any] | None:
    """Returns the compiler's row of an operator. A `.pt2` knows one with several results by the
    names of its results."""
    if node.name in rows:
        return rows[node.name]
    for user in node.users:
        if is_getitem(user) and user.name in rows:
            row = rows[user.name]
            return {**row, "reason": row["reason"].replace(user.name, node.name)}
    return None


def place(
    program: ExportedProgram,
    tensors: Mapping[str, torch.Tensor],
    target: str,
    options: dict[str, Any],
) -> Placement:
    """Returns the subgraphs of the target's engine in a program of the ATen or Edge dialect."""
    answer, refused = ask(program, tensors, target, options)
    tags = _Tags(program, answer)
    tags.assign_neighbours()
    reasons = tags.remove_invalid()
    result = Placement(engines=tags.engines)
    rows = {row["node"]: row for row in answer["nodes"]}
    for node in tags.nodes:
        if node.op != "call_function":
            continue
        where = tags.of[node]
        if where is not None:
            result.subgraph[node.name] = where
            continue
        if is_getitem(node):
            continue
        row = _row_of(node, refused) or _row_of(node, rows)
        # A call of an earlier partitioner's delegate is delegated.
        if row is None or is_quantize(node) or is_dequantize(node) or is_delegate_call(node):
            continue
        result.reasons.append(
            Reason(
                node.name,
                str(overload(node) or getattr(node.target, "__name__", node.target)),
                row.get("source") or source_of(node)[0],
                row.get("source_text") or source_of(node)[1],
                row.get("module") or module_of(node),
                reasons.get(node.name) or row["reason"],
            )
        )
    return result
