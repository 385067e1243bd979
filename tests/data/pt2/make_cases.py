#!/usr/bin/env python3
"""Writes the .pt2 test models of this folder. Each call of case() below is one model.

    python tests/data/pt2/make_cases.py [PREFIX]...

Files per case: NAME.pt2 (torch.export.save), and NAME.npz with in0, in1, ... and eager PyTorch's
out0, out1, ... (logical values in C order; bfloat16 is widened to float32). cases.json describes
all cases, with the ATen targets in the graph and each output's shape, dim_order and strides
(left out if contiguous).
Weights and inputs depend only on the case's name (or its `same` group), so that rows can be added
anywhere. Source file names in the stack traces are replaced by machine-independent ones.

Needs PyTorch 2.13 and numpy. With PREFIX, only matching cases are rewritten.
"""
import json
import operator
import sys
import sysconfig
import warnings
import zlib
from pathlib import Path

import numpy as np
import positions
import torch
import torch.nn.functional as F
from torch import nn
from torch.export import Dim
from torch.utils._pytree import tree_leaves

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CL = torch.channels_last
torch.set_num_threads(1)
warnings.simplefilter('ignore')


# ---------------------------------------------------------------------------------- building and saving

class Base(nn.Module):
    def __init__(self, parts):
        super().__init__()
        for key, part in parts.items():
            if isinstance(part, Buffer):
                self.register_buffer(key, part.value, persistent=part.persistent)
            else:
                setattr(self, key, part)


def Net(forward, **parts):
    """Returns a module, given its forward (a function of the net and its inputs x, y, z) and the
    modules, parameters and buffers that forward uses."""
    forward.__code__ = forward.__code__.replace(co_name='forward')   # stack traces keep frames of this name only
    return type('Net', (Base,), {'forward': forward, '__module__': 'cases'})(parts)


class Buffer:
    def __init__(self, value, persistent=True):
        self.value, self.persistent = value, persistent


class Tagged(torch.Tensor):
    """A tensor subclass, which torch.export.save pickles."""


def par(*shape):
    return nn.Parameter(torch.zeros(shape))


def buf(*shape, persistent=True):
    return Buffer(torch.zeros(shape), persistent)


def settle(model):
    """Sets random weights; batch norms as after training. Logical values do not depend on strides."""
    for name, p in model.named_parameters():
        v = torch.randn(p.shape)
        if name.split('.')[-1] == 'weight':
            v = 1 + 0.3 * v if v.dim() == 1 else v / max(1, v[0].numel()) ** 0.5
        p.data.copy_(v if name.split('.')[-1] == 'weight' else 0.5 * v)
    for name, b in model.named_buffers():
        if name.startswith('fixed'):
            pass
        elif name.endswith('num_batches_tracked'):
            b.fill_(100)
        elif (b.is_floating_point() or b.is_complex()) and not b.isinf().any():
            b.copy_(0.5 + torch.rand(b.shape) if name.endswith('running_var') else 0.5 * torch.randn(b.shape))


CASES = []


def case(name, model, *shapes, keep={}, note='', expect='ok', op='', same='', example=None, dims=None,
         core=False, fmt=torch.contiguous_format, dtype=torch.float32, tol=1e-5, steps=0, quantizer='', qat=False, fold=True,
         prepare=None, rounds=False):
    """Adds one row. `shapes`, `fmt`, `dtype`: of the inputs. `example`: shapes at export with dynamic sizes `dims`. `keep`:
    buffers that are not random. `quantizer`: function of quantized.py that quantizes the model first; the .npz then also has
    the values of every quantize node, `codes.<node>`; 'written out': the model has such nodes itself. `op`: the target
    that must be refused. `same`: cases with equal weights, inputs and outputs share this name. `core`: the program is
    decomposed to core ATen before it is saved. `prepare`: function that changes the model before the export. `rounds`:
    PyTorch rounds activations at run time, and the importer keeps their real numbers. `steps`: the model has state; the
    arrays have one more first axis, with this number of consecutive calls."""
    CASES.append(locals())


class Ids:
    """An input of positions: integers from `low` (included) to `high` (excluded)."""
    def __init__(self, high, *shape, low=0, dtype=torch.int64):
        self.high, self.shape, self.low, self.dtype = high, shape, low, dtype


def tensor(shape, fmt, dtype, *steps):
    if isinstance(shape, Ids):
        return torch.randint(shape.low, shape.high, (*steps, *shape.shape), dtype=shape.dtype)
    v = torch.randn((*steps, *shape)).to(dtype)
    return v.contiguous(memory_format=fmt if v.dim() == 4 else torch.contiguous_format)


def dim_order(t):
    if t.is_contiguous():
        return list(range(t.dim()))
    if t.dim() == 4 and t.is_contiguous(memory_format=CL):
        return [0, 2, 3, 1]
    return sorted(range(t.dim()), key=lambda d: (-t.stride(d), d))


def describe(t):
    row = {'shape': list(t.shape), 'dim_order': dim_order(t), 'dtype': str(t.dtype).removeprefix('torch.')}
    return row if t.is_contiguous() else row | {'strides': list(t.stride())}


def to_numpy(t):
    t = t.detach()
    return np.ascontiguousarray((t.float() if t.dtype is torch.bfloat16 else t).numpy()).reshape(tuple(t.shape))


def relocate(program):
    """Stack traces contain paths of the machine, and decomposed nodes the address of a graph. Keeps
    only the parts that are the same on every machine."""
    swaps = [(sysconfig.get_paths()['purelib'], '/venv/lib/python3/site-packages'), (str(ROOT) + '/', '')]
    graphs = {}

    def renumber(sources):
        for s in sources or []:
            if s.node_info:
                s.node_info.graph_id, s._dict = graphs.setdefault(s.node_info.graph_id, len(graphs)), None
            renumber(s.from_node)

    for module in program.graph_module.modules():
        for node in getattr(module, 'graph', torch.fx.Graph()).nodes:
            renumber(node.meta.get('from_node'))
            if node.meta.get('stack_trace'):
                for old, new in swaps:
                    node.meta['stack_trace'] = node.meta['stack_trace'].replace(old, new)


def symbols(program, inputs, dims):
    """Maps a symbol's name in the archive to the user's name, the range, and the size in the .npz."""
    found = {}
    users = [n for n in program.graph.nodes if n.name in program.graph_signature.user_inputs]
    for node, arg, spec in zip(users, inputs, (dims or {}).values()):
        for axis, dim in spec.items():
            size = node.meta['val'].shape[axis]
            if isinstance(size, torch.SymInt):
                row = {'dim': getattr(dim, '__name__', str(dim)), 'expr': str(size.node.expr), 'size': arg.shape[axis]}
                if size.node.expr.is_symbol:
                    r = program.range_constraints[size.node.expr]
                    row |= {'min': int(r.lower), 'max': None if r.upper > 2**40 else int(r.upper)}
                found[f'{node.name}[{axis}]'] = row
    return found


def series(call, model, steps):
    """Returns the outputs of `steps` calls, starting with the model's current buffers and other tensors."""
    kept = [(b, b.clone()) for b in (*model.buffers(), *(v for v in vars(model).values() if isinstance(v, torch.Tensor)))]
    results = []
    for i in range(steps):
        y = call(i)
        results.append([t.clone() for t in (y if isinstance(y, (tuple, list)) else [y])])
    for b, start in kept:
        b.copy_(start)
    return [torch.stack(list(ys)) for ys in zip(*results)]


def target_name(target):
    if isinstance(target, torch._ops.OpOverload):
        return str(target)
    return f'higher_order.{target}' if isinstance(target, torch._ops.HigherOrderOperator) else f'{target.__module__}.{target.__name__}'


def make(c):
    torch.manual_seed(zlib.crc32((c['same'] or c['name']).encode()))
    model = c['model'].eval()
    settle(model)
    for key, value in c['keep'].items():
        model.get_buffer(key).copy_(value)
    inputs = [tensor(s, c['fmt'], c['dtype']) for s in c['shapes']]
    examples = [tensor(s, c['fmt'], c['dtype']) for s in c['example']] if c['example'] else [x.clone() for x in inputs]
    if c['quantizer'] and c['quantizer'] != 'written out':
        from quantized import quantized
        model = quantized(model.train(c['qat']), tuple(examples), c['quantizer'], c['qat'], c['fold'])
    if c['prepare']:
        c['prepare'](model)
    program = torch.export.export(model, tuple(examples), dynamic_shapes=c['dims'], strict=False)
    if c['core']:
        program = program.run_decompositions()
    if c['steps']:
        return make_series(c, model, program, inputs)
    with torch.no_grad():
        fresh = lambda: [x.clone() for x in inputs]   # keeps strides; a model may write to its input
        eager, again = model(*fresh()), program.module()(*fresh())
    outs, exported = ([y for y in tree_leaves(each) if isinstance(y, torch.Tensor)] for each in (eager, again))
    for a, b in zip(outs, exported, strict=True):
        assert a.dtype == b.dtype and a.stride() == b.stride(), (c['name'], describe(a), describe(b))
        torch.testing.assert_close(a, b, rtol=c['tol'], atol=c['tol'])
    relocate(program)
    torch.export.save(program, HERE / f"{c['name']}.pt2")
    arrays = {f'in{i}': to_numpy(x) for i, x in enumerate(inputs)}
    arrays |= {f'out{i}': to_numpy(y) for i, y in enumerate(outs)}
    if c['quantizer']:
        from quantized import Recorder
        recorder = Recorder(program.module(check_guards=False))
        recorder.run(*[x.clone() for x in inputs])
        arrays |= {f'codes.{node}': to_numpy(codes) for node, codes in recorder.codes.items()}
    np.savez(HERE / f"{c['name']}.npz", **arrays)
    ops = [target_name(n.target) for n in program.graph.nodes if n.op == 'call_function']
    assert not c['op'] or c['op'] in ops, (c['op'], ops)
    row = {'name': c['name'], 'expect': c['expect'], 'note': c['note'],
           'ops': sorted(set(ops)),
           'inputs': [describe(x) for x in inputs], 'outputs': [describe(y) for y in outs]}
    for key, value in [('refused_op', c['op']), ('quantizer', c['quantizer']), ('same', c['same']), ('rounds', c['rounds']), ('symbols', symbols(program, inputs, c['dims']))]:
        if value:
            row[key] = value
    return row


def make_series(c, model, program, first):
    rows = [tensor(s, c['fmt'], c['dtype'], c['steps']) for s in c['shapes']]
    again = program.module()
    with torch.no_grad():
        outs = series(lambda i: model(*[x[i].clone() for x in rows]), model, c['steps'])
        exported = series(lambda i: again(*[x[i].clone() for x in rows]), again, c['steps'])
    for a, b in zip(outs, exported, strict=True):
        torch.testing.assert_close(a, b, rtol=c['tol'], atol=c['tol'])
    relocate(program)
    torch.export.save(program, HERE / f"{c['name']}.pt2")
    arrays = {f'in{i}': to_numpy(x) for i, x in enumerate(rows)} | {f'out{i}': to_numpy(y) for i, y in enumerate(outs)}
    np.savez(HERE / f"{c['name']}.npz", **arrays)
    ops = [target_name(n.target) for n in program.graph.nodes if n.op == 'call_function']
    return {'name': c['name'], 'expect': c['expect'], 'note': c['note'], 'ops': sorted(set(ops)), 'steps': c['steps'],
            'inputs': [describe(x) for x in first], 'outputs': [describe(y[0]) for y in outs]}


