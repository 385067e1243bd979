# SPDX-License-Identifier: Apache-2.0
"""The Cortex-M pipeline: a quantized Edge graph becomes a graph of `cortex_m::` operators.

The compiler compiles the graph for a core with ExecuTorch's operators (``--compat executorch``), and
with `thimble::` operators where ExecuTorch has no kernel. The new graph has one node per kernel call.
Nodes that the compiler does not accept, such as float operators or calls of delegates, stay as they
are between them.
"""

from __future__ import annotations

import importlib
import json
from typing import Any, cast

import torch
from executorch.exir import memory
from executorch.exir.dialects._ops import ops as edge_ops
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import ExportedProgram
from torch.export.graph_signature import (
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from torch.fx import Graph, GraphModule, Node
from torch.utils._pytree import tree_map

from .._errors import BadInput, Unsupported
from .._thimble import pass_names
from .._thimble import program_calls as program_calls_of
from ._edge import (
    CHANNELS_LAST,
    aten_overload,
    constants_of,
    is_delegate_call,
    is_dequantize,
    is_getitem,
    is_quantize,
    overload,
    write_pt2,
)
from ._operators import define_operator
from ._partitioners import real_data
from ._placement import Reason, ask
from ._source import module_of, source_of

_DTYPES = {
    "f32": torch.float32,
    "i8": torch.int8,
    "u8": torch.uint8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "bool": torch.bool,
}
_QUANTIZE = "cortex_m::quantize_per_tensor.out"
_DEQUANTIZE = "cortex_m::dequantize_per_tensor.out"
_NO_OPERATOR = "has no int8 operator in a graph of ExecuTorch"


def _functional(name: str) -> Any:
    """Returns the Edge operator without an out tensor: `aten::add.out` is `aten.add.Tensor`."""
    full, _, out_overload = name.rpartition(".")
    namespace, _, base = full.partition("::")
    packet = getattr(getattr(torch.ops, namespace), base)
    wanted = _arguments(getattr(packet, out_overload)._schema)
    for each in packet.overloads():
        schema = getattr(packet, each)._schema
        if any(argument.is_out for argument in schema.arguments):
            continue
        if _arguments(schema) == wanted or each == out_overload.removesuffix("_out"):
            edge_packet = getattr(getattr(edge_ops.edge, namespace), base)
            return getattr(edge_packet, each)
    raise Unsupported(f"{name}: no operator without an out tensor")


def _arguments(schema: Any) -> list[tuple[str, str]]:
    return [(each.name, str(each.type)) for each in schema.arguments if not each.is_out]


class CortexMPassManager:
    """Replaces ExecuTorch's class of this name.

    Parameters
    ----------
    exported_program : ExportedProgram, optional
        A quantized program of the Edge dialect.
    passes : list of str, optional
        The compiler's passes that run; default: `pass_list`.
    target_config : CortexMTargetConfig or str, optional
        The core: an object with ``target_string``, or ``cortex-m55+int8``. Default: Cortex-M55.
    use_explicit_layout : bool
        Accepted; the compiler chooses the memory order of each value.
    skip_passes : list of str or class, optional
        Passes of `pass_list` that do not run. Classes of ExecuTorch's passes have no effect.
    thimble_operators : bool
        True: quantized operators without a kernel of ExecuTorch, such as layer norm, become `thimble::`
        operators, which the runtime has with Thimble's kernel library. False: they stay in float.

    Attributes
    ----------
    pass_list : list of str
        The passes of ``thimble opt --list``.
    reasons : list of Reason
        After `transform()`: operators without a `cortex_m::` kernel, with their source lines.

    Raises
    ------
    BadInput
        A name of `passes` or `skip_passes` that is not in `pass_list`.
    """

    pass_list: list[str] = pass_names()

    def __init__(
        self,
        exported_program: ExportedProgram | None,
        passes: list[Any] | None = None,
        target_config: Any = None,
        use_explicit_layout: bool = False,
        skip_passes: list[Any] | None = None,
        thimble_operators: bool = True,
    ) -> None:
        del use_explicit_layout
        self.exported_program = exported_program
        self.target = getattr(target_config, "target_string", target_config) or "cortex-m55"
        self.passes = self._names("passes", self.pass_list if passes is None else passes)
        # Classes of ExecuTorch's passes do not run here.
        skipped = [each for each in skip_passes or [] if not isinstance(each, type)]
        self.skip_passes = self._names("skip_passes", skipped)
        self.thimble_operators = thimble_operators
        self.reasons: list[Reason] = []

    def _names(self, argument: str, passes: list[Any]) -> list[str]:
        names = [str(getattr(each, "__name__", each)) for each in passes]
        for name in names:
            if name not in self.pass_list:
                expected = ", ".join(self.pass_list)
                raise BadInput(f"{argument}: found {name}, expected one of {expected}")
        return names

    def transform_for_annotation(self, model: GraphModule) -> GraphModule:
        """Returns the module: the quantizer makes its own changes."""
        return model

    def transform(self) -> ExportedProgram:
        """Returns the program with the operators of ExecuTorch's Cortex-M kernels.

        Raises
        ------
        BadInput
            The target is not a Cortex-M core.
        Unsupported
            A state of the program: only delegates and ExecuTorch's own operators write to buffers.
        """
        require_core(self.target)
        program = self.exported_program
        if not isinstance(program, ExportedProgram):
            raise ValueError(f"transform() needs an ExportedProgram, got {program!r}")
        if program.graph_signature.buffers_to_mutate:
            names = ", ".join(program.graph_signature.buffers_to_mutate.values())
            raise Unsupported(f"{names}: a buffer that the program writes to")
        # Imported for what they register, the operators of cortex_m:: last.
        importlib.import_module("executorch.backends.cortex_m.quantizer.quantizer")
        importlib.import_module("executorch.backends.cortex_m.ops.operators")

        left_out = [each for each in self.pass_list if each not in self.passes]
        skipped = [*dict.fromkeys([*self.skip_passes, *left_out])]
        options: dict[str, Any] = {"skip_passes": skipped} if skipped else {}
        tensors = real_data(program, {})
        _, refused = ask(program, tensors, self.target, options)
        is_quantized = any(is_quantize(each) or is_dequantize(each) for each in program.graph.nodes)
        result = program  # all of a float graph stays as it is
        while is_quantized:
            try:
                calls = _Rebuilder(
                    program, self.target, options, tensors, set(refused), self.thimble_operators
                )
                result = calls.run()
                break
            except (Unsupported, _NoOperator) as error:
                # No kernel for an operator: the portable kernels compute it.
                found = _refused_nodes(program, error, refused)
                if not found:
                    raise
                _, refused = ask(program, tensors, self.target, options, {**refused, **found})
        nodes = {node.name: node for node in program.graph.nodes}
        self.reasons = [
            Reason(name, str(overload(nodes[name]) or nodes[name].target),
                   row.get("source") or source_of(nodes[name])[0],
                   row.get("source_text") or source_of(nodes[name])[1],
                   row.get("module") or module_of(nodes[name]), row["reason"])
            for name, row in refused.items()
            if not is_delegate_call(nodes[name]) and not is_getitem(nodes[name])
        ]
        return result


class _NoOperator(Exception):
    """Calls of Thimble's operators that a graph of ExecuTorch cannot have.

    Attributes
    ----------
    nodes : set of str
        Names of the nodes that the calls compute.
    """

    def __init__(self, nodes: set[str]) -> None:
        super().__init__(f"no operator for {sorted(nodes)}")
        self.nodes = nodes


def _refused_nodes(
    program: ExportedProgram, error: Unsupported | _NoOperator, known: dict[str, Any]
) -> dict[str, dict[str, Any]]:
    """Returns the nodes that the compiler, or a graph of ExecuTorch, refused."""
    found: dict[str, dict[str, Any]] = {}
    if isinstance(error, _NoOperator):
        for node in program.graph.nodes:
            if node.name in error.nodes and node.name not in known:
                found[node.name] = {"node": node.name, "reason": _NO_OPERATOR}
                found.update({user.name: found[node.name] for user in node.users if is_getitem(user)})
        return found
    for row in error.ops:
        for node in program.graph.nodes:
            if node.name in known or str(aten_overload(node)) != row.op:
                continue
            if (source_of(node)[0] or module_of(node)) == row.source:
                reason = {"reason": row.reason, "source": row.source, "source_text": row.text}
                found[node.name] = {**reason, "node": node.name}
                for user in node.users:
                    if is_getitem(user):
                        found[user.name] = found[node.name]
    return found


def _memory_order(row: dict[str, Any]) -> list[int]:
    """Returns the compiler's memory order of a value, or the standard one if ExecuTorch's operators
    have no such order. The operators compute the same numbers in each order."""
    order = row["dim_order"]
    return order if order == CHANNELS_LAST else list(range(len(order)))


class _Rebuilder:
    def __init__(
        self,
        program: ExportedProgram,
        target: str,
        options: dict[str, Any],
        tensors: Any,
        cut: set[str],
        thimble_operators: bool,
    ) -> None:
        self.program = program
        self.cut = cut
        self.old = {node.name: node for node in program.graph.nodes}
        data, self.inputs, self.results = write_pt2(program, tensors, cut)
        text, self.constant_bytes = program_calls_of(
            ("program.pt2", data), target, options, thimble_operators
        )
        self.calls = json.loads(text)
        unknown = {
            call["node"]
            for call in self.calls["calls"]
            if not define_operator(call["op"], call["signature"])
        }
        if unknown:
            raise _NoOperator(unknown)
        self.graph = Graph()
        self.module = GraphModule({}, self.graph)
        self.fake = FakeTensorMode(allow_non_fake_inputs=True)
        self.mapped: dict[Node, Node] = {}  # nodes of the old graph
        self.value: dict[int, Node] = {}  # values of the compiled program
        self.ordered: dict[int, Node] = {}  # the same in the compiler's memory order
        self.specs: list[InputSpec] = []
        self.constant_nodes: dict[int, Node] = {}
        self.state: dict[str, Any] = {}
        self.constants: dict[str, Any] = {}

    def run(self) -> ExportedProgram:
        self._placeholders()
        pending = [("call", each) for each in self.calls["calls"]]
        pending += [("node", node) for node in self.program.graph.nodes if self._stays(node)]
        while pending:
            left = [(kind, each) for kind, each in pending if not self._emit(kind, each)]
            if len(left) == len(pending):
                raise RuntimeError(f"no order of the remaining nodes: {left[:3]}")
            pending = left
        return self._program()

    def _stays(self, node: Node) -> bool:
        return node.op in ("call_function", "get_attr") and (
            node.name in self.cut or node.op == "get_attr"
        )

    # --- inputs

    def _placeholders(self) -> None:
        constants = constants_of(self.program)
        needed = {
            each
            for node in self.program.graph.nodes
            if self._stays(node)
            for each in node.all_input_nodes
        }
        for node in self.program.graph.nodes:
            spec = constants.get(node.name)
            if spec is None or node not in needed:
                continue
            self.mapped[node] = self._copy_placeholder(node)
            self.specs.append(spec)
            name = str(spec.target)
            store = self.constants if spec.kind == InputKind.CONSTANT_TENSOR else self.state
            source = self.program.constants if name in self.program.constants else None
            store[name] = (source or self.program.state_dict)[name]
        for index, row in enumerate(self.calls["constants"]):
            self._constant(index, row)
        for spec in self.program.graph_signature.input_specs:
            if spec.arg.name in constants:
                continue
            node = self.old[spec.arg.name]
            self.mapped[node] = self._copy_placeholder(node)
            self.specs.append(spec)

    def _copy_placeholder(self, node: Node) -> Node:
        copied = self.graph.placeholder(node.name)
        copied.meta = self._meta(node)
        return copied

    def _meta(self, node: Node) -> dict[str, Any]:
        """Returns the meta of a node, with tensors of the mode of the new graph."""
        if "val" not in node.meta:
            return dict(node.meta)

        def fresh(each: Any) -> Any:
            if not isinstance(each, torch.Tensor):
                return each
            with self.fake:
                return torch.empty_strided(each.shape, each.stride(), dtype=each.dtype)

        return {**node.meta, "val": tree_map(fresh, node.meta["val"])}

    def _constant(self, index: int, row: dict[str, Any]) -> None:
        name = f"thimble_constant_{index}"
        dtype = _DTYPES[row["dtype"]]
        shape = [row["shape"][dim] for dim in row["dim_order"]]
        data = bytearray(self.constant_bytes[index])
        flat = torch.frombuffer(data, dtype=dtype).clone() if data else torch.empty(0, dtype=dtype)
        # The bytes are in memory order.
        inverse = [row["dim_order"].index(dim) for dim in range(len(shape))]
        tensor = flat.reshape(shape).permute(inverse)
        if _memory_order(row) != row["dim_order"]:
            tensor = tensor.contiguous()
        node = self.graph.placeholder(f"c_{name}")
        node.meta["val"] = self.fake.from_tensor(tensor, static_shapes=True)
        self.constants[name] = tensor
        self.specs.append(
            InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument(node.name), name, None)
        )
        self.constant_nodes[index] = node

    # --- calls

    def _emit(self, kind: str, each: Any) -> bool:
        """Adds a node if its operands exist."""
        if kind == "node":
            return self._copy(each)
        if not all(self._known(argument) for argument in each["arguments"]):
            return False
        self._call(each)
        return True

    def _copy(self, node: Node) -> bool:
        for operand in node.all_input_nodes:
            if operand in self.mapped:
                continue
            if self._stays(operand) or not self._result(operand):
                return False
        copied = self.graph.node_copy(node, lambda each: self.mapped[each])
        if node.op == "get_attr":
            name = str(node.target)
            setattr(self.module, name, getattr(self.program.graph_module, name))
        copied.meta = self._meta(node)
        self.mapped[node] = copied
        return True

    def _result(self, node: Node) -> bool:
        """Maps a node of the old graph whose value the compiled program computes."""
        for index, (each, wrapped) in enumerate(self.results):
            if each is not node:
                continue
            identifier = self.calls["outputs"][index]
            if wrapped:
                call = self._maker(identifier)
                if call is not None and call["op"] == _DEQUANTIZE:
                    identifier = call["arguments"][0]["value"]
            if not self._has(identifier):
                return False
            self.mapped[node] = self._read(identifier)
            return True
        raise RuntimeError(f"{node.name}: not a result of the compiled program")

    def _maker(self, identifier: int) -> dict[str, Any] | None:
        calls: list[dict[str, Any]] = self.calls["calls"]
        return next((each for each in calls if each["out"] == identifier), None)

    def _input(self, identifier: int) -> tuple[Node, bool] | None:
        inputs: list[int] = self.calls["inputs"]
        return self.inputs[inputs.index(identifier)] if identifier in inputs else None

    def _known(self, argument: Any) -> bool:
        row = _row(argument)
        if "list" in row:
            return all(self._known(each) for each in row["list"])
        return "value" not in row or self._has(row["value"])

    def _has(self, identifier: int) -> bool:
        if identifier in self.value:
            return True
        entered = self._input(identifier)
        if entered is not None:
            return entered[0] in self.mapped
        view = self.calls["views"].get(str(identifier))
        return view is not None and all(self._known(each) for each in view["operands"])

    def _read(self, identifier: int) -> Node:
        if identifier not in self.value:
            entered = self._input(identifier)
            if entered is not None:
                self.value[identifier] = self.mapped[entered[0]]
            else:
                self.value[identifier] = self._view(identifier)
        return self.value[identifier]

    def _argument(self, argument: Any) -> Any:
        if not isinstance(argument, dict):
            return argument
        row = _row(argument)
        if "list" in row:
            return [self._argument(each) for each in row["list"]]
        if "constant" in row:
            return self.constant_nodes[row["constant"]]
        if "scratch" in row:
            node = self.graph.call_function(memory.alloc, (((row["scratch"],), torch.uint8),), {})
            with self.fake:
                node.meta["val"] = torch.empty(row["scratch"], dtype=torch.uint8)
            return node
        return self._ordered(row["value"])

    def _ordered(self, identifier: int) -> Node:
        """Returns the value in the memory order for a call."""
        if identifier not in self.ordered:
            dim_order = _memory_order(self.calls["values"][str(identifier)])
            self.ordered[identifier] = self._in_order(self._read(identifier), dim_order)
        return self.ordered[identifier]

    def _call(self, call: dict[str, Any]) -> None:
        if call["op"] == _QUANTIZE:
            # An input of quantized values enters the graph as it is.
            entered = self._input(call["arguments"][0].get("value", -1))
            if entered is not None and entered[1]:
                self.value[call["out"]] = self.mapped[entered[0]]
                return
        if call["op"] == _DEQUANTIZE and call["out"] in self.calls["outputs"]:
            index = self.calls["outputs"].index(call["out"])
            if self.results[index][1]:
                self.value[call["out"]] = self._read(call["arguments"][0]["value"])
                return
        op = _functional(call["op"])
        arguments = [self._argument(each) for each in call["arguments"]]
        self.value[call["out"]] = self._node(op, arguments, call["out"], call.get("node", ""))

    def _node(self, op: Any, arguments: list[Any], out: int, source: str) -> Node:
        positional: list[Any] = []
        named: dict[str, Any] = {}
        schema = op._schema
        for spec, argument in zip(schema.arguments, arguments):
            if "ScalarType" in str(spec.type) or spec.name == "dtype":
                argument = _scalar_type(argument)
            if spec.kwarg_only:
                named[spec.name] = argument
            else:
                positional.append(argument)
        if schema.name.startswith("dim_order_ops::"):
            named["dim_order"] = list(self._tensor(out).dim_order())
        node = self.graph.call_function(op, tuple(positional), named)
        node.meta["val"] = self._tensor(out)
        origin = self.old.get(source)
        if origin is not None:
            for key in ("stack_trace", "nn_module_stack", "debug_handle", "from_node"):
                if key in origin.meta:
                    node.meta[key] = origin.meta[key]
        return node

    def _tensor(self, identifier: int) -> Any:
        row = self.calls["values"][str(identifier)]
        return self._empty(row["shape"], _memory_order(row), _DTYPES[row["dtype"]])

    def _empty(self, shape: list[int], dim_order: list[int], dtype: torch.dtype) -> Any:
        """Returns a tensor without data in a memory order."""
        strides, step = [0] * len(shape), 1
        for dim in reversed(dim_order):
            strides[dim] = step
            step *= max(shape[dim], 1)
        with self.fake:
            return torch.empty_strided(shape, strides, dtype=dtype)

    def _view(self, identifier: int) -> Node:
        """Adds an operator of which the compiler makes no call.

        ExecuTorch computes its result in the standard memory order, whatever order the compiler's
        value has. `_ordered` copies it for the calls.
        """
        view = self.calls["views"][str(identifier)]
        operands = [self._standard(each) for each in view["operands"]]
        shape = self.calls["values"][str(identifier)]["shape"]
        aten: Any = edge_ops.edge.aten
        op: Any
        arguments: tuple[Any, ...]
        if view["op"] == "copy":
            return operands[0]
        if view["op"] == "reshape":
            op, arguments = aten.view_copy.default, (operands[0], shape)
        elif view["op"] == "permute":
            op, arguments = aten.permute_copy.default, (operands[0], view["dims"])
        elif view["op"] == "slice":
            end = view["start"] + shape[view["dim"]] * view["step"]
            where = (view["dim"], view["start"], end, view["step"])
            op, arguments = aten.slice_copy.Tensor, (operands[0], *where)
        elif view["op"] == "concat":
            op, arguments = aten.cat.default, (operands, view["dim"])
        else:
            raise RuntimeError(f"{view['op']}: an operator without a call")
        node = self.graph.call_function(op, arguments)
        with self.fake:
            node.meta["val"] = torch.empty(shape, dtype=operands[0].meta["val"].dtype)
        return node

    def _standard(self, argument: Any) -> Node:
        """Returns an operand of a view in the standard memory order."""
        row = _row(argument)
        node = self._read(row["value"]) if "value" in row else self._argument(argument)
        return self._in_order(node, list(range(node.meta["val"].dim())))

    def _in_order(self, node: Node, dim_order: list[int]) -> Node:
        """Returns the value in a memory order: the node itself, or a copy.

        ExecuTorch takes the order from strides. Those of one pixel with one channel are the same in
        each order, so that no copy has another one.
        """
        value = node.meta["val"]
        other = self._empty(list(value.shape), dim_order, value.dtype)
        if value.dim_order() == other.dim_order():
            return node
        edge: Any = edge_ops.edge
        clone = edge.dim_order_ops._clone_dim_order.default
        copied = self.graph.call_function(clone, (node,), {"dim_order": list(other.dim_order())})
        copied.meta["val"] = other
        return copied

    # --- the program

    def _program(self) -> ExportedProgram:
        results: list[Node] = []
        outputs: list[OutputSpec] = []
        output = self.program.graph.output_node()
        nodes = cast("tuple[Node, ...]", output.args[0])
        for node, spec in zip(nodes, self.program.graph_signature.output_specs):
            if node not in self.mapped and not self._result(node):
                raise RuntimeError(f"{node.name}: the compiled program does not compute it")
            results.append(self.mapped[node])
            outputs.append(
                OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(self.mapped[node].name), spec.target)
            )
        self.graph.output(tuple(results)).meta = self._meta(output)
        self.graph.eliminate_dead_code()
        self.graph.lint()
        self.module.recompile()
        return ExportedProgram(
            root=self.module,
            graph=self.graph,
            graph_signature=ExportGraphSignature(self.specs, outputs),
            state_dict=self.state,
            range_constraints=cast(Any, self.program).range_constraints,
            module_call_graph=self.program.module_call_graph,
            example_inputs=self.program.example_inputs,
            constants=self.constants,
            verifiers=[self.program.verifier],
        )


def _row(argument: Any) -> dict[str, Any]:
    """Returns an argument that names a value, a list, a constant or scratch memory; {} for a number."""
    return cast("dict[str, Any]", argument) if isinstance(argument, dict) else {}


def _scalar_type(argument: Any) -> Any:
    """Returns the element type of its number in ExecuTorch's files."""
    if not isinstance(argument, int):
        return argument
    from executorch.exir.scalar_type import ScalarType

    return getattr(torch, _SCALAR_TYPES[ScalarType(argument).name])


_SCALAR_TYPES = {
    "BYTE": "uint8",
    "CHAR": "int8",
    "SHORT": "int16",
    "INT": "int32",
    "LONG": "int64",
    "FLOAT": "float32",
    "BOOL": "bool",
}


def require_core(target: str) -> None:
    """Raises BadInput for a target that is not a Cortex-M core."""
    if not target.startswith("cortex-m"):
        raise BadInput(f"{target}: a Cortex-M core expected, such as cortex-m55")
