# SPDX-License-Identifier: Apache-2.0
"""Thimble's engines as backends of ExecuTorch: partitioners, quantizers and compile specs.

>>> from thimble_ml.executorch import EthosUCompileSpec, EthosUPartitioner, EthosUQuantizer
>>> spec = EthosUCompileSpec("ethos-u55-128")
>>> edge = to_edge_transform_and_lower(exported, partitioner=[EthosUPartitioner(spec)])

Requires ExecuTorch: ``pip install thimble-ml[executorch]``. Importing `thimble_ml` alone does not
import it.
"""

from __future__ import annotations

from ._backends import (
    AxonBackend,
    EthosUBackend,
    NeutronBackend,
    ThimbleAxonModel,
    ThimbleAxonProgram,
    ThimbleNeutronModel,
)
from ._cortex_m import CortexMPassManager
from ._partitioners import AxonPartitioner, EthosUPartitioner, NeutronPartitioner
from ._placement import Reason
from ._quantizers import (
    AxonQuantizer,
    CortexMQuantizer,
    EthosUQuantizer,
    IMXRT700CMQuantizer,
    NeutronQuantizer,
)
from ._report import delegation_table, reasons_table
from ._specs import (
    AxonCompileSpec,
    EthosUCompileSpec,
    NeutronCompileSpec,
    generate_neutron_compile_spec,
)

__all__ = [
    "AxonBackend",
    "AxonCompileSpec",
    "AxonPartitioner",
    "AxonQuantizer",
    "CortexMPassManager",
    "CortexMQuantizer",
    "EthosUBackend",
    "EthosUCompileSpec",
    "EthosUPartitioner",
    "EthosUQuantizer",
    "IMXRT700CMQuantizer",
    "NeutronBackend",
    "NeutronCompileSpec",
    "NeutronPartitioner",
    "NeutronQuantizer",
    "Reason",
    "ThimbleAxonModel",
    "ThimbleAxonProgram",
    "ThimbleNeutronModel",
    "delegation_table",
    "generate_neutron_compile_spec",
    "reasons_table",
]
