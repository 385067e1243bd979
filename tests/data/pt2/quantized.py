"""PT2E quantizers for make_cases.py: each name below is a function that makes one for PTQ or QAT.

Needs torchao and ExecuTorch, whose wheel holds the quantizers of its backends; the Arm ones also
need tosa-tools.
"""
import importlib
import sys
import types

import torch


def xnnpack(qat, per_channel=True, **weights):
    module = importlib.import_module('executorch.backends.xnnpack.quantizer.xnnpack_quantizer')
    config = module.get_symmetric_quantization_config(is_per_channel=per_channel, is_qat=qat, **weights)
    return module.XNNPACKQuantizer().set_global(config)


def cortex_m(qat):
    return importlib.import_module('executorch.backends.cortex_m.quantizer.quantizer').CortexMQuantizer()


def arm(make, config='get_symmetric_quantization_config', **options):
    def quantizer(qat):
        module = importlib.import_module('executorch.backends.arm.quantizer.arm_quantizer')
        extra = dict(options)
        uint8_io = extra.pop('uint8_io', False)
        result = make(module).set_global(getattr(module, config)(is_qat=qat, **extra))
        if uint8_io:
            result.set_io(module.get_uint8_io_quantization_config(is_qat=qat))
        return result
    return quantizer


def tosa(specification):
    def make(module):
        spec = importlib.import_module('executorch.backends.arm.tosa.specification').TosaSpecification
        return module.TOSAQuantizer(spec.create_from_string(specification))
    return make


def ethos_u(module):
    return module.EthosUQuantizer(importlib.import_module('executorch.backends.arm.ethosu').EthosUCompileSpec('ethos-u55-128'))


def vgf(module):
    return module.VgfQuantizer(importlib.import_module('executorch.backends.arm.vgf').VgfCompileSpec())


def inductor(name, quantizer, config):
    def make(qat):
        module = importlib.import_module(f'torchao.quantization.pt2e.quantizer.{name}')
        return getattr(module, quantizer)().set_global(getattr(module, config)(is_qat=qat))
    return make


def neutron(qat):
    """NXP's quantizer only queries its SDK for the NPU. This stand-in returns the values of an i.MX RT700."""
    answers = types.SimpleNamespace(name='imxrt700', subsystem=False, numUnits=1, numPipes=8, numMacs=8, hwVersion=2)
    sdk = types.ModuleType('eiq_neutron_sdk')
    sdk.neutron_converter = types.SimpleNamespace(getNeutronTarget=lambda name: answers)
    sdk.neutron_library_utils = types.SimpleNamespace(isNeutronTarget=lambda name: True)
    sys.modules.setdefault('eiq_neutron_sdk', sdk)
    spec = importlib.import_module('executorch.backends.nxp.backend.neutron_target_spec').NeutronTargetSpec('imxrt700')
    return importlib.import_module('executorch.backends.nxp.quantizer.neutron_quantizer').NeutronQuantizer(spec, qat)


def plain(path, name, **options):
    return lambda qat: getattr(importlib.import_module(f'executorch.backends.{path}'), name)(**options)


QUANTIZERS = {
    'xnnpack': xnnpack,
    'xnnpack_int4': lambda qat: xnnpack(qat, weight_qmin=-8, weight_qmax=7),
    'xnnpack_per_tensor': lambda qat: xnnpack(qat, per_channel=False),
    'cortex_m': cortex_m,
    'tosa': arm(tosa('TOSA-1.0+INT')),
    'tosa_per_tensor': arm(tosa('TOSA-1.0+INT'), is_per_channel=False),
    'tosa_uint8': arm(tosa('TOSA-1.0+INT'), uint8_io=True),
    'tosa_int16': arm(tosa('TOSA-1.0+INT+int16'), 'get_symmetric_a16w8_quantization_config'),
    'ethos_u': arm(ethos_u),
    'ethos_u_per_tensor': arm(ethos_u, is_per_channel=False),
    'vgf': arm(vgf),
    'vgf_snorm': arm(vgf, 'get_vgf_snorm_quantization_config'),
    'x86': inductor('x86_inductor_quantizer', 'X86InductorQuantizer', 'get_default_x86_inductor_quantization_config'),
    'arm_inductor': inductor('arm_inductor_quantizer', 'ArmInductorQuantizer', 'get_default_arm_inductor_quantization_config'),
    'neutron': neutron,
    'example': plain('example.example_quantizer', 'ExampleQuantizer'),
}


def quantized(model, inputs, name, qat, fold=True):
    """Returns the converted model, calibrated with data of the distribution of `inputs`."""
    from torchao.quantization.pt2e import move_exported_model_to_eval
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e
    graph = torch.export.export(model, inputs, strict=name == 'neutron').module(check_guards=False)
    if name == 'neutron':   # identifies operators by the metadata of a strict export; has its own passes for batch norms
        quantizer = neutron(qat)
        flow = importlib.import_module('executorch.backends.nxp.quantizer.utils').calibrate_and_quantize
        return flow(graph, [tuple(torch.randn_like(x) for x in inputs) for _ in range(8)], quantizer, qat)
    prepared = (prepare_qat_pt2e if qat else prepare_pt2e)(graph, QUANTIZERS[name](qat))
    for _ in range(8):
        prepared(*[torch.randn_like(x) for x in inputs])
    if qat:
        move_exported_model_to_eval(prepared)
    return convert_pt2e(prepared, fold_quantize=fold)


class Recorder(torch.fx.Interpreter):
    """Runs a graph and records the results of its quantize operators."""

    def __init__(self, module):
        super().__init__(module)
        self.codes = {}

    def run_node(self, node):
        result = super().run_node(node)
        if node.op == 'call_function' and '.quantize_' in str(node.target):
            self.codes[node.name] = result
        return result
