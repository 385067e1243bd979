# SPDX-License-Identifier: Apache-2.0
"""Quantizer: PyTorch's observers and fake quantization with the constraints of Thimble's engines.

The rules are those of the compiler: `thimble annotate` prints, for each node of an exported graph,
how the compiler would quantize it for a target. This module only turns that into annotations of
`prepare_pt2e` and `prepare_qat_pt2e` (torchao).
"""

from __future__ import annotations

import copy
import operator
from typing import Any, cast

import torch
from torch.fx import GraphModule, Node
from torch.fx.graph import CodeGen, _PyTreeCodeGen
from torch.fx.experimental.proxy_tensor import make_fx
from torchao.quantization.pt2e import (
    FakeQuantize,
    MinMaxObserver,
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
    PerChannelMinMaxObserver,
)
from torchao.quantization.pt2e.quantizer import (
    FixedQParamsQuantizationSpec,
    QuantizationAnnotation,
    QuantizationSpec,
    QuantizationSpecBase,
    SharedQuantizationSpec,
)
from torchao.quantization.pt2e.quantizer import Quantizer as Pt2eQuantizer

from ._errors import BadInput, Unsupported
from ._queries import annotate

__all__ = ["Quantizer"]

Json = dict[str, Any]

ANNOTATION = "quantization_annotation"
# Names of the nodes of the annotated graph in a graph that is exported again.
_NAME = "thimble_node"
_DTYPES = {"int8": torch.int8, "int16": torch.int16}
_BATCH_NORM = torch.ops.aten.batch_norm.default
_DROPOUT = torch.ops.aten.dropout.default
_CONVOLUTIONS = (
    torch.ops.aten.conv1d.default,
    torch.ops.aten.conv2d.default,
    torch.ops.aten.conv2d.padding,
    torch.ops.aten.conv_transpose1d.default,
    torch.ops.aten.conv_transpose2d.input,
)


def _fake_quantize(observer: Any, **options: Any) -> Any:
    """Return the constructor of a FakeQuantize with this observer."""
    return cast(Any, FakeQuantize).with_args(observer=observer, **options)


