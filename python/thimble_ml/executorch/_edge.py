# SPDX-License-Identifier: Apache-2.0
"""Turns a program of ExecuTorch's Edge dialect into the bytes of `torch.export.save` for the compiler.

Edge operators become the ATen operators that they wrap. Three things are changed, because the
compiler accepts float models with quantize and dequantize operators:

- An input of quantized values becomes a float input and a quantize operator; an output of quantized
  values gets a dequantize operator. `compile_delegate` removes both again.
- A node that the compiler does not accept is cut out: its results become inputs, its operands outputs.
- Weights are those of `tensors`, because ExecuTorch gives partitioners a program without weights.
"""

from __future__ import annotations

import io
import operator
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from typing import Any, cast

import torch
from executorch.exir.delegate import executorch_call_delegate
from executorch.exir.dialects.edge._ops import EdgeOpOverload
from torch._export.verifier import Verifier
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.export.exported_program import ModuleCallEntry, ModuleCallSignature
from torch.export.graph_signature import (
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from torch.fx import Graph, GraphModule, Node
from torch.utils._pytree import tree_flatten

_QUANTIZE = torch.ops.quantized_decomposed.quantize_per_tensor.default
_DEQUANTIZE = torch.ops.quantized_decomposed.dequantize_per_tensor.default
CHANNELS_LAST = [0, 2, 3, 1]
#: Suffix of the float value that replaces the quantized values of a node.
REAL_SUFFIX = "_real"
#: ATen operators that only move data; each has a `_copy` form too.
_MOVEMENT = frozenset(
    (
        "cat",
        "clone",
        "expand",
        "permute",
        "reshape",
        "select",
        "slice",
        "split_with_sizes",
        "squeeze",
        "transpose",
        "unsqueeze",
        "view",
    )
)
#: Element types of quantized values.
_CODES = (torch.int8, torch.uint8, torch.int16)
#: Element types of inputs that the compiler accepts.
_INPUTS = (torch.float32, *_CODES, torch.int32, torch.int64, torch.bool)


def overload(node: Node) -> Any:
    """Returns the ATen operator that a node calls; None if it calls something else."""
    target: Any = node.target
    if isinstance(target, EdgeOpOverload):
        target = target._op  # pyright: ignore[reportPrivateUsage]
    return cast(Any, target) if isinstance(target, OpOverload) else None


def is_quantize(node: Node) -> bool:
    return overload(node) is _QUANTIZE


def is_dequantize(node: Node) -> bool:
    op = overload(node)
    return op is not None and op.name().startswith("quantized_decomposed::dequantize")


def is_getitem(node: Node) -> bool:
    return node.op == "call_function" and node.target is operator.getitem


def is_delegate_call(node: Node) -> bool:
    """Returns True for a call of a delegate and for a result of it."""
    if is_getitem(node) and isinstance(node.args[0], Node):
        node = node.args[0]
    return node.op == "call_function" and node.target is executorch_call_delegate


def moves_data(node: Node) -> bool:
    """Returns True for an operator whose results have the values of its operands."""
    if is_getitem(node):
        return True
    op = overload(node)
    if op is None:
        return False
    namespace, _, name = op._schema.name.partition("::")
    if namespace == "dim_order_ops":
        return name == "_clone_dim_order"
    return namespace == "aten" and name.removesuffix("_copy") in _MOVEMENT


def value(node: Node) -> Any:
    """Returns the tensor without data that a node computes; None if it computes no single tensor."""
    found = node.meta.get("val")
    return found if isinstance(found, torch.Tensor) else None


def constants_of(program: ExportedProgram) -> dict[str, InputSpec]:
    """Returns the inputs of the graph that are parameters, buffers or constants, by name."""
    mutated = set(program.graph_signature.buffers_to_mutate.values())
    kinds = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)
    return {
        spec.arg.name: spec
        for spec in program.graph_signature.input_specs
        if spec.kind in kinds and spec.target not in mutated
    }


def _memory_format(kwargs: Mapping[str, Any]) -> torch.memory_format:
    order = list(kwargs.get("dim_order") or [])
    return torch.channels_last if order == CHANNELS_LAST else torch.contiguous_format


def _aten_call(op: Any, args: Any, kwargs: Any) -> tuple[Any, Any, Any]:
    """Returns the operator of the ATen dialect with its arguments."""
    name = op.name()
    if name in ("dim_order_ops::_clone_dim_order", "dim_order_ops::_to_dim_order_copy"):
        options = {"memory_format": _memory_format(kwargs)}
        if kwargs.get("dtype") is not None:
            return torch.ops.aten._to_copy.default, args, {"dtype": kwargs["dtype"], **options}
        return torch.ops.aten.clone.default, args, options
    base, _, kind = name.removeprefix("aten::").partition(".")
    packet = getattr(torch.ops.aten, base.removesuffix("_copy"), None)
    if base.endswith("_copy") and packet is not None and base != "_to_copy":
        # view_copy, permute_copy, ... of the Edge dialect.
        return getattr(packet, kind or "default"), args, kwargs
    return op, args, kwargs