def main(prefixes):
    names = [c['name'] for c in CASES]
    assert len(set(names)) == len(names), sorted(n for n in names if names.count(n) > 1)
    index = HERE / 'cases.json'
    rows = {r['name']: r for r in json.loads(index.read_text())} if prefixes and index.exists() else {}
    failed = 0
    for c in CASES:
        if prefixes and not any(c['name'].startswith(p) for p in prefixes):
            continue
        try:
            rows[c['name']] = make(c)
        except Exception as e:
            failed += 1
            print(f"{c['name']}: {type(e).__name__}: {str(e)[:600]}", file=sys.stderr)
    for old in [*HERE.glob('*.pt2'), *HERE.glob('*.npz')]:
        if old.stem not in rows:
            old.unlink()
    index.write_text('[\n' + ',\n'.join(json.dumps(rows[n]) for n in names if n in rows) + '\n]\n')
    print(f'{len(rows)} cases, {failed} failed')
    return 1 if failed else 0


# ------------------------------------------------------------------------------------ convolutions

conv = lambda *a, **k: Net(lambda s, x: s.conv(x), conv=nn.Conv2d(*a, **k))
X = (1, 3, 8, 8)

case('conv_plain', conv(3, 4, 3), X)
case('conv_no_bias', conv(3, 4, 3, bias=False), X)
case('conv_stride2', conv(3, 4, 3, stride=2, padding=1), X)
case('conv_stride_2_1', conv(3, 4, 3, stride=(2, 1)), X)
case('conv_same_odd', conv(3, 4, 3, padding='same'), X)
case('conv_same_even', conv(3, 4, 4, padding='same'), X, note='pads 1 before and 2 after')
case('conv_same_dilated', conv(3, 4, 3, padding='same', dilation=2), X)
case('conv_valid', conv(3, 4, 3, padding='valid'), X)
case('conv_dilation2', conv(3, 4, 3, dilation=2, padding=2), X)
case('conv_groups2', conv(4, 6, 3, groups=2, padding=1), (1, 4, 7, 7))
case('conv_depthwise', conv(4, 4, 3, groups=4, padding=1), (1, 4, 7, 7))
case('conv_depthwise_stride2', conv(4, 4, 3, groups=4, padding=1, stride=2), (1, 4, 7, 7))
case('conv_depthwise_mult2', conv(3, 6, 3, groups=3, padding=1), X)
case('conv_1x1', conv(3, 5, 1), X)
case('conv_1x1_stride2', conv(3, 5, 1, stride=2), X)
case('conv_5x3', conv(3, 4, (5, 3)), X)
case('conv_pad_1_2', conv(3, 4, 3, padding=(1, 2)), X)
case('conv_one_channel', conv(1, 1, 3), (1, 1, 6, 6))
case('conv_unbatched', conv(3, 4, 3), (3, 8, 8), note='3-D input: no batch axis')
case('conv_reflect', conv(3, 4, 3, padding=1, padding_mode='reflect'), X)
case('conv1d_bn_relu', Net(lambda s, x: F.relu(s.b(s.c(x))), c=nn.Conv1d(3, 4, 3, stride=2), b=nn.BatchNorm1d(4)), (1, 3, 9))
case('conv_transpose', Net(lambda s, x: s.c(x), c=nn.ConvTranspose2d(3, 4, 3, stride=2)), (1, 3, 4, 4))

# ------------------------------------------------------------------------------ batch normalisation

case('conv_bn_relu', Net(lambda s, x: F.relu(s.bn(s.conv(x))), conv=nn.Conv2d(3, 4, 3), bn=nn.BatchNorm2d(4)), X)
case('conv_no_bias_bn', Net(lambda s, x: s.bn(s.conv(x)), conv=nn.Conv2d(3, 4, 3, bias=False), bn=nn.BatchNorm2d(4)), X)
case('depthwise_bn_relu6', Net(lambda s, x: s.act(s.bn(s.conv(x))), conv=nn.Conv2d(4, 4, 3, groups=4, bias=False),
                               bn=nn.BatchNorm2d(4), act=nn.ReLU6()), (1, 4, 7, 7))
case('grouped_bn', Net(lambda s, x: s.bn(s.conv(x)), conv=nn.Conv2d(4, 6, 3, groups=2), bn=nn.BatchNorm2d(6)), (1, 4, 7, 7))
case('conv_bn_no_affine', Net(lambda s, x: s.bn(s.conv(x)), conv=nn.Conv2d(3, 4, 3), bn=nn.BatchNorm2d(4, affine=False)), X)
case('linear_bn', Net(lambda s, x: s.bn(s.fc(x)), fc=nn.Linear(5, 4), bn=nn.BatchNorm1d(4)), (1, 5))
case('linear_no_bias_bn', Net(lambda s, x: s.bn(s.fc(x)), fc=nn.Linear(5, 4, bias=False), bn=nn.BatchNorm1d(4)), (1, 5))
case('linear3d_bn', Net(lambda s, x: s.bn(s.fc(x)), fc=nn.Linear(5, 4), bn=nn.BatchNorm1d(3)), (1, 3, 5),
     note='the channel of the batch norm is axis 1, not the output of the linear: must not fold')
case('bn_input', Net(lambda s, x: s.bn(x), bn=nn.BatchNorm2d(3)), X)
case('bn_after_relu', Net(lambda s, x: s.bn(F.relu(s.conv(x))), conv=nn.Conv2d(3, 4, 3), bn=nn.BatchNorm2d(4)), X, note='cannot fold')
case('bn_then_conv', Net(lambda s, x: s.conv(s.bn(x)), conv=nn.Conv2d(3, 4, 3, padding=1), bn=nn.BatchNorm2d(3)), X,
     note='zero padding comes after the batch norm: folding forward would be wrong at the border')
case('bn_two_consumers', Net(lambda s, x: (lambda c: s.bn(c) + c)(s.conv(x)), conv=nn.Conv2d(3, 4, 3), bn=nn.BatchNorm2d(4)), X,
     note='the convolution is also used without the batch norm')
case('bn_conv_is_output', Net(lambda s, x: (lambda c: (c, s.bn(c)))(s.conv(x)), conv=nn.Conv2d(3, 4, 3), bn=nn.BatchNorm2d(4)), X)
case('bn_shared_conv', Net(lambda s, x: s.b1(s.conv(x)) + s.b2(s.conv(x + 1)), conv=nn.Conv2d(3, 3, 3), b1=nn.BatchNorm2d(3), b2=nn.BatchNorm2d(3)), X,
     note='one weight, two batch norms')
case('bn_no_stats', Net(lambda s, x: s.bn(x), bn=nn.BatchNorm2d(3, track_running_stats=False)), X, note='statistics of the batch itself')
case('bn_no_stats_batch3', Net(lambda s, x: s.bn(x), bn=nn.BatchNorm2d(3, track_running_stats=False)), (3, 3, 4, 5))

# ------------------------------------------------------------------------------------------- norms

norm_of = lambda m: Net(lambda s, x: s.norm(x), norm=m)
case('layer_norm', norm_of(nn.LayerNorm(12)), (2, 5, 12))
case('layer_norm_two_dims', norm_of(nn.LayerNorm((4, 6), eps=1e-3)), (2, 3, 4, 6))
case('layer_norm_no_affine', norm_of(nn.LayerNorm(12, elementwise_affine=False)), (3, 12))
case('layer_norm_no_bias', norm_of(nn.LayerNorm(12, bias=False)), (3, 12))
case('layer_norm_core', norm_of(nn.LayerNorm(12)), (2, 5, 12), core=True)
case('layer_norm_channels', Net(lambda s, x: s.norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2), norm=nn.LayerNorm(6)), (2, 6, 4, 3))
case('group_norm', norm_of(nn.GroupNorm(3, 6)), (2, 6, 4, 5))
case('group_norm_one', norm_of(nn.GroupNorm(1, 6, eps=1e-2)), (2, 6, 7))
case('group_norm_no_affine', norm_of(nn.GroupNorm(2, 6, affine=False)), (2, 6, 4, 5))
case('group_norm_core', norm_of(nn.GroupNorm(3, 6)), (2, 6, 4, 5), core=True)
case('instance_norm', norm_of(nn.InstanceNorm2d(3)), (2, 3, 4, 5))
case('instance_norm_affine', norm_of(nn.InstanceNorm1d(3, affine=True)), (2, 3, 9))
case('instance_norm_core', norm_of(nn.InstanceNorm2d(3, affine=True)), (2, 3, 4, 5), core=True)
case('instance_norm_running', norm_of(nn.InstanceNorm2d(3, affine=True, track_running_stats=True)), (2, 3, 4, 5))
case('rms_norm', norm_of(nn.RMSNorm(12)), (2, 5, 12))
case('rms_norm_eps', norm_of(nn.RMSNorm((3, 4), eps=1e-2)), (2, 5, 3, 4))
case('rms_norm_no_affine', norm_of(nn.RMSNorm(12, elementwise_affine=False)), (5, 12))
case('rms_norm_core', norm_of(nn.RMSNorm(12)), (2, 5, 12), core=True)

# ------------------------------------------------------------------------------------------ linear

case('linear', Net(lambda s, x: s.fc(x), fc=nn.Linear(6, 5)), (1, 6))
case('linear_no_bias', Net(lambda s, x: s.fc(x), fc=nn.Linear(6, 5, bias=False)), (1, 6))
case('linear_3d', Net(lambda s, x: s.fc(x), fc=nn.Linear(6, 5)), (1, 3, 6))
case('linear_rows4', Net(lambda s, x: s.fc(x), fc=nn.Linear(6, 5)), (4, 6))
case('linear_relu_linear', Net(lambda s, x: s.b(F.relu(s.a(x))), a=nn.Linear(6, 8), b=nn.Linear(8, 3)), (1, 6))
case('linear_shared', Net(lambda s, x: s.fc(F.relu(s.fc(x))), fc=nn.Linear(6, 6)), (1, 6), note='one linear used twice')
case('linear_tied', (lambda n: (setattr(n.b, 'weight', n.a.weight), n)[1])(
     Net(lambda s, x: s.b(F.relu(s.a(x))), a=nn.Linear(6, 6), b=nn.Linear(6, 6))), (1, 6), note='two modules, one weight')
case('addmm', Net(lambda s, x: torch.addmm(s.b, x, s.w), w=par(6, 5), b=par(5)), (1, 6))
case('addmm_alpha_beta', Net(lambda s, x: torch.addmm(s.b, x, s.w, beta=0.5, alpha=2), w=par(6, 5), b=par(5)), (1, 6))
case('matmul', Net(lambda s, x: x @ s.w.t(), w=par(5, 6)), (1, 3, 6))
case('bmm_dynamic', Net(lambda s, x, y: torch.bmm(x, y)), (1, 3, 4), (1, 4, 5), note='both operands are activations')

# ------------------------------------------------------------------------------------- activations

act = lambda fn: Net(lambda s, x: fn(s.conv(x)), conv=nn.Conv2d(3, 4, 3))

