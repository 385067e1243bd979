# SPDX-License-Identifier: Apache-2.0
"""Quantizers by the names of ExecuTorch's. All are `thimble_ml.Quantizer` with a target.

Operators that the compiler does not know stay in float, as with ExecuTorch's quantizers: the values
that they read and write are quantized by the other operators.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule
from torchao.quantization.pt2e.quantizer import QuantizationAnnotation

from .._errors import BadInput, Unsupported
from .._queries import annotate
from ..quantizer import ANNOTATION, Quantizer
from ._edge import is_getitem, overload, to_pt2
from ._source import source_of
from ._specs import AxonCompileSpec, EthosUCompileSpec, NeutronCompileSpec, stock_part

_CONFIGURATION = "per-channel int8 weights and int8 activations, as get_symmetric_quantization_config() describes"


def _check_configuration(configuration: Any) -> None:
    """Raises BadInput for another configuration than the one that the compiler's rules have."""
    if configuration is None:
        raise BadInput(
            "found no configuration, which leaves operators in float: the compiler quantizes all that it knows; "
            "operators_not_to_delegate of a compile spec keeps operators on the core"
        )
    for name in ("input_activation", "output_activation", "weight"):
        spec = getattr(configuration, name, None)
        dtype = getattr(spec, "dtype", torch.int8)
        if dtype is not torch.int8:
            raise BadInput(f"{name}: found {dtype}, expected {_CONFIGURATION}")
        if getattr(spec, "is_dynamic", False):
            raise BadInput(f"{name}: found dynamic quantization, expected {_CONFIGURATION}")


def _share_with_the_first(entries: list[dict[str, Any]], order: list[str]) -> None:
    """Makes the first node of those with the same parameters the one that the others refer to."""
    results = {entry["node"]: entry["result"] for entry in entries if "result" in entry}
    place = {name: index for index, name in enumerate(order)}
    groups: dict[str, list[str]] = {}
    for name, result in results.items():
        groups.setdefault(result.get("shares_with", name), []).append(name)
    for named, members in groups.items():
        first = min(members, key=lambda name: place[name])
        if first == named or named not in results:
            continue
        for name in members:
            results[name]["shares_with"] = first
        del results[first]["shares_with"]


class _ExecuTorchQuantizer(Quantizer):
    """Quantizer with the methods of ExecuTorch's quantizers.

    The compiler has one configuration per target. A configuration that is given must describe the
    same element types. None, which leaves operators in float, is refused.
    """

    def __init__(self, target: str, *, qat: bool = False) -> None:
        super().__init__(target, qat=qat)
        self._left_out: set[str] = set()  # nodes of the module that stay in float

    def set_global(self, quantization_config: Any) -> Any:
        """Checks the configuration of all operators."""
        _check_configuration(quantization_config)
        return self

    def set_io(self, quantization_config: Any) -> Any:
        """Checks the configuration of inputs and outputs, which have the parameters of the operators there."""
        _check_configuration(quantization_config)
        return self

    def set_module_name(self, module_name: str, quantization_config: Any) -> Any:
        """Checks the configuration of a submodule."""
        del module_name
        _check_configuration(quantization_config)
        return self

    def set_module_type(self, module_type: Callable[..., Any], quantization_config: Any) -> Any:
        """Checks the configuration of a class of submodules."""
        del module_type
        _check_configuration(quantization_config)
        return self

    def annotate(self, model: GraphModule) -> GraphModule:
        super().annotate(model)
        # The result of an operator in float is quantized where it is read.
        for node in model.graph.nodes:
            if node.name not in self._left_out or node.meta.get(ANNOTATION) is None:
                continue
            spec = node.meta.pop(ANNOTATION).output_qspec
            for user in node.users:
                if spec is not None and user.op == "call_function" and user.name not in self._left_out:
                    own = user.meta.setdefault(ANNOTATION, QuantizationAnnotation(_annotated=True))
                    own.input_qspec_map[node] = spec
        return model

    def _compiler_rules(self, exported: ExportedProgram, names: dict[str, str]) -> dict[str, Any]:
        calls = [node for node in exported.graph.nodes if node.op == "call_function"]
        left_out: set[str] = set()
        tensors = {**exported.constants, **exported.state_dict}
        while True:
            for node in calls:
                operands = node.all_input_nodes
                if is_getitem(node) and operands[0].name in left_out:
                    left_out.add(node.name)
                # torchao cannot quantize one of several results where it is read.
                elif any(is_getitem(each) and each.name in left_out for each in operands):
                    left_out.add(node.name)
            if all(node.name in left_out for node in calls):
                return {"nodes": [], "decompose": []}
            try:
                model = to_pt2(exported, tensors, left_out) if left_out else exported
                rules = annotate(model, target=self.target)
            except Unsupported as error:
                refused = {(each.op, each.source) for each in error.ops}
                found = {
                    node.name for node in calls if (str(overload(node)), source_of(node)[0]) in refused
                }
                if found <= left_out:
                    raise
                left_out |= found
                continue
            self._left_out = {names.get(name, name) for name in left_out}
            _share_with_the_first(rules["nodes"], [node.name for node in exported.graph.nodes])
            return rules