def aten_overload(node: Node) -> Any:
    """Returns the operator that the file has for a node; None if the node calls no operator."""
    op = overload(node)
    return None if op is None else _aten_call(op, node.args, node.kwargs)[0]


def _parameters(node: Node, forward: bool) -> Any:
    """Returns the arguments of the dequantize that reads these quantized values, or of the quantize
    that computes them; None if there is none. Only operators that move data may be in between."""
    seen: set[Node] = set()
    work = [node]
    while work:
        at = work.pop()
        if at in seen:
            continue
        seen.add(at)
        if forward:
            for user in at.users:
                if overload(user) is _DEQUANTIZE:
                    return user.args[1:], user.kwargs
            work.extend(user for user in at.users if moves_data(user))
        else:
            if overload(at) is _QUANTIZE:
                return at.args[1:], at.kwargs
            if moves_data(at):
                work.extend(each for each in at.all_input_nodes if each.op == "call_function")
    return None


class _Writer:
    def __init__(
        self, program: ExportedProgram, tensors: Mapping[str, torch.Tensor], cut: Iterable[str]
    ) -> None:
        self.program = program
        self.tensors = tensors
        self.cut = set(cut)
        self.constants = constants_of(program)
        self.graph = Graph()
        self.mapped: dict[Node, Node] = {}
        self.inputs: list[InputSpec] = []
        self.outputs: list[OutputSpec] = []
        #: Nodes of `program` by input and output of the file; True: an operator was added.
        self.entering: list[tuple[Node, bool]] = []
        self.leaving: list[tuple[Node, bool]] = []
        self.state: dict[str, torch.Tensor] = {}

    def write(self) -> ExportedProgram:
        nodes = list(self.program.graph.nodes)
        results = [node for node in nodes[-1].args[0] if isinstance(node, Node)]
        results = [*dict.fromkeys(results)]
        leaving = [node for node in results if node.op == "call_function"]
        # The first part of the inputs are constants.
        for node in nodes:
            if node.op == "placeholder" and node.name in self.constants:
                self._constant(node)
        for node in nodes:
            if node.op == "placeholder" and node.name not in self.constants:
                if any(user.name not in self.cut for user in node.users):
                    self._input(node)
        for node in nodes:
            if node.name not in self.cut or value(node) is None:
                continue
            if any(each.op == "call_function" and each.name not in self.cut for each in node.users):
                self._input(node)
        for node in nodes:
            if node.op != "call_function":
                continue
            if node.name not in self.cut:
                self._call(node)
                continue
            leaving += [each for each in node.all_input_nodes if each.op == "call_function"]
        self._finish([node for node in dict.fromkeys(leaving) if node.name not in self.cut])
        return self._program()

    def _placeholder(self, name: str, meta: Any) -> Node:
        # All placeholders come before the calls.
        before = next((node for node in self.graph.nodes if node.op != "placeholder"), None)
        with self.graph.inserting_before(before) if before is not None else nullcontext():
            node = self.graph.create_node("placeholder", name, name=name)
        node.meta["val"] = meta
        return node

    def _constant(self, node: Node) -> None:
        spec = self.constants[node.name]
        tensor = self.tensors.get(str(spec.target))
        if tensor is None:
            raise RuntimeError(f"{spec.target}: ExecuTorch gave no data of this tensor")
        self.mapped[node] = self._placeholder(node.name, value(node))
        self.inputs.append(
            InputSpec(InputKind.BUFFER, TensorArgument(node.name), str(spec.target), True)
        )
        self.state[str(spec.target)] = tensor.detach()

    def _input(self, node: Node) -> None:
        meta = value(node)
        parameters = None
        if meta is not None and meta.dtype in _CODES:
            parameters = _parameters(node, forward=True)
        if meta is not None and parameters is not None:
            placeholder = self._placeholder(node.name + REAL_SUFFIX, meta.to(torch.float32))
            args, _ = parameters
            self.mapped[node] = self._new_call(
                node.name, _QUANTIZE, (placeholder, *args[:5]), {}, meta
            )
        else:
            placeholder = self.mapped[node] = self._placeholder(node.name, meta)
        self.inputs.append(InputSpec(InputKind.USER_INPUT, TensorArgument(placeholder.name), None))
        self.entering.append((node, parameters is not None))

    def _new_call(self, name: str, op: Any, args: Any, kwargs: Any, meta: Any) -> Node:
        node = self.graph.create_node("call_function", op, args, kwargs, name=name)
        node.meta["val"] = meta
        return node

    def _call(self, node: Node) -> None:
        args, kwargs = torch.fx.map_arg((node.args, node.kwargs), lambda each: self.mapped[each])
        op = node.target if is_getitem(node) else overload(node)
        if not is_getitem(node):
            op, args, kwargs = _aten_call(op, args, kwargs)
        copied = self._new_call(node.name, op, args, kwargs, node.meta.get("val"))
        for key in ("stack_trace", "nn_module_stack"):
            if key in node.meta:
                copied.meta[key] = node.meta[key]
        self.mapped[node] = copied

    def _finish(self, leaving: list[Node]) -> None:
        results: list[Node] = []
        for node in leaving:
            meta = value(node)
            if meta is None:
                continue
            result = self.mapped[node]
            parameters = _parameters(node, forward=False) if meta.dtype in _CODES else None
            if parameters is not None:
                args, _ = parameters
                real = meta.to(torch.float32)
                result = self._new_call(
                    node.name + REAL_SUFFIX, _DEQUANTIZE, (result, *args[:5]), {}, real
                )
            results.append(result)
            self.leaving.append((node, parameters is not None))
        output = self.graph.output(tuple(results))
        output.meta["val"] = tuple(node.meta["val"] for node in results)
        for node in results:
            self.outputs.append(OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(node.name), None))

    def _program(self) -> ExportedProgram:
        module = GraphModule({}, self.graph)
        users = [spec for spec in self.inputs if spec.kind == InputKind.USER_INPUT]
        in_spec = tree_flatten((tuple(range(len(users))), {}))[1]
        out_spec = tree_flatten(tuple(range(len(self.outputs))))[1]
        calls = ModuleCallSignature(
            [spec.arg for spec in users], [spec.arg for spec in self.outputs], in_spec, out_spec
        )
        return ExportedProgram(
            root=module,
            graph=module.graph,
            graph_signature=ExportGraphSignature(self.inputs, self.outputs),
            state_dict=self.state,
            range_constraints={},
            module_call_graph=[ModuleCallEntry("", calls)],
            verifiers=[Verifier],
        )