case('relu', Net(lambda s, x: F.relu(x)), X)
case('relu_inplace', Net(lambda s, x: s.act(s.conv(x)), conv=nn.Conv2d(3, 4, 3), act=nn.ReLU(inplace=True)), X)
case('relu_inplace_input', Net(lambda s, x: s.act(x), act=nn.ReLU(inplace=True)), X, note='writes to the graph input')
case('relu6', act(F.relu6), X)
case('hardtanh', act(lambda x: F.hardtanh(x, -2.0, 3.0)), X)
case('hardtanh_inplace', act(lambda x: F.hardtanh_(x, -0.5, 0.5)), X)
case('clamp_min', act(lambda x: x.clamp(min=-0.25)), X)
case('clamp_max', act(lambda x: x.clamp(max=0.25)), X)
case('clamp_both', act(lambda x: torch.clamp(x, -0.5, 0.75)), X)
case('clamp_inf', act(lambda x: torch.clamp(x, float('-inf'), 0.5)), X, note='an infinite float in the JSON')
case('prelu', Net(lambda s, x: s.act(s.conv(x)), conv=nn.Conv2d(3, 4, 3), act=nn.PReLU(4)), X)
case('sigmoid', act(torch.sigmoid), X)
case('tanh', act(torch.tanh), X)
case('activations_more', act(lambda x: (F.elu(x), F.gelu(x), F.gelu(x, approximate='tanh'), F.silu(x), F.hardswish(x), F.hardsigmoid(x), F.leaky_relu(x, 0.1))), X)
case('activations_elu', act(lambda x: (F.elu(x, 0.7), F.selu(x), F.celu(x, 1.3), F.rrelu(x))), X)
case('activations_soft', act(lambda x: (F.softplus(x), F.softplus(3 * x, beta=2, threshold=1.5), F.mish(x), F.softsign(x), F.logsigmoid(4 * x), F.tanhshrink(x), F.glu(x, 2))), X)
case('activations_hard', act(lambda x: (F.hardshrink(x), F.softshrink(x, 0.3), F.threshold(x, 0.1, 20.0), F.hardtanh(x, -0.3, 0.4))), X)
case('activations_in_place', Net(lambda s, x: F.elu_(F.hardswish(F.leaky_relu_(F.silu(s.conv(x), inplace=True), 0.2), inplace=True)), conv=nn.Conv2d(3, 3, 1)), X)
case('prelu_one', Net(lambda s, x: s.act(x), act=nn.PReLU()), (2, 6))
case('prelu_1d', Net(lambda s, x: s.act(x), act=nn.PReLU(3)), (2, 3, 7))
case('softmax_last', Net(lambda s, x: F.softmax(s.fc(x), dim=-1), fc=nn.Linear(6, 5)), (1, 6))
case('softmax_dim1_4d', act(lambda x: F.softmax(x, dim=1)), X)
case('softmax_last_4d', act(lambda x: x.softmax(-1)), X)
case('log_softmax', Net(lambda s, x: F.log_softmax(s.fc(x), dim=-1), fc=nn.Linear(6, 5)), (1, 6))

# -------------------------------------------------------------------------------------- arithmetic

V = (1, 3, 4, 5)
case('add', Net(lambda s, x, y: x + y), V, V)
case('add_scalar', Net(lambda s, x: x + 1.5), V)
case('add_alpha', Net(lambda s, x, y: torch.add(x, y, alpha=2)), V, V)
case('sub', Net(lambda s, x, y: x - y), V, V)
case('sub_alpha', Net(lambda s, x, y: torch.sub(x, y, alpha=2)), V, V)
case('rsub_scalar', Net(lambda s, x: 1 - x), V)
case('mul', Net(lambda s, x, y: x * y), V, V)
case('mul_scalar', Net(lambda s, x: 0.75 * x), V)
case('div_buffer', Net(lambda s, x: x / (s.b.abs() + 1), b=buf(3, 1, 1)), V, note='the divisor is computed from constants alone')
case('normalize_input', Net(lambda s, x: (x - s.mean) / s.std, mean=Buffer(torch.zeros(1, 3, 1, 1)), std=buf(1, 3, 1, 1)), V)
case('arithmetic_more', Net(lambda s, x, y: (-x, x.abs(), x / 4, x - 2, x * -2, x ** 2, torch.sqrt(x.abs() + 1), torch.minimum(x, y), torch.maximum(x, y),
     torch.rsub(x, y, alpha=2), torch.add(x, 0.5, alpha=3))), V, V, note='scalars that are ints')
case('functions', Net(lambda s, x: (torch.exp(x), torch.sin(x), torch.cos(x), torch.tan(x / 4), torch.erf(x), torch.sinh(x), torch.cosh(x), torch.exp2(x), torch.expm1(x))), V)
case('functions_inverse', Net(lambda s, x: (torch.atanh(x / 8), (x / 9).atanh_(), torch.acosh(x * x + 1.5), (x * x + 2).acosh_())), V)
case('functions_asinh', Net(lambda s, x: (torch.asinh(x), (4 * x).asinh_())), V)
case('functions_positive', Net(lambda s, x: (lambda p: (p.log(), p.log2(), p.log10(), x.abs().log1p(), p.sqrt(), p.rsqrt(), p.reciprocal()))(x * x + 0.25)), V)
case('functions_steps', Net(lambda s, x: (torch.floor(x), torch.ceil(x), torch.trunc(3 * x), torch.round(x * 4) / 4, torch.sign(x), torch.div(x, 0.5, rounding_mode='floor'),
     torch.div(x, 0.25, rounding_mode='trunc'), x // 2)), V)
case('round_ties', Net(lambda s, x: torch.round(torch.floor(x * 3) * 0.5)), V)
case('powers', Net(lambda s, x: (x ** 2, x ** 3, x.square(), x.abs() ** 0.5, x ** -1, (x * x + 1) ** -0.5, x.abs() ** 1.7, x ** 4, 2 ** x, torch.pow(x, torch.tensor(2.0)))), V)
case('div_tensors', Net(lambda s, x, y: (x / (y.abs() + 1), 1 / (x * x + 1), torch.addcmul(x, x, y, value=0.5), torch.addcdiv(x, x, y * y + 1, value=2), torch.lerp(x, y, 0.3))), V, (3, 1, 1))
case('extremes', Net(lambda s, x, y: (torch.maximum(x, y), torch.minimum(x, s.b), torch.max(x, y), torch.clamp(x, s.b, y), torch.clamp_min(x, y), torch.clamp(x, max=y)), b=buf(3, 1, 1)), V, (4, 1))
case('comparisons', Net(lambda s, x, y: ((x > y).float(), (x <= 0.5) * y, torch.where(x == x, x, y), torch.where(torch.ge(x, y) & ~(x < 0), x, 2.0), torch.where((x != y) | (y > 0), 0.0, y),
     torch.where(torch.logical_xor(x > 0, y > 0), 1.0, -1.0), x * torch.logical_not(y > 0), torch.where(x.bool(), x, y))), V, (3, 1, 1))
case('masks', Net(lambda s, x: (x.masked_fill(x > 0, 1.5), x.masked_fill(s.m, -1e9).softmax(-1), torch.where(s.m, x, float('-inf')).softmax(-1),
     (x + torch.triu(torch.full((5, 5), float('-inf')), 1)).softmax(-1), torch.tril(x, -1)), m=Buffer(torch.ones(5, 5).tril().bool())), (1, 2, 5, 5))
case('mask_buffer', Net(lambda s, x: (x + s.m).softmax(-1), m=Buffer(torch.full((5, 5), float('-inf')).triu(1))), (1, 2, 5, 5), note='a float buffer of 0 and -inf')
case('mask_in_place', Net(lambda s, x: s.fc(x).masked_fill_(x > 0, 0.25), fc=nn.Linear(5, 5)), (2, 5))
case('add_broadcast_channel', Net(lambda s, x, y: x + y), V, (1, 3, 1, 1))
case('add_broadcast_both', Net(lambda s, x, y: x + y), (1, 3, 4, 1), (1, 1, 4, 5))
case('add_broadcast_rank', Net(lambda s, x, y: x + y), V, (4, 1), note='4-D + 2-D')
case('mul_broadcast_channel', Net(lambda s, x, y: x * y), V, (1, 3, 1, 1))
case('add_buffer', Net(lambda s, x: x + s.b, b=buf(1, 3, 4, 5)), V)
case('add_parameter', Net(lambda s, x: s.p + x, p=par(3, 1, 1)), V)
case('mul_parameter_scalar', Net(lambda s, x: x * s.p, p=par()), V, note='a 0-D parameter')
case('add_buffer_0d', Net(lambda s, x: x + s.b, b=buf()), V)
case('add_self', Net(lambda s, x: x + x), V)
case('mul_self', Net(lambda s, x: x * x), V)
case('iadd', Net(lambda s, x, y: operator.iadd(s.conv(x), y), conv=nn.Conv2d(3, 3, 1)), V, V)
case('iadd_alias', Net(lambda s, x: (lambda c: (operator.iadd(c, 1.0), c * 2))(s.conv(x)), conv=nn.Conv2d(3, 3, 1)), V,
     note='both outputs see the sum')
case('imul_slice', Net(lambda s, x: (lambda c: (c[:, :1].mul_(2), c)[1])(s.conv(x)), conv=nn.Conv2d(3, 3, 1)), V,
     note='writes through a view')
case('setitem_slice', Net(lambda s, x: (lambda c: (operator.setitem(c, (slice(None), 1), 0.5), c)[1])(s.conv(x)), conv=nn.Conv2d(3, 3, 1)), V)

# ----------------------------------------------------------------------------------------- pooling

P = (1, 3, 7, 9)
case('max_pool_k2', Net(lambda s, x: F.max_pool2d(x, 2)), P)
case('max_pool_k3s2p1', Net(lambda s, x: F.max_pool2d(x, 3, 2, 1)), P)
case('max_pool_ceil', Net(lambda s, x: F.max_pool2d(x, 2, ceil_mode=True)), P)
case('max_pool_ceil_p1', Net(lambda s, x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True)), (1, 3, 8, 8))
case('max_pool_dilation2', Net(lambda s, x: F.max_pool2d(x, 2, 1, 0, 2)), P)
case('max_pool_indices', Net(lambda s, x: F.max_pool2d(x, 2, return_indices=True)), P, expect='unsupported',
     op='aten.max_pool2d_with_indices.default')
case('avg_pool_k2', Net(lambda s, x: F.avg_pool2d(x, 2)), P)
case('avg_pool_pad_included', Net(lambda s, x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=True)), P)
case('avg_pool_pad_excluded', Net(lambda s, x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False)), P)
case('avg_pool_ceil', Net(lambda s, x: F.avg_pool2d(x, 2, ceil_mode=True)), P)
case('avg_pool_ceil_p1', Net(lambda s, x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True)), (1, 3, 8, 8))
case('avg_pool_divisor', Net(lambda s, x: F.avg_pool2d(x, 2, divisor_override=3)), P)
case('adaptive_avg_1', Net(lambda s, x: F.adaptive_avg_pool2d(x, 1)), (1, 3, 8, 8))
case('adaptive_avg_2', Net(lambda s, x: F.adaptive_avg_pool2d(x, (2, 2))), (1, 3, 8, 8))
case('adaptive_avg_3_of_7', Net(lambda s, x: F.adaptive_avg_pool2d(x, 3)), (1, 3, 7, 7), note='windows of unequal size or overlap')
case('adaptive_max_1', Net(lambda s, x: F.adaptive_max_pool2d(x, 1)), (1, 3, 8, 8))
case('mean_hw_keep', Net(lambda s, x: x.mean((2, 3), keepdim=True)), P)
case('mean_hw', Net(lambda s, x: x.mean((2, 3))), P)
case('mean_hw_negative', Net(lambda s, x: x.mean([-1, -2])), P)
case('mean_last', Net(lambda s, x: x.mean(-1)), P)
case('mean_channel', Net(lambda s, x: x.mean(1, keepdim=True)), P)
case('mean_all', Net(lambda s, x: x.mean()), P, note='0-D output')

# -------------------------------------------------------------------------------------- reductions

