"""Cases of make_cases.py in which a position is an input: steps of decoders."""
import torch
from torch import nn


def cache_at_position(s, x, at):
    """As a decoder's step: angles, a mask and other integers, all computed from the position."""
    s.k.index_copy_(1, at, s.key(x))
    angle = (at[:, None].float() * s.frequency)[:, None]
    future = torch.arange(5)[None, :, None] > at
    y = (s.k * angle.cos() + angle.sin()).masked_fill(future, 0).mean(1)
    return y, at + 1, torch.where(at % 2 == 0, at * at, 7 - at)


def plain_cache(s, x, at):
    """As transformers' static cache: its tensors are no buffers, and its positions begin with arange."""
    s.k.index_copy_(1, torch.arange(1) + at, x)
    return s.k.mean(1)


def add_cases(case, Net, Ids, buf):
    case('state_cache_position', Net(cache_at_position, k=buf(1, 5, 3), frequency=buf(3), key=nn.Linear(3, 3)),
         (1, 1, 3), Ids(5, 1), steps=6)
    case('state_constant', Net(plain_cache, k=torch.zeros(1, 4, 3)), (1, 1, 3), Ids(4, 1), steps=6)