def to_pt2(
    program: ExportedProgram, tensors: Mapping[str, torch.Tensor], cut: Iterable[str] = ()
) -> bytes:
    """Returns the bytes of the program as a `.pt2` file, without the nodes of `cut`."""
    return write_pt2(program, tensors, cut)[0]


def write_pt2(
    program: ExportedProgram, tensors: Mapping[str, torch.Tensor], cut: Iterable[str]
) -> tuple[bytes, list[tuple[Node, bool]], list[tuple[Node, bool]]]:
    """Returns the bytes as `to_pt2`, and the nodes of its inputs and outputs; True: a quantize
    or dequantize operator was added there."""
    writer = _Writer(program, tensors, cut)
    file = io.BytesIO()
    torch.export.save(writer.write(), file)
    return file.getvalue(), writer.entering, writer.leaving


def uncompilable(program: ExportedProgram) -> dict[str, str]:
    """Returns nodes that no `.pt2` can hold, such as calls of other delegates, with the reason, and
    the nodes that read values of their types."""
    constants = constants_of(program)
    cut: dict[str, str] = {}
    for node in program.graph.nodes:
        meta = value(node)
        if meta is not None and not all(isinstance(size, int) for size in meta.shape):
            reason = f"{node.name} has a size that is not fixed: export without dynamic_shapes"
            for each in (node, *node.users):
                if each.op == "call_function":
                    cut.setdefault(each.name, reason)
        if node.op == "placeholder" and node.name not in constants:
            meta = value(node)
            if meta is None or meta.dtype not in _INPUTS:
                for user in node.users:
                    cut[user.name] = f"reads {node.name}, which no input of a delegate can be"
        if node.op != "call_function":
            continue
        op = overload(node)
        if is_getitem(node):
            if node.args[0].name in cut:
                cut[node.name] = cut[node.args[0].name]
        elif op is None:
            name = getattr(node.target, "__name__", str(node.target))
            cut[node.name] = f"{name}: a call of another compiler"
        elif op.namespace not in ("aten", "quantized_decomposed", "dim_order_ops", "torchao"):
            cut[node.name] = f"{op}: an operator of another compiler"
        if node.name in cut and not is_getitem(node):
            meta = value(node)
            if meta is not None and meta.dtype not in _INPUTS:
                for user in node.users:
                    cut.setdefault(user.name, f"reads {meta.dtype} values of {node.name}")
    return cut