D = (2, 3, 4, 5)
case('reduce_sum', Net(lambda s, x: (x.sum(), x.sum(1), x.sum((0, -1), keepdim=True))), D)
case('reduce_extremes', Net(lambda s, x: (x.amax(1), x.amin((2, 3), keepdim=True), x.max(), x.min(), x.amax())), D)
case('reduce_max_dim', Net(lambda s, x: (*x.max(1), *x.min(-1, keepdim=True))), D)
case('reduce_max_values', Net(lambda s, x: x.max(2).values + 1), D)
case('reduce_argmax', Net(lambda s, x: (x.argmax(-1), x.argmin(1, keepdim=True), x.argmax(), x.argmin(keepdim=True))), D)
case('reduce_var', Net(lambda s, x: (x.var(), x.var(1), x.var((2, 3), correction=0, keepdim=True), x.var(-1, unbiased=False))), D)
case('reduce_var_mean', Net(lambda s, x: torch.var_mean(x, (1, 2))), D)
case('reduce_std', Net(lambda s, x: (x.std(), x.std(1), x.std((2, 3), correction=0), *torch.std_mean(x, -1))), D)
case('reduce_vector_norm', Net(lambda s, x: (torch.linalg.vector_norm(x, dim=1), x.norm(dim=-1, keepdim=True), x.norm(), x.norm(1, (1, 2)))), D)
case('reduce_vector_norm_order', Net(lambda s, x: (*[torch.linalg.vector_norm(x, p, dim=2) for p in (1, 3, float('inf'), float('-inf'))],)), D)
case('reduce_vector_norm_zero', Net(lambda s, x: torch.linalg.vector_norm(x, 0, dim=2)), D, expect='unsupported', op='aten.linalg_vector_norm.default')
case('reduce_logsumexp', Net(lambda s, x: (x.logsumexp(1), x.logsumexp((2, 3), keepdim=True))), D)
case('normalize', Net(lambda s, x: F.normalize(x)), D, note='over dimension 1')
case('normalize_last', Net(lambda s, x: F.normalize(x, dim=-1)), (4, 12))
case('normalize_p1', Net(lambda s, x: F.normalize(x, p=1, dim=-1)), (4, 12))
case('norm_by_hand_layer', Net(lambda s, x: s.w * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-6) + s.b, w=par(12), b=par(12)), (2, 5, 12))
case('norm_by_hand_channels', Net(lambda s, x: (lambda u: s.w[:, None, None] * (u / torch.sqrt(u.pow(2).mean(1, keepdim=True) + 1e-6)) + s.b[:, None, None])(x - x.mean(1, keepdim=True)), w=par(6), b=par(6)), (2, 6, 4, 3), note='as in ConvNeXt')
case('norm_by_hand_rms', Net(lambda s, x: s.w * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)), w=par(12)), (2, 5, 12), note='as in Llama')
case('cumsum', act(lambda x: torch.cumsum(x, 1)), X)
case('cumsum_last', act(lambda x: x.cumsum(-1)), D)
case('argmax', Net(lambda s, x: s.fc(x).argmax(-1), fc=nn.Linear(6, 5)), (1, 6), note='int64 output')

# ------------------------------------------------------------------------------------------ shapes

case('flatten', Net(lambda s, x: torch.flatten(x, 1)), V)
case('flatten_2', Net(lambda s, x: x.flatten(2)), V)
case('flatten_all', Net(lambda s, x: x.flatten()), V)
case('view', Net(lambda s, x: x.view(1, 4, 15)), V)
case('reshape_minus1', Net(lambda s, x: x.reshape(1, -1, 5)), V)
case('unflatten', Net(lambda s, x: x.unflatten(1, (2, 3))), (1, 6, 4))
case('permute', Net(lambda s, x: x.permute(0, 2, 3, 1)), V, note='the output is a view with permuted strides')
case('permute_add', Net(lambda s, x: x.permute(0, 2, 3, 1) + 1.0), V, note='elementwise ops keep permuted strides')
case('transpose', Net(lambda s, x: x.transpose(1, 2)), V)
case('transpose_negative', Net(lambda s, x: x.transpose(-1, -2).contiguous()), V)
case('T', Net(lambda s, x: x.T), (3, 5))
case('squeeze', Net(lambda s, x: x.squeeze()), (1, 3, 1, 5))
case('squeeze_dim', Net(lambda s, x: x.squeeze(2)), (1, 3, 1, 5))
case('squeeze_dims', Net(lambda s, x: x.squeeze((2, 3))), (1, 3, 1, 1))
case('unsqueeze', Net(lambda s, x: x.unsqueeze(1)), (1, 3, 5))
case('expand_output', Net(lambda s, x: x.expand(1, 3, 4, 5)), (1, 3, 1, 1), note='strides of 0')
case('shapes_more', Net(lambda s, x: (x.swapaxes(1, 3).movedim(1, -1), x.mT + 1, x.squeeze(1), x.unsqueeze(-1), x.repeat(1, 2, 1, 3), x[:, None, 1],
     F.channel_shuffle(x[:, :2], 2), x[:, :1].expand(-1, 3, 4, 5) + 1)), V)
case('size_view', Net(lambda s, x: x.view(x.size(0), x.shape[1] * x.shape[2], -1)), V)
case('conv_flatten_linear', Net(lambda s, x: s.fc(torch.flatten(F.relu(s.conv(x)), 1)), conv=nn.Conv2d(3, 4, 3), fc=nn.Linear(16, 3)),
     (1, 3, 4, 4), note='the features of the linear are in C, H, W order')
case('vit_patches', Net(lambda s, x: s.conv(x).flatten(2).transpose(1, 2), conv=nn.Conv2d(3, 5, 4, stride=4)), X)
case('vit_tokens', Net(lambda s, x: torch.cat([s.cls.expand(x.shape[0], -1, -1), s.conv(x).flatten(2).transpose(1, 2)], 1) + s.pos,
     conv=nn.Conv2d(3, 5, 4, stride=4), cls=par(1, 1, 5), pos=par(1, 5, 5)), X)
case('conv_permute_linear', Net(lambda s, x: s.fc(s.conv(x).permute(0, 2, 3, 1)), conv=nn.Conv2d(3, 4, 3), fc=nn.Linear(4, 5)), (1, 3, 5, 5))
case('channel_shuffle', Net(lambda s, x: s.conv(x).reshape(1, 2, 3, 4, 4).transpose(1, 2).reshape(1, 6, 4, 4), conv=nn.Conv2d(3, 6, 1)), (1, 3, 4, 4))
case('pixel_shuffle', Net(lambda s, x: F.pixel_shuffle(x, 2)), (1, 8, 3, 3))
case('upsample_nearest', Net(lambda s, x: F.interpolate(x, scale_factor=2, mode='nearest')), (1, 3, 4, 4))
case('upsample_bilinear', Net(lambda s, x: F.interpolate(x, size=(6, 8), mode='bilinear', align_corners=False)), (1, 3, 3, 4))

# ------------------------------------------------------------------- transposed convolution, resizing
case('conv_transpose_2d', Net(lambda s, x: (s.a(x), s.b(x), s.c(x), s.d(x), s.e(x)), a=nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1),
     b=nn.ConvTranspose2d(4, 6, (2, 3), stride=(3, 1), groups=2, bias=False), c=nn.ConvTranspose2d(4, 2, 3, dilation=(2, 3), padding=(1, 2)),
     d=nn.ConvTranspose2d(4, 8, 4, stride=2, padding=1, groups=4), e=nn.ConvTranspose2d(4, 3, 2, stride=3, output_padding=(2, 1))), (2, 4, 5, 6))
case('conv_transpose_1d', Net(lambda s, x, y: (s.a(x), s.b(x), s.a(y)), a=nn.ConvTranspose1d(4, 6, 5, stride=3, padding=2, output_padding=1),
     b=nn.ConvTranspose1d(4, 4, 3, stride=2, dilation=2, groups=2)), (2, 4, 7), (4, 6), note='y has no batch')
case('conv_transpose_core', Net(lambda s, x: s.b(F.relu(s.a(x))).flatten(1), a=nn.ConvTranspose2d(3, 4, 3, stride=2, padding=1), b=nn.ConvTranspose2d(4, 2, 2, stride=2, groups=2)),
     (1, 3, 4, 5), core=True)
case('conv_transpose_core_1d', Net(lambda s, x: s.a(x), a=nn.ConvTranspose1d(3, 4, 3, stride=2, padding=1)), (1, 3, 8), core=True)
case('conv_transpose_batch_norm', Net(lambda s, x: F.relu(s.n(s.a(x))), a=nn.ConvTranspose2d(4, 6, 3, stride=2, groups=2), n=nn.BatchNorm2d(6)), (1, 4, 3, 4))
case('conv_transpose_functional', Net(lambda s, x, w: F.conv_transpose2d(x, s.w * 2)[:, :, 1:] + w, w=par(3, 2, 3, 3)), (1, 3, 4, 4), (1, 2, 5, 6), note='computed weights')
case('conv_transpose_of_input', Net(lambda s, x, w: F.conv_transpose2d(x, w)), (1, 3, 4, 4), (3, 2, 3, 3), note='weights are an input',
     op='aten.conv_transpose2d.input')
case('conv_channel_multiplier', Net(lambda s, x, y: (s.a(x), s.b(x), s.c(y)), a=nn.Conv2d(3, 9, 3, groups=3, padding=1), b=nn.Conv2d(3, 6, (3, 2), groups=3, stride=2, dilation=(1, 2)),
     c=nn.Conv1d(4, 12, 5, groups=4, padding=4, dilation=2)), (1, 3, 7, 8), (2, 4, 16))
case('conv1d_groups_dilation', Net(lambda s, x: (s.a(x), s.b(x)), a=nn.Conv1d(6, 4, 3, groups=2, dilation=3, padding='same'), b=nn.Conv1d(6, 6, 3, groups=6, dilation=4, padding=4, stride=2)), (2, 6, 20))
case('resize_nearest', Net(lambda s, x: (F.interpolate(x, scale_factor=(2, 3)), F.interpolate(x, size=(3, 11)), F.interpolate(x, scale_factor=2.5), F.interpolate(x, scale_factor=(0.6, 1.3)),
     F.interpolate(x, scale_factor=1.7, recompute_scale_factor=True), F.interpolate(x, size=(5, 7)), F.interpolate(x, scale_factor=1.99))), (2, 3, 5, 7))
case('resize_nearest_exact', Net(lambda s, x: (F.interpolate(x, scale_factor=2, mode='nearest-exact'), F.interpolate(x, size=(3, 11), mode='nearest-exact'),
     F.interpolate(x, scale_factor=(0.6, 2.7), mode='nearest-exact'))), (1, 3, 5, 7))
case('resize_1d', Net(lambda s, x: (F.interpolate(x, scale_factor=3), F.interpolate(x, size=5), F.interpolate(x, scale_factor=1.3, mode='nearest-exact'), F.interpolate(x, scale_factor=1.7, mode='linear'),
     F.interpolate(x, size=17, mode='linear', align_corners=True), F.interpolate(x, size=4, mode='area'))), (2, 3, 9))
case('resize_bilinear', Net(lambda s, x: [F.interpolate(x, mode='bilinear', align_corners=a, **k) for a in (False, True)
     for k in (dict(scale_factor=2), dict(scale_factor=(1.6, 2.3)), dict(size=(3, 4)), dict(size=(1, 20)), dict(scale_factor=1.6, recompute_scale_factor=True), dict(size=(5, 7)))]), (1, 2, 5, 7))
case('resize_odd_scales', Net(lambda s, x, y: [F.interpolate(x, scale_factor=f, mode=m) for m in ('nearest', 'nearest-exact', 'bilinear') for f in ((1.17, 2.09), (2.1, 1.06))]
     + [F.interpolate(y, scale_factor=(1.005, 2.006)), F.interpolate(y.contiguous(memory_format=CL), scale_factor=(1.005, 2.006))]), (1, 2, 5, 9), (1, 4, 1, 130), note='sizes that stay or double by scales that do not')
case('resize_core', Net(lambda s, x: (F.interpolate(x, scale_factor=2, mode='bilinear'), F.interpolate(x, scale_factor=2))), (1, 3, 4, 5), core=True)
case('resize_module', Net(lambda s, x: (s.a(x), s.b(x), s.c(x)), a=nn.Upsample(scale_factor=2), b=nn.UpsamplingBilinear2d(scale_factor=2), c=nn.UpsamplingNearest2d(size=(9, 4))), (1, 3, 4, 5), fmt=CL)
case('resize_bicubic', Net(lambda s, x: F.interpolate(x, scale_factor=2, mode='bicubic')), (1, 3, 4, 5))
case('pool_1d', Net(lambda s, x, y: (F.max_pool1d(x, 3), F.max_pool1d(x, 3, stride=2, padding=1, dilation=2), F.max_pool1d(y, 2), F.avg_pool1d(x, 4, stride=3, padding=2),
     F.avg_pool1d(x, 3, count_include_pad=False, padding=1), F.adaptive_avg_pool1d(x, 4), F.adaptive_max_pool1d(x, 5), F.avg_pool1d(y, 3, ceil_mode=True), F.adaptive_avg_pool1d(y, 1))), (2, 3, 14), (3, 11))
