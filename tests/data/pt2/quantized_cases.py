"""Cases of networks that PyTorch quantized (PT2E): graphs of prepare_pt2e and convert_pt2e, and graphs with the same
operators written by hand. Rows of make_cases.py, which calls add()."""
import torch
import torch.nn.functional as F
from torch import nn

rows = None   # make_cases.py


def q_image(s, x):
    y = F.relu(s.a(x))
    z = F.relu6(s.bn(s.d(y)))
    z = F.max_pool2d(z + y, 2)
    return s.fc(F.adaptive_avg_pool2d(z, 1).flatten(1))


def q_mixed(s, x):
    y = F.hardtanh(s.a(x))
    z = torch.cat([y * torch.sigmoid(y), s.b(y)], 1)
    z = z[:, 2:10] - torch.tanh(y)
    return F.relu(s.c(F.avg_pool2d(z, 2))).mean((2, 3))


def q_image_net():
    return rows.Net(q_image, a=nn.Conv2d(3, 8, 3, padding=1), d=nn.Conv2d(8, 8, 3, padding=1, groups=8, bias=False), bn=nn.BatchNorm2d(8),
               fc=nn.Linear(8, 5))


def q_mixed_net():
    return rows.Net(q_mixed, a=nn.Conv2d(3, 8, 3, stride=2), b=nn.Conv2d(8, 4, 1), c=nn.Conv2d(8, 8, 3))


def q_rows_net():
    return rows.Net(lambda s, x: s.c(F.relu(s.b(F.relu(s.a(x)))) + s.d(x)), a=nn.Linear(20, 24), b=nn.Linear(24, 16, bias=False), c=nn.Linear(16, 6),
               d=nn.Linear(20, 16))


def codes(*shape):
    return rows.Buffer(torch.randint(-127, 128, shape, generator=torch.Generator().manual_seed(7)).to(torch.int8))


def q_batch_norm(weighted, **parts):
    """A weighted operator and a batch norm as QAT leaves them if nothing fuses them."""
    def forward(s, x):
        ops = torch.ops.quantized_decomposed
        x = ops.dequantize_per_tensor(ops.quantize_per_tensor(x, 0.03, 5, -128, 127, torch.int8), 0.03, 5, -128, 127, torch.int8)
        w = ops.dequantize_per_channel(s.fixed_w, s.fixed_scale, s.fixed_zero, 0, -127, 127, torch.int8)
        y = ops.quantize_per_tensor(F.relu(s.bn(weighted(s, x, w))), 0.011, -128, -128, 127, torch.int8)
        return ops.dequantize_per_tensor(y, 0.011, -128, -128, 127, torch.int8)
    return rows.Net(forward, fixed_scale=rows.Buffer(torch.tensor([0.003, 0.004, 0.005, 0.0025, 0.0031])), fixed_zero=rows.Buffer(torch.zeros(5, dtype=torch.int64)), **parts)


def q_torchao(s, x):
    ops = torch.ops.torchao
    x = ops.quantize_affine(x, [24, 6], s.fixed_x, s.fixed_zero, torch.int8, -128, 127)
    x = ops.dequantize_affine(x, [24, 6], s.fixed_x, s.fixed_zero, torch.int8, -128, 127)
    w = ops.dequantize_affine(s.fixed_w, [1, 6], s.fixed_scale, None, torch.int8, -127, 127)
    y = ops.quantize_affine(F.linear(x, w, s.b), [24, 5], s.fixed_y, s.fixed_zero, torch.int8, -128, 127)
    return ops.dequantize_affine(y, [24, 5], s.fixed_y, s.fixed_zero, torch.int8, -128, 127)


def add(module):
    global rows
    rows = module
    for quantizer in ['xnnpack', 'xnnpack_per_tensor', 'cortex_m', 'tosa', 'tosa_uint8', 'tosa_int16', 'ethos_u', 'vgf', 'x86', 'arm_inductor',
                      'example']:
        layout = rows.CL if quantizer == 'cortex_m' else torch.contiguous_format
        rows.case(f'q_{quantizer}_image', q_image_net().to(memory_format=layout), (2, 3, 12, 12), quantizer=quantizer, fmt=layout)
        rows.case(f'q_{quantizer}_mixed', q_mixed_net().to(memory_format=layout), (2, 3, 15, 15), quantizer=quantizer, fmt=layout)
        rows.case(f'q_{quantizer}_rows', q_rows_net(), (24, 20), quantizer=quantizer)
    rows.case('q_tosa_per_tensor_image', q_image_net(), (2, 3, 12, 12), quantizer='tosa_per_tensor')
    rows.case('q_ethos_u_per_tensor_image', q_image_net(), (2, 3, 12, 12), quantizer='ethos_u_per_tensor')
    rows.case('q_ethos_u_upscaled', rows.Net(lambda s, x: s.b(F.relu(s.t(F.relu(s.a(x))))), a=nn.Conv2d(3, 8, 3, padding=1), t=nn.ConvTranspose2d(8, 6, 2, stride=2),
                                   b=nn.Conv2d(6, 5, 1)), (1, 3, 8, 8), quantizer='ethos_u')
    rows.case('q_vgf_snorm_image', q_image_net(), (2, 3, 12, 12), quantizer='vgf_snorm')
    for quantizer in ['xnnpack', 'x86', 'tosa', 'ethos_u']: rows.case(f'q_{quantizer}_qat_image', q_image_net(), (2, 3, 12, 12), quantizer=quantizer, qat=True)
    rows.case('q_xnnpack_int4_image', q_image_net(), (1, 3, 12, 12), quantizer='xnnpack_int4', note='weights of 4 bits')
    rows.case('q_xnnpack_int4_qat_image', q_image_net(), (1, 3, 12, 12), quantizer='xnnpack_int4', qat=True, note='weights of 4 bits')
    rows.case('q_linear_bn', q_batch_norm(lambda s, x, w: F.linear(x, w, s.b), fixed_w=codes(5, 6), b=rows.par(5), bn=nn.BatchNorm1d(5)), (24, 6), quantizer='written out')
    rows.case('q_linear_bn_no_bias', q_batch_norm(lambda s, x, w: F.linear(x, w), fixed_w=codes(5, 6), bn=nn.BatchNorm1d(5)), (24, 6),
         quantizer='written out')
    rows.case('q_conv_bn_no_bias', q_batch_norm(lambda s, x, w: F.conv2d(x, w), fixed_w=codes(5, 3, 3, 3), bn=nn.BatchNorm2d(5)), rows.X,
         quantizer='written out')
    rows.case('q_torchao_affine', rows.Net(q_torchao, fixed_x=rows.Buffer(torch.tensor([0.03])), fixed_y=rows.Buffer(torch.tensor([0.025])),
                                 fixed_zero=rows.Buffer(torch.tensor([3])), fixed_w=codes(5, 6), b=rows.par(5),
                                 fixed_scale=rows.Buffer(torch.tensor([[0.003], [0.004], [0.005], [0.0025], [0.0031]]))), (24, 6), quantizer='written out')
    rows.case('q_xnnpack_not_folded', q_rows_net(), (24, 20), quantizer='xnnpack', fold=False, note='weights are float, quantize operators behind them')
    rows.case('q_xnnpack_softmax', rows.Net(lambda s, x: s.fc(x).softmax(-1), fc=nn.Linear(6, 5)), (24, 6), quantizer='xnnpack', note='the softmax stays float')
