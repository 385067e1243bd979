"""Cases for vendors' NPUs: quantized as by their quantizers, or rewritten by their compilers. Rows of make_cases.py, which
calls add()."""
import quantized_cases
import torch
import torch.nn.functional as F
from torch import nn


def curves(s, x):
    return s.c(torch.tanh(s.a(x)) + torch.sigmoid(s.b(x))).softmax(-1)


def faces(s, x):
    y = F.prelu(s.n(s.c(x)), s.slopes)
    return s.b(s.l(y.mean((2, 3)))).softmax(-1)


def gated(s, x):
    y = s.c(x)
    y = y * torch.sigmoid(s.l(y.mean((2, 3))))[:, :, None, None]
    return torch.tanh(s.d(y.flatten(2))).mean(1)


def mul_min(s, x, y):
    return torch.minimum(x * y, y)


def add_min_max(s, x, y):
    return torch.maximum(torch.minimum(x + y, y), x)


def activations(s, x):
    y = F.silu(s.b(F.hardsigmoid(s.a(x))))
    return F.hardswish(s.c(s.p(y)))


def add(rows):
    case, Net = rows.case, rows.Net

    # Batch size 1 and symmetric int8: TOSA's quantizer with the settings of the AXON's.
    for qat in ['', 'qat_']:
        case(f'q_axon_{qat}image', quantized_cases.q_image_net(), (1, 3, 12, 12), quantizer='tosa', qat=bool(qat))
    case('q_axon_curves', Net(curves, a=nn.Linear(10, 12), b=nn.Linear(10, 12), c=nn.Linear(12, 5)), (1, 10), quantizer='tosa')

    # NXP's own quantizer: per-tensor linear weights; shared parameters around pools and reshapes; fixed ones for softmax and
    # for the factors of a product.
    def faces_net():
        return Net(faces, c=nn.Conv2d(3, 8, 3, padding=1, bias=False), n=nn.BatchNorm2d(8), slopes=rows.par(8),
                   l=nn.Linear(8, 5, bias=False), b=nn.BatchNorm1d(5))

    pair = ((1, 4, 6, 8), (1, 4, 6, 8))
    case('mul_min', Net(mul_min), *pair)
    case('add_min_max', Net(add_min_max), *pair)
    case('q_neutron_image', quantized_cases.q_image_net(), (1, 3, 12, 12), quantizer='neutron')
    case('q_neutron_nhwc_image', quantized_cases.q_image_net().to(memory_format=rows.CL), (1, 3, 12, 12), quantizer='neutron', fmt=rows.CL)
    case('q_neutron_mixed', quantized_cases.q_mixed_net(), (1, 3, 15, 15), quantizer='neutron')
    case('q_neutron_rows', quantized_cases.q_rows_net(), (24, 20), quantizer='neutron')
    case('q_neutron_faces', faces_net(), (2, 3, 8, 8), quantizer='neutron', note='batch norms behind weights without bias')
    case('q_neutron_gated', Net(gated, c=nn.Conv2d(3, 8, 3, padding=1), l=nn.Linear(8, 8), d=nn.Conv1d(8, 4, 3)), (1, 3, 8, 8),
         quantizer='neutron', note='sigmoid and tanh are parts of what is before them, which has no parameters')
    case('q_neutron_mul_min', Net(mul_min), *pair, quantizer='neutron')
    case('q_neutron_add_min_max', Net(add_min_max), *pair, quantizer='neutron')
    case('q_neutron_qat_image', quantized_cases.q_image_net(), (1, 3, 12, 12), quantizer='neutron', qat=True)
    case('q_neutron_qat_faces', faces_net(), (2, 3, 8, 8), quantizer='neutron', qat=True,
         note='batch norms behind weights without bias; the bias that the linear layer gets stays float')

    case('q_cortex_m_hardsigmoid', Net(lambda s, x: F.hardsigmoid(s.c(x)), c=nn.Conv2d(3, 4, 1)).to(memory_format=rows.CL), (1, 3, 6, 6),
         fmt=rows.CL, quantizer='cortex_m', note='the hardsigmoid is part of the convolution before it, whose value has no parameters')

    # Networks that are rewritten for an NPU with one variant of each layer.
    X = (1, 3, 8, 8)
    case('rewrite_branches', Net(lambda s, x: F.relu(torch.cat([s.a(x), s.b(x)], 1)), a=nn.Conv2d(3, 8, 1), b=nn.Conv2d(3, 8, 3, padding=1)), X)
    case('rewrite_linear_add', Net(lambda s, x: F.relu(s.fc(x) + s.b), fc=nn.Linear(16, 8, bias=False), b=rows.buf(8)), (4, 16))
    case('rewrite_groups', Net(lambda s, x: s.b(s.a(x)), a=nn.Conv2d(24, 24, 3, groups=3), b=nn.Conv2d(24, 48, 1, groups=12)), (1, 24, 8, 8))
    case('rewrite_activations', Net(activations, a=nn.Conv2d(3, 8, 3), b=nn.Conv2d(8, 8, 1), p=nn.PReLU(8),
                                    c=nn.Conv2d(8, 8, 3, padding=1, padding_mode='reflect')), X)
    case('rewrite_rise', Net(lambda s, x: s.b(F.relu(s.a(x))), a=nn.ConvTranspose1d(8, 4, 16, stride=8, padding=4), b=nn.ConvTranspose1d(4, 2, 5, stride=3, dilation=2)),
         (1, 8, 12))