class Quantizer(Pt2eQuantizer):
    """Annotates an exported model as Thimble's compiler would quantize it for a target.

    Weights are int8, symmetric, with a scale per output channel (per tensor where the target's
    NPU requires it). Activations are int8 with one scale and zero point per value. Operators that
    only move elements, pools and `cat` share the parameters of their operands; softmax, sigmoid and
    tanh have fixed ones. Chains of elementwise functions are quantized at their end only, because
    the compiler turns them into one table.

    Parameters
    ----------
    target : str
        Name of a part, as listed by `thimble targets`.
    qat : bool
        True for `prepare_qat_pt2e`: values are rounded in the forward pass. False for
        `prepare_pt2e`: values are observed only.

    Raises
    ------
    Unsupported
        From `prepare_pt2e` and `prepare_qat_pt2e`: the network cannot be quantized. The message
        has the source lines.
    BadInput
        Unknown target, or `qat` does not match the function that is called.

    Examples
    --------
    >>> exported = torch.export.export(model, (x,)).module(check_guards=False)
    >>> prepared = prepare_qat_pt2e(exported, Quantizer("cortex-m55", qat=True))
    """

    def __init__(self, target: str, *, qat: bool = False) -> None:
        super().__init__()
        self.target = target
        self.qat = qat

    def transform_for_annotation(self, model: GraphModule) -> GraphModule:
        """Replace nodes with quantized values inside, such as attention, by their parts.

        Parameters
        ----------
        model : GraphModule
            Module of an exported program. It is changed.

        Returns
        -------
        GraphModule
            The same module.
        """
        by_name = {node.name: node for node in model.graph.nodes}
        composite = [by_name[entry["node"]] for entry in self._rules(model)["decompose"]]
        for node in composite:
            _inline(model, node)
        if composite:
            model.graph.eliminate_dead_code()
            model.recompile()
        return model

    def annotate(self, model: GraphModule) -> GraphModule:
        """Write the annotations of all nodes.

        Parameters
        ----------
        model : GraphModule
            Module of an exported program. Only `meta` of its nodes changes.

        Returns
        -------
        GraphModule
            The same module.
        """
        if not self.qat:
            _check_merged(model)
        rules = self._rules(model)
        if rules["decompose"]:
            first = rules["decompose"][0]
            raise Unsupported(
                f"{first['source']}: {first['op']} has quantized values inside and no "
                "decomposition; quantize the float model instead: compile(..., calibration=...)"
            )
        by_name = {node.name: node for node in model.graph.nodes}
        results = [entry["result"] for entry in rules["nodes"] if "result" in entry]
        shared = {result["shares_with"] for result in results if "shares_with" in result}
        for entry in rules["nodes"]:
            self._annotate_node(by_name[entry["node"]], entry, by_name, entry["node"] in shared)
        return model

    def validate(self, model: GraphModule) -> None:
        """Do nothing: `annotate` raises an exception for a model that is not supported."""

    def _rules(self, model: GraphModule) -> Json:
        exported, names = _export_again(model)
        rules = self._compiler_rules(exported, names)
        for entry in [*rules["nodes"], *rules["decompose"]]:
            entry["node"] = names[entry["node"]]
            if "shares_with" in entry.get("result", {}):
                entry["result"]["shares_with"] = names[entry["result"]["shares_with"]]
        return rules

    def _compiler_rules(
        self, exported: torch.export.ExportedProgram, names: dict[str, str]
    ) -> Json:
        """Return the compiler's rules. `names`: the node of the module for each node of `exported`."""
        del names
        return annotate(exported, target=self.target)

    def _annotate_node(
        self, node: Node, entry: Json, by_name: dict[str, Node], is_shared: bool
    ) -> None:
        inputs: dict[Node, QuantizationSpecBase | None] = {}
        tensors = [argument for argument in node.args if isinstance(argument, Node)]
        if "weights" in entry and len(tensors) > 1 and tensors[1].op == "get_attr":
            # The input comes first: torchao finds operands of a convolution by position. It has
            # the parameters of the node that computes it.
            inputs[tensors[0]] = None
            inputs[tensors[1]] = self._weights(entry["weights"])
        for constant in entry.get("constants", []):
            for argument in tensors:
                if argument.op == "get_attr" and argument.target == constant["name"]:
                    inputs[argument] = self._constant(constant["scheme"] == "symmetric")
        node.meta[ANNOTATION] = QuantizationAnnotation(
            input_qspec_map=inputs,
            output_qspec=(
                self._result(entry["result"], by_name, is_shared) if "result" in entry else None
            ),
            _annotated=True,
        )

    def _result(
        self, entry: Json, by_name: dict[str, Node], is_shared: bool
    ) -> QuantizationSpecBase:
        if "shares_with" in entry:
            return SharedQuantizationSpec(by_name[entry["shares_with"]])
        if entry["scheme"] == "fixed":
            return FixedQParamsQuantizationSpec(
                dtype=_DTYPES[entry["dtype"]],
                scale=entry["scale"],
                zero_point=entry["zero_point"],
                quant_min=entry["min"],
                quant_max=entry["max"],
                qscheme=torch.per_tensor_affine,
            )
        symmetric = entry["scheme"] == "symmetric"
        qscheme = torch.per_tensor_symmetric if symmetric else torch.per_tensor_affine
        observer: Any = MinMaxObserver
        if self.qat:
            # Values that share parameters are observed one after the other. An average of their ranges
            # clips the largest.
            observer = _fake_quantize(MinMaxObserver if is_shared else MovingAverageMinMaxObserver)
        return QuantizationSpec(
            dtype=_DTYPES[entry["dtype"]],
            observer_or_fake_quant_ctr=observer,
            quant_min=entry["min"],
            quant_max=entry["max"],
            qscheme=qscheme,
        )

    def _weights(self, entry: Json) -> QuantizationSpec:
        axis = cast("int | None", entry["axis"])
        observer: Any
        if axis is None:
            qscheme = torch.per_tensor_symmetric
            observer = MinMaxObserver
            if self.qat:
                observer = _fake_quantize(MovingAverageMinMaxObserver, averaging_constant=1.0)
        else:
            qscheme = torch.per_channel_symmetric
            observer = PerChannelMinMaxObserver
            if self.qat:
                # torchao drops the axis of a FakeQuantize from the specification.
                observer = _fake_quantize(
                    MovingAveragePerChannelMinMaxObserver, averaging_constant=1.0, ch_axis=axis
                )
        return QuantizationSpec(
            dtype=torch.int8,
            observer_or_fake_quant_ctr=observer,
            quant_min=entry["min"],
            quant_max=entry["max"],
            qscheme=qscheme,
            ch_axis=axis,
        )

    def _constant(self, symmetric: bool) -> QuantizationSpec:
        observer: Any = MinMaxObserver
        if self.qat:
            observer = _fake_quantize(MovingAverageMinMaxObserver, averaging_constant=1.0)
        return QuantizationSpec(
            dtype=torch.int8,
            observer_or_fake_quant_ctr=observer,
            quant_min=-127 if symmetric else -128,
            quant_max=127,
            qscheme=torch.per_tensor_symmetric if symmetric else torch.per_tensor_affine,
        )


def _check_merged(model: GraphModule) -> None:
    """Raise an exception if `prepare_qat_pt2e` was called: it keeps batch norms."""
    for node in model.graph.nodes:
        if node.target is not _BATCH_NORM:
            continue
        operand = node.args[0]
        if operand.target in _CONVOLUTIONS and len(operand.users) == 1:
            raise BadInput(
                f"{node.name}: a batch norm after a convolution, which prepare_pt2e merges; "
                "for prepare_qat_pt2e use Quantizer(..., qat=True)"
            )


