"""Quantizers by the names of ExecuTorch's. All are `thimble_ml.Quantizer` with a target."""

from __future__ import annotations

from typing import Any

from torch.fx import GraphModule

from ..quantizer import Quantizer
from ._specs import AxonCompileSpec, EthosUCompileSpec, NeutronCompileSpec, stock_part


class _StockQuantizer(Quantizer):
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
    is_qat : bool
        True for `prepare_qat_pt2e`.
    """

    def __init__(self, compile_spec: EthosUCompileSpec, *, is_qat: bool = False) -> None:
        super().__init__(compile_spec.target, qat=is_qat)


class AxonQuantizer(Quantizer):
    """Quantizer for a Nordic AXON.

    Parameters
    ----------
    compile_spec : AxonCompileSpec, optional
    is_qat : bool
        True for `prepare_qat_pt2e`.
    """

    def __init__(self, compile_spec: AxonCompileSpec | None = None, *, is_qat: bool = False) -> None:
        super().__init__((compile_spec or AxonCompileSpec()).target, qat=is_qat)


class NeutronQuantizer(Quantizer):
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
        A core or part: ``cortex-m55``, ``cortex-m55+int8``.
    is_qat : bool
        True for `prepare_qat_pt2e`.
    """

    def __init__(self, target: str = "cortex-m55", *, is_qat: bool = False) -> None:
        super().__init__(target, qat=is_qat)
