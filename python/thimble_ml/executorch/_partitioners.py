# SPDX-License-Identifier: Apache-2.0
"""The partitioners: `to_edge_transform_and_lower(program, partitioner=[EthosUPartitioner(spec)])`."""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from executorch.exir.backend.backend_details import BackendDetails
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from executorch.exir.backend.utils import tag_constant_data
from torch._subclasses.fake_tensor import FakeTensor
from torch.export import ExportedProgram
from torch.fx import Node

from .._errors import BadInput
from ._backends import (
    AxonBackend,
    EthosUBackend,
    NeutronBackend,
    ThimbleAxonModel,
    ThimbleAxonProgram,
    ThimbleNeutronModel,
    select,
)
from ._edge import constants_of, is_dequantize, is_getitem, overload
from ._placement import Placement, Reason, place
from ._report import reasons_table
from ._specs import AxonCompileSpec, EthosUCompileSpec, NeutronCompileSpec, ThimbleCompileSpec
from ._specs import part_of, settings_of

_LOGGER = logging.getLogger(__name__)
#: Key in `meta` of a node that is not delegated: the reason.
REASON = "thimble_reason"


def _real_tensors(program: ExportedProgram) -> dict[str, torch.Tensor]:
    """Returns the tensors that have data, by name."""
    tensors = {**program.constants, **program.state_dict}
    return {
        name: each
        for name, each in tensors.items()
        if isinstance(each, torch.Tensor) and not isinstance(each, FakeTensor)
    }


def _original_of(tensor: Any) -> torch.Tensor | None:
    """Returns the tensor that a FakeTensor was made of, if its mode still knows it.

    ExecuTorch gives partitioners a program with such tensors instead of weights.
    """
    mode = getattr(tensor, "fake_mode", None)
    converter = getattr(getattr(mode, "fake_tensor_converter", None), "meta_converter", None)
    if converter is None:
        return None
    ids = {id(fake): number for number, fake in converter.tensor_memo.items()}
    number = ids.get(id(tensor))
    for real, each in converter.describer.lookup_tensor.items():
        if each == number:
            return real
    return None


def real_data(
    program: ExportedProgram, known: Mapping[str, torch.Tensor]
) -> dict[str, torch.Tensor]:
    """Returns the data of the constants of a program, by name."""
    data = _real_tensors(program)
    for spec in constants_of(program).values():
        name = str(spec.target)
        if name in data:
            continue
        # Another program of the same partitioner may have a constant of this name.
        fake = program.state_dict.get(name)
        found = _original_of(fake)
        if found is None and name in known and (fake is None or known[name].shape == fake.shape):
            found = known[name]
        if found is None:
            raise BadInput(
                f"{name}: ExecuTorch gives partitioners no weights here: use "
                "to_edge_transform_and_lower(program, partitioner=[...])"
            )
        data[name] = found
    return data


def _names_in_pt2(node: Node) -> list[str]:
    """Returns the names by which a `.pt2` file knows a node: those of its results."""
    results = [user.name for user in node.users if is_getitem(user)]
    return results or [node.name]


