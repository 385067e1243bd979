"""Cases of networks whose weights torchao's quantize_ changed, and of activations that are quantized with scales of each
run. Rows of make_cases.py, which calls add()."""
import torch
import torch.nn.functional as F
from torch import nn

rows = None   # make_cases.py


def rows_net():
    return rows.Net(lambda s, x: s.b(F.relu(s.a(x))), a=nn.Linear(64, 32), b=nn.Linear(32, 5, bias=False))


def quantizer(name, unwrap=True, groups={}, **options):
    """Returns a function that applies a configuration of torchao to a model. `groups`: names of options, and sizes of groups."""
    def apply(model):
        from torchao import quantization
        from torchao.quantization.granularity import PerGroup
        from torchao.utils import unwrap_tensor_subclass
        sizes = {key: PerGroup(size) for key, size in groups.items()}
        quantization.quantize_(model, getattr(quantization, name)(**options, **sizes))
        if unwrap:
            unwrap_tensor_subclass(model)
    return apply


def dynamic(s, x):
    """A linear layer as convert_pt2e writes it for dynamic activations."""
    ops = torch.ops.quantized_decomposed
    scale, zero = ops.choose_qparams(x, -128, 127, 2**-12, torch.int8)
    x = ops.quantize_per_tensor(x, scale, zero, -128, 127, torch.int8)
    x = ops.dequantize_per_tensor(x, scale, zero, -128, 127, torch.int8)
    w = ops.dequantize_per_channel(s.fixed_w, s.fixed_scale, s.fixed_zero, 0, -127, 127, torch.int8)
    return F.linear(x, w, s.b)


def add(module):
    global rows
    rows = module
    codes = torch.randint(-127, 128, (5, 6), generator=torch.Generator().manual_seed(7)).to(torch.int8)
    weights = 'IntxWeightOnlyConfig'
    rows.case('torchao_int8', rows_net(), (4, 64), prepare=quantizer('Int8WeightOnlyConfig'))
    rows.case('torchao_int8_affine', rows_net(), (4, 64), prepare=quantizer(weights, weight_dtype=torch.int8))
    rows.case('torchao_int4_groups', rows_net(), (4, 64), prepare=quantizer(weights, weight_dtype=torch.int4, groups={'granularity': 32}),
              note='one scale per 32 weights')
    rows.case('torchao_subclass', rows_net(), (4, 64), prepare=quantizer(weights, unwrap=False, weight_dtype=torch.int8),
              expect='unsupported', op='export.access_subclass_inner_tensor.default')
    rows.case('torchao_dynamic_int8', rows_net(), (4, 64), rounds=True, prepare=quantizer('Int8DynamicActivationInt8WeightConfig'))
    rows.case('torchao_dynamic_int4', rows_net(), (4, 64), rounds=True,
              prepare=quantizer('Int8DynamicActivationIntxWeightConfig', weight_dtype=torch.int4, groups={'weight_granularity': 32}))
    rows.case('pt2e_dynamic', rows.Net(dynamic, fixed_w=rows.Buffer(codes), b=rows.par(5),
                                       fixed_scale=rows.Buffer(torch.tensor([0.003, 0.004, 0.005, 0.0025, 0.0031])),
                                       fixed_zero=rows.Buffer(torch.zeros(5, dtype=torch.int64))), (24, 6), rounds=True)