case('pool_ceil', Net(lambda s, x: (F.max_pool2d(x, 3, 2, ceil_mode=True), F.max_pool2d(x, 2, 3, 1, ceil_mode=True), F.max_pool2d(x, (2, 3), (2, 4), (1, 0), dilation=(2, 1), ceil_mode=True),
     F.avg_pool2d(x, 3, 2, ceil_mode=True), F.avg_pool2d(x, 3, 2, 1, ceil_mode=True), F.avg_pool2d(x, 2, 3, 1, ceil_mode=True), F.avg_pool2d(x, (2, 3), (3, 2), (1, 1), ceil_mode=True, count_include_pad=False),
     F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, divisor_override=5), F.avg_pool2d(x, 4, 3, 2, divisor_override=3), F.avg_pool2d(x, 2, divisor_override=1))), (1, 2, 10, 12))
case('adaptive_any', Net(lambda s, x, y: (F.adaptive_avg_pool2d(x, (3, 5)), F.adaptive_max_pool2d(x, (5, 3)), F.adaptive_avg_pool2d(x, (None, 4)), F.adaptive_avg_pool2d(y, (9, 13)), F.adaptive_max_pool2d(y, (2, 11)),
     F.adaptive_avg_pool2d(x, (7, 20)))), (2, 3, 7, 11), (3, 5, 6))
case('pad_modes', Net(lambda s, x, y: (F.pad(x, (1, 2, 3, 0), 'reflect'), F.pad(x, (1, 2, 3, 4), 'replicate'), F.pad(x, (2, 1, 4, 3), 'circular'), F.pad(y, (3, 2), 'reflect'),
     F.pad(y, (7, 0), 'replicate'), F.pad(y, (1, 5), 'circular'), F.pad(x, (1, -1, 2, -2), 'constant', 0.5), F.pad(x[0], (2, 2, 1, 1), 'reflect'))), (1, 2, 5, 4), (2, 3, 6))
case('pad_core', Net(lambda s, x: (F.pad(x, (1, 2, 3, 0), 'reflect') + 1, s.a(x)), a=nn.Sequential(nn.ReflectionPad2d(1), nn.Conv2d(2, 3, 3))), (1, 2, 5, 4), core=True)
case('pad_conv_modes', Net(lambda s, x: (s.a(x), s.b(x), s.c(x)), a=nn.Conv2d(2, 3, 3, padding=1, padding_mode='reflect'), b=nn.Conv2d(2, 3, 5, padding=2, padding_mode='replicate'),
     c=nn.Conv2d(2, 3, 3, padding=1, padding_mode='circular')), (1, 2, 6, 5))
case('rearranged', Net(lambda s, x: (x.flip(-1), x.flip((1, 2)), x.roll(2, -1), x.roll((1, -2), (0, 3)), x.roll(7), x.repeat_interleave(3, 1), x.repeat_interleave(2), x.tile((2, 1)), x.repeat(2, 1, 3, 1, 1),
     x.unfold(2, 3, 2), x.flip(()), torch.fliplr(x[0, 0]), torch.flipud(x))), (2, 3, 4, 5))
case('repeat_interleave_list', Net(lambda s, x: x.repeat_interleave(s.n, dim=1, output_size=6), n=Buffer(torch.tensor([1, 2, 3]))), (2, 3, 4))
case('shuffles', Net(lambda s, x: (F.pixel_shuffle(x, 2), F.pixel_unshuffle(x, 3), F.channel_shuffle(x, 4), torch.native_channel_shuffle(x, 2), F.pixel_shuffle(x[0], 2))), (2, 8, 3, 6))
case('shuffle_net_block', Net(lambda s, x: torch.cat([x[:, :4], s.b(s.a(x[:, 4:]))], 1).view(1, 2, 4, 6, 6).transpose(1, 2).reshape(1, 8, 6, 6), a=nn.Conv2d(4, 4, 1), b=nn.Conv2d(4, 4, 3, padding=1, groups=4)), (1, 8, 6, 6))
case('unfold_image', Net(lambda s, x: (F.unfold(x, 3), F.unfold(x, (2, 3), dilation=(1, 2), padding=(1, 2), stride=(2, 1)), F.unfold(x[0], 2, stride=2))), (2, 3, 6, 7))
case('glu_diff', Net(lambda s, x: (F.glu(x), F.glu(x, 1), torch.diff(x), torch.diff(x, n=2, dim=1), torch.diff(x, dim=2, prepend=x[:, :, :1], append=x[:, :, :2]))), (2, 4, 3, 6))

# ------------------------------------------------------------------------- concatenation and slices

case('cat_dim1', Net(lambda s, x, y: torch.cat([x, y], 1)), V, (1, 2, 4, 5))
case('cat_dim2', Net(lambda s, x, y: torch.cat((x, y), dim=2)), V, (1, 3, 2, 5))
case('cat_three', Net(lambda s, x, y, z: torch.cat([x, y, z], 1)), V, (1, 1, 4, 5), (1, 2, 4, 5))
case('cat_last', Net(lambda s, x, y: torch.cat([x, y], -1)), V, V)
case('cat_batch', Net(lambda s, x, y: torch.cat([x, y], 0)), V, V)
case('cat_self', Net(lambda s, x: torch.cat([x, x], 1)), V)
case('cat_constant', Net(lambda s, x: torch.cat([x, s.b], 1), b=buf(1, 2, 4, 5)), V)
case('stack', Net(lambda s, x, y: torch.stack([x, y], 1)), (1, 3, 5), (1, 3, 5))
case('slice_channels', Net(lambda s, x: x[:, 1:3]), V, note='the output is not dense')
case('slice_channels_relu', Net(lambda s, x: F.relu(x[:, 1:3])), V)
case('slice_step2', Net(lambda s, x: x[:, :, ::2]), V)
case('slice_negative', Net(lambda s, x: x[:, -2:, :-1, -3:-1] * 2), V)
case('slice_past_end', Net(lambda s, x: x[:, :, 2:100] + 1), V)
case('select', Net(lambda s, x: x[:, 0]), V)
case('select_negative', Net(lambda s, x: x[:, -1] + x.select(1, 1)), V)
case('split_int', Net(lambda s, x: (lambda p: p[0] + p[1] + p[2])(torch.split(x, 2, dim=1))), (1, 6, 4, 5))
case('split_int_rest', Net(lambda s, x: torch.split(x, 4, dim=1)), (1, 6, 4, 5), note='last part is smaller; two outputs')
case('split_list', Net(lambda s, x: (lambda p: p[0] + p[2].mean(1, keepdim=True) + p[1])(torch.split(x, [2, 2, 3], 1))), (1, 7, 4, 5))
case('split_unused', Net(lambda s, x: torch.split(x, [2, 2, 3], 1)[1] + 1), (1, 7, 4, 5), note='two parts are never used')
case('chunk', Net(lambda s, x: (lambda p: p[0] * torch.sigmoid(p[1]))(x.chunk(2, 1))), (1, 6, 4, 5))
case('unbind', Net(lambda s, x: (lambda p: p[0] - p[2])(x.unbind(1))), V)

# ----------------------------------------------------------------------------------------- padding

case('pad_zero', Net(lambda s, x: F.pad(x, (1, 2, 0, 1))), V)
case('pad_value', Net(lambda s, x: F.pad(x, (1, 1, 2, 0), value=1.5)), V)
case('pad_negative', Net(lambda s, x: F.pad(x, (-1, 0, -1, -1))), V, note='crops')
case('pad_channels', Net(lambda s, x: F.pad(x, (0, 0, 0, 0, 1, 2))), V)
case('pad_tf_same', Net(lambda s, x: s.b(F.pad(F.relu(s.a(x)), (0, 1, 0, 1))), a=nn.Conv2d(3, 4, 3, padding=1), b=nn.Conv2d(4, 5, 3, stride=2)), X)
case('pad_value_conv', Net(lambda s, x: s.b(F.pad(s.a(x), (1, 1, 1, 1), value=0.5)), a=nn.Conv2d(3, 4, 1), b=nn.Conv2d(4, 2, 3)), (1, 3, 5, 5))
case('pad_module', Net(lambda s, x: s.c(s.p(x)), p=nn.ZeroPad2d((1, 0, 1, 0)), c=nn.Conv2d(3, 4, 3)), (1, 3, 5, 5))
case('pad_reflect', Net(lambda s, x: F.pad(x, (1, 1, 1, 1), mode='reflect')), V)

# ------------------------------------------------------------------------- identities and constants

case('dropout', Net(lambda s, x: s.fc(s.d(x)), d=nn.Dropout(0.5), fc=nn.Linear(6, 5)), (1, 6))
case('detach', Net(lambda s, x: s.fc(x).detach(), fc=nn.Linear(6, 5)), (1, 6))
case('contiguous', Net(lambda s, x: s.conv(x).contiguous(), conv=nn.Conv2d(3, 4, 3)), X)
case('clone', Net(lambda s, x: x.clone()), V)
case('to_float32', Net(lambda s, x: F.relu(x).to(torch.float32)), V)
case('identity', Net(lambda s, x: s.c(s.i(x)), i=nn.Identity(), c=nn.Conv2d(3, 4, 1)), V)
case('const_tensor', Net(lambda s, x: x + torch.tensor([1.0, -2.0, 0.5]).view(3, 1, 1)), V, note='lifted constant')
case('const_tensor_2', Net(lambda s, x: x * torch.tensor(2.5) + torch.tensor([[0.5], [1.0], [1.5], [2.0]])), V, note='a 0-D and a 2-D lifted constant')
case('const_ones', Net(lambda s, x: x + torch.ones(1, 3, 1, 1)), V)
case('const_full', Net(lambda s, x: x * torch.full((1, 3, 1, 1), 0.25)), V)
case('const_linspace', Net(lambda s, x: x + torch.linspace(0, 1, 5)), V, note='a constant that a table may leave out')
case('const_more', Net(lambda s, x: (x + torch.arange(5, dtype=torch.float32), torch.cat([x, torch.zeros_like(x)], 1),
     torch.cat([x, x.new_full((1, 1, 4, 5), 3.0)], 1))), V)
case('const_int_index', Net(lambda s, x: x[:, torch.tensor([2, 0])]), V, note='gather with a constant int64 index')
case('buffer_not_persistent', Net(lambda s, x: x + s.b, b=buf(3, 1, 1, persistent=False)), V)
case('buffer_int', Net(lambda s, x: x * s.b, b=Buffer(torch.tensor([1, 2, 3]).view(3, 1, 1))), V, note='int64 buffer: promoted to float')
case('buffer_bool', Net(lambda s, x: torch.where(s.b, x, -x), b=Buffer(torch.tensor([True, False, True]).view(3, 1, 1))), V)
case('parameter_unused', Net(lambda s, x: s.a(x), a=nn.Linear(6, 5), b=nn.Linear(3, 3)), (1, 6), note='weights that the graph does not use')
case('storage_transposed', Net(lambda s, x: F.linear(x, s.w), w=nn.Parameter(torch.zeros(6, 5).t())), (1, 6), note='a weight with strides (1, 5)')
case('storage_slice', (lambda big: Net(lambda s, x: F.linear(x, s.w) + s.b, big=Buffer(big), w=Buffer(big[2:7]), b=Buffer(big[8, 1:6])))(torch.zeros(10, 6)),
     (1, 6), note='three names, one storage, offsets 0, 12 and 49')