class ThimblePartitioner(Partitioner):
    """Base class of the partitioners. The compiler decides which operators its engine runs.

    Attributes
    ----------
    reasons : list of Reason
        After the lowering: each operator that is not delegated, with its source line and the
        reason. `meta["thimble_reason"]` of its node has the reason too.
    """

    def __init__(self, spec: ThimbleCompileSpec, backend: type[BackendDetails]) -> None:
        super().__init__()
        self.compile_spec = spec
        self.backend = backend
        self.delegation_spec = DelegationSpec(backend.__name__, spec.to_list())
        self.reasons: list[Reason] = []
        self._tensors: dict[str, torch.Tensor] = {}
        self._preserved: list[Any] | None = None

    # --- hooks of to_edge_transform_and_lower

    def transform_for_pre_decomposition(self, exported_program: ExportedProgram) -> ExportedProgram:
        """Gives each reader of a value its own dequantize, so that a border of a partition can be
        between two readers."""
        self._preserved = None
        program = copy.copy(exported_program)
        graph = program.graph
        for node in list(graph.nodes):
            if not is_dequantize(node):
                continue
            for user in list(node.users)[1:]:
                with graph.inserting_before(node):
                    own = graph.node_copy(node)
                user.replace_input_with(node, own)
        graph.lint()
        program.graph_module.recompile()
        return program

    def ops_to_not_decompose(
        self, ep: ExportedProgram
    ) -> tuple[list[Any], Callable[[Node], bool] | None]:
        """Returns operators that the engine runs wherever they occur."""
        if self._preserved is not None:
            return self._preserved, None
        self._tensors.update(_real_tensors(ep))
        placement = self._place(ep)
        inside: set[Any] = set()
        outside: set[Any] = set()
        for node in ep.graph.nodes:
            if node.op == "call_function":
                kind = inside if node.name in placement.subgraph else outside
                kind.add(overload(node))
        # An operator that has no decomposition is only an obligation to delegate it: ExecuTorch
        # raises an error if one remains, and the placement in the Edge dialect may leave one out.
        decomposed = torch.export.default_decompositions()
        whole = [each for each in inside - outside - {None} if each in decomposed]
        self._preserved = sorted(whole, key=str)
        return self._preserved, None

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        placement = self._place(exported_program)
        self.reasons = placement.reasons
        by_node = {reason.node: reason.reason for reason in placement.reasons}
        tags: dict[str, DelegationSpec] = {}
        select(self.backend)
        for node in exported_program.graph.nodes:
            subgraph = placement.subgraph.get(node.name)
            if subgraph is not None:
                tag = f"{placement.engines[subgraph]}_{subgraph}"
                node.meta["delegation_tag"] = tag
                tags[tag] = self.delegation_spec
            elif node.name in by_node:
                node.meta[REASON] = by_node[node.name]
        tag_constant_data(exported_program)
        if self.reasons:
            _LOGGER.info("not delegated to %s:\n%s", self.compile_spec.target, reasons_table(self))
        return PartitionResult(tagged_exported_program=exported_program, partition_tags=tags)

    # --- the compiler

    def _stays(self, node: Node) -> bool:
        """Returns True for a node that the user keeps on the core."""
        return any(part in node.name for part in self.compile_spec.operators_not_to_delegate)

    def _place(self, program: ExportedProgram) -> Placement:
        spec = settings_of(self.delegation_spec.compile_specs)
        assert spec is not None
        # ExecuTorch's partitioners have no cost model: what the engine can run, it runs.
        options = {"npu_small": True, **spec["options"]}
        off = [
            name
            for node in program.graph.nodes
            if node.op == "call_function" and not is_getitem(node) and self._stays(node)
            for name in _names_in_pt2(node)
        ]
        if off:
            options["engine_off"] = off
        with part_of(spec) as part:
            return place(program, real_data(program, self._tensors), part, options)


class EthosUPartitioner(ThimblePartitioner):
    """Partitions for an Arm Ethos-U.

    Parameters
    ----------
    compile_spec : EthosUCompileSpec
    additional_checks : sequence of objects, optional
        Objects with ``is_node_supported(submodules, node)``: a node for which one returns False
        stays on the core.
    """

    def __init__(
        self, compile_spec: EthosUCompileSpec, additional_checks: Sequence[Any] | None = None
    ) -> None:
        super().__init__(compile_spec, EthosUBackend)
        self.additional_checks = list(additional_checks or [])

    def _stays(self, node: Node) -> bool:
        checks = self.additional_checks
        return super()._stays(node) or not all(each.is_node_supported({}, node) for each in checks)


class AxonPartitioner(ThimblePartitioner):
    """Partitions for a Nordic AXON.

    Parameters
    ----------
    compile_spec : AxonCompileSpec, optional
    """

    def __init__(self, compile_spec: AxonCompileSpec | None = None) -> None:
        spec = compile_spec or AxonCompileSpec()
        backends: dict[str | None, type[BackendDetails]] = {
            None: ThimbleAxonModel,
            "header": AxonBackend,
            "program": ThimbleAxonProgram,
        }
        super().__init__(spec, backends[spec.form])


class NeutronPartitioner(ThimblePartitioner):
    """Partitions for an NXP Neutron.

    Parameters
    ----------
    compile_spec : NeutronCompileSpec
        Result of ``generate_neutron_compile_spec``.
    neutron_target_spec, custom_delegation_options, post_quantization_state_dict, preserve_ops
        Accepted for scripts of ExecuTorch's class; the compiler knows the target and the weights.
    check_op_support : callable, optional
        Called with a node; False: it stays on the core.
    """

    def __init__(
        self,
        compile_spec: NeutronCompileSpec,
        neutron_target_spec: Any = None,
        custom_delegation_options: Any = None,
        post_quantization_state_dict: Mapping[str, Any] | None = None,
        preserve_ops: list[Any] | None = None,
        check_op_support: Callable[[Node], bool] | None = None,
    ) -> None:
        del neutron_target_spec, custom_delegation_options
        del post_quantization_state_dict, preserve_ops
        vendor = compile_spec.sdk is not None
        super().__init__(
            compile_spec, NeutronBackend if vendor else ThimbleNeutronModel
        )
        self.check_op_support = check_op_support

    def _stays(self, node: Node) -> bool:
        check = self.check_op_support
        return super()._stays(node) or (check is not None and not check(node))
