"""Integers that are computed at run time: positions, masks, lengths."""
import torch
from torch import nn


def arithmetic(s, a, b):
    c = b.abs() + 1
    return (a + b * 2, torch.add(a, b, alpha=3), 3 - b, torch.sub(a, b, alpha=2), a * b, a // 3, a // c, a % -4, a % c,
            torch.div(a, 3, rounding_mode='trunc'), torch.fmod(a, 3), -a, a.sign() + a.square(), a.clamp(-2, 3), a.clamp(min=1), a & 6, a | b,
            a ^ b, ~a, torch.maximum(a, b), torch.minimum(a, c), torch.where(a > b, a, b.to(torch.int32)))


def shifts(s, a):
    steps = torch.arange(5)
    return a >> 1, a << 3, (a + 300) >> steps, torch.bitwise_left_shift(a, steps.to(a.dtype)), a + (steps << 2) - (-steps >> 1) + (1 << steps)


def reductions(s, a):
    largest, at = a.max(1)
    return (a.cumsum(1), (a > 0).cumsum(0), a.sum(), a.sum(1), a.sum((0, 2), keepdim=True), (a != 0).sum(-1), a.amax(2), a.amin((0, 1)),
            a.argmax(0), a.argmin(2, keepdim=True), largest + at, (a > 5).any(1).int(), (a > -7).all(2).int(), (a > 8).any().long())


def positions(s, ids):
    mask = ids.ne(1).int()
    at = (mask.cumsum(1).type_as(mask) + 0) * mask
    states = s.words(ids) + s.places(at.long() + 1)
    length = mask.sum(1)
    live = torch.arange(ids.shape[1]) < length[:, None]
    mean = (states * mask[:, :, None].float()).sum(1) / length[:, None].float()
    return s.out(mean), torch.where(live[:, :, None], s.out(states), -1.0)


def add(to):
    pair = (to.Ids(9, 2, 5, low=-9), to.Ids(9, 2, 5, low=-9))
    to.case('ints_arithmetic', to.Net(arithmetic), *pair)
    to.case('ints_arithmetic_core', to.Net(arithmetic), *pair, core=True)
    to.case('ints_shifts', to.Net(shifts), to.Ids(9, 2, 5, low=-9))
    to.case('ints_shifts_core', to.Net(shifts), to.Ids(9, 2, 5, low=-9), core=True)
    to.case('ints_reductions', to.Net(reductions), to.Ids(9, 2, 3, 4, low=-9))
    to.case('ints_reductions_core', to.Net(reductions), to.Ids(9, 2, 3, 4, low=-9), core=True)
    to.case('ints_of_32_bits', to.Net(lambda s, a: (a * 3 // 2, a.cumsum(0, dtype=torch.int32), a.long() + 1)), to.Ids(99, 6, low=-99, dtype=torch.int32))
    to.case('ints_positions', to.Net(positions, words=nn.Embedding(9, 6), places=nn.Embedding(10, 6), out=nn.Linear(6, 4)), to.Ids(9, 2, 7))