case('storage_channel_slice', (lambda big: Net(lambda s, x: F.conv2d(x, s.w) + F.conv2d(x, s.v), big=Buffer(big), w=Buffer(big[:, 1:4]), v=Buffer(big[:, ::2])))(torch.zeros(4, 6, 3, 3)),
     X, note='weights that are not dense in their storage')
case('storage_alone', Net(lambda s, x: F.linear(x, s.w), w=Buffer(torch.zeros(9, 6)[3:8])), (1, 6), note='one name, a storage larger than the tensor')
case('storage_channels_last', Net(lambda s, x: s.conv(x), conv=nn.Conv2d(3, 4, 3).to(memory_format=CL)), X, note='channels-last weight, contiguous input')

# --------------------------------------------------------------------------------- channels last


def convnet(fn=None, **kw):
    """Applies `fn` to the input."""
    def forward(s, x):
        x = s.pool(s.act(s.bn(s.a(fn(x) if fn else x))))
        x = s.b(x) + x
        return s.fc(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))
    return Net(forward, a=nn.Conv2d(3, 4, 3, padding=1), bn=nn.BatchNorm2d(4), act=nn.ReLU(), pool=nn.MaxPool2d(2),
               b=nn.Conv2d(4, 4, 3, padding=1), fc=nn.Linear(4, 3))


def feature_net(fn=None):
    """Applies `fn` to the input; the output is 4-D."""
    def forward(s, x):
        x = s.pool(s.act(s.bn(s.a(fn(x) if fn else x))))
        return s.b(x) + x
    return Net(forward, a=nn.Conv2d(3, 4, 3, padding=1), bn=nn.BatchNorm2d(4), act=nn.ReLU(), pool=nn.MaxPool2d(2),
               b=nn.Conv2d(4, 4, 3, padding=1))


def flat_net(fn=None):
    """Flattens an image of more than one pixel: the feature order must not depend on the strides."""
    return Net(lambda s, x: s.fc(torch.flatten(F.relu(s.a(fn(x) if fn else x)), 1)), a=nn.Conv2d(3, 4, 3), fc=nn.Linear(64, 3))


def layouts(name, net, shape, *only):
    """The same computation, exported in every variant that affects the memory format."""
    for key, model, fmt in [
            ('contiguous', net(), torch.contiguous_format),
            ('cl_input', net(), CL),
            ('cl_model', net().to(memory_format=CL), CL),
            ('cl_weights', net().to(memory_format=CL), torch.contiguous_format),
            ('cl_inside', net(lambda x: x.contiguous(memory_format=CL)), torch.contiguous_format),
            ('cl_clone', net(lambda x: x.clone(memory_format=CL)), torch.contiguous_format),
            ('cl_to', net(lambda x: x.to(memory_format=CL)), torch.contiguous_format),
            ('cl_undone', net(lambda x: x.contiguous()), CL)]:
        if not only or key in only:
            case(f'layout_{name}_{key}', model, shape, same=f'layout_{name}', fmt=fmt)


layouts('convnet', convnet, X, 'contiguous', 'cl_input', 'cl_model', 'cl_inside')
layouts('features', feature_net, X, 'contiguous', 'cl_input', 'cl_model', 'cl_inside', 'cl_undone')
layouts('flat', flat_net, (1, 3, 6, 6))
case('cl_view_flat', Net(lambda s, x: x.reshape(1, 3, -1)), V, fmt=CL, note='a view in eager PyTorch (batch 1), but the logical order is C, H, W')
case('cl_permute_view', Net(lambda s, x: x.permute(0, 2, 3, 1).view(1, 20, 3)), V, fmt=CL, note='the permuted value is contiguous')
case('cl_add_mixed', Net(lambda s, x, y: x + y.contiguous(memory_format=CL)), V, V, note='operands of two layouts')
case('cl_cat', Net(lambda s, x, y: torch.cat([x, y], 1)), V, V, fmt=CL)
case('cl_ones_like', Net(lambda s, x: x + torch.ones_like(x)), V, fmt=CL)

# ------------------------------------------------------------------------------ inputs and outputs

case('two_inputs', Net(lambda s, x, y: s.a(x) + s.b(y), a=nn.Conv2d(3, 4, 3), b=nn.Conv2d(2, 4, 1)), (1, 3, 6, 6), (1, 2, 4, 4))
case('two_outputs', Net(lambda s, x: (lambda c: (F.relu(c), s.fc(c.mean((2, 3)))))(s.conv(x)), conv=nn.Conv2d(3, 4, 3), fc=nn.Linear(4, 2)), X)
case('output_list', Net(lambda s, x: [x + 1, x * 2]), V)
case('output_single_tuple', Net(lambda s, x: (F.relu(x),)), V)
case('output_is_input', Net(lambda s, x: x), V)
case('output_is_input_too', Net(lambda s, x: (x, x + 1)), V)
case('output_twice', Net(lambda s, x: (lambda y: (y, y))(F.relu(x))), V)
case('output_constant', Net(lambda s, x: (x + 1, s.b + 1), b=buf(3)), V, note='the second output does not depend on the input')
case('output_parameter', Net(lambda s, x: (x + 1, s.b), b=par(3)), V, note='the second output is a parameter')
case('input_unused', Net(lambda s, x, y: F.relu(x)), V, (1, 2))
case('input_0d', Net(lambda s, x, y: x * y), V, ())

# ---------------------------------------------------------------------------------- larger shapes


def residual(s, x):
    x = F.relu(s.bn0(s.conv0(x)))
    y = F.relu(s.bn1(s.conv1(x)))
    y = s.bn2(s.conv2(y))
    y += s.down(x)
    return F.relu(y)


def inception(s, x):
    return torch.cat([s.a(x), s.b2(F.relu(s.b1(x))), s.c(F.avg_pool2d(x, 3, 1, 1)), F.max_pool2d(x, 3, 1, 1)], 1)


def squeeze_excite(s, x):
    x = s.conv(x)
    g = torch.sigmoid(s.up(F.relu(s.down(F.adaptive_avg_pool2d(x, 1)))))
    return x * g