class _StockQuantizer(_ExecuTorchQuantizer):
    """Quantizer for a part whose core has only ExecuTorch's kernels."""

    def _rules(self, model: GraphModule) -> dict[str, Any]:
        target = self.target
        with stock_part(target) as path:
            self.target = path
            try:
                return super()._rules(model)
            finally:
                self.target = target


class EthosUQuantizer(_StockQuantizer):
    """Quantizer for an Arm Ethos-U.

    Parameters
    ----------
    compile_spec : EthosUCompileSpec
    use_composable_quantizer : bool
        Accepted; there is one implementation.
    is_qat : bool
        True for `prepare_qat_pt2e`.
    """

    def __init__(
        self,
        compile_spec: EthosUCompileSpec,
        use_composable_quantizer: bool = True,
        *,
        is_qat: bool = False,
    ) -> None:
        del use_composable_quantizer
        super().__init__(compile_spec.target, qat=is_qat)


class AxonQuantizer(_ExecuTorchQuantizer):
    """Quantizer for a Nordic AXON.

    Parameters
    ----------
    compile_spec : AxonCompileSpec, optional
    is_qat : bool
        True for `prepare_qat_pt2e`.
    """

    def __init__(self, compile_spec: AxonCompileSpec | None = None, *, is_qat: bool = False) -> None:
        super().__init__((compile_spec or AxonCompileSpec()).target, qat=is_qat)


class NeutronQuantizer(_ExecuTorchQuantizer):
    """Quantizer for an NXP Neutron.

    Parameters
    ----------
    neutron_target_spec : NeutronCompileSpec, or a name such as ``imxrt700``
    is_qat : bool
        True for `prepare_qat_pt2e`.
    """

    def __init__(self, neutron_target_spec: Any = "imxrt700", is_qat: bool = False) -> None:
        spec = neutron_target_spec
        target = spec.target if isinstance(spec, NeutronCompileSpec) else str(spec)
        super().__init__(target, qat=is_qat)


class IMXRT700CMQuantizer(_StockQuantizer):
    """Quantizer for the Neutron of the i.MX RT700 with `CortexMPassManager` for the rest.

    Parameters
    ----------
    target : str
        Name of the part.
    is_qat : bool
        True for `prepare_qat_pt2e`.
    """

    def __init__(self, target: str = "imxrt700cm", *, is_qat: bool = False) -> None:
        super().__init__(target, qat=is_qat)


class CortexMQuantizer(_StockQuantizer):
    """Quantizer for a Cortex-M alone, with the operators of ExecuTorch's kernels.

    Parameters
    ----------
    target : str
        A core or part: ``cortex-m55``, ``cortex-m55+int8``. A quantization configuration, as
        ExecuTorch's class takes in this place, is checked.
    use_explicit_layout : bool
        Accepted; the compiler chooses the memory order of each value.
    is_qat : bool
        True for `prepare_qat_pt2e`.
    """

    def __init__(
        self, target: Any = "cortex-m55", use_explicit_layout: bool = False, *, is_qat: bool = False
    ) -> None:
        del use_explicit_layout
        configuration = None if target is None or isinstance(target, str) else target
        super().__init__(target if isinstance(target, str) else "cortex-m55", qat=is_qat)
        if configuration is not None:
            self.set_global(configuration)