def _export_again(model: GraphModule) -> tuple[torch.export.ExportedProgram, dict[str, str]]:
    """Export the module in inference mode, with fixed sizes.

    Returns
    -------
    tuple
        The program, and the name of the module's node for each of its nodes.
    """
    # Annotations refer to nodes, so they are not copied.
    model = copy.deepcopy(model)
    for node in model.graph.nodes:
        node.meta.pop(ANNOTATION, None)
        node.meta["custom"] = {_NAME: node.name}
    _to_inference(model)
    values = [node.meta["val"] for node in model.graph.nodes if node.op == "placeholder"]
    for node in model.graph.nodes:
        # Lists and dicts of the model's inputs: the graph has their tensors.
        if isinstance(node.graph._codegen, _PyTreeCodeGen):
            node.graph.set_codegen(CodeGen())
    model.recompile()
    with torch.no_grad():
        exported = torch.export.export(model, tuple(_example(value) for value in values))
    names: dict[str, str] = {}
    for node in exported.graph.nodes:
        if node.op != "output":
            names[node.name] = node.meta.get("custom", {}).get(_NAME, node.name)
    # Inputs have no such entry, and PyTorch renames an argument `input`.
    inputs = [node.name for node in model.graph.nodes if node.op == "placeholder"]
    names.update(zip(map(str, exported.graph_signature.user_inputs), inputs))
    return exported, names


def _to_inference(model: GraphModule) -> None:
    """Switch batch norms and dropouts to inference, and remove the counters of batch norms."""
    for node in list(model.graph.nodes):
        if node.target is _BATCH_NORM:
            node.update_arg(5, False)
        elif node.target is _DROPOUT:
            node.update_arg(2, False)
        elif node.target is torch.ops.aten.add_.Tensor and not node.users:
            if node.args[0].op == "get_attr" and "num_batches_tracked" in str(node.args[0].target):
                model.graph.erase_node(node)
    model.recompile()


def _example(value: Any) -> Any:
    """Return zeros for a tensor without data; a size that is not fixed has that of the export."""
    if not isinstance(value, torch.Tensor):
        return value
    return torch.zeros([_size(size) for size in value.shape], dtype=value.dtype)


def _size(size: Any) -> int:
    return int(size) if isinstance(size, int) else int(size.node.hint)


def _inline(model: GraphModule, node: Node) -> None:
    """Replace a node by the operators of its decomposition.

    Its tensors keep their sizes. Raises Unsupported if PyTorch has no decomposition.
    """
    operands = [argument for argument in node.all_input_nodes]

    def call(*tensors: Any) -> Any:
        by_node = dict(zip(operands, tensors))
        arguments = torch.fx.map_arg((node.args, node.kwargs), lambda n: by_node[n])
        args, kwargs = cast("tuple[Any, Any]", arguments)
        return cast(Any, node.target)(*args, **kwargs)

    values = [_example(_value(model, operand)) for operand in operands]
    table: dict[Any, Any] = {**cast(Any, torch.export.default_decompositions())}
    # Rows that are masked completely, for which this differs from softmax, are refused by annotate.
    table[torch.ops.aten._safe_softmax.default] = torch.softmax
    with torch.no_grad(), torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        parts = make_fx(call, decomposition_table=table, tracing_mode="fake")(*values)
    if any(part.target is node.target for part in parts.graph.nodes):
        where = node.meta.get("stack_trace", "").strip().splitlines()
        raise Unsupported(
            f"{node.target} has no decomposition" + (f": {where[-1].strip()}" if where else "")
        )
    mapped: dict[Node, Any] = {}
    inputs = iter(operands)
    with model.graph.inserting_before(node):
        for part in parts.graph.nodes:
            if part.op == "placeholder":
                mapped[part] = next(inputs)
            elif part.op == "output":
                result = torch.fx.map_arg(part.args[0], lambda n: mapped[n])
                node.replace_all_uses_with(cast(Node, result))
            elif part.op == "get_attr":
                name = f"{node.name}_{part.target}"
                model.register_buffer(name, getattr(parts, str(part.target)))
                mapped[part] = model.graph.get_attr(name)
                mapped[part].meta = dict(part.meta)
            elif part.target is operator.getitem or part.op == "call_function":
                copied = model.graph.node_copy(part, lambda n: mapped[n])
                copied.meta = {**node.meta, "val": part.meta.get("val")}
                mapped[part] = copied
    model.graph.erase_node(node)


def _value(model: GraphModule, node: Node) -> Any:
    if "val" in node.meta:
        return node.meta["val"]
    value: Any = model
    for part in str(node.target).split("."):
        value = getattr(value, part)
    return value