def attention(s, x):
    b, n, c = x.shape
    q, k, v = s.qkv(x).reshape(b, n, 3, 2, c // 2).permute(2, 0, 3, 1, 4).unbind(0)
    a = (q @ k.transpose(-2, -1) * (c // 2) ** -0.5).softmax(-1)
    return s.out((a @ v).transpose(1, 2).reshape(b, n, c))


case('net_residual', Net(residual, conv0=nn.Conv2d(3, 4, 3, padding=1, bias=False), bn0=nn.BatchNorm2d(4),
     conv1=nn.Conv2d(4, 6, 3, stride=2, padding=1, bias=False), bn1=nn.BatchNorm2d(6), conv2=nn.Conv2d(6, 6, 3, padding=1, bias=False),
     bn2=nn.BatchNorm2d(6), down=nn.Sequential(nn.Conv2d(4, 6, 1, stride=2, bias=False), nn.BatchNorm2d(6))), X)
case('net_inception', Net(inception, a=nn.Conv2d(3, 2, 1), b1=nn.Conv2d(3, 2, 1), b2=nn.Conv2d(2, 3, 3, padding=1), c=nn.Conv2d(3, 2, 1)), (1, 3, 6, 6))
case('net_squeeze_excite', Net(squeeze_excite, conv=nn.Conv2d(3, 8, 3), down=nn.Conv2d(8, 2, 1), up=nn.Conv2d(2, 8, 1)), (1, 3, 6, 6))
case('net_attention', Net(attention, qkv=nn.Linear(8, 24), out=nn.Linear(8, 8)), (1, 4, 8))
case('matmul_vectors', Net(lambda s, x, y: (torch.matmul(x, y), torch.matmul(y, x.flatten()), torch.matmul(x.flatten(), y.T), torch.dot(x.flatten(), x.flatten()), torch.mv(y, x.flatten()))), (5, 1), (1, 5),
     note='ranks 1 and 2')
case('matmul_batches', Net(lambda s, x, y, z: (torch.matmul(x, y), torch.matmul(x, z), torch.matmul(z.mT, y[0]), y.transpose(1, 2) @ x.transpose(-1, -2))), (2, 3, 4), (2, 4, 5), (2, 1, 4, 6))
case('matmul_constant_left', Net(lambda s, x: (s.w @ x, s.b @ x), w=par(4, 3), b=par(2, 1, 3)), (2, 3, 5), note='a constant as the first operand')
case('matmul_scaled', Net(lambda s, x, y: (torch.baddbmm(x @ y, x, y, beta=0.5, alpha=-2), torch.addbmm(x[0] @ y[0], x, y, alpha=0.25), torch.addmm(x[1] @ y[1], x[0], y[0], beta=0, alpha=3))), (2, 3, 4), (2, 4, 5))
case('linear_computed', Net(lambda s, x, y: F.linear(x, y, y.mean(1))), (2, 3, 4), (5, 4), note='weight and bias are activations')
case('einsum_products', Net(lambda s, x, y: (torch.einsum('bhqd,bhkd->bhqk', x, y), torch.einsum('bhqd,bhkd->bqhk', x, y), torch.einsum('bhqd,bhkd->bkqh', x, y), torch.einsum('...qd,...kd', x, y))),
     (2, 3, 4, 5), (2, 3, 6, 5))
case('einsum_weights', Net(lambda s, x: (torch.einsum('bnc,hcd->bhnd', x, s.w), torch.einsum('bnc,c->bn', x, s.w[0, :, 0]), torch.einsum('bnc,bnc->bnc', x, x), torch.einsum('bi,bj->bij', x[:, 0], x[:, 1])), w=par(2, 4, 5)),
     (2, 3, 4), note='constants, products without a sum')
case('einsum_three', Net(lambda s, x, y: torch.einsum('bij,bjk,bkl->bil', x, y, x)), (2, 3, 4), (2, 4, 3))
case('sdpa_plain', Net(lambda s, x, y: F.scaled_dot_product_attention(x, y, y)), (2, 2, 3, 4), (2, 2, 5, 4))
case('sdpa_causal', Net(lambda s, x: F.scaled_dot_product_attention(x, x, x, is_causal=True, scale=0.3)), (1, 2, 5, 4))
case('sdpa_masks', Net(lambda s, x, y: (F.scaled_dot_product_attention(x, x, x, attn_mask=s.m), F.scaled_dot_product_attention(x, x, x, attn_mask=torch.ones(5, 5).tril().bool()),
     F.scaled_dot_product_attention(x, x, x, attn_mask=y)), m=buf(5, 5)), (1, 2, 5, 4), (5, 5), note='float, bool and computed masks')
case('sdpa_grouped', Net(lambda s, x, y: F.scaled_dot_product_attention(x, y, y, enable_gqa=True, attn_mask=torch.ones(3, 5).tril(1).bool())), (2, 4, 3, 6), (2, 2, 5, 6))
case('mask_buffer_infinite', Net(lambda s, x: (x @ x.transpose(1, 2) + s.m).softmax(-1) @ x, m=Buffer(torch.zeros(4, 4))), (1, 4, 8), keep=dict(m=torch.full((4, 4), float('-inf')).triu(1)),
     note='-inf in a buffer')
case('mha', Net(lambda s, x: s.a(x, x, x, need_weights=False)[0].contiguous(), a=nn.MultiheadAttention(8, 2, batch_first=True)), (2, 5, 8))
case('mha_weights', Net(lambda s, x, y: s.a(x, y, y), a=nn.MultiheadAttention(8, 2, batch_first=True)), (2, 5, 8), (2, 3, 8), note='cross attention with its weights as a second output')
case('embedding', Net(lambda s, x: s.e(x), e=nn.Embedding(7, 4, padding_idx=0)), Ids(7, 2, 5))
case('embedding_int32', Net(lambda s, x: s.e(x) + s.p(torch.arange(5)), e=nn.Embedding(7, 4), p=nn.Embedding(5, 4)), Ids(7, 1, 5, dtype=torch.int32), note='and positions, which are constant')
case('index_select', Net(lambda s, x, y: (x.index_select(1, y), x.index_select(0, torch.tensor([1, 0])))), (2, 4, 3), Ids(4, 6))
case('gather_dims', Net(lambda s, x, y: (x.gather(1, y), x.transpose(1, 2).gather(-1, y.transpose(1, 2)))), (2, 4, 3), Ids(4, 2, 3, 3))
case('index_one', Net(lambda s, x, y: (x[:, y], x[y], x[..., y])), (6, 6, 6), Ids(6, 2, 3, low=-6), note='one index tensor, negative positions')
case('index_constants', Net(lambda s, x: (x[:, torch.tensor([0, 2]), torch.tensor([[1], [-1]])], x[torch.tensor([True, False, True])])), (3, 4, 5), note='neighbouring constant indices, a bool mask')
PATCHES = dict(same='patch_embedding', note='patches as a sequence: flatten(2) means logical order, whatever the memory format of the convolution')
case('patch_embedding', Net(lambda s, x: s.c(x).flatten(2).transpose(1, 2), c=nn.Conv2d(3, 8, 4, stride=4)), (1, 3, 16, 12), **PATCHES)
case('patch_embedding_cl', Net(lambda s, x: s.c(x).flatten(2).transpose(1, 2), c=nn.Conv2d(3, 8, 4, stride=4)).to(memory_format=CL), (1, 3, 16, 12), fmt=CL, **PATCHES)
case('patch_flatten_cl', Net(lambda s, x: s.c(x).flatten(2), c=nn.Conv2d(3, 8, 4, stride=4)).to(memory_format=CL), (1, 3, 16, 12), fmt=CL, note='the flattened patches are the output')
case('patch_linear_cl', Net(lambda s, x: s.fc(s.c(x).flatten(2)), c=nn.Conv2d(3, 8, 4, stride=4), fc=nn.Linear(12, 5)).to(memory_format=CL), (1, 3, 16, 12), fmt=CL, note='a linear layer over positions')
case('softmax_dims', Net(lambda s, x: tuple(x.softmax(d) for d in range(4)) + (x.log_softmax(1),)), (2, 3, 4, 5))
case('net_lstm', Net(lambda s, x: s.lstm(x)[0], lstm=nn.LSTM(3, 4, batch_first=True)), (1, 5, 3))
case('net_embedding_like', Net(lambda s, x: F.embedding(x.long().clamp(0, 4), s.w), w=par(5, 3)), (1, 4), note='float to int64 inside the graph',
     expect='unsupported', op='aten.to.dtype')
case('batch4_convnet', convnet(), (4, 3, 8, 8))

# ------------------------------------------------------------------- recurrent layers and state

lstm = lambda s, x: (lambda r: (r[0], *r[1]))(s.rnn(x))
layer = lambda s, x: s.rnn(x)

case('lstm', Net(lstm, rnn=nn.LSTM(3, 4)), (6, 2, 3), note='output, h_n and c_n')
case('lstm_bidirectional', Net(lstm, rnn=nn.LSTM(3, 4, num_layers=2, bidirectional=True, batch_first=True)), (2, 5, 3))
case('lstm_no_bias', Net(lstm, rnn=nn.LSTM(3, 4, bias=False)), (5, 3), note='without batch')
case('lstm_states', Net(lambda s, x, y, z: (lambda r: (r[0], *r[1]))(s.rnn(x, (y, z))), rnn=nn.LSTM(3, 4, num_layers=2)), (5, 1, 3), (2, 1, 4), (2, 1, 4), note='h0 and c0 given')
case('lstm_projection', Net(lstm, rnn=nn.LSTM(3, 4, proj_size=2)), (5, 1, 3), expect='unsupported', op='aten.lstm.input')
case('gru', Net(layer, rnn=nn.GRU(3, 4, num_layers=2, bidirectional=True, batch_first=True)), (2, 5, 3))
case('gru_state', Net(lambda s, x, y: s.rnn(x, y), rnn=nn.GRU(3, 4, bias=False)), (5, 2, 3), (1, 2, 4))
case('rnn_tanh', Net(layer, rnn=nn.RNN(3, 4, bidirectional=True)), (5, 2, 3))
case('rnn_relu', Net(layer, rnn=nn.RNN(3, 4, num_layers=2, nonlinearity='relu')), (5, 2, 3))
case('lstm_cell', Net(lambda s, x, y, z: s.rnn(x, (y, z)), rnn=nn.LSTMCell(3, 4)), (2, 3), (2, 4), (2, 4))
case('gru_cell', Net(lambda s, x, y: s.rnn(x, y), rnn=nn.GRUCell(3, 4)), (2, 3), (2, 4))
case('rnn_cell', Net(lambda s, x, y: s.b(s.a(x, y), y), a=nn.RNNCell(3, 4), b=nn.RNNCell(4, 4, nonlinearity='relu')), (2, 3), (2, 4))
case('core_lstm', Net(lstm, rnn=nn.LSTM(3, 4)), (3, 1, 3), core=True, note='core ATen has no lstm: it is unrolled')


def streaming(s, x):
    z = torch.cat([s.past, x], 2)
    s.past.copy_(z[:, :, -2:])
    s.count.add_(1)
    return s.conv(z)


def rolled_cache(s, x):
    s.k.copy_(torch.cat([s.k[:, 1:], s.key(x)], 1))
    s.v = torch.cat([s.v[:, 1:], s.value(x)], 1)
    return (s.k * s.v * s.query(x)).mean(1)


def scattered_cache(s, x):
    s.k[:, 1:] = s.k[:, :-1].clone()
    s.k[:, 0] = s.key(x)
    return s.k.mean(1)


def exchanged(s, x):
    a, b = s.a.clone(), s.b.clone()
    s.a.copy_(b)
    s.b.copy_(a + x)
    return s.a - x, s.b


def leaky(s, x):
    s.h.mul_(0.5).add_(x)
    return s.h[:, :2], s.h


state = lambda **k: dict(past=buf(1, 3, 2), count=Buffer(torch.tensor(0)), conv=nn.Conv1d(3, 4, 3), **k)
case('state_conv1d', Net(streaming, **state()), (1, 3, 1), steps=5, note='and a counter that nobody reads')
case('state_conv1d_core', Net(streaming, **state()), (1, 3, 1), steps=5, core=True)
case('state_cache_rolled', Net(rolled_cache, k=buf(1, 4, 3), v=buf(1, 4, 3, persistent=False), key=nn.Linear(3, 3), value=nn.Linear(3, 3), query=nn.Linear(3, 3)), (1, 1, 3), steps=6)
case('state_cache_scattered', Net(scattered_cache, k=buf(1, 4, 3), key=nn.Linear(3, 3)), (1, 3), steps=6)
case('state_cache_put', Net(lambda s, x: (s.k.__setitem__((slice(None), s.at), s.key(x)), s.k.mean(1))[1], k=buf(1, 4, 3), at=Buffer(torch.tensor([1, 3])), key=nn.Linear(3, 3)), (1, 2, 3), steps=3)
case('state_cache_copy', Net(lambda s, x: (s.k.index_copy_(1, s.at, s.key(x)), s.k.mean(1))[1], k=buf(1, 4, 3), at=Buffer(torch.tensor([2])), key=nn.Linear(3, 3)), (1, 1, 3), steps=3)
positions.add_cases(case, Net, Ids, buf)
case('state_exchanged', Net(exchanged, a=buf(1, 3), b=buf(1, 3)), (1, 3), steps=5)
case('state_leaky', Net(leaky, h=buf(1, 4)), (1, 4), steps=4, note='in place, twice, and read through a view')
case('state_gru', Net(lambda s, x: (lambda r: (s.h.copy_(r[1]), r[0])[1])(s.rnn(x, s.h)), h=buf(1, 1, 4), rnn=nn.GRU(3, 4)), (2, 1, 3), steps=4)
case('state_parameter', Net(lambda s, x: (s.w.detach().copy_(x), x + 1)[1], w=par(1, 3)), (1, 3), expect='unsupported', op='aten.copy_.default', note='a parameter is no state')

# ------------------------------------------------------------------------------------ dynamic sizes
N = lambda: {0: Dim('batch', min=1, max=16)}
HW = lambda: {2: Dim('height', min=8, max=32), 3: Dim('width', min=8, max=32)}
small = lambda fn: Net(fn, conv=nn.Conv2d(3, 4, 3, padding=1), bn=nn.BatchNorm2d(4))
case('dynamic_batch_convnet', convnet(), X, example=[(2, 3, 8, 8)], dims={'x': N()})
case('dynamic_batch_linear', Net(lambda s, x: s.fc(x), fc=nn.Linear(6, 5)), (1, 6), example=[(3, 6)], dims={'x': N()})
case('dynamic_batch_no_max', Net(lambda s, x: s.fc(x), fc=nn.Linear(6, 5)), (1, 6), example=[(3, 6)], dims={'x': {0: Dim('batch')}}, note='no upper bound')
case('dynamic_batch_auto', Net(lambda s, x: s.fc(x), fc=nn.Linear(6, 5)), (1, 6), example=[(3, 6)], dims={'x': {0: Dim.AUTO}}, note='the range starts at 2, by 0/1 specialization: 1 works')
case('dynamic_batch_view', Net(lambda s, x: s.fc(x.view(x.size(0), -1)), fc=nn.Linear(12, 5)), (1, 3, 4), example=[(3, 3, 4)], dims={'x': N()}, note='sym_size in a view')
case('dynamic_batch_two', Net(lambda s, x, y: x + y), (1, 4), (1, 4), example=[(3, 4), (3, 4)], dims=(lambda d: {'x': {0: d}, 'y': {0: d}})(Dim('batch', min=1, max=8)))
case('dynamic_hw_pool', small(lambda s, x: F.max_pool2d(s.conv(x), 2)), (1, 3, 9, 12), example=[(1, 3, 10, 14)], dims={'x': HW()}, note='sizes are expressions with a floor division')
case('dynamic_hw_flatten', small(lambda s, x: s.conv(x).flatten(2).transpose(1, 2)), (1, 3, 8, 12), example=[(1, 3, 10, 14)], dims={'x': HW()}, note='a product of two symbols')
case('dynamic_hw_reshape', small(lambda s, x: (lambda c: c.reshape(c.shape[0], 2, 2 * c.shape[2], c.shape[3]))(s.conv(x))), (1, 3, 8, 12), example=[(1, 3, 10, 14)], dims={'x': HW()}, note='arithmetic on sizes in the graph')
case('dynamic_hw_derived', Net(lambda s, x: F.avg_pool2d(x, 2)), (1, 3, 8, 4), example=[(1, 3, 12, 4)], dims={'x': {2: 2 * Dim('half', min=2, max=16)}}, note='the size is 2 * half')
case('dynamic_all', small(lambda s, x: F.adaptive_avg_pool2d(s.conv(x), 1).flatten(1)), (1, 3, 8, 12), example=[(2, 3, 10, 14)], dims={'x': N() | HW()})

# -------------------------------------------------------------- weights by formula, grids, metrics


def weight_normed(norm):
    return Net(lambda s, x: s.up(s.fc(s.conv(x))), conv=norm(nn.Conv1d(3, 4, 3)), fc=norm(nn.Linear(6, 6)), up=norm(nn.ConvTranspose1d(4, 2, 3)))


case('weight_norm_old', weight_normed(nn.utils.weight_norm), (1, 3, 8))
case('weight_norm', weight_normed(nn.utils.parametrizations.weight_norm), (1, 3, 8))
case('weight_norm_core', weight_normed(nn.utils.parametrizations.weight_norm), (1, 3, 8), core=True)
case('weight_norm_whole', Net(lambda s, x: s.conv(x), conv=nn.utils.weight_norm(nn.Conv2d(3, 4, 3), dim=None)), X, note='one length for all channels')
case('spectral_norm', weight_normed(nn.utils.parametrizations.spectral_norm), (1, 3, 8))
case('weight_standardized', Net(lambda s, x: F.conv2d(x, (s.w - s.w.mean((1, 2, 3), keepdim=True)) / torch.sqrt(s.w.var((1, 2, 3), keepdim=True, unbiased=False) + 1e-5), padding=1), w=par(4, 3, 3, 3)), X)
case('weight_binary', Net(lambda s, x: F.conv2d(x, torch.sign(s.w) * s.w.abs().mean((1, 2, 3), keepdim=True)), w=par(4, 3, 3, 3)), X)
case('conv_of_input', Net(lambda s, x, w: F.conv2d(x, w)), (1, 3, 4, 4), (2, 3, 3, 3), note='weights are an input: there is no int8 form')
case('meshgrid', Net(lambda s, x: (lambda g: x * torch.stack(g[::-1], 2).float() + torch.stack(torch.meshgrid(torch.arange(5) + 0.5, torch.arange(4) * 2.0, indexing='xy'), -1))(torch.meshgrid(torch.arange(4), torch.arange(5), indexing='ij'))), (1, 4, 5, 2), note='the grid of a detector')
case('positions_by_arithmetic', Net(lambda s, x: x + s.e(torch.clamp(torch.arange(6)[:, None] - torch.arange(6)[None] + 5, 1, 9)).permute(2, 0, 1), e=nn.Embedding(11, 2)), (1, 2, 6, 6), note='a table of relative positions')
case('positions_in_place', Net(lambda s, x: x[:, torch.arange(4).add_(1)]), (2, 6), note='a constant of whole numbers is written to')
case('stack_constants', Net(lambda s, x: x[:, torch.stack([torch.arange(3), torch.arange(3) + 2]).flatten()] * torch.cat([torch.arange(2), torch.ones(4, dtype=torch.long)]).float()), (2, 6))
case('safe_softmax_core', Net(lambda s, x: s.l(F.scaled_dot_product_attention(x, x, x, attn_mask=torch.ones(5, 5).tril().bool()).transpose(1, 2).flatten(2)), l=nn.Linear(8, 3)), (1, 2, 5, 4), core=True)
case('adaptive_mean_core', Net(lambda s, x: F.adaptive_avg_pool2d(s.a(x.permute(0, 3, 1, 2)), 1), a=nn.Conv2d(3, 4, 3)), (1, 6, 5, 3), core=True, note='as_strided says the memory format')
case('roll_core', Net(lambda s, x: torch.roll(x, (-2, 3), (1, 2))), (1, 7, 5), core=True, note='positions by fmod')
case('any_all', Net(lambda s, x: (torch.where((x > 0).any(1), 1.0, 2.0), torch.where((x > -1).all(2, keepdim=True), x, -x), torch.where((x > 3).any(), x, x * 2))), V)
case('one_hot', Net(lambda s, x, i: (torch.cat([x, F.one_hot(i, 5).float()], -1), F.one_hot(x.argmax(1), 4) * x)), (3, 4), Ids(5, 3))
case('truth_to_whole', Net(lambda s, x: ((x > 0).long().float() * 3, x * (x < 1).to(torch.int32))), V)
case('embedding_bag', Net(lambda s, i: (s.a(i), s.b(i), s.c(i)), a=nn.EmbeddingBag(7, 4), b=nn.EmbeddingBag(7, 4, mode='sum'), c=nn.EmbeddingBag(7, 4, mode='max')), Ids(7, 2, 3))
case('similarities', Net(lambda s, x, y: (F.cosine_similarity(x, y), F.cosine_similarity(x[:, None], s.w, dim=-1), F.pairwise_distance(x, y), F.pairwise_distance(x, y, p=1, keepdim=True))
     + tuple(torch.cdist(x, s.w, p=p) for p in (2, 1, 3.0, float('inf'))), w=par(5, 6)), (3, 6), (3, 6))
case('errors', Net(lambda s, x, y: (F.mse_loss(x, y), F.mse_loss(x, y, reduction='none'), F.l1_loss(x, y, reduction='sum'), F.l1_loss(x, y, reduction='none'))), (3, 6), (3, 6))
case('bilinear', Net(lambda s, x, y: (s.a(x, y), s.b(x, y)), a=nn.Bilinear(4, 6, 3), b=nn.Bilinear(4, 6, 2, bias=False)), (2, 5, 4), (2, 5, 6))
case('core_rows', Net(lambda s, x, y, i: s.a(x, y) * s.e(i), a=nn.Bilinear(4, 6, 3), e=nn.EmbeddingBag(7, 3)), (2, 4), (2, 6), Ids(7, 2, 3), core=True)
case('stacks', Net(lambda s, x, y: (torch.hstack([x, y]), torch.vstack([x, y]), torch.hstack([x[0], y[0]]), torch.vstack([x[0], y[0]]), torch.column_stack([x[:, 0], y]))), (2, 3), (2, 3))
case('tensor_split', Net(lambda s, x: torch.tensor_split(x, 3, dim=1) + torch.tensor_split(x, (1, -2), dim=-1)), (2, 8))
case('products', Net(lambda s, x: (torch.outer(x[0], x[1]), x.prod(1), x[:, :5].prod(0, keepdim=True), x.prod(), x @ torch.eye(7, 3))), (2, 7))
case('remainders', Net(lambda s, x: (torch.remainder(x, 0.75), torch.fmod(x, 0.75), torch.frac(x), x % 2, torch.remainder(x, -0.5))), V)
case('functions_of_two', Net(lambda s, x, y: (torch.hypot(x, y), torch.logaddexp(x, y), torch.sgn(x), torch.logit(torch.sigmoid(x) * 0.98 + 0.01), torch.logit(y, eps=0.1))), V, V)
case('not_a_number', Net(lambda s, x: (torch.nan_to_num(x.sqrt(), nan=-2.0), torch.nan_to_num(x / 0, posinf=3.0), torch.where(torch.isnan(x.log()), x, x * 2))), V)
case('lerp_in_place', Net(lambda s, x, y: (x.clone().lerp_(y, 0.25), x.clone().tril_() + y.clone().triu_(1))), V, V)
case('fold', Net(lambda s, x: F.fold(x, (5, 7), (2, 3)) - F.fold(x, (8, 11), (2, 3), dilation=2, padding=1, stride=2)[:, :, 1:6, 2:9]), (2, 12, 20), note='patches that overlap')
case('fold_signal', Net(lambda s, x: F.fold(torch.tanh(s.l(x.unfold(-1, 8, 3))).transpose(1, 2), (1, 33), (1, 8), stride=(1, 3)).flatten(1), l=nn.Linear(8, 8)), (1, 33), note='no window reaches the end')
case('resize_bicubic_sizes', Net(lambda s, x: tuple(F.interpolate(x, size, mode='bicubic', align_corners=a) for size in ((9, 7), (3, 2)) for a in (False, True))), (1, 3, 4, 5))
case('resize_antialias', Net(lambda s, x: tuple(F.interpolate(x, size, mode=m, antialias=True) for size in ((4, 3), (12, 11)) for m in ('bilinear', 'bicubic'))), (1, 3, 9, 8))
case('local_response_norm', Net(lambda s, x: F.local_response_norm(s.a(x), 5, alpha=0.5), a=nn.Conv2d(3, 8, 3)), X)
case('volumes', Net(lambda s, x: (s.a(x), F.max_pool3d(s.b(x), 2, padding=1), F.avg_pool3d(x, (3, 2, 1), stride=2, padding=(1, 1, 0)), F.avg_pool3d(x, 3, padding=1, count_include_pad=False, ceil_mode=True, stride=2)), a=nn.Conv3d(4, 6, (3, 2, 3), stride=(2, 1, 1), padding=(1, 0, 2), dilation=(1, 2, 1), groups=2), b=nn.Conv3d(4, 4, 3, padding='same')), (2, 4, 6, 5, 7))
case('volumes_core', Net(lambda s, x: F.max_pool3d(F.relu(s.b(x)), 2), b=nn.Conv3d(2, 4, 3, padding=1)), (1, 2, 4, 6, 6), core=True)

# ----------------------------------------------------------------------------- refused; other dtypes

case('fft', act(lambda x: torch.fft.rfft(x).real), X)
case('grid_sample', Net(lambda s, x, y: F.grid_sample(x, y, align_corners=False)), X, (1, 4, 4, 2))
case('complex', Net(lambda s, x: x * s.b, b=Buffer(torch.zeros(3, 1, 1, dtype=torch.complex64))), V, dtype=torch.complex64, expect='unsupported', op='aten.mul.Tensor', note='complex64')
case('condition', Net(lambda s, x: torch.cond(x.sum() > 0, lambda v: v + 1, lambda v: v - 1, (x,))), V, note='a higher-order operator with subgraphs')
case('subclass_buffer', Net(lambda s, x: x + s.b, b=Buffer(torch.zeros(3, 1, 1).as_subclass(Tagged))), V, expect='bad', note='the payload is a pickle')
case('float64', Net(lambda s, x: F.relu(s.bn(s.conv(x))), conv=nn.Conv2d(3, 4, 3), bn=nn.BatchNorm2d(4)).double(), X, dtype=torch.float64)
case('float16', Net(lambda s, x: F.relu(s.conv(x)), conv=nn.Conv2d(3, 4, 3)).half(), X, dtype=torch.float16, tol=1e-2)
case('bfloat16', Net(lambda s, x: F.relu(s.conv(x)), conv=nn.Conv2d(3, 4, 3)).bfloat16(), X, dtype=torch.bfloat16, tol=3e-2, note='float32 in the .npz')
case('weights_bfloat16', Net(lambda s, x: F.linear(x, s.w.float(), s.b.float()), w=par(5, 6), b=par(5)).bfloat16(), (1, 6), note='bfloat16 weights, widened in the graph')

# --------------------------------------------------------------------------------------- core ATen

case('core_convnet', convnet(), X, core=True)
case('core_linear', Net(lambda s, x: s.fc(x), fc=nn.Linear(6, 5)), (1, 6), core=True, note='permute and addmm')
case('core_linear_3d', Net(lambda s, x: s.fc(x), fc=nn.Linear(6, 5)), (1, 3, 6), core=True)
case('core_relu6_pool', Net(lambda s, x: F.max_pool2d(F.relu6(s.conv(x)), 2), conv=nn.Conv2d(3, 4, 3, padding='same')), X, core=True,
     note='max_pool2d_with_indices and getitem')
case('core_split', Net(lambda s, x: (lambda p: p[0] + p[1])(x.chunk(2, 1))), (1, 6, 4, 5), core=True)
case('core_inplace', Net(lambda s, x: (lambda c: (c[:, :1].mul_(2), c)[1])(s.conv(x)), conv=nn.Conv2d(3, 3, 1)), V, core=True)
case('core_dynamic_view', Net(lambda s, x: s.fc(x.view(x.size(0), -1)), fc=nn.Linear(12, 5)), (1, 3, 4), example=[(3, 3, 4)], dims={'x': N()}, core=True)
case('core_constant', Net(lambda s, x: x + torch.tensor([1.0, -2.0, 0.5]).view(3, 1, 1)), V, core=True)

if __name__ == '__main__':
    for family in ['quantized_cases', 'spectrum_cases', 'vendor_cases', 'core_aten_cases', 'integer_cases', 'known_cases', 'mask_cases', 'graph_form_cases', 'torchao_cases']: __import__(family).add(sys.modules[__name__])
    sys.exit(main(sys.argv[1:]))
