# SPDX-License-Identifier: Apache-2.0
"""The backends: a partition becomes the payload of one delegate call.

ExecuTorch finds a backend by the name of its class, and the name is the id in the file. Other
packages have classes of the same names (ExecuTorch's own `EthosUBackend`, for Vela's payloads). Each
class gives the partitions of the other package's partitioner to the other class (`select`).
"""

from __future__ import annotations

import json
from typing import Any, cast, final

from executorch.exir._serialize._named_data_store import NamedDataStore
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from torch.export import ExportedProgram

from .._errors import ThimbleError
from .._thimble import compile_delegate as compile_delegate_of
from .._thimble import write_file
from ._edge import to_pt2
from ._specs import part_of, settings_of

__all__ = [
    "AxonBackend",
    "EthosUBackend",
    "NeutronBackend",
    "ThimbleAxonModel",
    "ThimbleAxonProgram",
    "ThimbleNeutronModel",
]

#: Alignment of a payload's named data in bytes.
_ALIGNMENT = 16


def _namesakes(own: type[BackendDetails]) -> list[type[BackendDetails]]:
    """Returns classes of other packages with the same name."""
    return [
        each
        for each in BackendDetails.__subclasses__()
        if each.__name__ == own.__name__ and each is not own
    ]


def _tensors(program: ExportedProgram) -> dict[str, Any]:
    return {**program.constants, **program.state_dict}


def _debug_handles(program: ExportedProgram, ops: list[dict[str, Any]]) -> dict[int, tuple[int]]:
    handles = {
        node.name: node.meta["debug_handle"]
        for node in program.graph.nodes
        if "debug_handle" in node.meta
    }
    return {
        index: (handles[op["node"]],) for index, op in enumerate(ops) if op["node"] in handles
    }


def _preprocess(
    own: type[BackendDetails], program: ExportedProgram, specs: list[CompileSpec]
) -> PreprocessResult:
    spec = settings_of(specs)
    if spec is None:
        for other in _namesakes(own):
            return other.preprocess(program, specs)
        raise NotImplementedError(f"{own.__name__}: compile specs of another package")
    options = dict(spec["options"])
    if spec["intermediates"]:
        options["save_stages"] = spec["intermediates"]
    source = ("partition.pt2", to_pt2(program, _tensors(program)))
    with part_of(spec) as part:
        identifier, payload, named, files, report_json = compile_delegate_of(source, part, options)
    if identifier != own.__name__:
        raise ThimbleError(f"the compiler wrote a payload of {identifier}, not of {own.__name__}")
    report = json.loads(report_json)
    for name, text in files:
        write_file(name, text.encode())
    store = NamedDataStore()
    for key, data in named:
        store.add_named_data(key, data, alignment=_ALIGNMENT)
    return PreprocessResult(
        processed_bytes=payload,
        debug_handle_map=cast(Any, _debug_handles(program, report["ops"])),
        data_store_output=store.get_named_data_store_output(),
        _delegate_info_meta=report,
    )


@final
class EthosUBackend(BackendDetails):
    """Arm Ethos-U: a command stream in ExecuTorch's payload."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        return _preprocess(EthosUBackend, edge_program, compile_specs)


@final
class AxonBackend(BackendDetails):
    """Nordic AXON: the name of a program of the vendor's compiler, which is in C headers."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        return _preprocess(AxonBackend, edge_program, compile_specs)


@final
class ThimbleAxonProgram(BackendDetails):
    """Nordic AXON: a program of the vendor's compiler, for Thimble's runtime."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        return _preprocess(ThimbleAxonProgram, edge_program, compile_specs)


@final
class ThimbleAxonModel(BackendDetails):
    """Nordic AXON: a layer list for Thimble's integer model of the NPU."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        return _preprocess(ThimbleAxonModel, edge_program, compile_specs)


@final
class NeutronBackend(BackendDetails):
    """NXP Neutron: microcode of the vendor's converter."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        return _preprocess(NeutronBackend, edge_program, compile_specs)


@final
class ThimbleNeutronModel(BackendDetails):
    """NXP Neutron: a kernel list for Thimble's integer model of the NPU."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        return _preprocess(ThimbleNeutronModel, edge_program, compile_specs)


def select(own: type[BackendDetails]) -> None:
    """Makes ExecuTorch find this class for its name, if another class has the same name.

    ExecuTorch uses the first class of that name in one place, and the last one in another.
    """
    for other in _namesakes(own):
        original = other.preprocess
        if getattr(original, "_thimble", False):
            continue

        def preprocess(
            edge_program: ExportedProgram,
            compile_specs: list[CompileSpec],
            original: Any = original,
        ) -> PreprocessResult:
            if settings_of(compile_specs) is None:
                return original(edge_program, compile_specs)
            return own.preprocess(edge_program, compile_specs)

        preprocess._thimble = True  # pyright: ignore[reportFunctionMemberAccess]
        other.preprocess = staticmethod(preprocess)  # pyright: ignore[reportAttributeAccessIssue]
